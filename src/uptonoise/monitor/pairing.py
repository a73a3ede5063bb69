"""Which rows are compared: batches with a reference, two streams, or pairs of the same objects.

The rows of a batch are taken in random order: files are often sorted, and players would learn the order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.monitor.reading import Table
from uptonoise.monitor.reference import Reference
from uptonoise.monitor.units import Units


def given_pairs(batch: Table, other: Table, seed: Sequence[int]) -> Units:
    """Return the differences of rows that belong together, in random order; pairs in one cluster are one unit."""
    z, generator = batch.values - other.values, np.random.default_rng(seed)
    if batch.clusters is None:
        return Units(z[generator.permutation(len(z))])
    return _units([z[rows] for rows in _clusters(batch.clusters, generator)], z.shape[1])


def random_pairs(batch: Table, reference: Reference, seed: Sequence[int]) -> tuple[Units, Reference]:
    """Return the differences of the rows of a batch and rows of a reference, and the reference without them.

    A cluster of the batch meets one cluster of the reference, row by row as far as the smaller one goes; or as many
    rows as it has, where the reference has no clusters. What the reference is too short for is left out.
    """
    x = batch.values
    if batch.clusters is None and reference.bounds is None:
        # Making a generator takes longer than all else with a single row.
        x = x[np.random.default_rng(seed).permutation(len(x))] if len(x) > 1 else x.copy()
        z, reference = reference.subtracted(x)
        return Units(z), reference
    generator = np.random.default_rng(seed)
    singles = np.arange(len(x)) if batch.clusters is None else batch.clusters
    mine = [x[rows] for rows in _clusters(singles, generator)]
    if reference.bounds is not None:
        theirs, reference = reference.clusters(len(mine))
    else:
        theirs, reference = _cut(mine, reference)
    differences = []
    for left, right in zip(mine, theirs, strict=False):
        n = min(len(left), len(right))
        differences.append(left[:n] - right[generator.permutation(len(right))[:n]])
    return _units(differences, x.shape[1]), reference


def _cut(clusters: list[Floats], reference: Reference) -> tuple[list[Floats], Reference]:
    """Return rows of a reference without clusters, as many for each cluster as it has."""
    ends = np.cumsum([len(cluster) for cluster in clusters], dtype=np.int64)
    if not reference.reuse:
        ends = ends[ends <= reference.n_left]
    rows, reference = reference.rows(int(ends[-1]) if len(ends) else 0)
    return np.split(rows, ends[:-1]) if len(ends) else [], reference


def _clusters(numbers: NDArray[np.int64], generator: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return the places of the rows of each cluster; clusters, and rows within them, in random order."""
    order = generator.permutation(len(numbers))
    order = order[np.argsort(numbers[order], kind="stable")]
    clusters = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(order) else []
    return [clusters[place] for place in generator.permutation(len(clusters))]


def _units(differences: list[Floats], n_columns: int) -> Units:
    if not differences:
        return Units.none(n_columns)
    sizes = [len(part) for part in differences]
    return Units(np.concatenate(differences), np.cumsum([0, *sizes[:-1]]))
