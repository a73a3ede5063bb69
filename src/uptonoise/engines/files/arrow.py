"""Arrow batches as pieces of rows, and Arrow (Feather) files."""

from __future__ import annotations

import itertools
import os
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.engines.files.groups import Groups
from uptonoise.engines.files.table import Piece, TableFile, arrow, first_line
from uptonoise.rows import chunk_rows

_DIRECTORY = b"ARROW1"
_END, _OLD_END = b"\xff\xff\xff\xff\0\0\0\0", b"\0\0\0\0"  # of a stream; the old one before version 0.15


class TypedFile(TableFile):
    """A file whose format says the type of each column."""

    def __init__(self, path: Path, schema: Any, n_rows: int | None) -> None:
        self.path, self.n_rows = path, n_rows
        self.names = tuple(schema.names)
        # What pandas keeps as the labels of the rows is no column of its frame, hence none here.
        labels = _row_labels(schema)
        self.data_names = tuple(name for name in self.names if name not in labels)
        self._types = dict(zip(schema.names, schema.types, strict=True))

    def not_numbers(self) -> dict[str, str]:
        """Return the columns whose type is not numeric."""
        return {name: _described(kind) for name, kind in self._types.items() if not _is_numeric(_plain(kind))}

    def not_groups(self) -> dict[str, str]:
        """Return the columns whose type is neither text nor a number nor a date."""
        return {name: _described(kind) for name, kind in self._types.items() if not _is_group(_plain(kind))}

    def group_kind(self, name: str) -> str | None:
        """Return what the type of a column says that its groups are."""
        kind = _plain(self._types[name])
        if _is_text(kind):
            return "text"
        types = arrow().types
        return "numbers" if types.is_integer(kind) or types.is_floating(kind) else _described(kind)


class ArrowFile(TypedFile):
    """A file in Arrow's own format, as Feather and polars write it: batches with a directory, or a stream of them."""

    def __init__(self, path: Path) -> None:
        pa = arrow()
        self.path = path
        path.open("rb").close()  # for Python's own word where it cannot be opened
        try:
            with pa.OSFile(str(path)) as file, self._reader(file) as reader:
                super().__init__(path, reader.schema, self._count(file, reader.schema))
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(error) from None

    def pieces(self, columns: Sequence[str], by: str | None, texts: Sequence[str] = ()) -> Generator[Piece, None, None]:
        """Yield the file's batches, cut where they are large."""
        pa = arrow()
        wanted = {*columns, *([] if by is None else [by]), *texts}
        fields = [place for place, name in enumerate(self.names) if name in wanted]
        done = 0
        try:
            with pa.OSFile(str(self.path)) as file, self._reader(file, fields) as reader:
                for batch in itertools.chain.from_iterable(map(cut, map(_validated, _batches(reader)))):
                    done += batch.num_rows
                    fraction = done / self.n_rows if self.n_rows else file.tell() / file.size()
                    yield batch_piece(batch, self.path, columns, by, texts, fraction)
                _check_end(self.path)
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(error) from None
        finally:
            pa.default_memory_pool().release_unused()

    def _count(self, file: Any, schema: Any) -> int | None:
        """Return the number of rows of a file with a directory, None for a stream; one column is enough for that."""
        if not schema.names or not _has_directory(self.path):
            return None
        return sum(int(batch.num_rows) for batch in _batches(self._reader(file, [0])))

    def _reader(self, file: Any, fields: Sequence[int] = ()) -> Any:
        pa = arrow()
        options = pa.ipc.IpcReadOptions(included_fields=list(fields))
        return (pa.ipc.open_file if _has_directory(self.path) else pa.ipc.open_stream)(file, options=options)

    def _unreadable(self, error: BaseException) -> ValueError:
        return ValueError(
            f"{self.path} is not a file in Arrow's format (Feather version 2), or it is cut short or damaged: "
            f"{first_line(error)}"
        )


