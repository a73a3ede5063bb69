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
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.storage import member_array, npy_header
from uptonoise.engines.files.groups import Groups
from uptonoise.engines.files.table import Piece, TableFile, first_line
from uptonoise.rows import check_whole_numbers, chunk_rows, numbered_columns

_MOST_UNPACKED = 1 << 30  # bytes of an .npz file, whose arrays are held in memory


class _Table(NamedTuple):
    """Columns by name: their dtypes, and what reads the rows of a slice for some of them."""

    named: bool
    n_rows: int
    dtypes: dict[str, np.dtype[Any]]
    read: Callable[[slice, Sequence[str]], list[NDArray[Any]]]


class NumpyFile(TableFile):
    """One array of rows, a structured array, or equally long columns by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self.named, self.n_rows, dtypes, _ = self._table(file)
        self.names = self.data_names = tuple(dtypes)
        others = {name: dtype for name, dtype in dtypes.items() if dtype.kind not in "biuf"}
        self.not_numbers = {name: _described(dtype) for name, dtype in others.items()}
        self.not_groups = {name: _described(dtype) for name, dtype in others.items() if dtype.kind != "U"}
        self.group_kinds = {
            name: "numbers" if dtype.kind in "iuf" else _described(dtype) for name, dtype in dtypes.items()
        }

    def pieces(self, columns: Sequence[str], groups: Sequence[str] = ()) -> Generator[Piece, None, None]:
        """Yield some thousand rows at a time; of an .npy file no more than these is in memory."""
        with self.path.open("rb") as file:
            table = self._table(file)
            at_once = chunk_rows(len(table.dtypes))
            for start in range(0, table.n_rows, at_once):
                rows = slice(start, min(start + at_once, table.n_rows))
                arrays = table.read(rows, [*columns, *groups])
                values = np.empty((len(columns), rows.stop - start))
                for number, name in enumerate(columns):
                    if arrays[number].dtype.kind in "iu":
                        check_whole_numbers(arrays[number][:, None], str(self.path), [name])
                    with np.errstate(over="ignore"):  # what is too large for float64 is refused as infinite
                        values[number] = arrays[number]
                yield Piece(values.T, tuple(map(_groups, arrays[len(columns) :])), rows.stop / table.n_rows)

    def _table(self, file: BinaryIO) -> _Table:
        try:
            return _stored_table(file) if self.path.suffix.lower() == ".npy" else _unpacked_table(file)
        except _NoTableError as error:
            raise ValueError(f"{self.path} {error}") from None
        except (ValueError, EOFError, OSError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(
                f"{self.path} is not a numpy file of plain numbers, or it is cut short or damaged: {first_line(error)}"
            ) from None


class _NoTableError(Exception):
    """Arrays that are no table, or too large a one."""


def _wrong_shape(shapes: dict[str, tuple[int, ...]]) -> _NoTableError:
    some = ", ".join(f"{name!r} of shape {shape}" for name, shape in list(shapes.items())[:8]) or "nothing"
    return _NoTableError(
        "must hold one array with a row for each observation, or columns (1-D arrays) that are equally long; it holds "
        f"{some}"
    )


def _stored_table(file: BinaryIO) -> _Table:
    """Return the columns of an .npy file, which are read from the file when they are needed."""
    shape, is_fortran, dtype = npy_header(file)
    offset = file.tell()
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are never loaded")
    if math.prod(shape) * dtype.itemsize > os.fstat(file.fileno()).st_size - offset:
        raise ValueError(f"it is shorter than its shape {shape} needs")
    if len(shape) not in (1, 2) or shape[1:] == (0,) or (dtype.names and len(shape) != 1):
        raise _wrong_shape({"the array": shape})
    n_rows, width = shape[0], shape[1] if len(shape) == 2 else 1
    dtypes = {name: dtype[name] for name in dtype.names or ()} or dict.fromkeys(numbered_columns(width), dtype)
    places = {name: place for place, name in enumerate(dtypes)}

    def values(first: int, count: int) -> NDArray[Any]:
        file.seek(offset + first * dtype.itemsize)
        content = file.read(count * dtype.itemsize)
        if len(content) < count * dtype.itemsize:
            raise ValueError("it got shorter while it was read")
        return np.frombuffer(content, dtype=dtype)

    def read(rows: slice, names: Sequence[str]) -> list[NDArray[Any]]:
        n_here = rows.stop - rows.start
        if is_fortran and width > 1:  # column by column
            return [values(places[name] * n_rows + rows.start, n_here) for name in names]
        block = values(rows.start * width, n_here * width).reshape(n_here, width)
        return [np.asarray(block[:, 0][name] if dtype.names else block[:, places[name]]) for name in names]

    return _Table(bool(dtype.names), n_rows, dtypes, read)


def _unpacked_table(file: BinaryIO) -> _Table:
    """Return the columns of all arrays of an .npz file, unless they are more than should be in memory."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        if size > _MOST_UNPACKED:
            raise _NoTableError(
                f"holds {size / 1e9:.1f} GB, which must be in memory at once; save it as .npy or Parquet, which are "
                "read in pieces"
            )
        arrays = {member.filename.removesuffix(".npy"): member_array(archive, member) for member in members}
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
        raise _wrong_shape({name: array.shape for name, array in arrays.items()})
    dtypes = {name: column.dtype for name, column in columns.items()}
    return _Table(named, lengths.pop(), dtypes, lambda rows, names: [columns[name][rows] for name in names])


def _groups(column: NDArray[Any]) -> Groups:
    keys, codes = np.unique(column, return_inverse=True)
    if keys.dtype.kind == "f":
        codes = np.where(np.isnan(column), -1, codes)
    return Groups(keys.tolist(), codes)


def _described(dtype: np.dtype[Any]) -> str:
    return "text" if dtype.kind in "US" else f"values of the type {dtype}"
