"""Rows of a file of any known format, which its suffix tells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from uptonoise.engines.files.arrow import ArrowFile
from uptonoise.engines.files.csv import CSV_SUFFIXES, TEXT_SUFFIXES, CsvFile, CsvFormat, check_format
from uptonoise.engines.files.numpy_arrays import NumpyFile
from uptonoise.engines.files.parquet import PARQUET_SUFFIXES, ParquetFile
from uptonoise.engines.files.paths import Paths, found_files, shown_paths, suffix_of
from uptonoise.engines.files.tables import FileRows, Missing, TableFile
from uptonoise.rows import RowSource

_SUFFIXES = {
    "CSV": TEXT_SUFFIXES,
    "Parquet": PARQUET_SUFFIXES,
    "Arrow": (".feather", ".arrow", ".ipc"),
    "numpy": (".npy", ".npz"),
}
_KINDS = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
_FOLDER_SUFFIXES = (*CSV_SUFFIXES, *PARQUET_SUFFIXES, *_SUFFIXES["Arrow"])


def open_rows(
    path: Paths,
    *,
    columns: Sequence[str] | None = None,
    by: str | None = None,
    missing: Missing = "error",
    progress: bool | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
) -> RowSource:
    """Return the rows of files of any known format, which are read some thousand rows at a time.

    Parameters
    ----------
    path : path, or list of paths
        A file: ``.csv``, ``.tsv``, ``.tab`` or ``.txt``, each also with ``.gz``; ``.parquet`` or ``.pq``;
        ``.feather``, ``.arrow`` or ``.ipc``; ``.npy`` or ``.npz``. Or a folder of CSV, Parquet or Arrow files, or a
        pattern such as ``"data/2024-*.csv"``. All files must be of one format.
    columns : sequence of str, optional
        The columns to use, in this order; ``x0``, ``x1``, ... in arrays. By default all, which must then hold numbers.
    by : str, optional
        The column that says which group each row belongs to; the rows are then bags, one a group.
    missing : {"error", "drop"}
        What to do with a row that has a missing value in a column that is used.
    progress : bool, optional
        Whether to show how far a pass has come; by default on a terminal, if it takes more than about a second.
    delimiter, decimal, encoding : str
        For CSV files, as for :func:`~uptonoise.scan_csv`.

    Returns
    -------
    RowSource
        It can be read any number of times; ``n_dropped`` says how many rows the last pass has left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from uptonoise.engines import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.npy")
    ...     np.save(path, np.arange(6.0).reshape(3, 2))
    ...     source = open_rows(path, columns=["x1"])
    ...     source.n_rows, source.head().ravel().tolist()
    (3, [1.0, 3.0, 5.0])
    """
    how = CsvFormat(delimiter, decimal, encoding)
    check_format(how)
    found = found_files(path, _folder_files)
    kinds = {file: _kind(file) for file in found}
    other = next((file for file in found if kinds[file] != kinds[found[0]]), None)
    if other is not None:
        raise ValueError(
            f"{shown_paths(path)} must be files of one format; got {found[0]} and {other}. Give those of one format, "
            "for example by a pattern such as 'data/*.csv'"
        )
    files = [_opened(file, kinds[file], how) for file in found]
    return FileRows(files, shown_paths(path), columns=columns, by=by, missing=missing, progress=progress)


def _folder_files(folder: Path, files: list[Path]) -> list[Path]:
    return [file for file in files if suffix_of(file) in _FOLDER_SUFFIXES]


def _kind(path: Path) -> str:
    kind = _KINDS.get(suffix_of(path))
    if kind is None:
        known = "; ".join(f"{kind}: {' '.join(suffixes)}" for kind, suffixes in _SUFFIXES.items())
        raise ValueError(
            f"{path} has {f'the unknown suffix {path.suffix!r}' if path.suffix else 'no suffix'}; the known ones are "
            f"{known} (CSV files also with .gz)"
        )
    return kind


def _opened(path: Path, kind: str, how: CsvFormat) -> TableFile:
    if kind == "CSV":
        return CsvFile(path, how)
    if kind == "Parquet":
        return ParquetFile(path)
    return ArrowFile(path) if kind == "Arrow" else NumpyFile(path)


def described_columns(
    path: Paths, *, delimiter: str | None = None, decimal: str = ".", encoding: str = "utf-8"
) -> dict[str, str | None] | None:
    r"""Return the columns of the first of some files, with what each holds that is no number; None where it names none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from uptonoise.engines import described_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.csv").write_text("site,energy\nnorth,1.5\n")
    ...     described_columns(pathlib.Path(folder, "a.csv"))
    {'site': "text ('north' in row 1)", 'energy': None}
    """
    how = CsvFormat(delimiter, decimal, encoding)
    check_format(how)
    first = found_files(path, _folder_files)[0]
    file = _opened(first, _kind(first), how)
    wrong = file.not_numbers()
    return {name: wrong.get(name) for name in file.data_names} if file.named else None
