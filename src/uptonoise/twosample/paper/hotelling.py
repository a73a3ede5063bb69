"""Hotelling's test of equal means for two samples of features, with a null distribution corrected for leverage.

The null hypothesis is that both samples have the same distribution, so the N = n + k pooled rows may swap their labels.
With U an orthonormal basis of the centred features (J columns) and a the centred labels scaled to a'a = N - 1,

    Q = |a'U|^2        T^2 = Q (N - 2) / (N - 1 - Q)

is Hotelling's statistic. For Gaussian features Q / (N - 1) is Beta(J/2, (N - 1 - J)/2), which is the usual F
distribution of T^2. Bumps that few rows reach are far from Gaussian: one row may hold nearly all of a column of U. Such
a row's part of Q is a_i^2 h_i, h_i = |U_i|^2 its leverage, and at equal sizes a_i^2 is the same under both labels: not
a chi-squared variable but a constant, so F rejects too seldom. At very unequal sizes a_i^2 varies more than a
chi-squared, and it rejects too often. Over all permutations of the labels, with kappa the fourth moment of a and
H = sum h_i^2,

    E Q = J        Var Q ~ 2 (J - H) + (kappa - 1)(H - J^2/N)

so Q - c is compared with g times the Beta distribution in f dimensions, with c = (H - J(J+2)/N)/kappa the constant part
(0 for Gaussian features) and g and f = (J - c)/g matched to this mean and variance. Where no row stands out this is the
plain F distribution.

For features of rows that come in clusters, the mean of a sample is that over rows; its covariance is that of sums over
clusters about their share of it,

    Cov(mean) = g/(g - 1) sum_c (u_c - n_c mean)(u_c - n_c mean)' / N^2        g = N^2 / sum n_c^2

with u_c the sum over the n_c rows of a cluster. T^2 with the sum of both samples' covariances has an F distribution
whose degrees of freedom nu are those of Krishnamoorthy and Yu (2004). A covariance of few clusters says little about
many directions: T^2 looks at the leading ones, at most a third of the degrees of freedom of the smaller sample.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincc, chdtrc, fdtrc

from uptonoise._util.typing import Floats
from uptonoise.twosample.result import SMALLEST_PVALUE

Null = Literal["f", "chi2"]

_SMALLEST_EIGENVALUE = 1e-8  # of the features' correlations: below it columns coincide up to rounding
_SMALLEST_VARIANCE = 1e-200
_TINY = np.finfo(np.float64).tiny


class Hotelling(NamedTuple):
    """T^2, its p-value, what each feature adds to T^2, and the degrees of freedom (the second is infinite for chi2)."""

    statistic: float
    pvalue: float
    contributions: Floats
    freedoms: tuple[float, float]


def hotelling_test(F: Floats, G: Floats, null: Null) -> Hotelling:
    """Test whether two samples of features have the same mean, where equal distributions are the null hypothesis."""
    n, N = len(F), len(F) + len(G)
    centred = np.concatenate([F, G])
    centred -= centred.mean(axis=0)
    variances = np.mean(centred**2, axis=0)
    centred /= np.sqrt(np.where(variances > _SMALLEST_VARIANCE, variances, np.inf))
    values, vectors = np.linalg.eigh(centred.T @ centred / N)
    kept = values > _SMALLEST_EIGENVALUE * max(values[-1], 1.0)
    if not kept.any():  # no bump reaches any row: nothing differs
        return Hotelling(0.0, 1.0, np.zeros(F.shape[1]), (float(F.shape[1]), np.inf))
    root = vectors[:, kept] / np.sqrt(N * values[kept])
    labels = (np.arange(N) < n) - n / N
    apart = np.sqrt(N * (N - 1) / (n * (N - n))) * (labels @ centred)
    contributions = apart * (root @ (root.T @ apart))
    Q = min(float(contributions.sum()), (N - 1) * (1 - 1e-15))
    to_hotelling, J = (N - 2) / (N - 1 - Q), root.shape[1]
    if null == "chi2":
        pvalue, freedoms = np.maximum(chdtrc(J, Q * to_hotelling), SMALLEST_PVALUE), (float(J), np.inf)
    else:
        H = float(np.sum(np.sum((centred @ root) ** 2, axis=1) ** 2))
        kappa = 1 / (n / N * (1 - n / N)) - 3
        constant = max(H - J * (J + 2) / N, 0.0) / kappa
        variance = 2 * (J - H) + (kappa - 1) * (H - J**2 / N)
        usual = 2 * (J - constant) * (1 - (J + 2) / N)
        stretch = max(variance / usual, 1e-3) if usual > 0 else 1.0
        freedom = max((J - constant) / stretch, 0.1)
        rest = max(N - 1 - freedom, 1.0)
        inside = float(np.clip((Q - constant) / stretch / (N - 1), 0, 1))
        pvalue, freedoms = np.maximum(betaincc(freedom / 2, rest / 2, inside), SMALLEST_PVALUE), (freedom, rest)
    return Hotelling(Q * to_hotelling, float(pvalue), contributions * to_hotelling, freedoms)


def clustered_hotelling_test(
    F: Floats, G: Floats, clusters_F: NDArray[np.int64], clusters_G: NDArray[np.int64]
) -> Hotelling:
    """Test whether two samples of features in clusters have the same mean.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.paper.hotelling import clustered_hotelling_test
    >>> rng = np.random.default_rng(0)
    >>> F, G = rng.normal(size=(100, 3)), rng.normal(size=(80, 3)) + [1, 0, 0]
    >>> test = clustered_hotelling_test(F, G, np.arange(100) // 5, np.arange(80) // 5)
    >>> test.pvalue < 1e-3, int(test.contributions.argmax())
    (True, 0)
    """
    means, covariances, sizes = [], [], []
    for features, numbers in ((F, clusters_F), (G, clusters_G)):
        clusters, places = np.unique(numbers, return_inverse=True)
        counts, mean = np.bincount(places), features.mean(axis=0)
        sums = np.zeros((len(clusters), features.shape[1]))
        np.add.at(sums, places, features - mean)
        size = float(counts.sum() ** 2 / np.sum(counts**2))  # the effective number of clusters
        means.append(mean)
        covariances.append(size / (size - 1) * (sums.T @ sums) / counts.sum() ** 2)
        sizes.append(size)
    covariance = covariances[0] + covariances[1]
    variances = np.diag(covariance)
    unit = np.where(variances > _TINY, 1 / np.sqrt(np.maximum(variances, _TINY)), 0.0)
    values, vectors = np.linalg.eigh(covariance * np.outer(unit, unit))
    rank = min(
        int(np.count_nonzero(values > _SMALLEST_EIGENVALUE * max(values[-1], 1.0))),
        max(1, int((min(sizes) - 1) / 3)),
    )
    if rank == 0 or not unit.any():  # no bump reaches any row: nothing differs
        return Hotelling(0.0, 1.0, np.zeros(F.shape[1]), (float(F.shape[1]), np.inf))
    root = unit[:, None] * vectors[:, -rank:] / np.sqrt(values[-rank:])
    apart = means[0] - means[1]
    contributions = apart * (root @ (root.T @ apart))
    statistic = float(contributions.sum())
    spread = 0.0
    for of_sample, size in zip(covariances, sizes, strict=True):
        part = root.T @ of_sample @ root
        spread += float(np.sum(part**2) + np.trace(part) ** 2) / (size - 1)
    nu = (rank + rank**2) / spread
    rest = max(nu - rank + 1, 1.0)
    pvalue = float(np.maximum(fdtrc(rank, rest, statistic * rest / (nu * rank)), SMALLEST_PVALUE))
    return Hotelling(statistic, pvalue, contributions, (rank, rest))
