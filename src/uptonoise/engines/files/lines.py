"""Text files as a stream that Arrow can parse: unpacked, without comments, with single tabs in place of blanks.

A line that is left out becomes an empty one, so that messages count lines as an editor does.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from uptonoise.engines.files.excel import sheet_as_csv
from uptonoise.engines.files.table import arrow

_BLOCK_CHARACTERS = 1 << 20
_QUOTED_OR_BLANKS = re.compile(r'"[^"\n\r]*"|[ \t]+')


class Sheet(NamedTuple):
    """A sheet of an Excel file, which is read as if it were packed text; the first one where it has no name."""

    name: str | None


Packing = str | Sheet | None


def unpacked(path: Path, packing: Packing) -> BinaryIO:
    """Open a file, compressed or not."""
    if packing is None:
        return path.open("rb")
    if isinstance(packing, Sheet):
        return io.BytesIO(sheet_as_csv(path, packing.name))
    if packing == "gzip":
        return cast(BinaryIO, gzip.open(path))
    return cast(BinaryIO, arrow().CompressedInputStream(arrow().OSFile(str(path)), packing))


def without_comments(text: str, comment: str) -> str:
    r"""Return a text whose comment lines are empty.

    Examples
    --------
    >>> from uptonoise.engines.files.lines import without_comments
    >>> without_comments("# made today\nx\n1\n", "#")
    '\nx\n1\n'
    """
    return re.sub(rf"(?m)^[ \t]*{re.escape(comment)}[^\r\n]*", "", text)


def blanks_to_tabs(text: str) -> str:
    r"""Return a text whose values are separated by single tabs in place of one or more blanks.

    Examples
    --------
    >>> from uptonoise.engines.files.lines import blanks_to_tabs
    >>> blanks_to_tabs('  1   2.5 "a b"  \n')
    '1\t2.5\t"a b"\n'
    """
    text = re.sub(r"(?m)^[ \t]+|[ \t]+(?=\r?$)", "", text)
    if '"' not in text:
        return re.sub(r"[ \t]+", "\t", text)
    return _QUOTED_OR_BLANKS.sub(lambda match: match[0] if match[0][0] == '"' else "\t", text)


class CleanedBytes(io.RawIOBase):
    """The bytes of a text file in UTF-8, cleaned some whole lines at a time."""

    def __init__(self, raw: BinaryIO, encoding: str, clean: Callable[[str], str]) -> None:
        self._raw, self._clean = raw, clean
        self._decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
        self._rest, self._ready, self._is_done = "", b"", False

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes."""
        while not self._ready and not self._is_done:
            data = self._raw.read(_BLOCK_CHARACTERS)
            self._is_done = not data
            text = self._rest + self._decoder.decode(data, self._is_done)
            end = len(text) if self._is_done else max(text.rfind("\n"), text.rfind("\r", 0, -1)) + 1
            self._rest = text[end:]
            self._ready = self._clean(text[:end]).encode()
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size
