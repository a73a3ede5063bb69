"""Samples with a known signal and known noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_choice, checked_number, positive_int

_NORMAL_QUARTILE = 0.6744897501960817
_T_FREEDOM = 3.0

NOISE_KINDS = ("gaussian", "laplace", "cauchy", "t", "mixture")
"""The kinds of symmetric noise with a positive characteristic function."""


def symmetric_noise(
    n_rows: int, n_columns: int, sd: float, kind: str = "gaussian", random_state: RandomState = None
) -> Floats:
    """Sample symmetric noise with a positive characteristic function.

    Parameters
    ----------
    n_rows, n_columns : int
        The shape of the result.
    sd : float
        The standard deviation; for "cauchy", which has none, that of the Gaussian noise with the same median absolute
        value.
    kind : {"gaussian", "laplace", "cauchy", "t", "mixture"}
        Independent columns, a multivariate t with 3 degrees of freedom, or Gaussian rows of which a fifth have four
        times the standard deviation of the others.
    random_state : None, int, Generator or RandomState
        The seed.

    Returns
    -------
    array of shape (n_rows, n_columns)

    Examples
    --------
    >>> from uptonoise.datasets import symmetric_noise
    >>> print(f"{symmetric_noise(100_000, 1, sd=2.0, kind='laplace', random_state=0).std():.1f}")
    2.0
    """
    checked_choice(kind, NOISE_KINDS, "kind")
    checked_number(sd, "sd")
    generator = as_generator(random_state)
    shape = (positive_int(n_rows, "n_rows"), positive_int(n_columns, "n_columns"))
    if kind == "laplace":
        unit = generator.laplace(size=shape) / np.sqrt(2)
    elif kind == "cauchy":
        unit = _NORMAL_QUARTILE * generator.standard_cauchy(shape)
    else:
        unit = generator.standard_normal(shape)
    if kind == "t":
        unit /= np.sqrt(generator.chisquare(_T_FREEDOM, size=(n_rows, 1)) / (_T_FREEDOM - 2))
    if kind == "mixture":
        unit *= np.where(generator.random((n_rows, 1)) < 0.2, 4.0, 1.0) / 2  # the mean square of the factors is 4
    return np.asarray(sd * unit)


def make_chi2_samples(
    n_rows: int | tuple[int, int] = 500,
    n_columns: int = 5,
    *,
    freedoms: tuple[int, int] = (4, 8),
    noise: tuple[float, float] = (0.0, 0.0),
    kind: str = "gaussian",
    random_state: RandomState = None,
) -> tuple[Floats, Floats]:
    """Simulate the paper's two noisy chi-squared samples.

    Each column of a sample is chi2(freedom)/freedom, of mean 1, plus noise whose variance is a given multiple of the
    signal's.

    Parameters
    ----------
    n_rows : int or tuple of int
        The numbers of rows of X and Y.
    n_columns : int
        The number of columns.
    freedoms : tuple of int
        The degrees of freedom of X and Y; equal ones make the null hypothesis true.
    noise : tuple of float
        The ratios of the noise's variance to the signal's, in X and in Y.
    kind : {"gaussian", "laplace", "cauchy", "t", "mixture"}
        The kind of noise, as for :func:`symmetric_noise`.
    random_state : None, int, Generator or RandomState
        The seed.

    Returns
    -------
    X, Y : arrays

    Examples
    --------
    >>> from uptonoise.datasets import make_chi2_samples
    >>> X, Y = make_chi2_samples(1_000, 3, noise=(2.0, 0.0), random_state=0)
    >>> X.shape, Y.shape
    ((1000, 3), (1000, 3))
    """
    sizes: Any = (n_rows, n_rows) if np.ndim(n_rows) == 0 else n_rows
    d = positive_int(n_columns, "n_columns")
    generator = as_generator(random_state)
    samples = []
    given: dict[str, Any] = {"n_rows": sizes, "freedoms": freedoms, "noise": noise}
    for name, values in given.items():
        if not isinstance(values, tuple | list | np.ndarray) or len(values) != 2:
            raise ValueError(f"{name} must be two numbers, for X and for Y; got {values!r}")
    for n, degrees, ratio in zip(*given.values(), strict=True):
        size, freedom = positive_int(n, "n_rows"), positive_int(degrees, "freedoms")
        signal = generator.chisquare(freedom, size=(size, d)) / freedom
        sd = np.sqrt(checked_number(ratio, "noise") * 2 / freedom)
        samples.append(signal + symmetric_noise(size, d, sd, kind, generator) if ratio else signal)
    return samples[0], samples[1]
