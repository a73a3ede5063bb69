from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

import uptonoise as un
from uptonoise.report import page as _page

SCRIPT = "<script>alert(1)</script>"
NAMES = [SCRIPT, "$x_1$", "درجة 温度 😀", 'a" onload="alert(2)']
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """What tests ask of a page: its elements in order, with their attributes, parents and texts."""

    def __init__(self, path: Path):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and data.strip():
            self.texts.append((self._open[-1], " ".join(data.split())))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    def texts_in(self, tag):
        return [text for parent, text in self.texts if parent == tag]


def two_frames(rng, n_rows=400, names=NAMES):
    X, Y = (pd.DataFrame(rng.gamma(2, size=(n_rows, len(names))), columns=names) for _ in range(2))
    Y[names[1 % len(names)]] *= -1
    return X, Y


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "out.html"
    comparison = un.compare(*two_frames(np.random.default_rng(1)), names=[SCRIPT, "new & noisy"])
    comparison.report(path)
    return comparison, path


@pytest.fixture(scope="module")
def page(written):
    return Page(written[1])


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(2)
    samples = {name: rng.exponential(size=(300, 2)) for name in ("a", "<i>b</i>", "$c$")}
    samples["d"] = 2 - rng.exponential(size=(300, 2))
    return un.compare_groups(samples)


def test_page_is_one_file_that_loads_nothing_and_runs_nothing(page):
    assert page.all("script") == []
    assert page.source.count("http") == 1  # of http-equiv
    links = [attributes.get("href") or attributes.get("src") for _, attributes in page.elements]
    assert all(link.startswith(("#", "data:")) for link in links if link)
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    (policy,) = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")


def test_page_says_the_verdict_first(written, page):
    comparison, _ = written
    assert page.texts_in("h2")[0] == "Differ beyond noise and an offset"
    assert comparison.sentence in page.texts_in("p")
    assert f"{SCRIPT} and new & noisy: differ beyond noise and an offset" in page.texts_in("title")


def test_page_has_the_ladder_the_effect_the_columns_and_the_settings(written, page):
    comparison, _ = written
    spans = page.texts_in("span")
    for question, answer, why in comparison.ladder():
        assert {f"{question.capitalize()}?", answer, why} <= set(spans)
    assert set(NAMES) <= set(page.texts_in("bdi"))
    assert len(page.texts_in("td")) >= 8 * len(NAMES)
    rows = page.texts_in("th")
    assert {"significance level", "margin", "seed", "python", "numpy", "scipy", "uptonoise"} <= set(rows)
    assert {un.__version__, np.__version__, "0.05"} <= set(page.texts_in("bdi"))


def test_names_stay_text_in_the_page_and_in_its_pictures(page):
    assert SCRIPT not in page.source
    assert [text for text in page.texts_in("text") if text.startswith("<script>")]
    assert "$x_1$" in page.texts_in("text")
    assert [text for text in page.texts_in("text") if "درجة 温度 😀" in text]


def test_page_is_accessible_by_its_structure(page):
    assert page.all("html") == [{"lang": "en"}]
    tags = [tag for tag, _ in page.elements]
    assert [tags.count(tag) for tag in ("main", "header", "footer", "h1", "title")] == [1] * 5
    levels = [int(tag[1]) for tag in tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    svgs = page.all("svg")
    assert len(svgs) == len(page.all("figure")) >= 8
    assert all(svg["role"] == "img" and len(svg["aria-label"]) > 20 for svg in svgs)
    assert all("scope" in th for th in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    assert all(div["tabindex"] == "0" for div in page.all("div") if div.get("class") == "scroll")


def check_references(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for name, value in attributes.items():
            if name == "aria-labelledby" or (name == "href" and value.startswith("#")):
                assert value.removeprefix("#") in ids
            if name in ("clip-path", "style") and "url(#" in value:
                assert value.split("url(#")[1].split(")")[0] in ids


def test_references_meet_one_element_each(page):
    check_references(page)


def test_the_same_comparison_gives_the_same_page_whatever_the_users_settings(written, tmp_path):
    comparison, path = written
    with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 30, "text.color": "white"}):
        comparison.report(tmp_path / "again.html")
        assert matplotlib.rcParams["font.size"] == 30
    assert (tmp_path / "again.html").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("samples", "verdict"),
    [
        (lambda rng: (rng.normal(size=200), rng.normal(size=200)), "No difference found"),
        (lambda rng: (rng.gamma(2, size=4_000), rng.gamma(2, size=4_000) + rng.normal(size=4_000)), "Differ only"),
        (lambda rng: (rng.gamma(2, size=900) + 3, rng.gamma(2, size=900)), "Differ by noise and an offset"),
        (lambda rng: (rng.exponential(size=200), 20 * rng.normal(size=200)), "Too noisy to tell"),
        (lambda rng: (rng.normal(size=12), rng.normal(size=12)), ""),  # the flip test decides; no ME
        (lambda rng: (np.ones((50, 2)), np.ones((50, 2))), "No difference found"),
    ],
    ids=["none", "noise", "offset", "too noisy", "few rows", "constant"],
)
def test_every_verdict_has_a_page(samples, verdict, rng, tmp_path):
    comparison = un.compare(*samples(rng))
    comparison.report(tmp_path / "out.html")
    page = Page(tmp_path / "out.html")
    assert page.texts_in("h2")[0].startswith(verdict)
    assert set(comparison.missing) <= set(page.texts_in("li"))


