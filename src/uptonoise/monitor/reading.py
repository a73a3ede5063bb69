"""Batches and references as tables: their columns, missing values and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.errors import hinted
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.fourier import check_design
from uptonoise.rows import CHUNK_ROWS, RowSource, as_frame, as_rows, is_frame

Missing = Literal["error", "drop", "use"]

_LISTED = 8  # names in a message


class Table(NamedTuple):
    """Rows in memory: values (n, d) as float64, NaN where missing; columns; and the number of each row's cluster.

    Those of `is_own` are nobody else's: who needs them in another order may sort them in place.
    """

    values: Floats
    columns: tuple[str, ...]
    named: bool
    clusters: NDArray[np.integer[Any]] | None = None
    notes: tuple[str, ...] = ()
    is_own: bool = False


def read_table(X: Any, name: str, clusters: Any = None, columns: Sequence[str] | None = None) -> Table:
    """Read all rows, with missing values as NaN; bags are clusters. `name` is the argument, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.monitor.reading import read_table
    >>> read_table([[1.0, np.nan], [2.0, 3.0]], "batch", clusters=["b", "a"]).clusters
    array([1, 0])
    """
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype == np.float64 and clusters is None and columns is None:
        names = tuple(f"x{number}" for number in range(X.shape[1]))
        check_design(names, name)
        _check_finite(X, name)
        return Table(X, names, named=False)
    if is_frame(X):
        frame = as_frame(X, name)
        _check_has(frame.columns, [column for column in (*(columns or ()), clusters) if isinstance(column, str)], name)
        if isinstance(clusters, str):
            frame, clusters = frame.drop(clusters), frame[clusters].to_numpy()
        X, columns = (frame if columns is None else frame.select(list(columns))).to_native(), None
    source = as_rows(X, name=name)
    check_design(source.columns if columns is None else columns, name)
    if source.bag_ids is not None and clusters is not None:
        raise ValueError(f"{name} has bags, which are clusters already; leave out clusters")
    values, bags = _joined(source)
    _check_finite(values, name)
    numbers = _numbers(clusters, len(values), name) if bags is None else bags
    table = Table(values, source.columns, source.named, numbers, is_own=True)
    if columns is None or tuple(columns) == source.columns:
        return table
    _check_has(source.columns, columns, name)
    places = [source.columns.index(column) for column in columns]
    return table._replace(values=values[:, places], columns=tuple(columns))


def _joined(source: RowSource) -> tuple[Floats, NDArray[np.int32] | None]:
    """Return all values of a source, and the numbers of the bags, each read into its place: no part is held twice."""
    n_rows = source.n_rows or 0
    values = np.empty((n_rows, len(source.columns)))
    bags = None if source.bag_ids is None else np.empty(n_rows, dtype=np.int32)

    def resize(n_rows: int) -> None:
        # In place: a copy would take as much memory again.
        values.resize((n_rows, values.shape[1]), refcheck=False)
        if bags is not None:
            bags.resize(n_rows, refcheck=False)

    stop = 0
    for block in source.chunks():
        start, stop = stop, stop + len(block.values)
        if stop > len(values):
            resize(stop + stop // 8)
        values[start:stop] = block.values
        if bags is not None and block.bags is not None:
            bags[start:stop] = block.bags
    if stop < len(values):
        resize(stop)
    return values, bags


def _check_has(has: Sequence[str], columns: Sequence[str], name: str) -> None:
    lacking = [column for column in columns if column not in has]
    if lacking:
        raise ValueError(f"{name} lacks the column {lacking[0]!r}; it has {_listed(has)}")


def _check_finite(values: Floats, name: str) -> None:
    for start in range(0, len(values), CHUNK_ROWS):
        here = values[start : start + CHUNK_ROWS]
        infinite = np.isinf(here)
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            place = f"row {start + row}, column number {column}"
            raise ValueError(f"{name} must be finite; got {here[row, column]} in {place}")


def _numbers(clusters: Any, n_rows: int, name: str) -> NDArray[np.int64] | None:
    """Return the numbers of the clusters of the rows."""
    if clusters is None:
        return None
    if isinstance(clusters, str):
        raise ValueError(f"clusters must be one id for each row of {name}, which has no column names; got {clusters!r}")
    ids = np.asarray(clusters)
    if ids.shape != (n_rows,):
        raise ValueError(f"clusters must be one id for each of the {n_rows} rows of {name}; got shape {ids.shape}")
    if ids.dtype.kind == "f" and np.isnan(ids).any():
        raise ValueError(f"clusters must be one id for each row of {name}; got NaN (a missing value)")
    return np.asarray(np.unique(ids, return_inverse=True)[1], dtype=np.int64)


def arranged(table: Table, columns: tuple[str, ...], named: bool, missing: Missing, name: str) -> Table:
    """Return a table with the columns of the monitor, in its order, and with missing values as it wants them.

    New columns are left out. A lost column is an error, unless missing values are used: then all its values are
    missing.
    """
    values, notes = table.values, list(table.notes)
    if table.named and named and table.columns != columns:
        lost = [column for column in columns if column not in table.columns]
        new = [column for column in table.columns if column not in columns]
        if lost and (missing != "use" or len(lost) == len(columns)):
            problem = f"{name} lacks the columns {_listed(lost)}: it has {_listed(table.columns)}"
            raise hinted(ValueError, problem, "{missing} goes on with the others", missing="use")
        places = {column: place for place, column in enumerate(table.columns)}
        filled = np.full((len(values), len(columns)), np.nan)
        for place, column in enumerate(columns):
            if column in places:
                filled[:, place] = values[:, places[column]]
        values, table = filled, table._replace(is_own=True)
        notes += [f"lost columns, without evidence from them: {_listed(lost)}"] if lost else []
        notes += [f"new columns, left out: {_listed(new)}"] if new else []
    elif values.shape[1] != len(columns):
        raise ValueError(f"{name} must have {counted(len(columns), 'column')}; got {values.shape[1]}")
    table = table._replace(values=values, columns=columns, notes=tuple(notes))
    if missing == "use":
        return table
    starts = range(0, len(table.values), CHUNK_ROWS)
    pieces = (np.isnan(table.values[start : start + CHUNK_ROWS]).any(axis=1) for start in starts)
    incomplete = np.concatenate([np.empty(0, dtype=bool), *pieces])
    if not incomplete.any():
        return table
    if missing == "error":
        row = int(np.argmax(incomplete))
        place = int(np.argmax(np.isnan(table.values[row])))
        problem = f"{name} must have no missing values: got NaN in row {row}, column {table.columns[place]!r}"
        raise hinted(ValueError, problem, "{missing} leaves such rows out", missing="drop")
    note = f"{counted(int(incomplete.sum()), 'row')} with missing values left out"
    return table._replace(
        values=table.values[~incomplete],
        clusters=None if table.clusters is None else table.clusters[~incomplete],
        notes=(*table.notes, note),
        is_own=True,
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
