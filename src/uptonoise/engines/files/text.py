"""What the text of a CSV file says about itself: its encoding, its delimiter, and which values are numbers."""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import re
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from uptonoise._util.errors import hinted
from uptonoise.engines.files.paths import suffix_of

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_BYTES, _LONGEST_SAMPLE = 1 << 16, 1 << 24
_SAMPLE_LINES = 100
_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none"})
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity)", re.IGNORECASE | re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}[.,]\d{3}", re.ASCII)
_WHOLE = re.compile(r"-?(0|[1-9]\d*)(\.0*)?", re.ASCII)
_FRACTION = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_LONGEST_SHOWN = 40


def is_gzipped(path: Path) -> bool:
    """Tell whether a file is compressed, by its first bytes: names lie."""
    with path.open("rb") as file:
        return file.read(2) == _GZIP


def opened(path: Path) -> BinaryIO:
    """Return the file, decompressed where that is needed."""
    return cast(BinaryIO, gzip.open(path, "rb")) if is_gzipped(path) else path.open("rb")


def found_encoding(path: Path, encoding: str) -> str:
    """Return Python's name of the encoding; the mark at the start of UTF-16 overrules UTF-8."""
    name = codecs.lookup(encoding).name
    if name not in ("utf-8", "utf-8-sig", "ascii"):
        return name
    with opened(path) as file:
        return "utf-16" if _read(path, file, 2) in _UTF16 else "utf-8"


def first_text(path: Path, encoding: str) -> tuple[str, bool]:
    """Return the first lines of a file, and whether they are all of it."""
    size = _SAMPLE_BYTES
    while True:
        with opened(path) as file:
            data = _read(path, file, size)
            is_whole = len(data) < size or not _read(path, file, 1)
        if b"\0" in data and not encoding.startswith(("utf-16", "utf-32")):
            problem = f"{path} is not a text file, or it has another encoding"
            raise hinted(ValueError, problem, "give it with {encoding}, such as utf-16", encoding=None)
        text = _decoded(path, data, encoding, is_whole)
        if is_whole or "\n" in text or "\r" in text:
            return text, is_whole
        size *= 4
        if size > _LONGEST_SAMPLE:
            raise ValueError(f"{path} is not a CSV file: there is no end of a line in its first {len(data):,} bytes")


def _read(path: Path, file: BinaryIO, size: int) -> bytes:
    try:
        return file.read(size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is a gzip file that is cut short or damaged: {error}") from None


def _decoded(path: Path, data: bytes, encoding: str, is_whole: bool) -> str:
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    try:
        return decoder.decode(data, is_whole)
    except UnicodeError as error:
        raise wrong_encoding(path, encoding, error) from None


def wrong_encoding(path: Path, encoding: str, error: UnicodeError) -> ValueError:
    """Return the error about bytes that are not text in an encoding."""
    found = f" (byte 0x{error.object[error.start]:02x})" if isinstance(error, UnicodeDecodeError) else ""
    problem = f"{path} is not {encoding} text{found}"
    return hinted(ValueError, problem, "give its encoding, which often is {encoding}", encoding="latin-1")


def guessed_delimiter(path: Path, text: str, decimal: str) -> str:
    r"""Return a tab where the suffix says so, else the delimiter that cuts most of the first lines as the header.

    Examples
    --------
    >>> from pathlib import Path
    >>> from uptonoise.engines.files.text import guessed_delimiter
    >>> guessed_delimiter(Path("a.csv"), "x;y\n1,5;2,5\n", "."), guessed_delimiter(Path("a.csv"), "x\n1\n", ".")
    (';', ',')
    """
    if suffix_of(path) in (".tsv", ".tab"):
        return "\t"
    candidates = [delimiter for delimiter in _DELIMITERS if delimiter != decimal]
    lines = [line for line in text.splitlines()[:_SAMPLE_LINES] if line.strip()]

    def fit(delimiter: str) -> tuple[int, int]:
        widths: list[int] = []
        with contextlib.suppress(csv.Error):  # a value that is far too long
            widths.extend(len(row) for row in csv.reader(lines, delimiter=delimiter))
        wide = bool(widths) and widths[0] > 1
        return (widths.count(widths[0]), widths[0]) if wide else (0, 0)

    return max(candidates, key=fit)


def is_missing(value: str) -> bool:
    """Tell whether a value says that there is none.

    Examples
    --------
    >>> from uptonoise.engines.files.text import is_missing
    >>> [is_missing(value) for value in ("", "NA", "Null", "0")]
    [True, True, True, False]
    """
    return value.strip().lower() in _MISSING


def null_values() -> list[str]:
    """Return the spellings of missing values for Arrow, which compares letter by letter."""
    spelled = {form(value) for value in _MISSING for form in (str.lower, str.upper, str.title)} | {"NaN", "-NaN"}
    return sorted(f"{before}{value}{after}" for value in spelled for before in ("", " ") for after in ("", " "))


def is_number(value: str, decimal: str) -> bool:
    """Tell whether Arrow reads a value as a number.

    Examples
    --------
    >>> from uptonoise.engines.files.text import is_number
    >>> is_number("-1.5e3", "."), is_number("1,5", ","), is_number("1.5", ",")
    (True, True, False)
    """
    value = value.strip(" \t")  # what Arrow passes over
    if decimal != ".":
        value = value.replace(".", "?").replace(decimal, ".")
    return _NUMBER.fullmatch(value) is not None


def decimal_hint(value: str, decimal: str) -> str:
    """Return what to say where a value would be a number with the other decimal mark.

    Examples
    --------
    >>> from uptonoise.engines.files.text import decimal_hint
    >>> decimal_hint("1,5", "."), decimal_hint("1,500", "."), decimal_hint("abc", ".")
    ("; decimal=',' reads it", '', '')
    """
    other = {".": ",", ",": "."}[decimal]
    is_hint = is_number(value, other) and not _THOUSANDS.fullmatch(value.strip())
    return f"; decimal={other!r} reads it" if is_hint else ""


def is_truth(value: str) -> bool:
    """Tell whether a value is true or false in one of the spellings that Arrow knows."""
    return value in ("true", "True", "TRUE", "false", "False", "FALSE")


def typed_key(value: str) -> str | int | float:
    """Return a group as a whole number where it is written as one, as a float where it has a fraction, else as text.

    Examples
    --------
    >>> from uptonoise.engines.files.text import typed_key
    >>> typed_key("12"), typed_key("3.0"), typed_key("007"), typed_key("0.5")
    (12, 3, '007', 0.5)
    """
    if _WHOLE.fullmatch(value):
        return int(value.partition(".")[0])
    return float(value) if _FRACTION.fullmatch(value) else value


def shortened(value: str) -> str:
    """Return a value in quotes, cut where it is long."""
    return repr(value if len(value) <= _LONGEST_SHOWN else value[: _LONGEST_SHOWN - 3] + "...")
