"""Where a page comes from: date, versions, files with their hashes, and what makes it again."""

from __future__ import annotations

import hashlib
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from uptonoise import __version__
from uptonoise._util.numbers import size_text
from uptonoise.rows import FileStamp, InputRecord

_LISTED_FILES = 20
_MOST_BYTES = 2_000_000_000  # of all files together that are read again for their hashes


class FileLine(NamedTuple):
    """A file as the page shows it."""

    name: str
    size: str
    hash: str


def date_text() -> str:
    """Return the date and time of the page; the environment variable SOURCE_DATE_EPOCH replaces the clock's."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(given), UTC) if given.isdigit() else datetime.now(UTC)
    return now.strftime("%Y-%m-%d %H:%M UTC")


def versions() -> dict[str, str]:
    """Return the versions of what computed the page."""
    others = {name: version(name) for name in ("numpy", "scipy")}
    return {"uptonoise": __version__, "python": platform.python_version(), **others}


def file_lines(record: InputRecord) -> tuple[list[FileLine], int]:
    """Return the files that were read, with sizes and hashes, and how many more there are."""
    budget, lines = _MOST_BYTES, []
    for stamp in record.files[:_LISTED_FILES]:
        budget -= stamp.size
        digest = _sha256(stamp) if budget >= 0 else "not computed: the files are too large"
        lines.append(FileLine(stamp.name, size_text(stamp.size), digest))
    return lines, max(0, len(record.files) - _LISTED_FILES)


def _sha256(stamp: FileStamp) -> str:
    """Return the hash of a file, if it is still the one that was read."""
    path = Path(stamp.path)
    try:
        if FileStamp.of(path)[2:] != stamp[2:]:
            return "changed since it was read"
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return "no longer there"
