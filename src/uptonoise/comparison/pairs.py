"""Rows that belong together: an exact test for any difference, by swaps within pairs.

Where row i of X and row i of Y are of one object and nothing differs, noise included, they may be swapped without a
change of their joint distribution. So the difference of the mean cosine and sine features, whose squared length is MMD,
may have the sign of each pair flipped, exactly. Where pairs come in clusters, all pairs of a cluster are swapped, or
none of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise.fourier import CosineSine, Signs, median_scale, sample_frequencies
from uptonoise.twosample import MmdResult, permutation_pvalue

_N_FREQUENCIES = 50
_N_SWAPS = 1_000


def swap_test(
    X: Floats, Y: Floats, *, clusters: NDArray[np.int64] | None = None, random_state: RandomState = 0
) -> MmdResult:
    """Test whether two samples of pairs differ at all, noise included, exactly.

    `clusters` are the numbers of the pairs' clusters, from 0, where pairs belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.comparison.pairs import swap_test
    >>> rng = np.random.default_rng(0)
    >>> objects = rng.gamma(2, size=(300, 1))
    >>> X, Y = objects + rng.normal(size=(300, 1)), objects + 3 * rng.normal(size=(300, 1))
    >>> swap_test(X, Y).pvalue < 0.01
    True
    """
    generator, seed = seeded_generator(random_state)
    both = np.concatenate([X, Y])
    # The scale is the same whichever rows are swapped.
    constant = (both == both[0]).all()
    lengths = np.ones(X.shape[1]) if constant else np.asarray(median_scale(both, per_column=True, random_state=0))
    d = X.shape[1]
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
        sizes=(len(X), len(Y)),
        columns=tuple(f"x{column}" for column in range(d)),
        null=f"{_N_SWAPS:,} random swaps within pairs" + ("" if clusters is None else ", by cluster"),
        seed=seed,
        n_clusters=None if clusters is None else (len(differences), len(differences)),
        method="swaps",
        scale=lengths,
        permuted=statistics[1:],
    )
