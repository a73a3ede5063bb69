"""Names of columns, and whether two samples have the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from uptonoise._util.wording import counted
from uptonoise.rows.derived import select_columns
from uptonoise.rows.source import RowSource

_NAMES_IN_MESSAGE = 8


class Columns(Protocol):
    """Anything that has columns: what it is called, their names, and whether the names came with the input."""

    name: str
    columns: tuple[str, ...]
    named: bool


def as_column_names(names: Any, what: str, n_columns: int | None = None) -> tuple[str, ...]:
    """Return names as distinct strings, or raise; as many as are expected where that is known.

    Examples
    --------
    >>> from uptonoise.rows import as_column_names
    >>> as_column_names(["a", 1], "X")
    ('a', '1')
    """
    is_list = isinstance(names, Sequence | np.ndarray) and not isinstance(names, str)
    columns = tuple(map(str, names)) if is_list else ()
    if not is_list or len(set(columns)) != len(columns) or n_columns not in (None, len(columns)):
        wanted = "distinct column names" if n_columns is None else counted(n_columns, "distinct column name")
        raise ValueError(f"{what} must have {wanted}; got {names!r}")
    return columns


def numbered_columns(n_columns: int) -> tuple[str, ...]:
    """Return the names of columns that have none."""
    return tuple(f"x{number}" for number in range(n_columns))


def aligned(source: RowSource, other: Columns) -> RowSource:
    """Return `source` with its columns in the order of `other`: by name where the names agree, else by position."""
    if source.columns == other.columns:
        return source
    check_same_columns(source, other)
    return select_columns(source, other.columns) if set(source.columns) == set(other.columns) else source


def check_same_columns(given: Columns, other: Columns) -> None:
    """Raise where two samples do not have the same columns, whatever their order."""
    if len(given.columns) != len(other.columns):
        some = [
            ", ".join(columns[:_NAMES_IN_MESSAGE]) + (", ..." if len(columns) > _NAMES_IN_MESSAGE else "")
            for columns in (other.columns, given.columns)
        ]
        raise ValueError(
            f"{given.name} must have the columns of {other.name}, {counted(len(other.columns), 'column')} ({some[0]}); "
            f"got {len(given.columns)} ({some[1]})"
        )
    if given.named and other.named and set(given.columns) != set(other.columns):
        missing = sorted(set(other.columns) - set(given.columns), key=other.columns.index)[:_NAMES_IN_MESSAGE]
        unknown = sorted(set(given.columns) - set(other.columns), key=given.columns.index)[:_NAMES_IN_MESSAGE]
        raise ValueError(
            f"{given.name} must have the columns of {other.name}; it lacks {missing} and has {unknown} instead. "
            "Select or rename columns so that both agree"
        )
