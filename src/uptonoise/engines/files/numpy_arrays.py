"""Rows of numpy's own files: .npy, read some thousand rows at a time, and .npz.

Files are read, not mapped into memory: a mapped file that gets shorter ends the whole process.
"""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.storage import member_array, npy_header
from uptonoise.engines.files.groups import Groups
from uptonoise.engines.files.table import Piece, TableFile, first_line
from uptonoise.rows import check_whole_numbers, chunk_rows, numbered_columns

_MOST_UNPACKED = 1 << 30  # bytes of an .npz file, whose arrays are held in memory

Reader = Callable[[slice], NDArray[Any]]


class NumpyFile(TableFile):
    """One array of rows, a structured array, or equally long columns by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            table = self._table(file)
            self.named, self.n_rows = table.named, table.n_rows
            self.names = self.data_names = tuple(table.readers)
            self._dtypes = table.dtypes

    def not_numbers(self) -> dict[str, str]:
        """Return the columns that do not hold real numbers."""
        return {name: _described(dtype) for name, dtype in self._dtypes.items() if dtype.kind not in "biuf"}

    def not_groups(self) -> dict[str, str]:
        """Return the columns that hold neither text nor real numbers."""
        return {name: _described(dtype) for name, dtype in self._dtypes.items() if dtype.kind not in "biufU"}

    def group_kind(self, name: str) -> str | None:
        """Return what the dtype of a column says that its groups are."""
        return "numbers" if self._dtypes[name].kind in "iuf" else _described(self._dtypes[name])

    def pieces(self, columns: Sequence[str], by: str | None, texts: Sequence[str] = ()) -> Generator[Piece, None, None]:
        """Yield some thousand rows at a time; of an .npy file no more than these is in memory."""
        with self.path.open("rb") as file:
            table = self._table(file)
            n_rows = chunk_rows(len(table.readers))
            for start in range(0, table.n_rows, n_rows):
                rows = slice(start, min(start + n_rows, table.n_rows))
                values = np.empty((len(columns), rows.stop - start))
                for number, name in enumerate(columns):
                    column = table.readers[name](rows)
                    if column.dtype.kind in "iu":
                        check_whole_numbers(column[:, None], str(self.path), [name])
                    with np.errstate(over="ignore"):  # what is too large for float64 is refused as infinite
                        values[number] = column
                groups = None if by is None else _groups(table.readers[by](rows))
                words = tuple(_groups(table.readers[name](rows)) for name in texts)
                yield Piece(values.T, groups, rows.stop / table.n_rows, words)

    def _table(self, file: BinaryIO) -> _Table:
        try:
            if self.path.suffix.lower() == ".npy":
                return _stored_table(file, self._wrong_shape)
            return _table_of(_unpacked(self.path, file), self._wrong_shape)
        except _ShapeError as error:
            raise ValueError(str(error)) from None
        except (ValueError, EOFError, OSError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(
                f"{self.path} is not a numpy file of plain numbers, or it is cut short or damaged: {first_line(error)}"
            ) from None

    def _wrong_shape(self, shapes: dict[str, tuple[int, ...]]) -> Exception:
        some = ", ".join(f"{name!r} of shape {shape}" for name, shape in list(shapes.items())[:8]) or "nothing"
        return _ShapeError(
            f"{self.path} must hold one array with a row for each observation, or columns (1-D arrays) that are "
            f"equally long; it holds {some}"
        )


class _ShapeError(Exception):
    """Arrays that are no table."""


class _Table:
    """Columns by name: what reads some of their rows, and their dtypes."""

    def __init__(self, readers: dict[str, Reader], dtypes: dict[str, np.dtype[Any]], n_rows: int, named: bool) -> None:
        self.readers, self.dtypes, self.n_rows, self.named = readers, dtypes, n_rows, named


def _stored_table(file: BinaryIO, wrong_shape: Callable[[dict[str, tuple[int, ...]]], Exception]) -> _Table:
    """Return the columns of an .npy file, which are read from the file when they are needed."""
    shape, is_fortran, dtype = npy_header(file)
    start = file.tell()
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are never loaded")
    if math.prod(shape) * dtype.itemsize > os.fstat(file.fileno()).st_size - start:
        raise ValueError(f"it is shorter than its shape {shape} needs")
    if len(shape) not in (1, 2) or shape[1:] == (0,) or (dtype.names and len(shape) != 1):
        raise wrong_shape({"the array": shape})
    n_rows, width = shape[0], shape[1] if len(shape) == 2 else 1
    held: dict[tuple[int, int], NDArray[Any]] = {}

    def block(rows: slice) -> NDArray[Any]:
        key = rows.start, rows.stop
        if key not in held:
            held.clear()
            held[key] = _read(
                file, start + rows.start * width * dtype.itemsize, (rows.stop - rows.start) * width, dtype
            )
        return held[key].reshape(-1, width)

    def reader(place: int) -> Reader:
        if is_fortran and len(shape) == 2:
            first = start + place * n_rows * dtype.itemsize
            return lambda rows: _read(file, first + rows.start * dtype.itemsize, rows.stop - rows.start, dtype)
        return lambda rows: block(rows)[:, place]

    def field_reader(name: str) -> Reader:
        return lambda rows: np.asarray(block(rows)[:, 0][name])

    if dtype.names:
        fields = {name: dtype[name] for name in dtype.names}
        return _Table({name: field_reader(name) for name in fields}, fields, n_rows, True)
    names = numbered_columns(width)
    readers = {name: reader(place) for place, name in enumerate(names)}
    return _Table(readers, dict.fromkeys(names, dtype), n_rows, False)


def _read(file: BinaryIO, offset: int, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    file.seek(offset)
    content = file.read(count * dtype.itemsize)
    if len(content) < count * dtype.itemsize:
        raise ValueError("it got shorter while it was read")
    return np.frombuffer(content, dtype=dtype)


def _unpacked(path: Path, file: BinaryIO) -> dict[str, NDArray[Any]]:
    """Return all arrays of an .npz file, unless they are more than should be in memory."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        if size > _MOST_UNPACKED:
            raise _ShapeError(
                f"{path} holds {size / 1e9:.1f} GB, which must be in memory at once; save it as .npy or Parquet, which "
                "are read in pieces"
            )
        return {member.filename.removesuffix(".npy"): member_array(archive, member) for member in members}