def test_sketches_without_rows_have_a_page(rng, tmp_path):
    X, Y = rng.gamma(2, size=(2, 500, 2))
    empty = un.Sketch.for_samples(X, Y)
    comparison = un.compare(un.Sketch.like(empty).update(X), un.Sketch.like(empty).update(Y))
    comparison.report(tmp_path / "out.html")
    assert "ME, and places where they differ, need the rows: only sketches were given" in Page(
        tmp_path / "out.html"
    ).texts_in("li")


def test_many_columns_are_folded_and_only_the_most_telling_ones_drawn(rng, tmp_path):
    names = [f"column {number}" for number in range(25)]
    comparison = un.compare(*two_frames(rng, 200, names))
    comparison.report(tmp_path / "out.html")
    assert (tmp_path / "out.html").stat().st_size < 2_000_000
    page = Page(tmp_path / "out.html")
    differ = [one for one in comparison.by_column if min(one.adjusted_at_all, one.adjusted_beyond_noise) <= 0.05]
    assert 1 <= len(differ) <= 3
    assert page.texts_in("summary") == [f"{25 - len(differ)} more columns"]
    assert len([text for text in page.texts_in("figcaption") if "how the rows" in text]) == 6
    assert page.texts_in("figcaption")[2].startswith("column 1: how the rows")


def test_groups_have_a_page_with_a_section_for_each_pair(groups, tmp_path):
    groups.report(tmp_path / "out.html")
    page = Page(tmp_path / "out.html")
    check_references(page)
    assert page.texts_in("h2")[0] == "3 pairs differ beyond noise"
    assert groups.sentence in page.texts_in("p")
    assert [link["href"] for link in page.all("a")] == [f"#pair-{number}" for number in range(1, 7)]
    assert len(page.all("figure")) == 1 + 6
    assert "<i>b</i>" not in page.source
    assert "$c$" in page.texts_in("text")
    first = groups.pair(*groups.differing[0])
    assert any(first.sentence in text for text in page.texts_in("p"))


def test_page_of_groups_says_how_many_pairs_are_left_out(groups, tmp_path, monkeypatch):
    monkeypatch.setattr(_page, "_PAIRS_IN_FULL", 2)
    monkeypatch.setattr(_page, "_LISTED_PAIRS", 3)
    groups.report(tmp_path / "out.html")
    page = Page(tmp_path / "out.html")
    assert len(page.all("a")) == 2
    assert any("4 pairs with larger p-values left out here" in text for text in page.texts_in("p"))
    assert any("3 pairs with larger p-values not listed" in text for text in page.texts_in("p"))


@pytest.mark.parametrize(
    ("place", "error", "message"),
    [
        ("missing/out.html", FileNotFoundError, "the folder .*missing does not exist; make it first"),
        (".", IsADirectoryError, "is a folder; name a file in it, such as .*report.html"),
        ("old.html", FileExistsError, "old.html exists; force=True overwrites it"),
    ],
)
def test_bad_paths_get_one_clear_line(place, error, message, written, tmp_path):
    (tmp_path / "old.html").write_text("old")
    with pytest.raises(error, match=message) as caught:
        written[0].report(tmp_path / place)
    assert "\n" not in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == ["old.html"]


def test_a_folder_that_is_not_writable_gets_one_clear_line(written, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere
    with pytest.raises(PermissionError, match=r"the folder .* is not writable"):
        written[0].report(tmp_path / "out.html")


def test_force_overwrites(written, tmp_path):
    (tmp_path / "out.html").write_text("old")
    written[0].report(tmp_path / "out.html", force=True)
    assert (tmp_path / "out.html").read_bytes() == written[1].read_bytes()


def test_a_page_is_written_whole_or_not_at_all(written, tmp_path, monkeypatch):
    (tmp_path / "out.html").write_text("old")

    def fails(self, target):
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="no space left"):
        written[0].report(tmp_path / "out.html", force=True)
    assert [file.name for file in tmp_path.iterdir()] == ["out.html"]
    assert (tmp_path / "out.html").read_text() == "old"


def test_names_may_hold_what_no_page_may(rng, tmp_path):
    names = ["bell \x07", "nul \x00", "two\nlines", "\u202eturned", " ", "x" * 300]
    un.compare(*two_frames(rng, 100, names), names=["lone \udcff", "--> <!--"]).report(tmp_path / "out.html")
    page = Page(tmp_path / "out.html")
    assert {"bell \ufffd", "nul \ufffd", "lone \ufffd", "two lines", "x" * 300} <= set(page.texts_in("bdi"))


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_a_missing_extra_is_named(module):
    code = f"import sys; sys.modules[{module!r}] = None; import uptonoise; import uptonoise.report"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'ImportError: a report needs jinja2 and matplotlib: pip install "uptonoise[cli]"' in ended.stderr


def test_importing_uptonoise_leaves_pictures_and_templates_alone():
    code = "import sys, uptonoise; assert not {'jinja2', 'matplotlib', 'uptonoise.report'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
