"""Rows of CSV files and their kin (tabs, semicolons, gzip), parsed by Arrow a megabyte at a time.

The columns that are used are declared to be numbers, so that no guess from the first rows can go wrong later on. Where
Arrow fails, a second and slow look at the file finds the place.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from uptonoise._util.errors import hinted
from uptonoise._util.wording import counted
from uptonoise.engines.files.arrow import batch_piece, cut
from uptonoise.engines.files.groups import Groups
from uptonoise.engines.files.paths import Paths, data_files, shown_paths, suffix_of
from uptonoise.engines.files.rows import FileRows, Missing, with_row_options
from uptonoise.engines.files.table import Piece, TableFile, arrow, first_line
from uptonoise.engines.files.text import (
    NULL_VALUES,
    guessed_delimiter,
    is_missing,
    is_number,
    is_truth,
    other_decimal,
    shortened,
    text_sample,
    typed_key,
    wrong_encoding,
)
from uptonoise.rows import RowSource

CSV_SUFFIXES = (".csv", ".tsv", ".tab")
TEXT_SUFFIXES = (*CSV_SUFFIXES, ".txt")
_BLOCK_BYTES = 1 << 20
_BLOCK_PER_HEADER = 16  # a block must hold a line, and numbers are longer than names


@dataclass(frozen=True)
class CsvFormat:
    """How numbers and columns are written."""

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        is_character = isinstance(self.delimiter, str) and len(self.delimiter) == 1
        if self.delimiter is not None and (not is_character or self.delimiter in '"\r\n'):
            raise ValueError(f"delimiter must be one character, such as ',' or ';'; got {self.delimiter!r}")
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal must be '.' or ','; got {self.decimal!r}")
        if self.decimal == self.delimiter:
            raise ValueError(f"delimiter and decimal must differ; both are {self.decimal!r}")
        try:
            codecs.lookup(self.encoding)
        except (LookupError, TypeError):
            raise ValueError(
                f"encoding must be one that Python knows, such as 'utf-8'; got {self.encoding!r}"
            ) from None


@with_row_options
def scan_csv(
    path: Paths,
    *,
    columns: Sequence[str] | None = None,
    by: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    missing: Missing = "error",
    progress: bool | None = None,
) -> RowSource:
    r"""Return the rows of CSV files, which are read some thousand rows at a time whenever they are needed.

    The first line names the columns. Empty values, NA, N/A, NaN, null and None, in capitals or not, are missing ones;
    empty lines are skipped.

    Parameters
    ----------
    path : path, or list of paths
        A file, gzipped or not; a folder (all its ``.csv``, ``.tsv`` and ``.tab`` files, also those in folders below,
        sorted), or a pattern such as ``"data/2024-*.csv.gz"``. All files must have the columns that are used.
    columns : sequence of str, optional
        The columns to use, in this order. By default all, which must then hold numbers.
    {by}
    delimiter : str, optional
        What separates the values; by default a tab in ``.tsv`` and ``.tab`` files, otherwise the one of comma,
        semicolon, tab and ``|`` that fits the first lines.
    decimal : {".", ","}
        The decimal mark.
    encoding : str
        The encoding of the text.
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
    csv_format = CsvFormat(delimiter, decimal, encoding)
    files = [CsvFile(file, csv_format) for file in data_files(path, _csv_files)]
    return FileRows(files, shown_paths(path), columns=columns, by=by, missing=missing, progress=progress)


def _csv_files(folder: Path, files: list[Path]) -> list[Path]:
    tables = [file for file in files if suffix_of(file) in CSV_SUFFIXES]
    return tables or [file for file in files if suffix_of(file) in TEXT_SUFFIXES]


class _Look(NamedTuple):
    """What the first rows of a column hold: the first value, its row, if it is a truth value, and if all are text."""

    value: str
    row: int
    is_truth: bool
    is_text: bool


