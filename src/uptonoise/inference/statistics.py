"""Summaries of bags that are not learnt: moments, and quantiles with their powers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from uptonoise._util.docs import described
from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.rows import as_real_array, as_rows, read_rows

_LEVELS = np.linspace(0.05, 0.95, 19)
_POWERS = 4

_documented = described(
    bag="""
        Parameters
        ----------
        bag : array of shape (n, d)
            The bag.
        """
)


@_documented
def moments(bag: Floats) -> Floats:
    """Return the mean, the standard deviation and the skewness of each column of a bag.

    {bag}

    Returns
    -------
    array of shape (3d,)

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.inference import moments
    >>> moments(np.array([[0.0], [0.0], [3.0]])).round(4)
    array([1.    , 1.4142, 0.7071])
    """
    return np.asarray(_moments(_checked_bag(bag)[None])[0])


@_documented
def quantile_powers(bag: Floats) -> Floats:
    """Return 19 quantiles of each column of a bag, from 5 % to 95 %, with their powers up to the fourth.

    These are candidates for a linear regression as Fearnhead and Prangle (2012) use it, with quantiles in the place of
    order statistics so that bags may have any size.

    {bag}

    Returns
    -------
    array of shape (76 d,)

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.inference import quantile_powers
    >>> quantile_powers(np.arange(101.0)[:, None])[:4].round(6)
    array([ 5., 10., 15., 20.])
    """
    return np.asarray(_quantile_powers(_checked_bag(bag)[None])[0])


def _checked_bag(bag: Any) -> Floats:
    """Return the rows of a bag as finite numbers, or raise where they are something else."""
    return read_rows(as_rows(bag, name="bag")).astype(np.float64, copy=False)


def _moments(cube: Floats) -> Floats:
    mean = cube.mean(axis=1)
    centred = cube - mean[:, None]
    spread = np.sqrt((centred**2).mean(axis=1))
    safe = np.where(spread > 0, spread, 1.0)
    skewness = ((centred / safe[:, None]) ** 3).mean(axis=1)
    return np.concatenate([mean, spread, skewness], axis=1)


def _quantile_powers(cube: Floats) -> Floats:
    quantiles = np.quantile(cube, _LEVELS, axis=1)  # (levels, k, d)
    flat = np.moveaxis(quantiles, 0, 2).reshape(len(cube), -1)
    return np.concatenate([flat**power for power in range(1, _POWERS + 1)], axis=1)


_OF_MANY: dict[Any, Callable[[Floats], Floats]] = {moments: _moments, quantile_powers: _quantile_powers}


class Statistics:
    """A function of one bag as a function of many; bags of equal sizes at once where it is one of ours."""

    def __init__(self, function: Any) -> None:
        if not callable(function) or isinstance(function, type):
            raise ValueError(f"summaries must be a function of a bag; got a {type(function).__name__}")
        self.function = function

    def __call__(self, bags: Bags) -> Floats:
        """Return the summaries of each bag, of shape (n_bags, q)."""
        of_many = _OF_MANY.get(self.function)
        if of_many is not None and np.ptp(bags.sizes) == 0:
            return of_many(np.asarray(bags.values, dtype=np.float64).reshape(len(bags), -1, bags.n_columns))
        summaries = [np.ravel(as_real_array(self.function(bag), "what summaries returned")) for bag in bags]
        lengths = {len(summary) for summary in summaries}
        if len(lengths) > 1 or 0 in lengths:
            raise ValueError(f"summaries must return the same number of values for each bag; got {sorted(lengths)}")
        table = np.array(summaries, dtype=np.float64)
        if not np.isfinite(table).all():
            bag = int(np.argwhere(~np.isfinite(table))[0][0])
            rows = len(bags[bag])
            raise ValueError(f"summaries must return finite numbers; got {table[bag]} for a bag of {rows} rows")
        return table
