"""Hotelling's test for features of rows that come in clusters.

The mean of a sample is that over rows; its covariance is that of sums over clusters about their share of it,

    Cov(mean) = g/(g - 1) sum_c (u_c - n_c mean)(u_c - n_c mean)' / N^2        g = N^2 / sum n_c^2

with u_c the sum over the n_c rows of a cluster. T^2 with the sum of both samples' covariances has an F distribution
whose degrees of freedom nu are those of Krishnamoorthy and Yu (2004). A covariance of few clusters says little about
many directions: T^2 looks at the leading ones, at most a third of the degrees of freedom of the smaller sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from uptonoise._util.typing import Floats
from uptonoise.twosample.paper.hotelling import Hotelling
from uptonoise.twosample.result import SMALLEST_PVALUE

_SMALLEST_EIGENVALUE = 1e-8  # of the features' correlations: below it columns coincide up to rounding
_TINY = np.finfo(np.float64).tiny


class _Mean(NamedTuple):
    """The mean of features over rows, its covariance, and the effective number of clusters."""

    mean: Floats
    covariance: Floats
    size: float

    @classmethod
    def of(cls, features: Floats, numbers: NDArray[np.int64]) -> _Mean:
        clusters, places = np.unique(numbers, return_inverse=True)
        counts = np.bincount(places)
        mean = features.mean(axis=0)
        sums = np.zeros((len(clusters), features.shape[1]))
        np.add.at(sums, places, features - mean)
        size = float(counts.sum() ** 2 / np.sum(counts**2))
        return cls(mean, size / (size - 1) * (sums.T @ sums) / counts.sum() ** 2, size)


def clustered_hotelling_test(
    F: Floats, G: Floats, clusters_F: NDArray[np.int64], clusters_G: NDArray[np.int64]
) -> Hotelling:
    """Test whether two samples of features in clusters have the same mean.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.paper.cluster_hotelling import clustered_hotelling_test
    >>> rng = np.random.default_rng(0)
    >>> F, G = rng.normal(size=(100, 3)), rng.normal(size=(80, 3)) + [1, 0, 0]
    >>> test = clustered_hotelling_test(F, G, np.arange(100) // 5, np.arange(80) // 5)
    >>> test.pvalue < 1e-3, int(test.contributions.argmax())
    (True, 0)
    """
    left, right = _Mean.of(F, clusters_F), _Mean.of(G, clusters_G)
    covariance = left.covariance + right.covariance
    variances = np.diag(covariance)
    unit = np.where(variances > _TINY, 1 / np.sqrt(np.maximum(variances, _TINY)), 0.0)
    values, vectors = np.linalg.eigh(covariance * np.outer(unit, unit))
    rank = min(
        int(np.count_nonzero(values > _SMALLEST_EIGENVALUE * max(values[-1], 1.0))),
        max(1, int((min(left.size, right.size) - 1) / 3)),
    )
    if rank == 0 or not unit.any():  # no bump reaches any row: nothing differs
        return Hotelling(0.0, 1.0, np.zeros(F.shape[1]), (float(F.shape[1]), np.inf))
    root = unit[:, None] * vectors[:, -rank:] / np.sqrt(values[-rank:])
    apart = left.mean - right.mean
    contributions = apart * (root @ (root.T @ apart))
    statistic = float(contributions.sum())
    spread = 0.0
    for sample in (left, right):
        part = root.T @ sample.covariance @ root
        spread += float(np.sum(part**2) + np.trace(part) ** 2) / (sample.size - 1)
    nu = (rank + rank**2) / spread
    rest = max(nu - rank + 1, 1.0)
    pvalue = float(np.maximum(fdtrc(rank, rest, statistic * rest / (nu * rank)), SMALLEST_PVALUE))
    return Hotelling(statistic, pvalue, contributions, (rank, rest))