def _table_of(
    arrays: dict[str, NDArray[Any]], wrong_shape: Callable[[dict[str, tuple[int, ...]]], Exception]
) -> _Table:
    """Return the columns of arrays in memory."""
    columns, named = arrays, True
    if len(arrays) == 1:
        array = next(iter(arrays.values()))
        if array.dtype.names and array.ndim == 1:
            columns = {name: array[name] for name in array.dtype.names}
        elif array.ndim in (1, 2) and array.shape[1:] != (0,):
            table = array[:, None] if array.ndim == 1 else array
            columns, named = dict(zip(numbered_columns(table.shape[1]), table.T, strict=True)), False
    lengths = {len(column) if column.ndim == 1 else -1 for column in columns.values()}
    if len(lengths) != 1 or lengths == {-1}:
        raise wrong_shape({name: array.shape for name, array in arrays.items()})
    readers: dict[str, Reader] = {name: column.__getitem__ for name, column in columns.items()}
    return _Table(readers, {name: column.dtype for name, column in columns.items()}, lengths.pop(), named)


def _groups(column: NDArray[Any]) -> Groups:
    keys, codes = np.unique(column, return_inverse=True)
    if keys.dtype.kind == "f":
        codes = np.where(np.isnan(column), -1, codes)
    return Groups(keys.tolist(), codes)


def _described(dtype: np.dtype[Any]) -> str:
    return "text" if dtype.kind in "US" else f"values of the type {dtype}"
