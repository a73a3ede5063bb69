"""Rows of Parquet files, in pieces of their row groups."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from copy import copy
from pathlib import Path

from uptonoise.engines.files.arrow import TypedFile, batch_piece
from uptonoise.engines.files.paths import Paths, data_files
from uptonoise.engines.files.rows import FileRows, with_row_options
from uptonoise.engines.files.table import Piece, arrow
from uptonoise.rows import Missing, RowSource, chunk_rows

PARQUET_SUFFIXES = (".parquet", ".pq")
_READ_BYTES, _MOST_READ_BYTES = 1 << 20, 1 << 26  # of each column, and of all, so that no row group is held as a whole


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


class ParquetFile(TypedFile):
    """One Parquet file, or some of its row groups."""

    format = "a Parquet file"

    def __init__(self, path: Path) -> None:
        pa, pq = arrow(), arrow("pyarrow.parquet")
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

    def pieces(self, columns: Sequence[str], groups: Sequence[str] = ()) -> Generator[Piece, None, None]:
        """Yield the batches of the file's row groups."""
        pa, pq = arrow(), arrow("pyarrow.parquet")
        wanted = [*columns, *groups]
        done = 0
        try:
            # pre_buffer, the default of recent versions, would read the whole file ahead.
            buffer = min(_READ_BYTES, _MOST_READ_BYTES // max(len(wanted), 1))
            options = {"buffer_size": buffer, "pre_buffer": False, "page_checksum_verification": True}
            with pq.ParquetFile(self.path, **options) as file:
                for batch in file.iter_batches(chunk_rows(len(wanted)), row_groups=self._groups, columns=wanted):
                    done += batch.num_rows
                    yield batch_piece(batch, self.path, columns, groups, done / max(self.n_rows or 0, 1))
        except FileNotFoundError:
            raise  # it was there when it was opened first; the message names it
        except (pa.ArrowException, OSError) as error:
            raise self.unreadable(error) from None
        finally:
            pa.default_memory_pool().release_unused()  # some 200 MB, for rows that are not read again
