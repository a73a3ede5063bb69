"""Long tables: one row for each observation, and a column that says which bag it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from uptonoise._util.validation import checked_column, checked_columns
from uptonoise._util.wording import shown
from uptonoise.rows import as_frame, is_frame, numbered, object_array


def read_long_table(
    frame: Any, by: str | Sequence[str], values: str | Sequence[str] | None, label: str | None
) -> tuple[Any, NDArray[np.int64], NDArray[Any], NDArray[Any] | None]:
    """Return the columns that are kept, the number of each row's bag, and the id and the label of each bag.

    Bags are in the order of their first rows. Where several columns tell them, ids are tuples.
    """
    if not is_frame(frame):
        raise ValueError(f"frame must be a data frame (pandas, polars or pyarrow); got a {type(frame).__name__}")
    table = as_frame(frame, "frame")
    keys = checked_columns(by, "by")
    if not keys or len(set(keys)) < len(keys):
        raise ValueError(f"by must be a column of frame, or several distinct ones; got {by!r}")
    if label is not None:
        checked_column(label, "label")
    others = [column for column in table.columns if column not in (*keys, label)]
    kept = others if values is None else checked_columns(values, "values")
    if not kept or len(set(kept)) < len(kept):
        raise ValueError(f"values must be distinct columns of frame, at least one; got {kept}")
    for column in (*keys, *([] if label is None else [label]), *kept):
        if column not in table.columns:
            raise ValueError(f"frame has no column {column!r}; its columns are {list(table.columns)}")
    if len(table) == 0:
        raise ValueError("frame has no rows; at least one is needed")
    columns = [_complete_column(table, name) for name in keys]
    tuples = zip(*(column.tolist() for column in columns), strict=True)
    ids, bag_numbers, _ = numbered(columns[0] if len(columns) == 1 else object_array(list(tuples)))
    labels = None if label is None else LabelsOfBags(ids, label).add(_complete_column(table, label), bag_numbers)
    return table.select(nw.col(*kept)).to_native(), bag_numbers, ids, labels


def _complete_column(table: nw.DataFrame[Any], name: str) -> NDArray[Any]:
    """Return a column of plain values of which none is missing."""
    column = table.get_column(name)
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


class LabelsOfBags:
    """The label of each bag, from rows that come in pieces; all rows of a bag must have the same.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.bags import LabelsOfBags
    >>> labels = LabelsOfBags(np.array(["p", "q"]), "age")
    >>> labels.add(np.array([60.0, 70.0, 60.0]), np.array([0, 1, 0]))
    array([60., 70.])
    """

    values: NDArray[Any]

    def __init__(self, ids: NDArray[Any], name: str) -> None:
        self._ids, self._name = ids, name
        self._known = np.zeros(len(ids), dtype=bool)

    def add(self, labels: NDArray[Any], bag_numbers: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """Take the labels of some rows, and return those of all bags so far; raise where a bag has another one."""
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
        return self.values
