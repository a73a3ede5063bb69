"""What must hold for the built site: no broken link, nothing from another server, and words that the search finds.

Run after sphinx-build; the folder is docs/_build/html, or the one that SITE names.
"""

import json
import os
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(os.environ.get("SITE", Path(__file__).parent / "_build" / "html"))
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html") if "_modules" not in path.parts)
WANTED = {
    "drift": ("monitor", "faq", "glossary", "other-tests"),
    "batch": ("faq", "glossary"),
    "energi": ("other-tests", "glossary"),  # the search keeps the stems of words
    "glossari": ("glossary",),
    "instal": ("get-started",),
}


class Page(HTMLParser):
    """The links of a page, what it loads, and the places that links can lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.loaded, self.ids = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.ids.update(value for key, value in attrs if key in ("id", "name"))
        if tag == "a" and named.get("href"):
            self.links.append(named["href"])
        if tag in ("script", "img", "iframe", "source") and named.get("src"):
            self.loaded.append(named["src"])
        if tag == "link" and named.get("rel") in ("stylesheet", "preload", "icon") and named.get("href"):
            self.loaded.append(named["href"])


@cache
def page(path):
    return Page(path)


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    here = SITE / name
    for link in page(here).links + page(here).loaded:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (here.parent / unquote(parts.path)).resolve() if parts.path else here
        assert target.exists(), f"{name} links to {link}, which is not there"
        if parts.fragment and target.suffix == ".html":
            assert unquote(parts.fragment) in page(target).ids, f"{name} links to {link}, which has no such place"


@pytest.mark.parametrize("name", PAGES)
def test_nothing_comes_from_another_server(name):
    assert [link for link in page(SITE / name).loaded if urlsplit(link).netloc] == []


@pytest.mark.parametrize(("word", "pages"), WANTED.items())
def test_search_finds(word, pages):
    text = (SITE / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)", text, re.DOTALL)[1])
    names = index["docnames"]
    hits = set()
    for terms in (index["terms"], index["titleterms"]):
        numbers = terms.get(word, [])
        hits |= {names[number] for number in ([numbers] if isinstance(numbers, int) else numbers)}
    assert set(pages) <= hits