def _row_labels(schema: Any) -> list[Any]:
    """Return which columns are the labels of the rows, as pandas notes them."""
    try:
        labels = (schema.pandas_metadata or {}).get("index_columns", [])
    except (ValueError, AttributeError, RecursionError):
        raise OSError("what pandas noted in it cannot be read") from None
    return labels if isinstance(labels, list) else []


def _validated(batch: Any) -> Any:
    """Return a batch whose buffers are as long as its columns need; damaged files may say otherwise."""
    batch.validate(full=True)
    return batch


def _check_end(path: Path) -> None:
    """Raise where a stream of batches has no mark at its end: more batches may have been cut off."""
    with path.open("rb") as file:
        start = file.read(len(_DIRECTORY))
        file.seek(-len(_END), os.SEEK_END)
        end = file.read()
    marks = (_END,) if start.startswith(_END[:4]) else (_END, _OLD_END)
    if start != _DIRECTORY and not end.endswith(marks):
        raise OSError("the mark at the end of the stream is missing")


def _has_directory(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_DIRECTORY)) == _DIRECTORY


def _batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):
        return (reader.get_batch(number) for number in range(reader.num_record_batches))
    return iter(reader)


def cut(batch: Any) -> Iterator[Any]:
    """Yield a record batch in parts that are small enough."""
    n_rows = chunk_rows(batch.num_columns)
    return (batch.slice(start, n_rows) for start in range(0, batch.num_rows, n_rows))


def batch_piece(
    batch: Any, path: Path, columns: Sequence[str], by: str | None, texts: Sequence[str], fraction: float
) -> Piece:
    """Return a record batch as a piece of rows.

    The values lie column by column, as Arrow has them; whoever computes turns them, block by block and in threads.
    """
    values = np.empty((len(columns), batch.num_rows))
    for number, name in enumerate(columns):
        values[number] = _floats(batch.column(name), path, name)
    groups = None if by is None else _groups(batch.column(by))
    return Piece(values.T, groups, fraction, tuple(_groups(batch.column(name)) for name in texts))


def _floats(column: Any, path: Path, name: str) -> Floats:
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_integer(column.type) and column.type.bit_width == 64:
        column = _exact(column, path, name)
    elif not pa.types.is_floating(column.type):
        column = column.cast(pa.float64(), safe=False)
    if column.null_count:
        column = column.cast(pa.float64()).fill_null(np.nan)
    # Arrow's own way to numpy imports pandas where there is one, and an interruption during that import is lost.
    return np.from_dlpack(column)  # type: ignore[return-value]


def _exact(column: Any, path: Path, name: str) -> Any:
    """Return 64-bit integers as float64, or raise where that would round them."""
    pa = arrow()
    try:
        return column.cast(pa.float64())
    except pa.ArrowInvalid as error:
        raise ValueError(
            f"{path}: the column {name!r} must have whole numbers up to 2^53 in size, which float64 holds exactly: "
            f"{first_line(error)}. Subtract a constant first, such as the smallest value of both samples"
        ) from None


def _groups(column: Any) -> Groups:
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        compute = arrow("pyarrow.compute")
        column = compute.if_else(compute.is_nan(column), None, column)
    if pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type) and column.null_count == 0:
        return Groups(np.from_dlpack(column).astype(np.int64), None)
    encoded = column.dictionary_encode()
    codes = np.from_dlpack(encoded.indices.fill_null(-1))
    return Groups(encoded.dictionary.to_pylist(), codes)


def _plain(kind: Any) -> Any:
    return kind.value_type if arrow().types.is_dictionary(kind) else kind


def _is_numeric(kind: Any) -> bool:
    types = arrow().types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def _is_text(kind: Any) -> bool:
    types = arrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or kind == arrow().string_view())


def _is_group(kind: Any) -> bool:
    types = arrow().types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_date, types.is_timestamp, types.is_time)
    return _is_text(kind) or any(test(kind) for test in tests)


def _described(kind: Any) -> str:
    """Return what a column of a type holds, in words."""
    types = arrow().types
    if _is_text(_plain(kind)):
        return "text"
    return f"dates or times ({kind})" if types.is_temporal(kind) else f"values of the type {kind}"
