"""Lists of samples and 3-D arrays as the rows of bags in one array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise.rows import (
    RowSource,
    aligned,
    as_frame,
    as_real_array,
    as_rows,
    is_frame,
    is_series,
    is_tensor,
    numbered_columns,
)


def is_bag_list(X: Any) -> bool:
    """Tell bags from a single sample: a 3-D array, or a list (or array) of things that are samples themselves."""
    if isinstance(X, np.ndarray) and X.dtype == object:
        return X.ndim == 1 and len(X) > 0 and all(map(_is_sample, X))
    if isinstance(X, np.ndarray) or is_tensor(X):
        return bool(X.ndim == 3)
    return isinstance(X, list | tuple) and len(X) > 0 and any(map(_is_sample, X[:2]))


def _is_sample(X: Any) -> bool:
    """Tell whether `X` holds rows: an array, a tensor, a frame, a series, a source, or a list of lists."""
    if isinstance(X, np.ndarray) or is_tensor(X):
        return bool(X.ndim > 0)
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], list | tuple)
    return isinstance(X, RowSource) or is_frame(X) or is_series(X)


def with_keys(bags: Any) -> tuple[list[Any] | None, Any]:
    """Return ids and samples of a dict or of a groupby of pandas or polars; None and the bags for anything else."""
    if isinstance(bags, Mapping):
        return list(bags), list(bags.values())
    key_columns = _key_columns(bags)
    if key_columns is None:
        return None, bags
    groups = list(bags)
    ids = [key[0] if isinstance(key, tuple) and len(key) == 1 else key for key, _ in groups]
    return ids, [as_frame(frame, "bags").drop(key_columns, strict=False).to_native() for _, frame in groups]


def _key_columns(bags: Any) -> list[str] | None:
    """Return the columns that a groupby of pandas or polars groups by; None for anything else."""
    if type(bags).__name__ == "DataFrameGroupBy" and hasattr(bags, "exclusions"):
        return sorted(bags.exclusions)
    if type(bags).__name__ == "GroupBy" and hasattr(bags, "by"):
        return [name for name in bags.by if isinstance(name, str)]
    return None


def gathered_rows(bags: Any, name: str) -> tuple[NDArray[Any], NDArray[np.int64], tuple[str, ...], bool]:
    """Return the rows of all bags, the size of each bag, the names of the columns, and whether these were given."""
    if is_tensor(bags):
        bags = as_real_array(bags, name)
    if isinstance(bags, np.ndarray) and bags.dtype != object:
        if bags.ndim != 3:
            raise ValueError(f"{name} must be a list of samples or a 3-D array; got an array of shape {bags.shape}")
        n_bags, n_rows, n_columns = bags.shape
        if n_bags and n_rows and n_columns:
            rows = as_real_array(bags.reshape(-1, n_columns), name).copy()  # the array may change later, bags do not
            return rows, np.full(n_bags, n_rows), numbered_columns(n_columns), False
    elif not isinstance(bags, Iterable) or isinstance(bags, str | dict) or is_frame(bags):
        raise ValueError(
            f"{name} must be a list of samples or a 3-D array; got a {type(bags).__name__}. "
            "For a long table with a column of ids use Bags.from_long"
        )
    sources = [as_rows(bag, name=f"{name}[{number}]") for number, bag in enumerate(bags)]
    if not sources:
        raise ValueError(f"{name} is empty; at least one bag is needed")
    tables = [raw_values(aligned(source, sources[0])) for source in sources]
    sizes = np.array([len(table) for table in tables])
    return np.concatenate(tables), sizes, sources[0].columns, sources[0].named


def raw_values(source: RowSource) -> NDArray[Any]:
    """Return all rows as they come; they are checked once all bags are together."""
    chunks = [chunk.values for chunk in source.chunks()]
    return chunks[0] if len(chunks) == 1 else np.concatenate(chunks or [np.empty((0, len(source.columns)))])


def offsets_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each bag starts, and the number of all rows."""
    return np.concatenate([[0], np.cumsum(sizes)])


def concatenated_ids(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate ids or labels; as objects where numpy would turn numbers into strings."""
    kinds = {array.dtype.kind for array in arrays}
    return np.concatenate([array.astype(object) for array in arrays] if len(kinds) > 1 else arrays)
