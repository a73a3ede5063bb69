"""Targets of bags: numbers, or classes, that come as an array, by id, or as the labels of the bags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.rows import as_real_array, is_tensor

_LARGEST = 1e150  # whose square is still a number


def given_targets(y: Any, bags: Any) -> Any:
    """Return `y` in this machine's memory and in the order of the bags, or their labels where it is None.

    The ids of the bags are looked at only where `y` has ids: where it is a dict, or a pandas Series or frame.
    """
    if y is None:
        if bags.labels is None:
            raise ValueError(  # the end in the words that scikit-learn's checks look for
                "y must be given where the bags have no labels: fit requires y to be passed, but the target y is None"
            )
        return bags.labels
    has_index = hasattr(y, "reindex") and hasattr(y, "index")  # a pandas Series, or a frame of several targets
    if not isinstance(y, Mapping) and not has_index:
        return y.detach().cpu() if is_tensor(y) else y
    ids = bags.ids.tolist() if isinstance(bags.ids, np.ndarray) else list(bags.ids)
    known = y if isinstance(y, Mapping) else set(y.index)
    missing = [bag for bag in ids if bag not in known]
    if isinstance(y, Mapping):
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise ValueError(f"y must have a target for each bag; it has none for the bag {missing[0]!r}{more}")
        return [y[bag] for bag in ids]
    if missing or not y.index.is_unique:
        wrong = f"it has none for the bag {missing[0]!r}" if missing else "some are there twice"
        raise ValueError(
            f"the index of y must have the ids of the bags; {wrong}. Give y.to_numpy() if y is in the order of the bags"
        )
    return y.loc[ids].to_numpy()


def checked_targets(y: Any, n_bags: int, *, vary: bool = True) -> Floats:
    """Return finite numbers of shape (n_bags,) or (n_bags, n_targets), or raise with what is wrong.

    With `vary` targets that are the same for all bags are refused, too, as those who fit a model do.
    """
    values = as_real_array(y, "y").astype(np.float64)
    if values.ndim not in (1, 2) or len(values) != n_bags or values.size == 0:
        raise ValueError(f"y must have one target for each of {n_bags} bags; got shape {values.shape}")
    if not np.isfinite(values).all():
        place = int(np.argwhere(~np.isfinite(values))[0][0])
        raise ValueError(f"y must be finite; got {values[place]} for bag {place}. Leave such bags out")
    if np.abs(values).max() > _LARGEST:
        raise ValueError(f"y must be at most {_LARGEST:g}; got {np.abs(values).max():g}. Divide it by a constant")
    if vary and (values == values[0]).all():
        raise ValueError(f"y must vary; got {values[0]} for every bag, which needs no model")
    return values


def checked_classes(y: Any, n_bags: int) -> NDArray[Any]:
    """Return one class for each bag, or raise where there are not as many."""
    classes = np.asarray(y)
    if classes.shape != (n_bags,):
        raise ValueError(f"y must have one class for each of {n_bags} bags; got shape {classes.shape}")
    return classes
