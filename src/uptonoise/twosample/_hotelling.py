"""Hotelling's test of equal means for two samples of features, with unequal sizes and nearly singular covariances.

    S = mean F - mean G        M = Cov S        T = S' M^-1 S

M is inverted in correlation form with a floor under its eigenvalues w. With h = w / (w + floor), T is to first order
sum_j h_j chi2_1, that is s2/s1 times Hotelling's T^2 in s1^2/s2 dimensions, s1 = sum h and s2 = sum h^2; where M is
regular, h = 1 and this is the plain test. The degrees of freedom of M match its first two moments (Krishnamoorthy and
Yu 2004).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

from uptonoise.rows import Floats

Null = Literal["f", "chi2"]

_EIGENVALUE_FLOOR = 1e-8  # of a correlation matrix: a guard against rounding, not a regulariser
_SMALLEST_VARIANCE = 1e-200


class Hotelling(NamedTuple):
    """T, its p-value, what each feature adds to T, and the degrees of freedom of the F law (infinite for chi2)."""

    statistic: float
    pvalue: float
    contributions: Floats
    freedoms: tuple[float, float]


class _Part(NamedTuple):
    """One of the independent estimates that add up to Cov S, with its degrees of freedom."""

    covariance: Floats
    freedom: int


def hotelling_test(F: Floats, G: Floats, null: Null) -> Hotelling:
    """Test whether two samples of features have the same mean, where equal laws are the null hypothesis.

    Equal laws have equal covariances, so a pooled estimate of M is right under the null. The unpooled one is right for
    equal means alone, but far off for very different sizes: a feature that few of the n rows reach looks certain. Of the two
    tests the one with the larger p-value counts, which keeps the level in both cases; at equal sizes they have the same T.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample._hotelling import hotelling_test
    >>> rng = np.random.default_rng(0)
    >>> F, G = rng.normal(size=(100, 3)), rng.normal(size=(80, 3)) + [1, 0, 0]
    >>> test = hotelling_test(F, G, "f")
    >>> test.pvalue < 1e-6, int(test.contributions.argmax())
    (True, 0)
    """
    n, k = len(F), len(G)
    apart = F.mean(axis=0) - G.mean(axis=0)
    A, B = _covariance(F), _covariance(G)
    pooled = ((n - 1) * A + (k - 1) * B) * ((1 / n + 1 / k) / (n + k - 2))
    both = (
        _quadratic_form(apart, [_Part(A / n, n - 1), _Part(B / k, k - 1)], null),
        _quadratic_form(apart, [_Part(pooled, n + k - 2)], null),
    )
    return max(both, key=lambda one: one.pvalue)


def _quadratic_form(apart: Floats, parts: list[_Part], null: Null) -> Hotelling:
    covariance = np.sum([part.covariance for part in parts], axis=0)
    variances = np.diag(covariance)
    reached = variances > _SMALLEST_VARIANCE  # a bump that no row reaches carries nothing
    if not reached.any():
        return Hotelling(0.0, 1.0, np.zeros(len(apart)), (float(len(apart)), np.inf))
    unit = np.where(reached, 1 / np.sqrt(np.where(reached, variances, 1)), 0)
    values, vectors = np.linalg.eigh(covariance * np.outer(unit, unit))
    values = np.maximum(values, 0)
    root = unit[:, None] * vectors / np.sqrt(values + _EIGENVALUE_FLOOR)
    contributions = apart * (root @ (root.T @ apart))
    statistic = float(contributions.sum())
    shares = values / (values + _EIGENVALUE_FLOOR)
    s1, s2 = shares.sum(), (shares**2).sum()
    dimensions = float(s1**2 / s2)
    scaled = max(statistic * s1 / s2, 0.0)
    if null == "chi2":
        return Hotelling(statistic, float(chdtrc(dimensions, scaled)), contributions, (dimensions, np.inf))
    freedom = (s2 + s1**2) / sum(_spread(root.T @ part.covariance @ root) / part.freedom for part in parts)
    rest = float(max(freedom - s1 + 1, 1))
    pvalue = float(fdtrc(dimensions, rest, scaled * rest / (freedom * dimensions)))
    return Hotelling(statistic, pvalue, contributions, (dimensions, rest))


def _covariance(F: Floats) -> Floats:
    centred = F - F.mean(axis=0)
    return centred.T @ centred / (len(F) - 1)


def _spread(covariance: Floats) -> float:
    """Return tr(C^2) + tr(C)^2: the variance, times the degrees of freedom, of a Wishart matrix with mean C."""
    return float(np.sum(covariance**2) + np.trace(covariance) ** 2)
