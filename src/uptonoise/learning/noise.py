"""Noise on bags: the corruption of the paper's section 5.2.

Bag b gets independent noise in its rows, of variance z_bi in column i, with

    z_bi ~ U[0, level v_i],  v_i the variance of column i over all rows of all bags,

so that some bags are noisier than others, and no column's units matter. A seed fixes the noise up to its size: noise of
size l is sqrt(l) times the noise of size 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_choice, checked_number
from uptonoise._util.wording import counted
from uptonoise.bags import Bags
from uptonoise.datasets import NOISE_KINDS, symmetric_noise
from uptonoise.learning.inputs import as_bags
from uptonoise.rows import as_real_array

KINDS = (*NOISE_KINDS, "uniform")
"""The kinds of noise that bags can be given; all but the uniform one have a positive characteristic function."""


def add_noise(
    bags: Any,
    level: float,
    kind: str = "gaussian",
    *,
    variances: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Bags:
    """Add noise to bags, of a random variance for each bag and column.

    Parameters
    ----------
    bags : Bags, list of arrays, or 3-D array
        The bags.
    level : float
        The noise size: the largest variance of the noise, in units of each column's variance. The variances are uniform
        between 0 and that.
    kind : {"gaussian", "laplace", "cauchy", "t", "mixture", "uniform"}
        As for :func:`~uptonoise.datasets.symmetric_noise`: "t" has 3 degrees of freedom, "mixture" has a fifth of its
        rows with four times the standard deviation of the others. "cauchy" has no variance: the median of its absolute
        values is that of Gaussian noise with that variance. "uniform" is for comparison: its characteristic
        function changes sign, so that it does change phases.
    variances : array of shape (n_columns,), optional
        The columns' variances, such as ``train.values.var(axis=0)`` for bags to test on; by default those over all rows
        of `bags`. A column of variance 0, which is constant, gets no noise.
    random_state : None, int, Generator or RandomState
        The seed. The same seed gives the same noise at every `level`, but for its size.

    Returns
    -------
    Bags
        With the ids, labels and columns of `bags`.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> bags = un.Bags(np.random.default_rng(0).normal(size=(5_000, 10, 1)))
    >>> noisy = un.add_noise(bags, level=2.0, random_state=0)
    >>> print(f"{(noisy.values - bags.values).var():.1f}")  # half of the largest, on average
    1.0
    """
    given = as_bags(bags)
    size = checked_number(level, "level")
    checked_choice(kind, KINDS, "kind")
    noise = noise_of_size_one(given, kind, checked_variances(given, variances), as_generator(random_state))
    return with_noise_of_size(given, noise, size)


def noise_of_size_one(bags: Bags, kind: str, variances: Floats, generator: np.random.Generator) -> Floats:
    """Sample the noise of every row at size 1."""
    shares = generator.random((len(bags), bags.n_columns))
    if kind == "uniform":
        noise = generator.uniform(-np.sqrt(3), np.sqrt(3), size=bags.values.shape)
    else:
        noise = symmetric_noise(len(bags.values), bags.n_columns, 1.0, kind, generator)
    noise *= np.repeat(np.sqrt(shares * variances), bags.sizes, axis=0)
    return noise


def with_noise_of_size(bags: Bags, noise: Floats, size: float) -> Bags:
    """Return bags with noise, given for each row at size 1, of another size."""
    with np.errstate(over="ignore"):
        values = (bags.values + np.sqrt(size) * noise).astype(bags.values.dtype, copy=False)
    if not np.isfinite(values).all():
        raise ValueError(f"level={size:g} makes noise too large for numbers of type {values.dtype}")
    return Bags._in_order(values, bags.offsets, bags.ids, bags.labels, bags.columns, bags.named)


def checked_variances(bags: Bags, variances: Any) -> Floats:
    """Return the variance of each column, that over all rows where none are given."""
    if variances is None:
        with np.errstate(over="ignore", invalid="ignore"):
            # One column at a time, since a variance takes a copy.
            checked = np.array([column.var(dtype=np.float64) for column in bags.values.T])
        checked[bags.values.min(axis=0) == bags.values.max(axis=0)] = 0.0  # rounding gives constants a little
        if not np.isfinite(checked).all():
            raise ValueError("bags must have columns of finite variance; divide those with huge values by a constant")
        return np.asarray(checked)
    checked = as_real_array(variances, "variances").astype(np.float64)
    if checked.shape != (bags.n_columns,) or not (np.isfinite(checked).all() and (checked >= 0).all()):
        raise ValueError(
            f"variances must be a finite number, not negative, for each of {counted(bags.n_columns, 'column')}; "
            f"got {variances!r}"
        )
    return checked
