"""Long tables: one row for each observation, and a column that says which bag it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from uptonoise._util.validation import checked_column, checked_columns
from uptonoise._util.wording import shown
from uptonoise.rows import CHUNK_ROWS, as_frame, is_frame


class LongTable:
    """A data frame as rows of bags.

    Attributes
    ----------
    values : data frame
        The columns that are kept.
    ids : array of shape (n_bags,)
        The ids of the bags, in the order of their first rows.
    bag_numbers : array of shape (n_rows,)
        The number of each row's bag.
    labels : array of shape (n_bags,) or None
        The label of each bag.
    """

    def __init__(
        self, frame: Any, by: str | Sequence[str], values: str | Sequence[str] | None, label: str | None
    ) -> None:
        if not is_frame(frame):
            raise ValueError(f"frame must be a data frame (pandas, polars or pyarrow); got a {type(frame).__name__}")
        self._table = as_frame(frame, "frame")
        keys = checked_columns(by, "by")
        if not keys or len(set(keys)) < len(keys):
            raise ValueError(f"by must be a column of frame, or several distinct ones; got {by!r}")
        if label is not None:
            checked_column(label, "label")
        kept = self._value_columns(keys, values, label)
        for column in (*keys, *([] if label is None else [label]), *kept):
            if column not in self._table.columns:
                raise ValueError(f"frame has no column {column!r}; its columns are {list(self._table.columns)}")
        if len(self._table) == 0:
            raise ValueError("frame has no rows; at least one is needed")
        self.ids, self.bag_numbers = _numbered_by_first_row(self._key_column(keys))
        self.values = self._table.select(nw.col(*kept)).to_native()
        self.labels = (
            None if label is None else labels_of_bags(self._complete_column(label), self.bag_numbers, self.ids, label)
        )

    def _key_column(self, keys: Sequence[str]) -> NDArray[Any]:
        """Return the id of each row's bag: a tuple where several columns tell it."""
        columns = [self._complete_column(name) for name in keys]
        if len(columns) == 1:
            return columns[0]
        ids = np.empty(len(columns[0]), dtype=object)
        ids[:] = list(zip(*(column.tolist() for column in columns), strict=True))
        return ids

    def _value_columns(self, keys: Sequence[str], values: str | Sequence[str] | None, label: str | None) -> list[str]:
        if values is None:
            kept = [column for column in self._table.columns if column not in (*keys, label)]
        else:
            kept = checked_columns(values, "values")
        if not kept or len(set(kept)) < len(kept):
            raise ValueError(f"values must be distinct columns of frame, at least one; got {kept}")
        return kept

    def _complete_column(self, name: str) -> NDArray[Any]:
        """Return a column of plain values of which none is missing."""
        column = self._table.get_column(name)
        if column.dtype.is_nested():
            raise ValueError(f"column {name!r} must hold numbers, strings or dates; got {column.dtype}")
        values = column.to_numpy()
        missing = column.is_null().to_numpy().astype(bool)
        if values.dtype.kind == "f":
            missing = missing | np.isnan(values)
        if missing.any():
            raise ValueError(
                f"frame has missing values in column {name!r}, first in row {int(np.argmax(missing))}; "
                "drop or fill such rows first"
            )
        return values


def _numbered_by_first_row(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the ids in the order of their first rows, and the number of each row's bag."""
    if values.dtype == object:  # strings, or a mix that cannot be sorted
        numbers_of_ids: dict[Any, int] = {}
        codes = np.array([numbers_of_ids.setdefault(value, len(numbers_of_ids)) for value in values])
        ids = np.empty(len(numbers_of_ids), dtype=object)
        ids[:] = list(numbers_of_ids)
        return ids, codes
    ids, first_rows, codes = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first_rows)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return ids[order], place[codes]


class LabelsOfBags:
    """The label of each bag, from rows that come in pieces; all rows of a bag must have the same.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.bags import LabelsOfBags
    >>> labels = LabelsOfBags(np.array(["p", "q"]), "age")
    >>> labels.add(np.array([60.0, 70.0, 60.0]), np.array([0, 1, 0]))
    >>> labels.values
    array([60., 70.])
    """

    values: NDArray[Any]

    def __init__(self, ids: NDArray[Any], name: str) -> None:
        self._ids, self._name = ids, name
        self._known = np.zeros(len(ids), dtype=bool)

    def add(self, labels: NDArray[Any], bag_numbers: NDArray[np.integer[Any]]) -> None:
        """Take the labels of some rows, or raise where a bag has another one."""
        if not self._known.any():
            self.values = np.empty(len(self._ids), dtype=labels.dtype)
        bags, rows = np.unique(bag_numbers, return_index=True)
        new = ~self._known[bags]
        self.values[bags[new]] = labels[rows[new]]
        self._known[bags] = True
        differs = labels != self.values[bag_numbers]
        if differs.any():
            row = int(np.argmax(differs))
            bag = bag_numbers[row]
            raise ValueError(
                f"column {self._name!r} must have one label in each bag; bag {shown(self._ids[bag])} has "
                f"{shown(self.values[bag])} and {shown(labels[row])}"
            )


def labels_of_bags(
    labels: NDArray[Any], bag_numbers: NDArray[np.integer[Any]], ids: NDArray[Any], name: str
) -> NDArray[Any]:
    """Return the label of each bag, or raise where its rows have different labels."""
    of_bags = LabelsOfBags(ids, name)
    for start in range(0, len(labels), CHUNK_ROWS):
        here = slice(start, start + CHUNK_ROWS)
        of_bags.add(labels[here], bag_numbers[here])
    return of_bags.values
