"""Rows of CSV files and their kin (tabs, blanks, gzip), parsed by Arrow a megabyte at a time.

The columns that are used are declared to be numbers, so that no guess from the first rows can go wrong later on. Where
Arrow fails, a second and slow look at the file finds the place.
"""

from __future__ import annotations

import csv
import io
import itertools
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from uptonoise._util.errors import hinted
from uptonoise._util.typing import Floats
from uptonoise.engines.files.arrow import batch_piece, cut
from uptonoise.engines.files.groups import Groups
from uptonoise.engines.files.layout import CsvFormat, Layout
from uptonoise.engines.files.lines import CleanedBytes, Sheet, unpacked
from uptonoise.engines.files.paths import Paths, data_files, shown_paths, suffix_of
from uptonoise.engines.files.rows import FileRows, with_row_options
from uptonoise.engines.files.table import SAMPLE_ROWS, Piece, TableFile, arrow, first_line
from uptonoise.engines.files.text import (
    NULL_VALUES,
    has_thousands,
    is_missing,
    is_number,
    is_percentage,
    is_too_long,
    is_truth,
    other_decimal,
    shortened,
    typed_key,
    wrong_encoding,
)
from uptonoise.rows import DATE_TEXT, Missing, RowSource

CSV_SUFFIXES = (".csv", ".tsv", ".tab")
TEXT_SUFFIXES = (*CSV_SUFFIXES, ".txt", ".dat", ".asc", ".data")
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
    files = [CsvFile(file, csv_format) for file in data_files(path, _csv_files)]
    name = shown_paths(path)
    return FileRows(files, name, columns=columns, exclude=exclude, by=by, missing=missing, progress=progress)


def _csv_files(folder: Path, files: list[Path]) -> list[Path]:
    tables = [file for file in files if suffix_of(file) in CSV_SUFFIXES]
    return tables or [file for file in files if suffix_of(file) in TEXT_SUFFIXES]


class _Look(NamedTuple):
    """What the first rows of a column hold: the first value and its row, and which kind all of them are of."""

    value: str
    row: int
    is_truth: bool
    is_text: bool
    is_date: bool
    is_percentage: bool
    too_long: str | None  # a whole number that float64 would round

    def described(self) -> str:
        """Return what a column that is no numbers holds."""
        kind = "dates or times" if self.is_date else "text"
        return f"{kind} ({shortened(self.value)} in row {self.row + 1})"


