"""A classifier of bags: features before logistic regression, in a scikit-learn search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from uptonoise._util.random import seeded_generator
from uptonoise.learning.ridge import BagRidgeCV
from uptonoise.learning.search import checked_numbers


def make_bag_classifier(
    first: Any = "phase",
    second: Any = None,
    *,
    n_frequencies: int = 100,
    n_second: int = 100,
    scale_factors: Sequence[float] = (0.5, 1.0, 2.0, 4.0),
    Cs: Sequence[float] = (1.0, 10.0, 100.0, 1_000.0),
    cv: Any = 3,
    random_state: int | None = None,
) -> GridSearchCV:
    """Return a classifier of bags: the features of :class:`BagRidgeCV` before logistic regression.

    Parameters
    ----------
    first : {"phase", "fourier", "mean"} or transformer
        The features of a bag.
    second : None, "fourier" or transformer
        Features of those features.
    n_frequencies, n_second : int
        The numbers of frequencies of the two layers.
    scale_factors : sequence of float
        The scales of the first layer to try, in units of the median heuristic.
    Cs : sequence of float
        The inverse penalties to try.
    cv : int, splitter or iterable
        As scikit-learn's searches take it; stratified by class where it is an int.
    random_state : None or int
        The seed of the frequencies.

    Returns
    -------
    GridSearchCV
        Over a Pipeline with the steps "first", "second" (where there is one) and "classifier".

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> bags = un.Bags([rng.gamma(1 + 5 * (i % 2), size=(40, 1)) for i in range(60)])
    >>> model = un.make_bag_classifier(n_frequencies=30, random_state=0).fit(bags, np.arange(60) % 2)
    >>> model.score(bags, np.arange(60) % 2) > 0.9
    True
    """
    seed = int(seeded_generator(random_state)[0].integers(2**31))
    ridge = BagRidgeCV(first, second, n_frequencies=n_frequencies, n_second=n_second, steady=False)
    layers = ridge._layers([seed, seed + 1])
    steps = [(name, layer) for name, layer in zip(("first", "second"), layers, strict=True) if layer is not None]
    grid: dict[str, list[float]] = {"classifier__C": checked_numbers("Cs", Cs).tolist()}
    if "scale_factor" in layers[0].get_params():
        grid["first__scale_factor"] = checked_numbers("scale_factors", scale_factors).tolist()
    is_count = isinstance(cv, int | np.integer) and not isinstance(cv, bool)
    if not (cv is None or is_count or hasattr(cv, "get_n_splits")):
        try:
            cv = [(np.asarray(train), np.asarray(test)) for train, test in cv]
        except (TypeError, ValueError):
            raise ValueError(f"cv must be a number of folds, a splitter, or pairs of places; got {cv!r}") from None
    return GridSearchCV(Pipeline([*steps, ("classifier", LogisticRegression(max_iter=5_000))]), grid, cv=cv)
