"""What people give of bags: lists of samples and 3-D arrays, ids, labels, weights, and keys that pick some of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.wording import shown
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
    plain_array,
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
    if type(bags).__name__ == "DataFrameGroupBy" and hasattr(bags, "exclusions"):
        key_columns = sorted(bags.exclusions)
    elif type(bags).__name__ == "GroupBy" and hasattr(bags, "by"):
        key_columns = [name for name in bags.by if isinstance(name, str)]
    else:
        return None, bags
    groups = list(bags)
    ids = [key[0] if isinstance(key, tuple) and len(key) == 1 else key for key, _ in groups]
    return ids, [as_frame(frame, "bags").drop(key_columns, strict=False).to_native() for _, frame in groups]


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
    return np.concatenate(tables), np.array([len(table) for table in tables]), sources[0].columns, sources[0].named


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


def checked_weights(weights: Any, n_bags: int) -> Floats:
    """Return one weight for each bag; ones where none are given."""
    if weights is None:
        return np.ones(n_bags)
    values = as_real_array(weights, "sample_weight").astype(np.float64)
    if values.shape != (n_bags,):
        raise ValueError(f"sample_weight must have one weight for each of {n_bags} bags; got shape {values.shape}")
    if not (np.isfinite(values).all() and (values >= 0).all() and np.count_nonzero(values) >= 2):
        raise ValueError("sample_weight must be finite and not negative, and not zero for all bags but one")
    return values


def checked_ids(ids: Sequence[Any] | NDArray[Any], n_bags: int) -> NDArray[Any]:
    """Return ids as an array, or raise where they are not distinct."""
    array = one_for_each_bag("ids", ids, n_bags)
    try:
        counts = Counter(array.tolist())
    except TypeError as error:
        raise ValueError(f"ids must be numbers, strings or other things that can be keys; {error}") from None
    if len(counts) < n_bags:
        raise ValueError(f"ids must be distinct; got {shown(counts.most_common(1)[0][0])} more than once")
    return array


def one_for_each_bag(name: str, given: Sequence[Any] | NDArray[Any], n_bags: int) -> NDArray[Any]:
    """Return one entry for each bag as an array that changes none of them."""
    if not isinstance(given, np.ndarray):
        given = plain_array(list(given) if isinstance(given, Iterable) else [given])
    if given.shape != (n_bags,):
        raise ValueError(f"{name} must have one entry for each of the {n_bags} bags; got shape {given.shape}")
    return given


def places_of_ids(key: Any, ids: NDArray[Any]) -> Any:
    """Return the place of a bag for its id, places for a list of ids, and any other key as it is."""
    kinds = (str, tuple) if len(ids) and isinstance(ids[0], tuple) else (str,)
    is_list = isinstance(key, list | np.ndarray) and len(key) > 0 and all(isinstance(entry, kinds) for entry in key)
    if not is_list and not isinstance(key, kinds):
        return key
    known = {entry: place for place, entry in enumerate(ids.tolist())}
    missing = [entry for entry in (key if is_list else [key]) if entry not in known]
    if missing:
        near = get_close_matches(str(missing[0]), map(str, known), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise KeyError(f"there is no bag with the id {missing[0]!r}{hint}")
    return np.array([known[entry] for entry in key]) if is_list else known[key]


def checked_key(key: Any) -> Any:
    """Return a slice, an index array or a mask, or raise where `key` is something else."""
    if isinstance(key, slice):
        return key
    array = np.asarray(key) if not isinstance(key, tuple) else np.empty(())
    if array.ndim == 1 and (array.dtype.kind in "iub" or len(array) == 0):
        return array if len(array) else array.astype(np.int64)
    raise IndexError(f"bags are picked by an integer, an id, a slice, an index array or a mask; got {key!r}")


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array that cannot be written."""
    array = array.view()
    array.flags.writeable = False
    return array
