"""What the text of a CSV file says about itself: its encoding, its delimiter, and what its values are."""

from __future__ import annotations

import codecs
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Literal

from uptonoise._util.errors import hinted
from uptonoise.engines.files.lines import EXCEL_SUFFIXES, Packing, Sheet, unpacked
from uptonoise.engines.files.table import first_line
from uptonoise.rows import DATE_TEXT

Kind = Literal["missing", "number", "truth", "percentage", "thousands", "other decimal", "date", "text"]
"""What a value is. Numbers with the other decimal mark, such as 1,5, may be thousands where they are like 1,500."""

BLANKS = " "  # as a delimiter: one or more blanks or tabs
OTHER_DECIMAL = {".": ",", ",": "."}
THOUSANDS = re.compile(r"[+-]?\d{1,3}[.,]\d{3}", re.ASCII)
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
_SAMPLE_BYTES, _LONGEST_SAMPLE = 1 << 16, 1 << 24
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "#n/a", "#nv", "#div/0!", "#value!", "<na>", "nan", "-nan", "null", "none", "?", ".", "-"}
)
# The spellings of missing values for Arrow, which compares letter by letter.
_SPELLINGS = {form(word) for word in _MISSING for form in (str.lower, str.upper, str.title)} | {"NaN", "-NaN"}
NULL_VALUES = sorted(f"{before}{word}{after}" for word in _SPELLINGS for before in ("", " ") for after in ("", " "))
_TRUTHS = ("true", "True", "TRUE", "false", "False", "FALSE")  # as Arrow knows them
_NUMBERS = {
    ".": re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity)", re.IGNORECASE | re.ASCII),
    ",": re.compile(r"[+-]?((\d+,?\d*|,\d+)(e[+-]?\d+)?|inf|infinity)", re.IGNORECASE | re.ASCII),
}
_WHOLE = re.compile(r"-?(0|[1-9]\d*)(\.0*)?", re.ASCII)
_FRACTION = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_LONGEST_SHOWN = 40


def text_sample(path: Path, encoding: str, sheet: str | None = None) -> tuple[str, bool, str, Packing]:
    """Return the first lines of a file, whether they are all of it, its encoding, and how it is compressed.

    Its first bytes say whether it is compressed, since names lie; the mark at the start of UTF-16 overrules UTF-8.
    """
    encoding = codecs.lookup(encoding).name
    packing: Packing = None
    if path.suffix.lower() in EXCEL_SUFFIXES:
        packing = Sheet(sheet)
    else:
        with path.open("rb") as file:
            start = file.read(4)
        packing = next((packing for mark, packing in _PACKED.items() if start.startswith(mark)), None)
    with unpacked(path, packing) as file:
        data, size = b"", _SAMPLE_BYTES
        while size <= _LONGEST_SAMPLE:
            try:
                data += file.read(size + 1 - len(data))
            except (EOFError, zlib.error, OSError) as error:  # OSError also where Arrow unpacks
                problem = f"{path} is a compressed file that is cut short or damaged: {first_line(error)}"
                raise ValueError(problem) from None
            sample, is_whole = data[:size], len(data) <= size
            if encoding in ("utf-8", "utf-8-sig", "ascii"):
                encoding = "utf-16" if data[:2] in _UTF16 else "utf-8"
            if b"\0" in sample and not encoding.startswith(("utf-16", "utf-32")):
                problem = f"{path} is not a text file, or it has another encoding"
                raise hinted(ValueError, problem, "give it with {encoding}, such as utf-16", encoding=None)
            decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
            try:
                text = decoder.decode(sample, is_whole)
            except UnicodeError as error:
                raise wrong_encoding(path, encoding, error) from None
            if is_whole or "\n" in text or "\r" in text:
                return text, is_whole, encoding, packing
            size *= 4
    raise ValueError(f"{path} is not a CSV file: there is no end of a line in its first {len(data) - 1:,} bytes")


def wrong_encoding(path: Path, encoding: str, error: UnicodeError) -> ValueError:
    """Return the error about bytes that are not text in an encoding."""
    byte = f" (byte 0x{error.object[error.start]:02x})" if isinstance(error, UnicodeDecodeError) else ""
    problem = f"{path} is not {encoding} text{byte}"
    return hinted(ValueError, problem, "give its encoding, which often is {encoding}", encoding="latin-1")


def has_blanks(lines: list[str]) -> bool:
    """Tell whether lines are numbers or words between blanks, as many in nearly all of them."""
    widths = [len(line.split()) for line in lines]
    if not widths:
        return False
    width, count = Counter(widths[1:] or widths).most_common(1)[0]
    has_numbers = any(
        "number" in (kind_of(value, "."), kind_of(value, ",")) for line in lines for value in line.split()
    )
    return width > 1 and has_numbers and count >= 0.9 * len(widths[1:]) and widths[0] in (width, width - 1)


def kind_of(value: str, decimal: str) -> Kind:
    """Return what a value is, as Arrow reads it where `decimal` is the decimal mark.

    Examples
    --------
    >>> from uptonoise.engines.files.text import kind_of
    >>> [kind_of(value, ".") for value in ("-1.5e3", "NA", "61.0 %", "true")]
    ['number', 'missing', 'percentage', 'truth']
    >>> [kind_of(value, ".") for value in ("1,5", "1,500", "31.1.2024", "abc")], kind_of("1,5", ",")
    (['other decimal', 'thousands', 'date', 'text'], 'number')
    """
    number, bare = _NUMBERS[decimal], value.strip(" \t")  # blanks that Arrow passes over
    if number.fullmatch(bare):
        return "number"
    if value.strip().lower() in _MISSING:
        return "missing"
    if value in _TRUTHS:
        return "truth"
    if value.rstrip().endswith("%") and number.fullmatch(value.rstrip()[:-1].strip(" \t")):
        return "percentage"
    if _NUMBERS[OTHER_DECIMAL[decimal]].fullmatch(bare):
        return "thousands" if THOUSANDS.fullmatch(bare) else "other decimal"
    return "date" if DATE_TEXT.fullmatch(value.strip()) else "text"


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
