"""Permutation nulls as matrix products.

A permutation of the pooled rows only says which rows are called X. With those labels as the rows of a 0/1 matrix, one
product with the rows' features gives the sums over "X" for all permutations at once. Labels are sampled block by block:
how many of a block's rows are called X is hypergeometric, and which ones is a random subset, so nothing of size
permutations x rows is in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.validation import positive_int
from uptonoise.fourier import CosineSine, labelled_feature_sums
from uptonoise.twosample.samples import Samples

Labels = NDArray[np.float32]
_MOST_PERMUTATIONS = 100_000
_MOST_MEANS = 20_000_000  # permutations times frequencies


def check_permutations(n_permutations: Any, n_frequencies: Any) -> None:
    """Raise where numbers of permutations and frequencies are none, or the means of all do not fit into memory."""
    n, m = positive_int(n_permutations, "n_permutations"), positive_int(n_frequencies, "n_frequencies")
    if n * m > _MOST_MEANS or n > _MOST_PERMUTATIONS:
        raise ValueError(
            f"n_permutations must be at most {min(_MOST_PERMUTATIONS, max(_MOST_MEANS // m, 1)):,} with {m:,} "
            f"frequencies, since more take too much memory; got {n:,}"
        )


def label_blocks(
    sizes: tuple[int, int], block_sizes: Iterable[int], n_permutations: int, generator: np.random.Generator
) -> Iterator[Labels]:
    """Yield, for consecutive blocks of the pooled rows (X first), which rows are called X.

    Row 0 of each block is the data as it came, and each further row a permutation of it: a random subset of the block's
    rows, of the size that its permutation has there. Independent draws have nearly the right sizes; then places taken
    at random are put right, one per row at a time, until all are. No place is treated unlike another, so all subsets of
    a size are equally likely; it is several times faster than shuffling.
    """
    left = np.full(n_permutations, sizes[0])
    rows_left = sum(sizes)
    for size in block_sizes:
        called = generator.hypergeometric(left, rows_left - left, size)
        share = round(65_536 * called.mean() / size)
        subsets = generator.integers(0, 65_536, (n_permutations, size), dtype=np.uint16) < share
        surplus = subsets.sum(axis=1) - called
        rows = np.flatnonzero(surplus)
        while len(rows):
            places = generator.integers(size, size=len(rows))
            fits = subsets[rows, places] == (surplus[rows] > 0)
            mended = rows[fits]
            subsets[mended, places[fits]] ^= True
            surplus[mended] -= np.sign(surplus[mended])
            rows = rows[surplus[rows] != 0]
        labels = np.empty((n_permutations + 1, size), dtype=np.float32)
        labels[0] = np.arange(size) < sizes[0] - (sum(sizes) - rows_left)
        labels[1:] = subsets
        yield labels
        left -= called
        rows_left -= size


def permutation_pvalue(statistics: Floats) -> float:
    """Return (1 + how many of the others are at least the first) / (1 + how many others).

    Rounding must not decide between equal statistics, so one that is smaller by rounding alone counts too.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.permutation import permutation_pvalue
    >>> permutation_pvalue(np.array([3.0, 1.0, 2.0, 4.0]))
    0.5
    """
    observed, others = statistics[0], statistics[1:]
    rounding = 1e-6 * np.abs(statistics).max()
    return float((1 + np.count_nonzero(others >= observed - rounding)) / (1 + len(others)))


def permutation_fields(samples: Samples, statistics: Floats, seed: int | None) -> dict[str, Any]:
    """Return the fields of a result from the statistics of the data (first) and of all permutations."""
    return {
        "statistic": float(statistics[0]),
        "pvalue": permutation_pvalue(statistics),
        "sizes": samples.sizes,
        "columns": samples.columns,
        "null": f"{len(statistics) - 1:,} permutations" + ("" if samples.clusters is None else " of clusters"),
        "seed": seed,
        "n_clusters": samples.n_clusters,
        "permuted": statistics[1:],
    }


def feature_means_by_label(
    samples: Samples, frequencies: Floats, n_permutations: int, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the means of [cos, sin] over the rows called X and those called Y, for the data and all permutations."""
    block_rows, n_rows = CosineSine(frequencies, "fast").block_rows, sum(samples.sizes)
    block_sizes = (min(block_rows, n_rows - start) for start in range(0, n_rows, block_rows))
    labels = label_blocks(samples.sizes, block_sizes, n_permutations, generator)
    sums, total = labelled_feature_sums(samples.X, samples.Y, frequencies, labels)
    n, k = samples.sizes
    return sums / n, (total - sums) / k
