"""Rows of numpy's own files: .npy, mapped into memory, and .npz."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise.engines.files.groups import Groups
from uptonoise.engines.files.table import Piece, TableFile, first_line
from uptonoise.rows import CHUNK_ROWS, numbered_columns


class NumpyFile(TableFile):
    """One array of rows, a structured array, or equally long columns by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        columns = self._columns()
        self.named = isinstance(columns, dict)
        self.names = self.data_names = tuple(columns) if isinstance(columns, dict) else numbered_columns(len(columns.T))
        self._places = {name: place for place, name in enumerate(self.names)}
        self._dtypes = {name: self._column(columns, name).dtype for name in self.names}
        self.n_rows = len(next(iter(columns.values()))) if isinstance(columns, dict) else len(columns)

    def not_numbers(self) -> dict[str, str]:
        """Return the columns that do not hold real numbers."""
        return {name: _described(dtype) for name, dtype in self._dtypes.items() if dtype.kind not in "biuf"}

    def not_groups(self) -> dict[str, str]:
        """Return the columns that hold neither text nor real numbers."""
        return {name: _described(dtype) for name, dtype in self._dtypes.items() if dtype.kind not in "biufU"}

    def group_kind(self, name: str) -> str | None:
        """Return what the dtype of a column says that its groups are."""
        return "numbers" if self._dtypes[name].kind in "iuf" else _described(self._dtypes[name])

    def pieces(self, columns: Sequence[str], by: str | None) -> Generator[Piece, None, None]:
        """Yield some thousand rows at a time; of a mapped file no more than these is in memory."""
        arrays = self._columns()
        n_rows = self.n_rows or 0
        for start in range(0, n_rows, CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            values = np.empty((len(columns), min(n_rows - start, CHUNK_ROWS)))
            for number, name in enumerate(columns):
                values[number] = self._column(arrays, name)[rows]
            groups = None if by is None else _groups(self._column(arrays, by)[rows])
            yield Piece(values.T, groups, (start + len(values.T)) / n_rows)

    def _column(self, columns: dict[str, NDArray[Any]] | NDArray[Any], name: str) -> NDArray[Any]:
        return columns[name] if isinstance(columns, dict) else columns[:, self._places[name]]

    def _columns(self) -> dict[str, NDArray[Any]] | NDArray[Any]:
        """Return columns by name, or a 2-D array where they have no names."""
        arrays = self._arrays()
        if len(arrays) == 1:
            array = next(iter(arrays.values()))
            if array.dtype.names and array.ndim == 1:
                return {name: array[name] for name in array.dtype.names}
            if array.ndim in (1, 2) and array.shape[1:] != (0,):
                return array[:, None] if array.ndim == 1 else array
        if arrays and all(array.ndim == 1 for array in arrays.values()) and len(set(map(len, arrays.values()))) == 1:
            return arrays
        shapes = ", ".join(f"{name!r} of shape {array.shape}" for name, array in list(arrays.items())[:8]) or "nothing"
        raise ValueError(
            f"{self.path} must hold one array with a row for each observation, or columns (1-D arrays) that are "
            f"equally long; it holds {shapes}"
        )

    def _arrays(self) -> dict[str, NDArray[Any]]:
        try:
            if self.path.suffix.lower() == ".npy":
                return {"the array": np.lib.format.open_memmap(self.path, mode="r")}
            with self.path.open("rb") as file, np.lib.npyio.NpzFile(file, allow_pickle=False) as archive:
                return dict(archive)
        except PermissionError:
            raise
        except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(
                f"{self.path} is not a numpy file of plain numbers, or it is cut short or damaged: {first_line(error)}"
            ) from None


def _groups(column: NDArray[Any]) -> Groups:
    keys, codes = np.unique(column, return_inverse=True)
    if keys.dtype.kind == "f":
        codes = np.where(np.isnan(column), -1, codes)
    return Groups(keys.tolist(), codes)


def _described(dtype: np.dtype[Any]) -> str:
    return "text" if dtype.kind in "US" else f"values of the type {dtype}"
