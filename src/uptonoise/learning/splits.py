"""The splits of cross-validation over bags, none of which takes a group apart."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, check_cv

from uptonoise._util.wording import counted
from uptonoise.learning.solver import Split


def checked_splits(cv: Any, targets: NDArray[Any], groups: Any, seed: int) -> list[Split]:
    """Return the splits that `cv` makes of bags with these targets."""
    n_bags = len(targets)
    labels = None if groups is None else np.asarray(groups)
    if labels is not None and labels.shape != (n_bags,):
        raise ValueError(f"groups must have one group for each of {n_bags} bags; got shape {labels.shape}")
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        count, what = (n_bags, "bag") if labels is None else (len(np.unique(labels)), "group")
        if not 2 <= cv <= count:
            raise ValueError(f"cv must be at least 2 and at most the number of {what}s, {count}; got {cv}")
        # Bags often come in the order of their targets.
        splitter = KFold(cv, shuffle=True, random_state=seed) if labels is None else GroupKFold(cv)
    else:
        splitter = check_cv(cv)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The groups parameter is ignored")  # what that did is checked below
            splits = [Split(*map(_places, split)) for split in splitter.split(np.arange(n_bags), targets, labels)]
    except (TypeError, ValueError) as error:
        if isinstance(error, TypeError) or "to unpack" in str(error):
            raise ValueError(f"cv must be a number of folds, a splitter, or pairs of places; got {cv!r}") from None
        raise ValueError(f"cv cannot split {counted(n_bags, 'bag')}: {error}") from None
    for number, (train, test) in enumerate(splits):
        if len(test) == 0 or len(train) < 2:
            raise ValueError(f"cv must leave bags to fit on and bags to judge by; split {number} does not")
        torn = [] if labels is None else np.intersect1d(labels[train], labels[test]).tolist()
        if torn:
            raise ValueError(
                f"cv must keep each group in one part; split {number} has the group {torn[0]!r} in both. Use "
                "GroupKFold or an int"
            )
    if not splits:
        raise ValueError("cv must give at least one split; got none")
    return splits


def _places(part: Any) -> Any:
    """Return the places of bags, or raise where they are something else."""
    places = np.asarray(part)
    if places.ndim != 1 or (len(places) > 0 and places.dtype.kind not in "iub"):
        raise TypeError
    return places
