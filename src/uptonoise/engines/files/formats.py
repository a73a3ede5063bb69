"""Rows of files of any known format, which the suffix tells."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from uptonoise._util.errors import hinted
from uptonoise.engines.files.arrow import PARQUET_SUFFIXES, ArrowFile, ParquetFile
from uptonoise.engines.files.csv import CSV_SUFFIXES, TEXT_SUFFIXES, CsvFile
from uptonoise.engines.files.layout import CsvFormat
from uptonoise.engines.files.lines import EXCEL_SUFFIXES
from uptonoise.engines.files.numpy_arrays import NumpyFile
from uptonoise.engines.files.paths import Paths, data_files, suffix_of
from uptonoise.engines.files.rows import FileRows
from uptonoise.engines.files.table import TableFile

_SUFFIXES = {
    "csv": TEXT_SUFFIXES,
    "parquet": PARQUET_SUFFIXES,
    "arrow": (".feather", ".arrow", ".ipc"),
    "numpy": (".npy", ".npz"),
    "excel": EXCEL_SUFFIXES,
}
FORMATS = tuple(_SUFFIXES)
_CLASSES: dict[str, Callable[[Path], TableFile]] = {"parquet": ParquetFile, "arrow": ArrowFile, "numpy": NumpyFile}
_KINDS = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
_FOLDER_SUFFIXES = (*CSV_SUFFIXES, *PARQUET_SUFFIXES, *_SUFFIXES["arrow"])


class OpenFiles:
    r"""Files of one format whose first rows were looked at, once; their rows are read later, as often as is needed.

    Parameters
    ----------
    path : path, or list of paths
        A file: ``.csv``, ``.tsv``, ``.tab``, ``.txt`` or ``.dat``, each also with ``.gz`` or ``.zst``; ``.parquet``
        or ``.pq``; ``.feather``, ``.arrow`` or ``.ipc``; ``.npy`` or ``.npz``; ``.xlsx`` or ``.ods``.
        Or a folder of CSV, Parquet or Arrow files, or a pattern such as ``"data/2024-*.csv"``, all of one format.
    delimiter, decimal, encoding, header, comment
        For CSV files, as for :func:`~uptonoise.scan_csv`.
    format : {"csv", "parquet", "arrow", "numpy", "excel"}, optional
        The format, whatever the suffix.
    sheet : str, optional
        The sheet of an Excel file, by default the first.

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
        self,
        path: Paths,
        *,
        delimiter: str | None = None,
        decimal: str = ".",
        encoding: str = "utf-8",
        header: bool | None = None,
        comment: str | None = None,
        format: str | None = None,  # noqa: A002
        sheet: str | None = None,
    ) -> None:
        if format is not None and (not isinstance(format, str) or format not in FORMATS):
            raise ValueError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
        text = CsvFormat(delimiter, decimal, encoding, header, comment)
        excel = CsvFormat(",", header=header, comment=comment, sheet=sheet)
        paths, self.name = data_files(path, _FOLDER_SUFFIXES)
        kinds = [format or _kind(file) for file in paths]
        if len(set(kinds)) > 1:
            other = paths[next(number for number, kind in enumerate(kinds) if kind != kinds[0])]
            raise ValueError(
                f"{self.name} must be files of one format; got {paths[0]} and {other}. Give those of one format, "
                "for example by a pattern such as 'data/*.csv'"
            )
        opener = _CLASSES.get(kinds[0], partial(CsvFile, csv_format=excel if kinds[0] == "excel" else text))
        self.files = [opener(file) for file in paths]

    def rows(self, **options: Any) -> FileRows:
        """Return the rows; `columns`, `exclude`, `by`, `missing` and `progress` are as for :func:`~uptonoise.scan_csv`.

        The columns of arrays are called ``x0``, ``x1``, ...
        """
        return FileRows(self.files, self.name, **options)

    def described_columns(self) -> dict[str, str | None] | None:
        """Return the columns of the first file with what each holds that is no number; None where it names none."""
        first = self.files[0]
        return {name: first.not_numbers.get(name) for name in first.data_names} if first.named else None


def _kind(path: Path) -> str:
    kind = _KINDS.get(suffix_of(path))
    if kind is None:
        known = "; ".join(f"{kind}: {' '.join(suffixes)}" for kind, suffixes in _SUFFIXES.items())
        problem = f"{path} has {f'the unknown suffix {path.suffix!r}' if path.suffix else 'no suffix'} ({known})"
        raise hinted(ValueError, problem, "{format} reads it as text", format="csv")
    return kind
