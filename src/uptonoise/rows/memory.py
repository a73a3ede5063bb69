"""Rows in this machine's memory: arrays and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw

from uptonoise.rows.arrays import as_real_array
from uptonoise.rows.block import CHUNK_ROWS, Block
from uptonoise.rows.frames import check_numeric, frame_values, suspected_in_frame
from uptonoise.rows.matching import as_column_names, numbered_columns
from uptonoise.rows.record import SourceRecord
from uptonoise.rows.source import RowSource


class ArrayRows(RowSource):
    """The rows of an array, one column where it is 1-D; nothing is copied but one block at a time.

    Examples
    --------
    >>> from uptonoise.rows import ArrayRows
    >>> ArrayRows([1, 2, 3]).values.shape
    (3, 1)
    """

    def __init__(self, X: Any, name: str = "X", columns: Sequence[str] | None = None, bag_ids: Any = None) -> None:
        values = as_real_array(X, name)
        if values.ndim == 1:
            values = values[:, None]
        if values.ndim != 2:
            raise ValueError(
                f"{name} must have rows and columns (or be one column); got an array of {values.ndim} dimensions"
            )
        if values.shape[1] == 0:
            raise ValueError(f"{name} must have at least one column; got shape {values.shape}")
        self.values, self.name, self.bag_ids = values, name, bag_ids
        self.named = columns is not None
        self.columns = numbered_columns(values.shape[1]) if columns is None else tuple(columns)
        self.n_rows = len(values)

    def chunks(self) -> Iterator[Block]:
        """Yield the whole array."""
        yield Block(self.values)


class FrameRows(RowSource):
    """The rows of a data frame that narwhals knows, converted to numbers some thousand rows at a time."""

    def __init__(self, frame: nw.DataFrame[Any], name: str = "X") -> None:
        check_numeric(frame, name)
        self.frame, self.name, self.n_rows = frame, name, len(frame)
        # A pandas frame made of an array has the columns 0, 1, ...: positions, not names.
        names: list[Any] = list(frame.columns)
        self.named = names != list(range(len(names)))
        self.columns = as_column_names(names, name)

    def chunks(self) -> Iterator[Block]:
        """Yield the frame in slices of many rows."""
        for start in range(0, len(self.frame), CHUNK_ROWS):
            yield Block(frame_values(self.frame[start : start + CHUNK_ROWS], self.name))

    def record(self) -> SourceRecord:
        """Return which columns look like indices or dates."""
        return SourceRecord(suspected=suspected_in_frame(self.frame) if self.named else {})
