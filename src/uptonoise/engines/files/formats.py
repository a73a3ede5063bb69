"""Rows of files of any known format, which the suffix tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from uptonoise.engines.files.arrow import ArrowFile
from uptonoise.engines.files.csv import CSV_SUFFIXES, TEXT_SUFFIXES, CsvFile, CsvFormat
from uptonoise.engines.files.numpy_arrays import NumpyFile
from uptonoise.engines.files.parquet import PARQUET_SUFFIXES, ParquetFile
from uptonoise.engines.files.paths import Paths, data_files, shown_paths, suffix_of
from uptonoise.engines.files.rows import FileRows, Missing, with_row_options
from uptonoise.engines.files.table import TableFile
from uptonoise.rows import RowSource

_SUFFIXES = {
    "CSV": TEXT_SUFFIXES,
    "Parquet": PARQUET_SUFFIXES,
    "Arrow": (".feather", ".arrow", ".ipc"),
    "numpy": (".npy", ".npz"),
}
_KINDS = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
_FOLDER_SUFFIXES = (*CSV_SUFFIXES, *PARQUET_SUFFIXES, *_SUFFIXES["Arrow"])


class OpenFiles:
    r"""Files of one format whose first rows were looked at, once; their rows are read later, as often as is needed.

    Parameters
    ----------
    path, delimiter, decimal, encoding
        As for :func:`open_rows`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from uptonoise.engines import OpenFiles
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.csv").write_text("site,energy\nnorth,1.5\n")
    ...     files = OpenFiles(pathlib.Path(folder, "a.csv"))
    ...     files.described_columns(), files.rows(columns=["energy"]).head()
    ({'site': "text ('north' in row 1)", 'energy': None}, array([[1.5]]))
    """

    def __init__(
        self, path: Paths, *, delimiter: str | None = None, decimal: str = ".", encoding: str = "utf-8"
    ) -> None:
        opener: dict[str, Callable[[Path], TableFile]] = {
            "CSV": partial(CsvFile, csv_format=CsvFormat(delimiter, decimal, encoding)),
            "Parquet": ParquetFile,
            "Arrow": ArrowFile,
            "numpy": NumpyFile,
        }
        paths = data_files(path, _folder_files)
        self.name = shown_paths(path)
        kinds = [_kind(file) for file in paths]
        if len(set(kinds)) > 1:
            other = paths[next(number for number, kind in enumerate(kinds) if kind != kinds[0])]
            raise ValueError(
                f"{self.name} must be files of one format; got {paths[0]} and {other}. Give those of one format, "
                "for example by a pattern such as 'data/*.csv'"
            )
        self.files = [opener[kinds[0]](file) for file in paths]

    def rows(self, **options: Any) -> FileRows:
        """Return the rows; `columns`, `by`, `missing` and `progress` are as for :func:`open_rows`."""
        return FileRows(self.files, self.name, **options)

    def described_columns(self) -> dict[str, str | None] | None:
        """Return the columns of the first file with what each holds that is no number; None where it names none."""
        first = self.files[0]
        wrong = first.not_numbers()
        return {name: wrong.get(name) for name in first.data_names} if first.named else None


@with_row_options
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
    {by}
    {missing_and_progress}
    delimiter, decimal, encoding : str
        For CSV files, as for :func:`~uptonoise.scan_csv`.

    {returned_rows}

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
    files = OpenFiles(path, delimiter=delimiter, decimal=decimal, encoding=encoding)
    return files.rows(columns=columns, by=by, missing=missing, progress=progress)


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
