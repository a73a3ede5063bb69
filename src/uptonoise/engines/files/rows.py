"""FileRows: the rows of files with the same columns, as one sample or as bags."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from copy import copy
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.docs import described
from uptonoise._util.errors import hinted
from uptonoise._util.progress import Progress
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_choice
from uptonoise._util.wording import counted
from uptonoise.engines.files.columns import used_columns, with_coded_columns
from uptonoise.engines.files.groups import GroupIds, Groups, NoGroupError
from uptonoise.engines.files.table import Piece, TableFile
from uptonoise.engines.files.text import typed_key
from uptonoise.rows import (
    NOT_CHOSEN,
    Block,
    FileStamp,
    Missing,
    RowSource,
    SourceRecord,
    categories_in,
    no_measurement,
)

_MOST_IDS = 5_000_000  # of groups, bags or clusters

with_row_options = described(
    exclude="""
    exclude : sequence of str
        Columns to leave out.
    """,
    by="""
    by : str, optional
        The column that says which group each row belongs to; the rows are then bags, one per group.
    """,
    missing_and_progress="""
    missing : {"error", "drop"}
        What to do with a row that has a missing value in a column that is used.
    progress : bool, optional
        Whether to show how far a pass has come; by default in a terminal or a notebook, after about a second.
    """,
    returned_rows="""
    Returns
    -------
    RowSource
        It can be read any number of times; ``n_dropped`` says how many rows the last pass has left out.
    """,
)


class FileRows(RowSource):
    """The rows of files that have the same columns, one file after the other."""

    may_be_empty: bool = False
    keeps_missing: bool = False  # rows with missing values come as they are, for those who can use them
    most_values: int | None = None  # for those who hold all rows in memory
    n_read: int = 0
    n_dropped: int | None = None  # rows with missing values that the last pass over all rows has left out
    groups: GroupIds  # of `by`, where there is one

    def __init__(
        self,
        files: Sequence[TableFile],
        name: str,
        *,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        by: str | None = None,
        missing: Missing = "error",
        progress: bool | None = None,
        left_out: Mapping[str, str] | None = None,
        called: Sequence[str] | None = None,
    ) -> None:
        checked_choice(missing, get_args(Missing), "missing")
        files = list(files) if columns is None else [with_coded_columns(file, columns) for file in files]
        self.name, self.named = name, files[0].named
        self._file_columns = used_columns(files, columns, by, exclude)
        self.columns = self._file_columns if called is None else tuple(called)
        self._gaps = self._gaps_so_far = np.zeros(len(self.columns), dtype=np.int64)
        self._nobody_chose = columns is None and left_out is None and self.named
        if left_out is None:
            taken = {*self._file_columns, by, *files[0].origins.values()}
            others = [name for file in files for name in file.data_names if name not in taken]
            left_out = {name: "excluded" if name in exclude else NOT_CHOSEN for name in others}
        self._left_out = left_out
        self._stamps: dict[Path, tuple[int, int]] = {}  # size and time of change of each file when it was first read
        if by is not None:
            self.groups = GroupIds()
            self.bag_ids = self.groups.ids
        self.files, self.by, self.missing, self._progress = files, by, missing, progress
        counts = [file.n_rows for file in files if file.n_rows is not None]
        self.n_rows = sum(counts) if len(counts) == len(files) and missing == "error" else None

    def clustered(self, column: str) -> RowSource:
        """Return the same rows as bags, by a column of the files, which need not be one that is used."""
        used = [name for name in self.columns if name != column]
        if not used:
            raise ValueError(f"{self.name} has no column left beside the clusters {column!r}")
        options: dict[str, Any] = {"missing": self.missing, "progress": self._progress, "left_out": self._left_out}
        return FileRows(self.files, self.name, columns=used, by=column, **options)

    def chunks(self, *, quietly: bool = False) -> Generator[Block, None, None]:
        """Yield all rows, some thousand at a time; one file is open at a time."""
        n_kept = n_read = bytes_before = 0
        self._gaps_so_far = np.zeros(len(self.columns), dtype=np.int64)
        with Progress(f"reading {self.name}", self.n_rows, False if quietly else self._progress) as progress:
            sizes = [file.path.stat().st_size for file in self.files]
            if self.most_values is not None:
                self._check_number(self.n_rows or 0, self.most_values)
            for size, file in zip(sizes, self.files, strict=True):
                path, first_row = file.path, 0
                failure: Exception | None = None
                if path not in self._stamps:
                    status = path.stat()
                    self._stamps[path] = status.st_size, status.st_mtime_ns
                pieces = file.pieces(self._file_columns, [] if self.by is None else [self.by])
                try:
                    with closing(pieces):
                        for piece in pieces:
                            block = Block(piece.values)
                            if piece.groups or not np.isfinite(piece.values).all():
                                block = self._complete_rows(file, first_row, piece)
                            first_row += len(piece.values)
                            n_kept += len(block.values)
                            if self.most_values is not None:
                                self._check_number(n_kept, self.most_values)
                            progress.advance(len(piece.values), (bytes_before + piece.fraction * size) / sum(sizes))
                            if len(block.values):
                                yield block
                except Exception as error:
                    failure = error
                # Where a file changes while it is read, or from pass to pass, rows may be neither old nor new ones.
                now = path.stat() if path.exists() else None
                if now is None or (now.st_size, now.st_mtime_ns) != self._stamps[path]:
                    before = self._stamps[path][0]
                    how = "was removed" if now is None else f"changed (from {before:,} to {now.st_size:,} bytes)"
                    problem = f"{path} {how} while it was read; run it again when nobody writes to it"
                    raise ValueError(problem) from failure
                if failure is not None:
                    raise failure
                n_read += first_row
                bytes_before += size
        self.n_read, self.n_dropped, self._gaps = n_read, n_read - n_kept, self._gaps_so_far
        if not n_kept and not self.may_be_empty:
            dropped = f" without a missing value ({counted(n_read, 'row')} with one)" if n_read else ""
            raise ValueError(f"{self.name} has no rows{dropped}; at least one is needed")

    def head(self, n_rows: int = 1_000) -> Floats:
        """Return the values of the first rows, at most `n_rows`; no more than their pieces are read."""
        values: list[Floats] = []
        with closing(self.chunks(quietly=True)) as blocks:
            for block in blocks:
                values.append(block.values)
                if sum(map(len, values)) >= n_rows:
                    break
        return np.ascontiguousarray(np.concatenate(values)[:n_rows])

    def record(self) -> SourceRecord:
        """Return what the last pass has left out, and what was noticed about the files."""
        gaps = {self._shown(place): count for place, count in enumerate(self._gaps.tolist()) if count}
        notes = tuple(note for file in self.files for note in file.notes)
        suspected = {}
        if self._nobody_chose:
            values = self.files[0].first_values(self._file_columns)
            for called, name in zip(self.columns, self._file_columns, strict=True):
                if why := no_measurement(called, values[name]):
                    suspected[called] = why
        stamps = tuple(FileStamp(str(path), str(path), *stamp) for path, stamp in self._stamps.items())
        coded = [name for name in self._file_columns if name in self.files[0].origins]
        categories = categories_in(coded) if coded else {}
        return SourceRecord(
            self.n_read, self.n_dropped or 0, gaps, self._left_out, notes, suspected, stamps, categories
        )

    def _shown(self, place: int) -> str:
        """Return what messages call a column: a column of a category is called as the column of the file."""
        return self.files[0].origins.get(self._file_columns[place], self.columns[place])

    def complete(self) -> Self:
        """Return the same rows without those that have missing values."""
        complete = copy(self)
        complete.missing, complete.n_rows = "drop", None
        return complete

    def _check_number(self, n_rows: int, most_values: int) -> None:
        """Raise where so many rows do not fit into memory."""
        if n_rows * len(self.columns) > most_values:
            raise ValueError(
                f"{self.name} must have at most {most_values // len(self.columns):,} rows with "
                f"{counted(len(self.columns), 'column')}, which are held in memory; got more. Give fewer"
            )

    def _complete_rows(self, file: TableFile, first_row: int, piece: Piece) -> Block:
        """Return the complete rows of a piece; raise where a value is infinite, or missing and not to be dropped."""
        values, groups = piece.values, piece.groups[0] if piece.groups else None
        usable = ~np.isinf(values) if self.keeps_missing else np.isfinite(values)
        kept: NDArray[np.bool_] = np.asarray(usable.all(axis=1))
        if groups is not None:
            kept &= ~groups.missing(len(values))
        if not kept.all():
            self._check_gaps(file, first_row, piece, usable)
            self._gaps_so_far += np.count_nonzero(~usable, axis=0)
            values = values[kept]
            if groups is not None:
                keys, codes = groups
                groups = Groups(np.asarray(keys)[kept], None) if codes is None else Groups(keys, codes[kept])
        if groups is None:
            return Block(values)
        if len(self.groups.ids) > _MOST_IDS:
            raise ValueError(
                f"{file.path}: the column {self.by!r} must have at most {_MOST_IDS:,} different entries, which are "
                "held in memory; got more"
            )
        if file.is_text:
            groups = Groups([typed_key(key) for key in groups.keys], groups.codes)
        try:
            return Block(values, None, self.groups.numbered(groups))
        except NoGroupError as error:
            row = np.flatnonzero(kept)[np.argmax(np.asarray(groups.codes) == error.code)]
            raise ValueError(
                f"{file.path}: the column {self.by!r} must hold groups, as text or whole numbers; got {error.key!r} "
                f"in {file.row(first_row + row)}"
            ) from None

    def _check_gaps(self, file: TableFile, first_row: int, piece: Piece, usable: NDArray[np.bool_]) -> None:
        values, drops = piece.values, self.missing == "drop"
        wrong = np.isinf(values) if drops else ~usable
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            place = f"{file.row(first_row + row)}, column {self._shown(int(column))!r}"
            if not np.isnan(values[row, column]):
                problem = f"{file.path}: must be finite; got {values[row, column]} in {place}. Take such rows out"
                raise ValueError(problem)
        elif piece.groups and not drops:
            row = int(np.argmax(piece.groups[0].missing(len(values))))
            place = f"{file.row(first_row + row)}, column {self.by!r}"
        else:
            return
        problem = f"{file.path}: a value is missing in {place}"
        raise hinted(ValueError, problem, "fill it, or leave such rows out with {missing}", missing="drop")
