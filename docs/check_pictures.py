"""Fail where a picture is older than what it shows: run by ``make docs``."""

import pytest
from picture_sources import DOCS, digest, pictures, recorded


@pytest.mark.parametrize("name", pictures())
def test_a_picture_shows_what_is_there_now(name):
    assert recorded().get(name) == digest(name), f"{name} is out of date: .venv/bin/python docs/make_pictures.py"


def test_every_picture_of_the_pages_is_there():
    pages = [*DOCS.glob("*.md"), DOCS.parent / "README.md"]
    named = {name for page in pages for name in _named(page.read_text(encoding="utf-8"))}
    assert named <= set(pictures())


def _named(text: str) -> set[str]:
    return {part.split(".png")[0] + ".png" for part in text.split("_static/")[1:] if ".png" in part[:60]}
