"""Dask arrays and data frames, and files that the workers of a cluster read, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from uptonoise.engines.dask.cluster import dask_module, is_collection
from uptonoise.engines.dask.rows import Part, RemoteRows
from uptonoise.engines.dask.tasks import Opening
from uptonoise.engines.files import FileRows
from uptonoise.rows import FileStamp, FrameRows, RowSource, as_column_names, as_frame, numbered_columns, register_rows

_PART_ROWS = 2**20  # of a file, at least
_MOST_PARTS = 20_000  # of files: more would keep the scheduler busy for longer than the workers


def scan_dask(X: Any, *, columns: Sequence[str] | None = None, by: str | None = None, name: str = "X") -> RowSource:
    """Return the rows of a Dask collection, or of files that the workers of a Dask cluster read.

    Sums over these rows are made where the rows are. It is needed for `columns` and `by`, and for files; a Dask array
    or data frame by itself can be given wherever rows can.

    Parameters
    ----------
    X : Dask DataFrame, Series or Array, or RowSource of files
        Of files (:func:`~uptonoise.scan_parquet`, :func:`~uptonoise.scan_csv`) each worker reads some, by the same
        paths, so that all must see the same file system.
    columns : sequence of str, optional
        The columns to use, in this order; by default all, which must then be numeric.
    by : str, optional
        The column that says which group each row belongs to; the rows are then bags, one per group, and the rows of a
        bag may lie in any partition.
    name : str
        What messages call the rows.

    Returns
    -------
    RowSource
        It can be read any number of times.

    Examples
    --------
    >>> import dask.array as da
    >>> import uptonoise as un
    >>> rows = da.random.default_rng(0).normal(size=(10_000, 2), chunks=(1_000, 2))
    >>> un.Sketch([[1.0, 2.0]]).update(un.scan_dask(rows))
    Sketch(10,000 rows, 1 frequency, 2 columns: x0, x1)
    """
    if isinstance(X, FileRows):
        if columns is not None or by is not None:
            raise ValueError(
                "columns and by must be given to what opens the files, such as scan_parquet; got them here"
            )
        return _of_files(X)
    if not is_collection(X):
        raise ValueError(
            f"X must be a Dask array or data frame, or the rows of files as scan_parquet gives them; got a "
            f"{type(X).__name__}"
        )
    if isinstance(X, dask_module("dask.delayed").Delayed):  # which claims to have every attribute
        raise ValueError(
            f"{name} must be a Dask array or data frame; got a Dask Delayed. Use dd.from_delayed or da.from_delayed"
        )
    if hasattr(X, "npartitions") and hasattr(X, "to_delayed") and hasattr(X, "_meta") and not hasattr(X, "chunks"):
        return _of_frame(X, columns, by, name)
    if hasattr(X, "chunks") and hasattr(X, "rechunk"):
        return _of_array(X, columns, by, name)
    raise ValueError(f"{name} must be a Dask array or data frame; got a Dask {type(X).__name__}")


def _of_files(source: FileRows) -> RemoteRows:
    """Return the rows of files, in parts that workers read."""
    rows = max(_PART_ROWS, sum(file.n_rows or 0 for file in source.files) // _MOST_PARTS)
    parts = [copy(part) for file in source.files for part in file.split(rows)]
    for part in parts:
        part.path = part.path.absolute()
    opening = Opening(source.name, source.columns, source.named, source.by, missing=source.missing)
    sizes = [part.n_rows for part in parts if part.n_rows is not None]
    known = len(sizes) == len(parts) and source.missing == "error"
    read = [Part(part, str(part.path)) for part in parts]
    record = source.record()._replace(files=tuple(FileStamp.of(file.path) for file in source.files))
    return RemoteRows(read, opening, sizes if known else None, record)


def _of_frame(X: Any, columns: Sequence[str] | None, by: str | None, name: str) -> RemoteRows:
    frame = X if hasattr(X, "columns") and hasattr(X, "merge") else X.to_frame(name=X.name or "x0")
    names = list(frame.columns)
    twice = sorted({str(column) for column in names if names.count(column) > 1})
    if twice:
        raise ValueError(f"{name} must have distinct column names; more than once: {', '.join(twice)}")
    if by is not None and by not in names:
        raise ValueError(f"by={by!r} must be a column of {name}, which has {names[:20]}")
    wanted = [column for column in names if column != by] if columns is None else list(columns)
    lacking = [column for column in wanted if column not in names]
    if lacking or not wanted or by in wanted:
        raise ValueError(f"columns must be some of {[column for column in names if column != by][:20]}; got {wanted}")
    used = as_column_names(wanted, name)
    FrameRows(as_frame(frame._meta[wanted], name), name)  # which says what is not numeric
    chosen = frame[[*wanted, *([] if by is None else [by])]]
    if list(map(str, wanted)) != wanted:
        chosen = chosen.rename(columns=dict(zip(wanted, used, strict=True)))
    parts = [Part(data, f"partition {number}") for number, data in enumerate(chosen.to_delayed())]
    # A frame made of an array has the columns 0, 1, ...: positions, not names.
    named = wanted != list(range(len(wanted))) and not (frame is not X and X.name is None)
    return RemoteRows(parts, Opening(name, used, named, by))


def _of_array(X: Any, columns: Sequence[str] | None, by: str | None, name: str) -> RemoteRows:
    if columns is not None or by is not None:
        raise ValueError(f"columns and by are for data frames; {name} is a Dask array, whose columns have no names")
    if X.ndim not in (1, 2) or (X.ndim == 2 and X.shape[1] == 0):
        raise ValueError(f"{name} must have rows and columns (or be one column); got a Dask array of shape {X.shape}")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers; got a Dask array of dtype {X.dtype}")
    if X.ndim == 2 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    sizes = X.chunks[0]
    parts = [Part(data, f"chunk {number}") for number, data in enumerate(X.to_delayed().ravel())]
    opening = Opening(name, numbered_columns(1 if X.ndim == 1 else X.shape[1]), False)
    return RemoteRows(parts, opening, None if np.isnan(sizes).any() else [int(size) for size in sizes])


register_rows(
    is_collection,
    lambda X, name: scan_dask(X, name=name),
    lambda X, by, columns: scan_dask(X, by=by, columns=columns),
)
