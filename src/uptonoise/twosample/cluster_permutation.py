"""Permutations of clusters: what is exchangeable where rows of a cluster belong together.

A permutation says which clusters are called X, and their rows go with them, so that the number of rows called X changes
from one permutation to the next. Sums by cluster are all that it needs: of the features, or of the kernel. With K the
kernel matrix summed over the rows of each pair of clusters, centred for clusters of c rows out of N, and p the 0/1
vector of the clusters called X with n rows, of k others,

    MMD^2 = (1/n + 1/k)^2 p' K p

It is exact where the clusters of both samples are alike in their sizes too.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.fourier import CosineSine
from uptonoise.twosample.permutation import label_blocks
from uptonoise.twosample.samples import Samples


def _pooled_numbers(samples: Samples) -> NDArray[np.int64]:
    """Return the number of each row's cluster, those of Y after those of X."""
    assert samples.clusters is not None
    return np.concatenate([samples.clusters[0], samples.clusters[1] + samples.n_units[0]])


def _indicator(numbers: NDArray[np.int64], n_clusters: int) -> scipy.sparse.csr_array:
    """Return the matrix of rows by clusters, 1 where a row is in a cluster."""
    n_rows = len(numbers)
    return scipy.sparse.csr_array((np.ones(n_rows), numbers, np.arange(n_rows + 1)), shape=(n_rows, n_clusters))


def _labels(samples: Samples, n_permutations: int, generator: np.random.Generator) -> Floats:
    sizes = samples.n_units
    return np.asarray(next(label_blocks(sizes, [sum(sizes)], n_permutations, generator)), dtype=np.float64)


def cluster_means_by_label(
    samples: Samples, frequencies: Floats, n_permutations: int, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the means of [cos, sin] over rows of clusters called X and called Y, for the data and all permutations.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.cluster_permutation import cluster_means_by_label
    >>> from uptonoise.twosample.samples import read_samples
    >>> ids = ([1, 1, 2, 3], [4, 5, 6, 6])
    >>> samples = read_samples(np.zeros(4), np.full(4, np.pi), 1, "this example", clusters=ids)
    >>> X, Y = cluster_means_by_label(samples, np.array([[1.0]]), 9, np.random.default_rng(0))
    >>> float(np.linalg.norm(X[0] - Y[0]).round(6)), X.shape
    (2.0, (10, 2))
    """
    numbers, n_clusters = _pooled_numbers(samples), sum(samples.n_units)
    features = CosineSine(frequencies, "fast")
    pooled = np.concatenate([samples.X, samples.Y])
    pooled = pooled - np.median(pooled, axis=0)  # neither distances nor phases between samples depend on it
    sums = np.zeros((n_clusters, 2 * len(frequencies)))
    for start in range(0, len(pooled), features.block_rows):
        here = slice(start, start + features.block_rows)
        sums += _indicator(numbers[here], n_clusters).T @ features(pooled[here])
    labels, counts = _labels(samples, n_permutations, generator), np.bincount(numbers, minlength=n_clusters)
    called, n_called = labels @ sums, (labels @ counts)[:, None]
    return called / n_called, (sums.sum(axis=0) - called) / (counts.sum() - n_called)


def cluster_mmd(
    samples: Samples,
    kernel_blocks: Iterable[tuple[int, NDArray[np.float32]]],
    n_permutations: int,
    generator: np.random.Generator,
) -> Floats:
    """Return MMD squared of the data and of all permutations, from blocks of rows of the pooled kernel matrix."""
    numbers, n_clusters = _pooled_numbers(samples), sum(samples.n_units)
    whole, counts = _indicator(numbers, n_clusters), np.bincount(numbers, minlength=n_clusters)
    kernel = np.zeros((n_clusters, n_clusters))
    for start, block in kernel_blocks:
        by_column = (whole.T @ block.T.astype(np.float64)).T
        kernel += _indicator(numbers[start : start + len(block)], n_clusters).T @ by_column
    shares, sums = counts / counts.sum(), kernel.sum(axis=1)
    kernel -= np.outer(shares, sums) + np.outer(sums, shares) - np.outer(shares, shares) * sums.sum()
    labels = _labels(samples, n_permutations, generator)
    n_called = labels @ counts
    factors = (1 / n_called + 1 / (counts.sum() - n_called)) ** 2
    return np.asarray(np.maximum(np.sum((labels @ kernel) * labels, axis=1), 0) * factors)
