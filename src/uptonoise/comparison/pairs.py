"""Rows that belong together: an exact test for any difference, by swaps within pairs.

Where row i of X and row i of Y are of one object and nothing differs, noise included, they may be swapped without a
change of their joint distribution. So the difference of the mean cosine and sine features, whose squared length is MMD,
may have the sign of each pair flipped, exactly. Where pairs come in clusters, all pairs of a cluster are swapped, or
none of them.
"""

from __future__ import annotations

import numpy as np

from uptonoise.fourier import CosineSine, Signs, median_scale, sample_frequencies
from uptonoise.twosample import MmdResult, Samples, permutation_pvalue

_N_FREQUENCIES = 50
_N_SWAPS = 1_000


def swap_test(samples: Samples, generator: np.random.Generator) -> MmdResult:
    """Test whether two samples of pairs differ at all, noise included, exactly."""
    X, Y, columns = samples.X, samples.Y, samples.columns
    clusters = None if samples.clusters is None else samples.clusters[0]  # those of both rows of a pair
    both = np.concatenate([X, Y])
    # The scale is the same whichever rows are swapped.
    d, constant = len(columns), (both == both[0]).all()
    lengths = np.ones(d) if constant else np.asarray(median_scale(both, per_column=True, random_state=0))
    frequencies = sample_frequencies(_N_FREQUENCIES, d, scale=np.sqrt(d), random_state=generator) / lengths
    features = CosineSine(frequencies, "float64")
    centre = np.median(both, axis=0)
    differences = features(X - centre).copy()  # the next call has the same memory
    differences -= features(Y - centre)
    if clusters is not None:
        sums = np.zeros((int(clusters.max()) + 1, differences.shape[1]))
        np.add.at(sums, clusters, differences)
        differences = sums
    signs = Signs(_N_SWAPS, generator)(0, len(differences))
    statistics = np.sum((signs @ differences / len(X)) ** 2, axis=1) / _N_FREQUENCIES
    return MmdResult(
        statistic=float(statistics[0]),
        pvalue=permutation_pvalue(np.asarray(statistics, dtype=np.float64)),
        sizes=samples.sizes,
        columns=columns,
        null=f"{_N_SWAPS:,} random swaps within pairs" + ("" if clusters is None else ", by cluster"),
        seed=None,
        n_clusters=None if clusters is None else (len(differences), len(differences)),
        method="swaps",
        scale=lengths,
        permuted=statistics[1:],
    )
