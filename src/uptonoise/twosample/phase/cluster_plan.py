"""What a sample of clusters would be with more or fewer rows in each, from a pilot.

Rows in clusters have a covariance T over rows, of which a part B lies between clusters, and a covariance C over
clusters; two sketches of the same rows, without and with clusters, hold T and C. With N rows in clusters worth g, C is
near B + (T - B) g/N, which gives B. Clusters of s rows then have B + (T - B)/s. Gaussian noise of each row multiplies
B at frequencies u and v by exp(-(u'vu + v'vv)/2), as it does with the characteristic function of each cluster.
"""

from __future__ import annotations

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.twosample.phase.pair import SampleMoments


def between_clusters(clusters: SampleMoments, rows: SampleMoments) -> Floats:
    """Return the covariance between clusters, B, from the moments of the same rows with and without clusters.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.twosample.phase.cluster_plan import between_clusters
    >>> from uptonoise.twosample.phase.pair import SampleMoments
    >>> rows, ids = np.random.default_rng(0).normal(size=2_000), np.arange(2_000) // 10
    >>> parts = [un.Sketch([[1.0]]).update(rows, clusters=clusters) for clusters in (ids, None)]
    >>> B = between_clusters(*(SampleMoments.of(sketch, np.zeros(1)) for sketch in parts))
    >>> bool((np.abs(B) < 0.02).all())
    True
    """
    share = float(clusters.size / rows.size)  # g/N
    within = (rows.covariance - clusters.covariance) / (1 - share)
    values, vectors = np.linalg.eigh(clusters.covariance - share * within)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def planned_clusters(between: Floats, noisy_rows: SampleMoments, size: float, damping: Floats) -> SampleMoments:
    """Return the moments of clusters of `size` rows, from those of rows with the noise to come.

    `damping` is what the noise leaves of the characteristic function at each frequency.
    """
    factors = np.tile(damping, 2)
    between = between * np.outer(factors, factors)
    return noisy_rows._replace(covariance=between + (noisy_rows.covariance - between) / size)
