"""How a text file is laid out: its delimiter, its header, comments, a row of units, names of rows.

Everything is read off the first lines. What is no plain table of names and numbers is either named in a note or an
error that names the option which helps; nothing is guessed in silence.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
from dataclasses import dataclass
from pathlib import Path

from uptonoise._util.errors import hinted
from uptonoise.engines.files.lines import Sheet, blanks_to_tabs, sheet_note, without_comments
from uptonoise.engines.files.paths import suffix_of
from uptonoise.engines.files.table import first_line
from uptonoise.engines.files.text import BLANKS, has_blanks, kind_of, shortened, text_sample
from uptonoise.rows import numbered_columns

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 100
_COMMENT_MARKS = ("#", "%", "//")
_UNITS_IN_NOTE = 6
_WORDS = "x,y\n1.5,-2\n"
_MEASURED = ("number", "truth", "percentage")
_DATA = ("number", "other decimal", "percentage", "date")  # what names of columns seldom are


@dataclass(frozen=True)
class CsvFormat:
    """How numbers and columns are written; None stands for what the first lines tell."""

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    header: bool | None = None
    comment: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        is_character = isinstance(self.delimiter, str) and len(self.delimiter) == 1
        if self.delimiter is not None and (not is_character or self.delimiter in '"\r\n'):
            raise ValueError(f"delimiter must be one character, such as ',' or ';'; got {self.delimiter!r}")
        if not isinstance(self.decimal, str) or self.decimal not in (".", ","):
            raise ValueError(f"decimal must be '.' or ','; got {self.decimal!r}")
        if self.decimal == self.delimiter:
            raise ValueError(f"delimiter and decimal must differ; both are {self.decimal!r}")
        if self.header is not None and not isinstance(self.header, bool):
            raise ValueError(f"header must be True, False or None; got {self.header!r}")
        if self.comment is not None and (not isinstance(self.comment, str) or not self.comment.strip()):
            raise ValueError(f"comment must be what a comment line starts with, such as '#'; got {self.comment!r}")
        try:  # some encodings make bytes of bytes, and some cannot go on piece by piece
            decoder = codecs.getincrementaldecoder(self.encoding)()
            is_of_text = decoder.decode(_WORDS.encode(self.encoding), final=True) == _WORDS
        except (LookupError, TypeError, ValueError, AttributeError, AssertionError):
            is_of_text = False
        if not is_of_text:
            raise ValueError(f"encoding must be one of text that Python knows, such as 'utf-8'; got {self.encoding!r}")


class Layout:
    """What the first lines of a text file tell."""

    names: tuple[str, ...]  # of the columns; an empty one for a column without a name
    rows: list[list[str]]  # the first ones of data
    has_header: bool  # whether the file names its columns
    n_skipped: int  # rows above the data, also empty ones
    is_clean: bool  # whether the text is a table with one delimiter as it stands; otherwise `cleaned` makes it one
    notes: list[str]  # what was noticed

    def __init__(self, path: Path, csv_format: CsvFormat) -> None:
        self.path, self.decimal, self.comment = path, csv_format.decimal, csv_format.comment
        text, self.is_whole, self.encoding, self.packing = text_sample(path, csv_format.encoding, csv_format.sheet)
        note = sheet_note(path) if self.packing == Sheet(None) else None
        self.notes = [] if note is None else [note]
        marked = None
        if self.comment is not None:
            marked, text = _commented_names(text, self.comment), without_comments(text, self.comment)
        delimiter = csv_format.delimiter
        if delimiter is None:
            lines = [line for line in text.splitlines()[:_SAMPLE_LINES] if line.strip()]
            candidates = [mark for mark in _DELIMITERS if mark != self.decimal]
            if any("\t" in line for line in lines) and suffix_of(path) in (".tsv", ".tab"):
                delimiter = "\t"
            else:  # the one that cuts most of the lines as the header; blanks where nothing else does
                delimiter, best_fit = candidates[0], (0, 0)
                for mark in candidates:
                    widths: list[int] = []
                    with contextlib.suppress(csv.Error):  # a value that is far too long
                        widths.extend(len(row) for row in csv.reader(lines, delimiter=mark))
                    if widths and widths[0] > 1 and (widths.count(widths[0]), widths[0]) > best_fit:
                        delimiter, best_fit = mark, (widths.count(widths[0]), widths[0])
                if best_fit[0] < max(2, len(lines) / 2) and has_blanks(lines):
                    delimiter = BLANKS
        self.has_blanks = delimiter == BLANKS
        self.delimiter = "\t" if self.has_blanks else delimiter
        self.is_clean = self.comment is None and not self.has_blanks
        if self.comment is None and text.lstrip().startswith(_COMMENT_MARKS):
            self._check_comments(text, delimiter)
        self.has_header = csv_format.header is not False
        table = io.StringIO(text if self.is_clean else self.cleaned(text), newline="")
        try:
            rows = list(csv.reader(table, delimiter=self.delimiter))
            if not self.is_whole and len(rows) > 1:
                rows.pop()  # cut off within a value, perhaps
            self.n_skipped = next((number for number, row in enumerate(rows) if row), len(rows))
            if self.n_skipped == len(rows):
                raise ValueError(f"{path} is empty; its first line must name the columns")
            self._read_head(rows, marked, csv_format.header)
        except csv.Error as error:
            raise ValueError(f"{path} is not a CSV file: {first_line(error)}") from None
        if self.has_blanks and csv_format.delimiter is None:
            self.notes.append(f"{path}: the values are separated by blanks")

    def cleaned(self, text: str) -> str:
        """Return some whole lines without comments, and with tabs in place of blanks."""
        text = text if self.comment is None else without_comments(text, self.comment)
        return blanks_to_tabs(text) if self.has_blanks else text

    def _check_comments(self, text: str, delimiter: str) -> None:
        """Raise where the file starts with lines that look like comments, not like names of columns."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        mark = next(mark for mark in _COMMENT_MARKS if lines[0].startswith(mark))
        if lines[0].startswith((mark + delimiter, mark + " " + delimiter)) and delimiter != BLANKS:
            return
        widths = [len(line.split()) if delimiter == BLANKS else line.count(delimiter) for line in lines[:2]]
        is_marked_twice = len(lines) > 1 and lines[1].startswith(mark)
        if not is_marked_twice and not lines[0].startswith(f"{mark} ") and len(set(widths)) == 1:
            return  # names, of which the first starts with such a mark
        problem = f"{self.path}: the first line looks like a comment ({shortened(lines[0])})"
        raise hinted(ValueError, problem, "{comment} skips such lines", comment=mark)

    def _read_head(self, rows: list[list[str]], marked: str | None, header: bool | None) -> None:
        """Read the names of the columns, which a comment may hold, and the first rows of data, below a row of units."""
        first = [value.strip() for value in rows[self.n_skipped]]
        # 0, 1, 2, ... are what the columns of a frame without names are called.
        counted_up = first[1:] if first[0] == "" else first
        is_counted = len(counted_up) > 1 and counted_up == [str(number) for number in range(len(counted_up))]
        looks_like_data = not is_counted and any(kind_of(value, self.decimal) in _DATA for value in first)
        commented: list[str] = []
        if header is None and looks_like_data and marked is not None:
            commented = next(csv.reader(io.StringIO(self.cleaned(marked), newline=""), delimiter=self.delimiter), [])
        if header is False:
            names = numbered_columns(len(first))
        elif marked is not None and len(commented) == len(first):
            names = tuple(name.strip() for name in commented)
            self.notes.append(f"{self.path}: the names of the columns are those of the comment {shortened(marked)}")
        elif header is None and looks_like_data:
            line = shortened(self.delimiter.join(first))
            problem = f"{self.path} must name its columns in the first line; got {line}, which looks like data"
            hint = "{header} reads a file without names, {header_} takes this line as names"
            raise hinted(ValueError, problem, hint, header=False, header_=True)
        else:
            if header is None and any(kind_of(name, ".") == "number" for name in first):
                self.notes.append(f"{self.path}: the numbers in the first line are taken as names of columns")
            names = tuple(first)
            self.n_skipped += 1
        self.rows = [row for row in rows[self.n_skipped :] if row]
        # The column that all rows have and the header has not: an empty one at the end, or names of rows.
        if self.has_header and {len(row) for row in self.rows} == {len(names) + 1}:
            if all(not row[-1].strip() for row in self.rows):
                names = (*names, "")
            elif len({row[0] for row in self.rows}) == len(self.rows):
                note = f"{self.path}: the first value of each line has no name; it is taken as the row's name"
                self.notes.append(note)
                names = ("", *names)
        self.names = names
        # Text above columns of numbers is a row of units.
        if not self.has_header or len(self.rows) < 3 or len(self.rows[0]) != len(names):
            return
        units, rest = [], self.rows[1:]
        for place, unit in enumerate(self.rows[0]):
            kinds = {kind_of(row[place], self.decimal) if len(row) > place else "text" for row in rest}
            if kinds <= {*_MEASURED, "missing"} and kinds != {"missing"}:
                units.append(unit.strip())
        kinds_of_units = [kind_of(unit, self.decimal) for unit in units]
        texts = [
            unit for unit, kind in zip(units, kinds_of_units, strict=True) if kind != "missing" or unit in ("-", ".")
        ]
        if 2 * len(texts) < max(len(units), 1) or any(kind in (*_DATA, "truth") for kind in kinds_of_units):
            return
        shown = ", ".join(texts[:_UNITS_IN_NOTE]) + (", ..." if len(texts) > _UNITS_IN_NOTE else "")
        self.notes.append(f"{self.path}: the line below the names is left out, it looks like units ({shown})")
        self.n_skipped = next(number for number, row in enumerate(rows) if row is self.rows[0]) + 1
        self.rows = rest


def _commented_names(text: str, comment: str) -> str | None:
    """Return the last comment line above the data, which may hold the names of the columns."""
    marked = None
    for line in text.splitlines():
        if line.strip().startswith(comment):
            marked = line.strip().lstrip(comment).strip()
        elif line.strip():
            return marked
    return marked