class CsvFile(TableFile):
    """One CSV file: its first rows are looked at here, all of them when they are read."""

    first_row = "the first after the header is 1"

    def __init__(self, path: Path, csv_format: CsvFormat) -> None:
        arrow()  # to say at once that it is missing
        self.path, self._decimal = path, csv_format.decimal
        text, is_whole, self._encoding, self._is_gzipped = text_sample(path, csv_format.encoding)
        self._delimiter = csv_format.delimiter or guessed_delimiter(path, text, csv_format.decimal)
        rows = self._rows(text)
        if not is_whole and len(rows) > 1:
            rows.pop()  # cut off within a value, perhaps
        self._header_rows = next((number for number, row in enumerate(rows, 1) if row), 0)
        if not self._header_rows:
            raise ValueError(f"{path} is empty; its first line must name the columns")
        self.names = self.data_names = tuple(rows[self._header_rows - 1])
        self._places = {name: place for place, name in enumerate(self.names)}
        if all(is_number(name, self._decimal) or is_missing(name) for name in self.names):
            raise ValueError(
                f"{path} must name its columns in the first line; got {shortened(self._delimiter.join(self.names))}. "
                "Put a line with names in front"
            )
        sample = [row for row in rows[self._header_rows :] if row]
        self._has_rows = bool(sample) or not is_whole
        self._looks = [self._look(sample, place) for place in range(len(self.names))]

    def _rows(self, text: str) -> list[list[str]]:
        try:
            return list(csv.reader(io.StringIO(text, newline=""), delimiter=self._delimiter))
        except csv.Error as error:
            raise ValueError(f"{self.path} is not a CSV file: {first_line(error)}") from None

    def _look(self, sample: list[list[str]], place: int) -> _Look | None:
        values = [(row[place], number) for number, row in enumerate(sample) if len(row) > place]
        present = [(value, number) for value, number in values if not is_missing(value)]
        if not present:
            return None
        is_text = not any(is_number(value, self._decimal) or is_truth(value) for value, _ in present)
        return _Look(*present[0], is_truth(present[0][0]), is_text)

    def not_numbers(self) -> dict[str, str]:
        """Return the columns whose first values are all text, and those that have no name."""
        texts = {
            name: f"text ({shortened(look.value)} in row {look.row + 1})"
            for name, look in zip(self.names, self._looks, strict=True)
            if look is not None and look.is_text
        }
        return texts | ({"": "what may be the numbers of the rows"} if "" in self.names else {})

    def options_to_read(self, name: str) -> dict[str, str]:
        """Return the other decimal mark where the first value of a column is a number with it."""
        look = self._looks[self._places[name]]
        other = other_decimal(look.value, self._decimal) if look is not None and look.is_text else None
        return {} if other is None else {"decimal": other}

    def not_groups(self) -> dict[str, str]:
        """Return nothing: text can always be a group."""
        return {}

    def pieces(self, columns: Sequence[str], by: str | None) -> Generator[Piece, None, None]:
        """Yield what Arrow's streaming reader parses."""
        if not self._has_rows:
            return
        pa = arrow()
        n_rows = 0
        try:
            with self._reader(columns, by) as (reader, fraction):
                for batch in itertools.chain.from_iterable(map(cut, reader)):
                    piece = batch_piece(batch, columns, by, fraction())
                    n_rows += batch.num_rows
                    yield piece if piece.groups is None else piece._replace(groups=_with_types(piece.groups))
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise self._explained(error, columns, n_rows) from None

    @contextmanager
    def _reader(self, columns: Sequence[str], by: str | None) -> Iterator[tuple[Any, Callable[[], float]]]:
        pa, pa_csv = arrow(), arrow("pyarrow.csv")
        wanted = [*columns, *([] if by is None else [by])]
        reading = pa_csv.ReadOptions(
            block_size=max(_BLOCK_BYTES, _BLOCK_PER_HEADER * sum(len(name) + 1 for name in self.names)),
            # Arrow wants distinct names, also of columns without one.
            column_names=[name or f"\0{place}" for place, name in enumerate(self.names)],
            skip_rows_after_names=self._header_rows,
            encoding="utf8" if self._encoding == "utf-8" else self._encoding,
        )
        parsing = pa_csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True)
        converting = pa_csv.ConvertOptions(
            include_columns=wanted,
            column_types={name: self._type(name, by) for name in wanted},
            null_values=NULL_VALUES,
            strings_can_be_null=True,
            decimal_point=self._decimal,
        )
        size = max(self.path.stat().st_size, 1)
        with pa.OSFile(str(self.path)) as file:
            stream = pa.CompressedInputStream(file, "gzip") if self._is_gzipped else file
            with pa_csv.open_csv(stream, reading, parsing, converting) as reader:
                yield reader, lambda: file.tell() / size

    def _type(self, name: str, by: str | None) -> Any:
        pa = arrow()
        if name == by:
            return pa.string()
        look = self._looks[self._places[name]]
        return pa.bool_() if look is not None and look.is_truth else pa.float64()

    def _explained(self, error: Exception, columns: Sequence[str], n_rows: int) -> ValueError:
        """Return what is wrong with the file behind the first `n_rows` rows, and where."""
        try:
            fault = next(self._faults(columns, n_rows), None)
        except UnicodeError as wrong:
            return wrong_encoding(self.path, self._encoding, wrong)
        except (OSError, EOFError, zlib.error) as wrong:
            return ValueError(f"{self.path} is cut short or damaged: {first_line(wrong)}")
        except csv.Error as wrong:
            return ValueError(f"{self.path} is not a CSV file: {first_line(wrong)}")
        return fault or ValueError(f"{self.path} is not a CSV file that can be read: {first_line(error)}")

    def _faults(self, columns: Sequence[str], n_rows: int) -> Iterator[ValueError]:
        truths = {name for name in columns if self._type(name, None) == arrow().bool_()}
        with gzip.open(self.path) if self._is_gzipped else self.path.open("rb") as file:
            text = io.TextIOWrapper(cast(BinaryIO, file), self._encoding, newline="")
            rows = csv.reader(text, delimiter=self._delimiter)
            for _ in range(self._header_rows):
                next(rows)
            for number, row in itertools.islice(enumerate(filter(None, rows)), n_rows, None):
                if len(row) != len(self.names):
                    yield ValueError(
                        f"{self.path}: line {rows.line_num:,} must have {counted(len(self.names), 'value')}, as the "
                        f"header has; got {len(row)}: {shortened(self._delimiter.join(row))}"
                    )
                for name in columns:
                    value = row[self._places[name]]
                    is_good = is_truth(value) if name in truths else is_number(value, self._decimal)
                    if not is_good and not is_missing(value):
                        yield self._no_number(name, value, number)

    def _no_number(self, name: str, value: str, number: int) -> ValueError:
        problem = f"{self.path}: the column {name!r} must hold numbers; got {shortened(value)} in {self.row(number)}"
        other = other_decimal(value, self._decimal)
        return (
            ValueError(problem) if other is None else hinted(ValueError, problem, "{decimal} reads it", decimal=other)
        )


def _with_types(groups: Groups) -> Groups:
    return groups._replace(keys=[typed_key(key) for key in groups.keys])
