"""Checks of what comes with bags: ids, labels, weights, and keys that pick some of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.wording import shown
from uptonoise.rows import as_real_array


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
    if isinstance(given, np.ndarray):
        array = given
    else:
        entries = list(given) if isinstance(given, Iterable) else [given]
        kinds = {type(entry) for entry in entries}
        if len(kinds) == 1 and not kinds & {list, tuple, dict, set}:
            array = np.asarray(entries)
        else:  # numpy would turn a number beside a string into a string, and a tuple into a row
            array = np.empty(len(entries), dtype=object)
            array[:] = entries
    if array.shape != (n_bags,):
        raise ValueError(f"{name} must have one entry for each of the {n_bags} bags; got shape {array.shape}")
    return array


def places_of_ids(key: Any, ids: NDArray[Any]) -> Any:
    """Return the place of a bag for its id, places for a list of ids, and any other key as it is."""
    kinds = (str, tuple) if len(ids) and isinstance(ids[0], tuple) else (str,)
    if isinstance(key, kinds):
        return _places([key], ids)[0]
    if isinstance(key, list | np.ndarray) and len(key) and all(isinstance(entry, kinds) for entry in key):
        return np.array(_places(list(key), ids))
    return key


def _places(wanted: list[Any], ids: NDArray[Any]) -> list[int]:
    known = {entry: place for place, entry in enumerate(ids.tolist())}
    missing = [entry for entry in wanted if entry not in known]
    if missing:
        near = get_close_matches(str(missing[0]), map(str, known), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise KeyError(f"there is no bag with the id {missing[0]!r}{hint}")
    return [known[entry] for entry in wanted]


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
