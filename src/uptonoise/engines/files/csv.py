"""Rows of CSV files and their kin (tabs, blanks, gzip), parsed by Arrow a megabyte at a time.

The columns that are used are declared to be numbers, so that no guess from the first rows can go wrong later on. Where
Arrow fails, a second and slow look at the file finds the place.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
import zlib
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from uptonoise._util.errors import hinted
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.engines.files.arrow import groups_of
from uptonoise.engines.files.layout import CsvFormat, Layout
from uptonoise.engines.files.lines import CleanedBytes, Sheet, unpacked
from uptonoise.engines.files.paths import Paths, data_files
from uptonoise.engines.files.rows import FileRows, with_row_options
from uptonoise.engines.files.table import NEEDS_ARROW, SAMPLE_ROWS, Piece, TableFile, first_line
from uptonoise.engines.files.text import (
    NULL_VALUES,
    OTHER_DECIMAL,
    THOUSANDS,
    Kind,
    kind_of,
    shortened,
    wrong_encoding,
)
from uptonoise.rows import DATE_TEXT, Missing, RowSource, chunk_rows

CSV_SUFFIXES = (".csv", ".tsv", ".tab")
TEXT_SUFFIXES = (*CSV_SUFFIXES, ".txt", ".dat", ".asc", ".data")
_LONG_INTEGER = re.compile(r"[ \t]*[+-]*(\d{16,399})[ \t]*", re.ASCII)
_BLOCK_BYTES = 1 << 20
_BLOCK_PER_HEADER = 16  # a block must hold a line, and numbers are longer than names


@with_row_options
def scan_csv(
    path: Paths,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    by: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    header: bool | None = None,
    comment: str | None = None,
    missing: Missing = "error",
    progress: bool | None = None,
) -> RowSource:
    r"""Return the rows of CSV files, which are read some thousand rows at a time whenever they are needed.

    The first line names the columns. Empty values, NA, N/A, NaN, null, None, ``?`` and ``-`` are missing ones; empty
    lines are skipped, and so is a row of units below the names. Percent signs are passed over.

    Parameters
    ----------
    path : path, or list of paths
        A file, also compressed (``.gz``, ``.zst``, ``.bz2``); a folder (all its ``.csv``, ``.tsv`` and ``.tab`` files,
        also those in folders below, sorted), or a pattern such as ``"data/2024-*.csv.gz"``. All files must have the
        columns that are used.
    columns : sequence of str, optional
        The columns to use, in this order. By default all, which must then hold numbers.
    {exclude}
    {by}
    delimiter : str, optional
        What separates the values, by default as the first lines tell. A blank stands for any number of them.
    decimal : {".", ","}
        The decimal mark.
    encoding : str
        The encoding of the text.
    header : bool, optional
        Whether the first line names the columns; without names they are ``x0``, ``x1``, ... By default it must do so,
        and a line that looks like data is an error.
    comment : str, optional
        Lines that start with this are skipped.
    {missing_and_progress}

    {returned_rows}

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import uptonoise as un
    >>> from uptonoise.engines import scan_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.csv")
    ...     _ = path.write_text("site;x\nBerlin;1,5\nParis;NA\nBerlin;2\n")
    ...     source = scan_csv(path, columns=["x"], decimal=",", missing="drop")
    ...     un.Sketch([[1.0]]).update(source), source.n_dropped
    (Sketch(2 rows, 1 frequency, 1 column: x), 1)
    """
    csv_format = CsvFormat(delimiter, decimal, encoding, header, comment)
    paths, name = data_files(path, CSV_SUFFIXES, TEXT_SUFFIXES)
    files = [CsvFile(file, csv_format) for file in paths]
    return FileRows(files, name, columns=columns, exclude=exclude, by=by, missing=missing, progress=progress)


class CsvFile(TableFile):
    """One CSV file: its first rows are looked at here, all of them when they are read."""

    is_text = True

    def __init__(self, path: Path, csv_format: CsvFormat) -> None:
        try:  # to say at once that it is missing
            import pyarrow  # noqa: F401
        except ImportError:
            raise ImportError(NEEDS_ARROW) from None
        self.path, self._decimal = path, csv_format.decimal
        self._layout = layout = Layout(path, csv_format)
        self.names = self.data_names = layout.names
        self.notes = layout.notes
        self.first_row = "the first after the header is 1" if layout.has_header else "the first is 1"
        sample, layout.rows = layout.rows, []
        self._has_rows = bool(sample) or not layout.is_whole
        self.not_numbers: dict[str, str] = {}
        self.options_to_read: dict[str, dict[str, str]] = {}
        self.maybe_thousands: set[str] = set()
        self._first: dict[str, Floats] = {}
        self._too_long: dict[str, str] = {}  # of each column a whole number that float64 would round
        kinds = [self._look(name, place, sample) for place, name in enumerate(self.names)]
        self._kinds = dict(zip(self.names, kinds, strict=True))
        if "" in self._kinds:
            is_empty = {kind for name, kind in zip(self.names, kinds, strict=True) if not name} == {"missing"}
            self.not_numbers[""] = "no values" if is_empty else "what may be the numbers of the rows"

    def _look(self, name: str, place: int, sample: list[list[str]]) -> Kind:
        """Note what the first values of a column hold, and return how they are to be read."""
        values = [(row[place], number) for number, row in enumerate(sample, 1) if len(row) > place]
        found = [(kind_of(value, self._decimal), value, number) for value, number in values]
        present = [cell for cell in found if cell[0] != "missing"]
        kinds = {kind for kind, _, _ in present}
        self.options_to_read.pop(name, None)  # of columns that share a name the last one counts
        self.maybe_thousands.discard(name)
        if kinds and kinds.isdisjoint(("number", "truth", "percentage")):
            # A value such as 1,5 tells more than 1,500, which may be a thousand and a half.
            telling = "other decimal" if kinds == {"other decimal", "thousands"} else present[0][0]
            value, number = next((value, number) for kind, value, number in present if kind == telling)
            what = "dates or times" if all(DATE_TEXT.fullmatch(value.strip()) for _, value, _ in present) else "text"
            self.not_numbers[name] = f"{what} ({shortened(value)} in row {number})"
            if telling == "other decimal" and OTHER_DECIMAL[self._decimal] != self._layout.delimiter:
                self.options_to_read[name] = {"decimal": OTHER_DECIMAL[self._decimal]}
            if THOUSANDS.fullmatch(value.strip()):
                self.maybe_thousands.add(name)
            return "text"
        for _, value, _ in present:
            whole = _LONG_INTEGER.fullmatch(value)
            if whole and int(whole[1]) > 2**53:
                self._too_long.setdefault(name, value)
        first = []
        for value, number in values:
            if number > SAMPLE_ROWS:
                break
            bare = value.strip().rstrip("% ")
            kind = kind_of(bare, self._decimal)
            as_number = float(bare.replace(",", ".")) if kind == "number" else np.nan
            first.append(float(bare.lower() == "true") if kind == "truth" else as_number)
        self._first[name] = np.array(first)
        if "percentage" in kinds:
            self._layout.notes.append(f"{self.path}: the percent signs of {name!r} are left out, 61% is 61")
            return "percentage"
        return "missing" if not present else "truth" if present[0][0] == "truth" else "number"

    def first_values(self, names: Sequence[str]) -> dict[str, Floats]:
        """Return the first values of columns of numbers; NaN where one is missing."""
        return {name: self._first[name] for name in names if name in self._first}

    def pieces(self, columns: Sequence[str], groups: Sequence[str] = ()) -> Generator[Piece, None, None]:
        """Yield what Arrow's streaming reader parses."""
        if not self._has_rows:
            return
        for name in filter(self._too_long.__contains__, columns):
            problem = (
                f"{self.path}: the column {name!r} has whole numbers beyond 2^53 in size, such as "
                f"{self._too_long[name]}, which float64 would round"
            )
            raise hinted(ValueError, problem, "subtract a constant, or leave it out with {exclude}", exclude=[name])
        import pyarrow as pa
        from pyarrow import csv as pa_csv

        layout, n_rows = self._layout, 0
        kinds = {"percentage": pa.string(), "truth": pa.bool_()}
        types = {name: kinds.get(self._kinds[name], pa.float64()) for name in columns}
        try:
            reading = pa_csv.ReadOptions(
                block_size=max(_BLOCK_BYTES, _BLOCK_PER_HEADER * sum(len(name) + 1 for name in self.names)),
                # Arrow wants distinct names, also of columns without one.
                column_names=[name or f"\0{place}" for place, name in enumerate(self.names)],
                skip_rows_after_names=layout.n_skipped,
                encoding="utf8" if layout.encoding == "utf-8" or not layout.is_clean else layout.encoding,
            )
            converting = pa_csv.ConvertOptions(
                include_columns=[*columns, *dict.fromkeys(groups)],
                column_types=types | dict.fromkeys(groups, pa.string()),
                null_values=NULL_VALUES,
                strings_can_be_null=True,
                decimal_point=self._decimal,
            )
            parsing = pa_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True)
            size = max(self.path.stat().st_size, 1)
            with pa.OSFile(str(self.path)) as file:
                if isinstance(layout.packing, Sheet):
                    stream = pa.PythonFile(unpacked(self.path, layout.packing), "r")
                else:
                    stream = file if layout.packing is None else pa.CompressedInputStream(file, layout.packing)
                if not layout.is_clean:
                    stream = pa.PythonFile(CleanedBytes(stream, layout.encoding, layout.cleaned), "r")
                with pa_csv.open_csv(stream, reading, parsing, converting) as reader:
                    for batch in reader:
                        at_once = chunk_rows(batch.num_columns)
                        for start in range(0, batch.num_rows, at_once):
                            rows = batch.slice(start, at_once)
                            values = np.empty((len(columns), rows.num_rows))
                            for place, name in enumerate(columns):
                                numbers = rows.column(name)
                                if self._kinds[name] == "percentage":
                                    numbers = self._without_percent_signs(numbers)
                                if numbers.null_count or not pa.types.is_float64(numbers.type):
                                    numbers = numbers.cast(pa.float64()).fill_null(np.nan)
                                values[place] = np.from_dlpack(numbers)  # without pandas, as in arrow.py
                            labels = tuple(groups_of(rows.column(name)) for name in groups)
                            n_rows += rows.num_rows
                            yield Piece(values.T, labels, file.tell() / size)
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise self._explained(error, columns, n_rows) from None

    def _without_percent_signs(self, text: Any) -> Any:
        """Return a column of text as numbers, without percent signs."""
        import pyarrow as pa
        from pyarrow import compute  # here: its import takes longer than a small file

        text = compute.utf8_trim_whitespace(compute.replace_substring(text, "%", ""))
        return compute.replace_substring(text, self._decimal, ".").cast(pa.float64())

    def _explained(self, error: Exception, columns: Sequence[str], n_rows: int) -> ValueError:
        """Return what is wrong with the file behind the first `n_rows` rows, and where."""
        try:
            fault = next(self._faults(columns, n_rows), None)
        except UnicodeError as wrong:
            return wrong_encoding(self.path, self._layout.encoding, wrong)
        except (OSError, EOFError, zlib.error) as wrong:
            return ValueError(f"{self.path} is cut short or damaged: {first_line(wrong)}")
        except csv.Error as wrong:
            return ValueError(f"{self.path} is not a CSV file: {first_line(wrong)}")
        return fault or ValueError(f"{self.path} is not a CSV file that can be read: {first_line(error)}")

    def _faults(self, columns: Sequence[str], n_rows: int) -> Iterator[ValueError]:
        """Yield what is wrong behind the first `n_rows` rows."""
        layout = self._layout
        good: dict[Kind, tuple[Kind, ...]] = {"truth": ("truth",), "percentage": ("number", "percentage")}
        places = {name: place for place, name in enumerate(self.names)}
        with unpacked(self.path, layout.packing) as file:
            lines = io.TextIOWrapper(file, layout.encoding, newline="")
            rows = csv.reader(map(layout.cleaned, lines), delimiter=layout.delimiter)
            for _ in range(layout.n_skipped):
                next(rows)
            for number, row in itertools.islice(enumerate(filter(None, rows)), n_rows, None):
                if len(row) != len(self.names):
                    yield ValueError(
                        f"{self.path}: line {rows.line_num:,} must have {counted(len(self.names), 'value')}, as the "
                        f"{'header' if layout.has_header else 'first line'} has; got {len(row)}: "
                        f"{shortened(layout.delimiter.join(row))}"
                    )
                for name in columns:
                    value = row[places[name]]
                    kind = kind_of(value, self._decimal)
                    if kind in (*good.get(self._kinds[name], ("number",)), "missing"):
                        continue
                    where = f"{shortened(value)} in {self.row(number)}"
                    # A number is wrong only where the first rows are true or false, and no decimal mark helps there.
                    what = "true or false, as in its first rows" if kind == "number" else "numbers"
                    problem = f"{self.path}: the column {name!r} must hold {what}; got {where}"
                    other = OTHER_DECIMAL[self._decimal]
                    helps = self._kinds[name] != "truth" and kind != "thousands" and kind_of(value, other) == "number"
                    if not helps or other == layout.delimiter:
                        hint = "correct it, or leave the column out with {exclude}"
                        yield hinted(ValueError, problem, hint, exclude=[name])
                    yield hinted(ValueError, problem, "{decimal} reads it", decimal=other)
