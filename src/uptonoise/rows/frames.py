"""Data frames of any kind that narwhals knows: pandas, polars, pyarrow, ..."""

from __future__ import annotations

import sys
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe, is_into_series

from uptonoise._util.typing import Floats
from uptonoise.rows.arrays import check_exact
from uptonoise.rows.habits import no_measurement

_LOOKED_AT = 1_000  # the first rows, which tell what the columns hold
_LONG_INTEGERS = (nw.Int64, nw.UInt64, nw.Int128, nw.UInt128)
TEXT_TYPES = (nw.String, nw.Categorical, nw.Enum)
_PLAIN_TYPES = (
    *(nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64),
    *(nw.Float32, nw.Float64, nw.Boolean),
)


def is_frame(X: Any) -> bool:
    """Tell whether `X` is a data frame: one that narwhals knows, lazy or not, or a record batch of pyarrow."""
    if is_into_dataframe(X) or _is_record_batch(X):
        return True
    return isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)


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
        frame = nw.from_native(X, allow_series=True)
    except (TypeError, nw.exceptions.NarwhalsError) as error:
        raise ValueError(f"{name} must be a data frame with distinct column names; {error}") from None
    if isinstance(frame, nw.Series):
        return frame.to_frame()
    try:
        whole: nw.DataFrame[Any] = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    except Exception as error:  # whatever the engine of the lazy frame raises
        raise ValueError(f"{name} is a lazy frame that cannot be collected: {error}") from error
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
    """Return the numeric columns that look like indices or dates, each with the reason.

    Examples
    --------
    >>> import narwhals as nw, pandas as pd
    >>> from uptonoise.rows import suspected_in_frame
    >>> suspected_in_frame(nw.from_native(pd.DataFrame({"site": ["a"], "year": [2024], "x": [0.5]})))
    {'year': 'looks like a date or time'}
    """
    numeric = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    first = frame_values(frame.select(numeric).head(_LOOKED_AT), None) if numeric else np.empty((0, 0))
    reasons = {str(name): no_measurement(str(name), values) for name, values in zip(numeric, first.T, strict=True)}
    return {name: why for name, why in reasons.items() if why is not None}
