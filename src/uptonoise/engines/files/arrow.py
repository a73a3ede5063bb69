"""Files whose format says the types of columns, which Arrow reads: Parquet, and Arrow's own (Feather)."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from uptonoise.engines.files.groups import Groups
from uptonoise.engines.files.paths import Paths, data_files
from uptonoise.engines.files.rows import FileRows, with_row_options
from uptonoise.engines.files.table import NEEDS_ARROW, Piece, TableFile, first_line
from uptonoise.rows import Missing, RowSource, chunk_rows

PARQUET_SUFFIXES = (".parquet", ".pq")
_READ_BYTES, _MOST_READ_BYTES = 1 << 20, 1 << 26  # of each column, and of all, so that no row group is held as a whole
_DIRECTORY = b"ARROW1"
_END, _OLD_END = b"\xff\xff\xff\xff\0\0\0\0", b"\0\0\0\0"  # of a stream; the old one before version 0.15


@with_row_options
def scan_parquet(
    path: Paths,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    by: str | None = None,
    missing: Missing = "error",
    progress: bool | None = None,
) -> RowSource:
    """Return the rows of Parquet files, which are read some thousand rows at a time whenever they are needed.

    Parameters
    ----------
    path : path, or list of paths
        A file, a folder (all its ``.parquet`` and ``.pq`` files, also those in folders below, sorted), or a pattern
        such as ``"data/2024-*.parquet"``. All files must have the columns that are used.
    columns : sequence of str, optional
        The columns to use, in this order; only they are read. By default all, which must then be numeric.
    {exclude}
    {by}
    {missing_and_progress}

    {returned_rows}

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, pyarrow as pa, pyarrow.parquet as pq
    >>> import uptonoise as un
    >>> from uptonoise.engines import scan_parquet
    >>> rows = np.random.default_rng(0).normal(size=(1_000, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.parquet")
    ...     pq.write_table(pa.table({"x": rows[:, 0], "y": rows[:, 1]}), path)
    ...     un.Sketch([[1.0, 2.0]]).update(scan_parquet(path))
    Sketch(1,000 rows, 1 frequency, 2 columns: x, y)
    """
    paths, name = data_files(path, PARQUET_SUFFIXES)
    files = [ParquetFile(file) for file in paths]
    return FileRows(files, name, columns=columns, exclude=exclude, by=by, missing=missing, progress=progress)


class TypedFile(TableFile):
    """A file whose format says the type of each column."""

    format: str  # in words

    def __init__(self, path: Path, schema: Any, n_rows: int | None) -> None:
        self.path, self.n_rows = path, n_rows
        self.names = tuple(schema.names)
        try:  # what pandas keeps as the labels of the rows is no column of its frame, hence none here
            labels = (schema.pandas_metadata or {}).get("index_columns", [])
        except (ValueError, AttributeError, RecursionError):
            raise OSError("what pandas noted in it cannot be read") from None
        labels = labels if isinstance(labels, list) else []
        self.data_names = tuple(name for name in self.names if name not in labels)
        self.not_numbers, self.not_groups, self.group_kinds = {}, {}, {}
        from pyarrow import types

        for name, kind in dict(zip(schema.names, schema.types, strict=True)).items():
            plain = kind.value_type if types.is_dictionary(kind) else kind
            is_number = types.is_integer(plain) or types.is_floating(plain)
            is_truth, is_text = types.is_boolean(plain), _described(plain) == "text"
            is_date = types.is_date(plain) or types.is_timestamp(plain) or types.is_time(plain)
            self.group_kinds[name] = "numbers" if is_number else _described(plain)
            if not (is_number or is_truth or types.is_decimal(plain) or types.is_null(plain)):
                self.not_numbers[name] = "text" if is_text else _described(kind)
            if not (is_number or is_truth or is_text or is_date):
                self.not_groups[name] = _described(kind)

    def pieces(self, columns: Sequence[str], groups: Sequence[str] = ()) -> Generator[Piece, None, None]:
        """Yield the file's batches."""
        import pyarrow as pa

        try:
            with closing(self._batches([*columns, *groups])) as batches:
                for batch, fraction in batches:
                    # The values lie column by column, as Arrow has them; whoever computes turns them, block by block.
                    values = np.empty((len(columns), batch.num_rows))
                    for place, name in enumerate(columns):
                        column = batch.column(name)
                        if pa.types.is_dictionary(column.type):
                            column = column.dictionary_decode()
                        if pa.types.is_integer(column.type) and column.type.bit_width == 64:
                            column = self._exact(column, name)
                        elif not pa.types.is_floating(column.type):
                            column = column.cast(pa.float64(), safe=False)
                        if column.null_count:
                            column = column.cast(pa.float64()).fill_null(np.nan)
                        # Arrow's own way to numpy imports pandas where there is one, and an interruption during that
                        # import is lost.
                        values[place] = np.from_dlpack(column)
                    yield Piece(values.T, tuple(groups_of(batch.column(name)) for name in groups), fraction)
        except FileNotFoundError:
            raise  # it was there when it was opened first; the message names it
        except (pa.ArrowException, OSError) as error:
            raise self.unreadable(error) from None
        finally:
            pa.default_memory_pool().release_unused()  # some 200 MB, for rows that are not read again

    def _exact(self, column: Any, name: str) -> Any:
        """Return whole numbers as float64; raise where it would round them."""
        import pyarrow as pa

        try:
            return column.cast(pa.float64())
        except pa.ArrowInvalid as error:
            problem = f"the column {name!r} must have whole numbers up to 2^53 in size, which float64 holds exactly"
            hint = "Subtract a constant first, such as the smallest value of both samples"
            raise ValueError(f"{self.path}: {problem}: {first_line(error)}. {hint}") from None

    @abstractmethod
    def _batches(self, wanted: Sequence[str]) -> Generator[tuple[Any, float], None, None]:
        """Yield batches of these columns, which are small enough, with the part of the file read so far."""

    def unreadable(self, error: BaseException) -> ValueError:
        """Return the error about a file that Arrow cannot read."""
        return ValueError(f"{self.path} is not {self.format}, or it is cut short or damaged: {first_line(error)}")


class ArrowFile(TypedFile):
    """A file in Arrow's own format, as Feather and polars write it: batches with a directory, or a stream of them."""

    format = "a file in Arrow's format (Feather version 2)"

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow as pa
        except ImportError:
            raise ImportError(NEEDS_ARROW) from None
        self.path = path
        with path.open("rb") as start:  # for Python's own word where it cannot be opened
            self._has_directory = start.read(len(_DIRECTORY)) == _DIRECTORY
        try:
            with pa.OSFile(str(path)) as file, self._reader(file) as reader:
                n_rows = None
                if reader.schema.names and self._has_directory:  # one column is enough to count rows
                    n_rows = sum(int(batch.num_rows) for batch in _all_batches(self._reader(file, [0])))
                super().__init__(path, reader.schema, n_rows)
        except (pa.ArrowException, OSError) as error:
            raise self.unreadable(error) from None

    def _batches(self, wanted: Sequence[str]) -> Generator[tuple[Any, float], None, None]:
        import pyarrow as pa

        chosen, done = set(wanted), 0
        fields = [place for place, name in enumerate(self.names) if name in chosen]
        with pa.OSFile(str(self.path)) as file, self._reader(file, fields) as reader:
            for batch in _all_batches(reader):
                batch.validate(full=True)  # damaged files may have buffers that are shorter than their columns
                at_once = chunk_rows(batch.num_columns)
                for start in range(0, batch.num_rows, at_once):
                    part = batch.slice(start, at_once)
                    done += part.num_rows
                    yield part, done / self.n_rows if self.n_rows else file.tell() / file.size()
            if not self._has_directory:
                _check_end(self.path)

    def _reader(self, file: Any, fields: Sequence[int] = ()) -> Any:
        import pyarrow as pa

        options = pa.ipc.IpcReadOptions(included_fields=list(fields))
        return (pa.ipc.open_file if self._has_directory else pa.ipc.open_stream)(file, options=options)


class ParquetFile(TypedFile):
    """One Parquet file, or some of its row groups."""

    format = "a Parquet file"

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow as pa
            from pyarrow import parquet as pq
        except ImportError:
            raise ImportError(NEEDS_ARROW) from None
        self.path = path
        path.open("rb").close()  # for Python's own word where it cannot be opened
        try:
            with pq.ParquetFile(path) as file:
                super().__init__(path, file.schema_arrow, file.metadata.num_rows)
                self._groups = range(file.metadata.num_row_groups)
                self._sizes = [file.metadata.row_group(group).num_rows for group in self._groups]
        except (pa.ArrowException, OSError) as error:
            raise self.unreadable(error) from None

    def split(self, n_rows: int) -> list[ParquetFile]:
        """Return runs of row groups, of `n_rows` rows each or somewhat more."""
        parts, start, held = [], 0, 0
        for group, size in enumerate(self._sizes):
            held += size
            if held >= n_rows or group == len(self._sizes) - 1:
                part = copy(self)
                part._groups, part.n_rows = range(start, group + 1), held
                part.rows_before = sum(self._sizes[:start])
                parts.append(part)
                start, held = group + 1, 0
        return parts

    def _batches(self, wanted: Sequence[str]) -> Generator[tuple[Any, float], None, None]:
        from pyarrow import parquet as pq

        # pre_buffer, the default of recent versions, would read the whole file ahead.
        buffer, done = min(_READ_BYTES, _MOST_READ_BYTES // max(len(wanted), 1)), 0
        options = {"buffer_size": buffer, "pre_buffer": False, "page_checksum_verification": True}
        with pq.ParquetFile(self.path, **options) as file:
            for batch in file.iter_batches(chunk_rows(len(wanted)), row_groups=self._groups, columns=wanted):
                done += batch.num_rows
                yield batch, done / max(self.n_rows or 0, 1)


def _check_end(path: Path) -> None:
    """Raise where a stream of batches has no mark at its end: more batches may have been cut off."""
    with path.open("rb") as file:
        is_new = file.read(4) == _END[:4]
        file.seek(-len(_END), os.SEEK_END)
        end = file.read()
    if not end.endswith((_END,) if is_new else (_END, _OLD_END)):
        raise OSError("the mark at the end of the stream is missing")


def _all_batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):
        return (reader.get_batch(number) for number in range(reader.num_record_batches))
    return iter(reader)


def groups_of(column: Any) -> Groups:
    """Return a column as groups."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        from pyarrow import compute

        column = compute.if_else(compute.is_nan(column), None, column)
    if pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type) and column.null_count == 0:
        return Groups(np.from_dlpack(column).astype(np.int64), None)
    encoded = column.dictionary_encode()
    return Groups(encoded.dictionary.to_pylist(), np.from_dlpack(encoded.indices.fill_null(-1)))


def _described(kind: Any) -> str:
    """Return what a column of a type holds, in words."""
    import pyarrow as pa

    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view():
        return "text"
    return f"dates or times ({kind})" if pa.types.is_temporal(kind) else f"values of the type {kind}"
