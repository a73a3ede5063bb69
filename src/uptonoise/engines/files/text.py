"""What the text of a CSV file says about itself: its encoding, its delimiter, and which values are numbers."""

from __future__ import annotations

import codecs
import contextlib
import csv
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from uptonoise._util.errors import hinted
from uptonoise.engines.files.lines import Packing, packing_of, unpacked
from uptonoise.engines.files.paths import suffix_of
from uptonoise.engines.files.table import first_line

BLANKS = " "  # as a delimiter: one or more blanks or tabs
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_BYTES, _LONGEST_SAMPLE = 1 << 16, 1 << 24
_SAMPLE_LINES = 100
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "#n/a", "#nv", "#div/0!", "#value!", "<na>", "nan", "-nan", "null", "none", "?", ".", "-"}
)
# The spellings of missing values for Arrow, which compares letter by letter.
_SPELLINGS = {form(word) for word in _MISSING for form in (str.lower, str.upper, str.title)} | {"NaN", "-NaN"}
NULL_VALUES = sorted(f"{before}{word}{after}" for word in _SPELLINGS for before in ("", " ") for after in ("", " "))
_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity)", re.IGNORECASE | re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}[.,]\d{3}", re.ASCII)
_WHOLE = re.compile(r"-?(0|[1-9]\d*)(\.0*)?", re.ASCII)
_FRACTION = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_LONGEST_SHOWN = 40


class TextSample(NamedTuple):
    """The first lines of a text file, whether they are all of it, its encoding, and how it is compressed."""

    text: str
    is_whole: bool
    encoding: str
    packing: Packing


def text_sample(path: Path, encoding: str, sheet: str | None = None) -> TextSample:
    """Look at the first lines of a file.

    Its first bytes say whether it is compressed, since names lie; the mark at the start of UTF-16 overrules UTF-8.
    """
    encoding, packing = codecs.lookup(encoding).name, packing_of(path, sheet)
    with unpacked(path, packing) as file:
        data, size = b"", _SAMPLE_BYTES
        while size <= _LONGEST_SAMPLE:
            try:
                data += file.read(size + 1 - len(data))
            except (EOFError, zlib.error, OSError) as error:  # OSError also where Arrow unpacks
                problem = f"{path} is a compressed file that is cut short or damaged: {first_line(error)}"
                raise ValueError(problem) from None
            if encoding in ("utf-8", "utf-8-sig", "ascii"):
                encoding = "utf-16" if data[:2] in _UTF16 else "utf-8"
            text, is_whole = _decoded(path, data[:size], encoding, len(data) <= size), len(data) <= size
            if is_whole or "\n" in text or "\r" in text:
                return TextSample(text, is_whole, encoding, packing)
            size *= 4
    raise ValueError(f"{path} is not a CSV file: there is no end of a line in its first {len(data) - 1:,} bytes")


def _decoded(path: Path, data: bytes, encoding: str, is_whole: bool) -> str:
    if b"\0" in data and not encoding.startswith(("utf-16", "utf-32")):
        problem = f"{path} is not a text file, or it has another encoding"
        raise hinted(ValueError, problem, "give it with {encoding}, such as utf-16", encoding=None)
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    try:
        return decoder.decode(data, is_whole)
    except UnicodeError as error:
        raise wrong_encoding(path, encoding, error) from None


def wrong_encoding(path: Path, encoding: str, error: UnicodeError) -> ValueError:
    """Return the error about bytes that are not text in an encoding."""
    byte = f" (byte 0x{error.object[error.start]:02x})" if isinstance(error, UnicodeDecodeError) else ""
    problem = f"{path} is not {encoding} text{byte}"
    return hinted(ValueError, problem, "give its encoding, which often is {encoding}", encoding="latin-1")


def guessed_delimiter(path: Path, text: str, decimal: str) -> str:
    r"""Return the delimiter that cuts most of the first lines as the header; a tab where the suffix says so.

    Blanks are a delimiter only where nothing else is and nearly all lines have as many values.

    Examples
    --------
    >>> from pathlib import Path
    >>> from uptonoise.engines.files.text import guessed_delimiter
    >>> guessed_delimiter(Path("a.csv"), "x;y\n1,5;2,5\n", "."), guessed_delimiter(Path("a.csv"), "x\n1\n", ".")
    (';', ',')
    >>> guessed_delimiter(Path("a.dat"), "x  y\n1  2\n", ".")
    ' '
    """
    candidates = [delimiter for delimiter in _DELIMITERS if delimiter != decimal]
    lines = [line for line in text.splitlines()[:_SAMPLE_LINES] if line.strip()]
    if suffix_of(path) in (".tsv", ".tab") and any("\t" in line for line in lines):
        return "\t"

    def fit(delimiter: str) -> tuple[int, int]:
        widths: list[int] = []
        with contextlib.suppress(csv.Error):  # a value that is far too long
            widths.extend(len(row) for row in csv.reader(lines, delimiter=delimiter))
        wide = bool(widths) and widths[0] > 1
        return (widths.count(widths[0]), widths[0]) if wide else (0, 0)

    best = max(candidates, key=fit)
    n_fitting, _ = fit(best)
    return BLANKS if n_fitting < max(2, len(lines) / 2) and _has_blanks(lines) else best


def _has_blanks(lines: list[str]) -> bool:
    """Tell whether lines are numbers or words between blanks, as many in nearly all of them."""
    widths = [len(line.split()) for line in lines]
    if not widths:
        return False
    width, count = Counter(widths[1:] or widths).most_common(1)[0]
    has_numbers = any(is_number(value, ".") or is_number(value, ",") for line in lines for value in line.split())
    return width > 1 and has_numbers and count >= 0.9 * len(widths[1:]) and widths[0] in (width, width - 1)


def is_missing(value: str) -> bool:
    """Tell whether a value says that there is none.

    Examples
    --------
    >>> from uptonoise.engines.files.text import is_missing
    >>> [is_missing(value) for value in ("", "NA", "Null", "0")]
    [True, True, True, False]
    """
    return value.strip().lower() in _MISSING


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


def is_percentage(value: str, decimal: str) -> bool:
    """Tell whether a value is a number with a percent sign.

    Examples
    --------
    >>> from uptonoise.engines.files.text import is_percentage
    >>> is_percentage("61.0 %", "."), is_percentage("61", ".")
    (True, False)
    """
    return value.rstrip().endswith("%") and is_number(value.rstrip()[:-1], decimal)


def has_thousands(value: str) -> bool:
    """Tell whether a value may be a number whose mark stands for thousands, such as 1,500."""
    return _THOUSANDS.fullmatch(value.strip()) is not None


def other_decimal(value: str, decimal: str) -> str | None:
    """Return the other decimal mark where a value would be a number with it, else None.

    Examples
    --------
    >>> from uptonoise.engines.files.text import other_decimal
    >>> other_decimal("1,5", "."), other_decimal("1,500", "."), other_decimal("abc", ".")
    (',', None, None)
    """
    other = {".": ",", ",": "."}[decimal]
    return other if is_number(value, other) and not has_thousands(value) else None


def is_too_long(value: str) -> bool:
    """Tell whether a value is a whole number that float64 would round.

    Examples
    --------
    >>> from uptonoise.engines.files.text import is_too_long
    >>> is_too_long("1700000000000000001"), is_too_long("1700000000"), is_too_long("1e30")
    (True, False, False)
    """
    digits = value.strip(" \t").lstrip("+-")
    return len(digits) > 15 and digits.isascii() and digits.isdigit() and len(digits) < 400 and int(digits) > 2**53


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
