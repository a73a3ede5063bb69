"""What each picture of the pages shows: the templates, plots and examples that it was drawn from, as one hash.

``make_pictures.py`` records the hashes in _static/pictures.json, and ``make docs`` fails where one has changed since:
hashes, not times, as a clone has no times.
"""

import doctest
import hashlib
import json
import re
from pathlib import Path

DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "src" / "uptonoise"
RECORD = DOCS / "_static" / "pictures.json"
# Patterns of pictures, each with the files that they show.
_SHOWN = {
    r"report\.png": ["report/*.j2", "report/*.css", "report/pictures.py", "_util/drawing.py"],
    r"serve\.png": ["serve/*.j2", "serve/*.css", "report/*.j2", "report/*.css"],
    r"(plots|gallery|case)-.*\.png": ["plots/*.py"],
    r"which-test\.png": [],
}
_NOT_PICTURES = ("plots/cards.py", "plots/__init__.py")


def pictures() -> list[str]:
    """Return the names of all pictures."""
    return sorted(path.name for path in (DOCS / "_static").glob("*.png"))


def digest(picture: str) -> str:
    """Return the hash of all that a picture shows."""
    patterns = [files for pattern, files in _SHOWN.items() if re.fullmatch(pattern, picture)]
    if not patterns:
        raise KeyError(f"docs/picture_sources.py does not know what {picture} shows")
    paths = sorted({path for pattern in patterns[0] for path in SOURCE.glob(pattern)})
    parts = [path.read_bytes() for path in paths if str(path.relative_to(SOURCE)) not in _NOT_PICTURES]
    parts += [example.encode() for example in _examples(picture)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _examples(picture: str) -> list[str]:
    """Return the examples of the section that draws a picture."""
    for name in ("gallery.md", "case-sensor.md"):
        for section in (DOCS / name).read_text(encoding="utf-8").split("\n## "):
            if f"(_static/{picture})" in section:
                return [example.source for example in doctest.DocTestParser().get_examples(section)]
    return []


def recorded() -> dict[str, str]:
    """Return the hashes with which the pictures were drawn."""
    return dict(json.loads(RECORD.read_text(encoding="utf-8"))) if RECORD.exists() else {}


def record(drawn: list[str]) -> None:
    """Note that these pictures show what is there now."""
    hashes = {name: value for name, value in recorded().items() if name in pictures()}
    hashes |= {name: digest(name) for name in drawn}
    RECORD.write_text(json.dumps(dict(sorted(hashes.items())), indent=2) + "\n", encoding="utf-8")
