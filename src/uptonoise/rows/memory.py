"""Rows in this machine's memory: arrays, and data frames of any kind that narwhals knows (pandas, polars, pyarrow)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series

from uptonoise._util.typing import Floats
from uptonoise.rows.arrays import as_real_array, check_exact
from uptonoise.rows.block import CHUNK_ROWS, Block
from uptonoise.rows.habits import no_measurement
from uptonoise.rows.matching import as_column_names
from uptonoise.rows.record import SourceRecord
from uptonoise.rows.source import RowSource

_LOOKED_AT = 1_000  # the first rows, which tell what the columns hold
_LONG_INTEGERS = (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128)
TEXT_TYPES = (nw.String, nw.Categorical, nw.Enum)
_PLAIN_TYPES = (
    *(nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64),
    *(nw.Float32, nw.Float64, nw.Boolean),
)


def is_frame(X: Any) -> bool:
    """Tell whether `X` is a data frame: one that narwhals knows, lazy or not, or a record batch of pyarrow."""
    is_table = is_into_dataframe(X) or _is_record_batch(X)
    return is_table or isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)


def is_series(X: Any) -> bool:
    """Tell whether `X` is one column of a data frame."""
    return is_into_series(X)


def _is_record_batch(X: Any) -> bool:
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(X, pyarrow.RecordBatch)


def as_frame(X: Any, name: str) -> nw.DataFrame[Any]:
    """Return a data frame of any kind, or a series, as narwhals' own; a lazy frame is collected."""
    if _is_record_batch(X):
        X = sys.modules["pyarrow"].Table.from_batches([X])
    try:
        frame: Any = nw.from_native(X, allow_series=True)
    except (TypeError, nw.exceptions.NarwhalsError) as error:
        raise ValueError(f"{name} must be a data frame with distinct column names; {error}") from None
    if isinstance(frame, nw.LazyFrame):
        try:
            frame = frame.collect()
        except Exception as error:  # whatever the engine of the lazy frame raises
            raise ValueError(f"{name} is a lazy frame that cannot be collected: {error}") from error
    whole: nw.DataFrame[Any] = frame.to_frame() if isinstance(frame, nw.Series) else frame
    return whole


def frame_values(frame: nw.DataFrame[Any], name: str | None) -> Floats:
    """Return the values of a numeric frame as float64; missing values become NaN.

    Without a name, for those who only look, nobody is told of whole numbers that are rounded.
    """
    values = np.empty(frame.shape)
    for number, column in enumerate(frame.iter_columns()):
        if name is not None and column.dtype in _LONG_INTEGERS and len(column):
            extremes = [value for value in (column.min(), column.max()) if value is not None]
            check_exact(extremes, name, column.name)
        is_plain = column.dtype in _PLAIN_TYPES and column.null_count() == 0
        values[:, number] = (column if is_plain else column.cast(nw.Float64)).to_numpy()
    return values


def check_numeric(frame: nw.DataFrame[Any], name: str) -> None:
    """Raise where a frame has no column, or a column that is not numeric."""
    if not frame.columns:
        raise ValueError(f"{name} must have at least one column; got a data frame without columns")
    dtypes = frame.schema.items()
    wrong = [f"{column!r} ({dtype})" for column, dtype in dtypes if not (dtype.is_numeric() or dtype == nw.Boolean)]
    if wrong:
        has_text = any(dtype in TEXT_TYPES for _, dtype in dtypes)
        coding = ', or use text as columns of 0 and 1, by categories="one-hot" or one_hot' if has_text else ""
        problem = f"{name} must have numeric columns only; not numeric: {', '.join(wrong)}"
        raise ValueError(f"{problem}. Select the others{coding}")


def suspected_in_frame(frame: nw.DataFrame[Any]) -> dict[str, str]:
    """Return the numeric columns that look like indices or dates, each with the reason."""
    numeric = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    first = frame_values(frame.select(numeric).head(_LOOKED_AT), None) if numeric else np.empty((0, 0))
    reasons = {str(name): no_measurement(str(name), values) for name, values in zip(numeric, first.T, strict=True)}
    return {name: why for name, why in reasons.items() if why is not None}


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
        self.columns = tuple(f"x{number}" for number in range(values.shape[1])) if columns is None else tuple(columns)
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
