"""Bags of the hierarchical gamma model of the paper's appendix on approximate Bayesian computation."""

from __future__ import annotations

import numbers
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.docs import described
from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_number, positive_int
from uptonoise.bags import Bags

_MODEL = """
For each bag, independently,

    theta ~ Gamma(alpha, beta),  Z ~ U[0, sigma],

and for each of its rows and columns, with one Z for the whole bag,

    x ~ Gamma(theta / 2, 1 / 2) / (2 theta) + epsilon,  epsilon ~ N(0, Z).

All gamma distributions have a shape and a *rate*, so that the signal is chi-squared with theta degrees of freedom over
2 theta: its mean is 1/2 whatever theta, its variance 1 / (2 theta) and its skewness sqrt(8 / theta). Z is a
variance. The label is theta: neither the mean nor, because of Z, the variance of a bag gives it away.
"""


@described(model=_MODEL)
def make_gamma_bags(
    n_bags: int = 1_000,
    n_rows: int | tuple[int, int] | Sequence[int] | NDArray[np.integer] = 100,
    n_columns: int = 1,
    *,
    prior: tuple[float, float] = (7.0, 1.0),
    noise: float = 0.1,
    random_state: RandomState = None,
) -> tuple[Bags, Floats]:
    """Simulate bags of the paper's hierarchical gamma model, whose label is hidden behind noise of unknown variance.

    {model}

    Parameters
    ----------
    n_bags : int
        The number of bags.
    n_rows : int, tuple of two ints, or sequence of n_bags ints
        The number of rows of every bag; or the smallest and the largest, between which the numbers are log-uniform; or,
        in a list or an array, that of each bag.
    n_columns : int
        The number of columns; they are independent given theta and Z.
    prior : tuple of float
        Shape alpha and rate beta of theta. The paper leaves them open; (7, 1) has mean 7 and variance 7.
    noise : float
        The largest variance sigma of the noise, which the paper leaves open too; 0 for none. The same seed gives the
        same signal whatever the noise.
    random_state : None, int, Generator or RandomState
        The seed.

    Returns
    -------
    bags : Bags
        The samples; their labels are `y`.
    y : array of shape (n_bags,)
        Each bag's theta.

    Examples
    --------
    >>> from uptonoise.datasets import make_gamma_bags
    >>> bags, y = make_gamma_bags(200, n_rows=(5, 5_000), n_columns=2, random_state=0)
    >>> len(bags), bags.n_columns, y.shape
    (200, 2, (200,))
    >>> bool(bags.sizes.min() >= 5), bool(bags.sizes.max() <= 5_000)
    (True, True)
    """
    n, d = positive_int(n_bags, "n_bags"), positive_int(n_columns, "n_columns")
    if np.shape(prior) != (2,) or not all(isinstance(value, numbers.Real) and 0 < value < np.inf for value in prior):
        raise ValueError(f"prior must be a positive shape and a positive rate; got {prior!r}")
    checked_number(noise, "noise")
    generator = as_generator(random_state)
    sizes = _bag_sizes(n_rows, n, generator)
    theta = generator.gamma(prior[0], 1 / prior[1], size=n)
    freedom = np.repeat(theta, sizes)[:, None]
    rows = generator.chisquare(freedom, size=(len(freedom), d)) / (2 * freedom)
    if noise:
        sd = np.sqrt(generator.uniform(0, noise, size=n))
        rows += np.repeat(sd, sizes)[:, None] * generator.standard_normal(rows.shape)
    return Bags(np.split(rows, np.cumsum(sizes)[:-1]), labels=theta.tolist()), theta


def _bag_sizes(
    n_rows: int | tuple[int, int] | Sequence[int] | NDArray[np.integer], n_bags: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    if isinstance(n_rows, tuple):
        if len(n_rows) != 2 or positive_int(n_rows[0], "n_rows") > positive_int(n_rows[1], "n_rows"):
            raise ValueError(f"n_rows must be a smallest and a largest number, in this order; got {n_rows!r}")
        sizes = np.exp(generator.uniform(np.log(n_rows[0]), np.log(n_rows[1] + 1), size=n_bags))
        return np.clip(sizes.astype(np.int64), *n_rows)
    if isinstance(n_rows, Sequence | np.ndarray) and not isinstance(n_rows, str) and np.ndim(n_rows) == 1:
        if len(n_rows) != n_bags:
            raise ValueError(f"n_rows must have one number for each of the {n_bags} bags; got {len(n_rows)}")
        return np.array([positive_int(size, "n_rows") for size in n_rows])
    return np.full(n_bags, positive_int(n_rows, "n_rows"))