class CsvFile(TableFile):
    """One CSV file: its first rows are looked at here, all of them when they are read."""

    def __init__(self, path: Path, csv_format: CsvFormat) -> None:
        arrow()  # to say at once that it is missing
        self.path, self._decimal = path, csv_format.decimal
        self.names: tuple[str, ...]
        layout = Layout(path, csv_format)
        self.names = self.data_names = layout.names
        self.notes = layout.notes
        self.first_row = "the first after the header is 1" if layout.has_header else "the first is 1"
        self._places = {name: place for place, name in enumerate(self.names)}
        sample, layout.rows = layout.rows, []
        self._layout = layout
        self._has_rows = bool(sample) or not layout.is_whole
        self._looks = [self._look(sample, place) for place in range(len(self.names))]
        self._first = {
            name: self._numbers(sample, place)
            for place, (name, look) in enumerate(zip(self.names, self._looks, strict=True))
            if look is None or not look.is_text
        }
        self._percentages = {
            name for name, look in zip(self.names, self._looks, strict=True) if look is not None and look.is_percentage
        }
        for name in filter(self._percentages.__contains__, self.names):
            self.notes.append(f"{path}: the percent signs of {name!r} are left out, 61% is 61")

    def _look(self, sample: list[list[str]], place: int) -> _Look | None:
        values = [(row[place], number) for number, row in enumerate(sample) if len(row) > place]
        present = [(value, number) for value, number in values if not is_missing(value)]
        if not present:
            return None
        texts = [value for value, _ in present]
        # A value such as 1,5 tells more than 1,500, which may be a thousand and a half.
        if all(is_number(value, {".": ",", ",": "."}[self._decimal]) for value in texts):
            present = [place for place in present if other_decimal(place[0], self._decimal) is not None] or present
        numbers = [is_number(value, self._decimal) or is_truth(value) for value in texts]
        percentages = [is_percentage(value, self._decimal) for value in texts]
        return _Look(
            *present[0],
            is_truth=is_truth(texts[0]),
            is_text=not any(numbers) and not any(percentages),
            is_date=all(map(DATE_TEXT.fullmatch, map(str.strip, texts))),
            is_percentage=any(percentages),
            too_long=next(filter(is_too_long, texts), None),
        )

    def _numbers(self, sample: list[list[str]], place: int) -> Floats:
        values = [row[place].strip().rstrip("% ") for row in sample[:SAMPLE_ROWS] if len(row) > place]
        numbers = [value.replace(",", ".") if is_number(value, self._decimal) else "nan" for value in values]
        truths = {place: value.lower() == "true" for place, value in enumerate(values) if is_truth(value)}
        return np.array([float(truths.get(place, number)) for place, number in enumerate(numbers)])

    def not_numbers(self) -> dict[str, str]:
        """Return the columns whose first values are all text, and those that have no name."""
        looks = zip(self.names, self._looks, strict=True)
        texts = {name: look.described() for name, look in looks if look is not None and look.is_text}
        if "" not in self.names:
            return texts
        is_empty = all(look is None for name, look in zip(self.names, self._looks, strict=True) if not name)
        return texts | {"": "no values" if is_empty else "what may be the numbers of the rows"}

    def first_values(self, names: Sequence[str]) -> dict[str, Floats]:
        """Return the first values of columns of numbers; NaN where one is missing."""
        return {name: self._first[name] for name in names if name in self._first}

    def options_to_read(self, name: str) -> dict[str, str]:
        """Return the other decimal mark where the first value of a column is a number with it."""
        look = self._looks[self._places[name]]
        other = other_decimal(look.value, self._decimal) if look is not None and look.is_text else None
        return {} if other in (None, self._layout.delimiter) else {"decimal": str(other)}

    def may_have_thousands(self, name: str) -> bool:
        """Tell whether the first value of a column of text is a number with a mark for thousands, such as 1,500."""
        look = self._looks[self._places[name]]
        return look is not None and look.is_text and has_thousands(look.value)

    def not_groups(self) -> dict[str, str]:
        """Return nothing: text can always be a group."""
        return {}

    def pieces(self, columns: Sequence[str], by: str | None, texts: Sequence[str] = ()) -> Generator[Piece, None, None]:
        """Yield what Arrow's streaming reader parses."""
        if not self._has_rows:
            return
        pa = arrow()
        n_rows = 0
        self._check_exact(columns)
        try:
            with self._reader(columns, by, texts) as (reader, fraction):
                for batch in itertools.chain.from_iterable(map(cut, reader)):
                    plain = self._without_percent_signs(batch, columns) if self._percentages else batch
                    piece = batch_piece(plain, self.path, columns, by, texts, fraction())
                    n_rows += batch.num_rows
                    yield piece if piece.groups is None else piece._replace(groups=_with_types(piece.groups))
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise self._explained(error, columns, n_rows) from None

    def _check_exact(self, columns: Sequence[str]) -> None:
        """Raise where a column has whole numbers of so many digits that float64 would round them."""
        for name in columns:
            look = self._looks[self._places[name]]
            if look is not None and look.too_long is not None and not look.is_text:
                problem = (
                    f"{self.path}: the column {name!r} has whole numbers beyond 2^53 in size, such as {look.too_long}, "
                    "which float64 would round"
                )
                raise hinted(ValueError, problem, "subtract a constant, or leave it out with {exclude}", exclude=[name])

    @contextmanager
    def _reader(
        self, columns: Sequence[str], by: str | None, texts: Sequence[str]
    ) -> Iterator[tuple[Any, Callable[[], float]]]:
        pa, pa_csv = arrow(), arrow("pyarrow.csv")
        layout = self._layout
        groups = {*texts, *([] if by is None else [by])}
        wanted = [*columns, *groups]
        reading = pa_csv.ReadOptions(
            block_size=max(_BLOCK_BYTES, _BLOCK_PER_HEADER * sum(len(name) + 1 for name in self.names)),
            # Arrow wants distinct names, also of columns without one.
            column_names=[name or f"\0{place}" for place, name in enumerate(self.names)],
            skip_rows_after_names=layout.n_skipped,
            encoding="utf8" if layout.encoding == "utf-8" or not layout.is_clean else layout.encoding,
        )
        parsing = pa_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True)
        converting = pa_csv.ConvertOptions(
            include_columns=wanted,
            column_types={name: pa.string() if name in groups else self._type(name) for name in wanted},
            null_values=NULL_VALUES,
            strings_can_be_null=True,
            decimal_point=self._decimal,
        )
        size = max(self.path.stat().st_size, 1)
        with pa.OSFile(str(self.path)) as file:
            if isinstance(layout.packing, Sheet):
                stream = pa.PythonFile(unpacked(self.path, layout.packing), "r")
            else:
                stream = file if layout.packing is None else pa.CompressedInputStream(file, layout.packing)
            if not layout.is_clean:
                stream = pa.PythonFile(CleanedBytes(stream, layout.encoding, layout.cleaned), "r")
            with pa_csv.open_csv(stream, reading, parsing, converting) as reader:
                yield reader, lambda: file.tell() / size

    def _type(self, name: str) -> Any:
        pa, look = arrow(), self._looks[self._places[name]]
        if name in self._percentages:
            return pa.string()
        return pa.bool_() if look is not None and look.is_truth else pa.float64()

    def _without_percent_signs(self, batch: Any, columns: Sequence[str]) -> Any:
        for name in filter(self._percentages.__contains__, columns):
            compute = arrow("pyarrow.compute")  # here: its import takes longer than a small file
            text = compute.utf8_trim_whitespace(compute.replace_substring(batch.column(name), "%", ""))
            numbers = compute.replace_substring(text, self._decimal, ".").cast(arrow().float64())
            batch = batch.set_column(batch.schema.get_field_index(name), name, numbers)
        return batch

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
        truths = {name for name in columns if self._type(name) == arrow().bool_()}
        layout = self._layout
        with unpacked(self.path, layout.packing) as file:
            lines = io.TextIOWrapper(file, layout.encoding, newline="")
            rows = csv.reader(map(layout.cleaned, lines), delimiter=layout.delimiter)
            for _ in range(layout.n_skipped):
                next(rows)
            for number, row in itertools.islice(enumerate(filter(None, rows)), n_rows, None):
                if len(row) != len(self.names):
                    yield layout.wrong_length(rows.line_num, row)
                for name in columns:
                    value = row[self._places[name]]
                    is_good = is_truth(value) if name in truths else self._is_number(name, value)
                    if not is_good and not is_missing(value):
                        yield self._no_number(name, value, number)

    def _is_number(self, name: str, value: str) -> bool:
        is_marked = name in self._percentages and is_percentage(value, self._decimal)
        return is_marked or is_number(value, self._decimal)

    def _no_number(self, name: str, value: str, number: int) -> ValueError:
        problem = f"{self.path}: the column {name!r} must hold numbers; got {shortened(value)} in {self.row(number)}"
        other = other_decimal(value, self._decimal)
        if other in (None, self._layout.delimiter):
            return hinted(ValueError, problem, "correct it, or leave the column out with {exclude}", exclude=[name])
        return hinted(ValueError, problem, "{decimal} reads it", decimal=other)


def _with_types(groups: Groups) -> Groups:
    return groups._replace(keys=[typed_key(key) for key in groups.keys])
