"""Two samples in memory, checked, as the tests that permute or optimise take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.fourier import bags_of_rows
from uptonoise.rows import (
    CHUNK_ROWS,
    LEAST_CLUSTERS,
    RowSource,
    read_rows,
    two_clustered,
    warn_of_codes,
    warn_of_shared,
)

Numbers = NDArray[np.int64]
_LARGEST_VALUE = 1e150  # whose square is still a number


class Samples:
    """The rows of both samples, the names of their columns, and the number of each row's cluster, from 0 in each.

    `n_units` counts what is independent in each sample: clusters, or rows.
    """

    def __init__(
        self, X: Floats, Y: Floats, columns: tuple[str, ...], clusters: tuple[Numbers, Numbers] | None = None
    ) -> None:
        self.X, self.Y, self.columns, self.clusters = X, Y, columns, clusters
        self.sizes = len(X), len(Y)
        self.n_clusters: tuple[int, int] | None = None
        if clusters is not None:
            self.n_clusters = int(clusters[0].max()) + 1, int(clusters[1].max()) + 1
        self.n_units = self.n_clusters or self.sizes

    def one_row_each(self, generator: np.random.Generator) -> tuple[Numbers, Numbers]:
        """Return the places of one random row of each cluster, in random order; of all rows without clusters."""
        if self.clusters is None:
            return generator.permutation(len(self.X)), generator.permutation(len(self.Y))
        places = []
        for numbers in self.clusters:
            shuffled = generator.permutation(len(numbers))
            _, first = np.unique(numbers[shuffled], return_index=True)
            places.append(np.asarray(generator.permutation(shuffled[first])))
        return places[0], places[1]


def check_same_clusters(clusters: tuple[Numbers, Numbers]) -> None:
    """Raise where the rows of a pair are in different clusters."""
    if not np.array_equal(*clusters):
        row = int(np.argmax(clusters[0] != clusters[1]))
        raise ValueError(f"clusters must be the same for both rows of a pair; they differ in row {row}")


def read_samples(X: Any, Y: Any, needed: int, why: str, clusters: Any = None) -> Samples:
    """Read both samples into arrays; each must have as many rows, or clusters, as a test needs."""
    left, right = _local_sources(X, Y, clusters)
    if left.bag_ids is not None:
        return _clustered(left, right, needed, why)
    return _with_enough_rows(read_rows(left), read_rows(right), left, right, needed, why)


def _clustered(left: RowSource, right: RowSource, needed: int, why: str) -> Samples:
    """Return both samples with the numbers of their rows' clusters, where these are enough."""
    rows, numbers, ids = [], [], []
    for source in (left, right):
        blocks = list(source.blocks(CHUNK_ROWS))
        rows.append(np.concatenate([block.values for block in blocks]))
        numbers.append(np.concatenate([bags_of_rows(block, source.name) for block in blocks]))
        n_clusters, least = int(numbers[-1].max()) + 1, max(needed, LEAST_CLUSTERS)
        if n_clusters < least:
            raise ValueError(f"{source.name} must have at least {least} clusters for {why}; got {n_clusters}")
        _look_at(rows[-1], source.columns, source.name)
        ids.append([] if source.ids_are_local else np.asarray(source.bag_ids, dtype=object).tolist())
    known = set(ids[1])
    warn_of_shared([cluster for cluster in ids[0] if cluster in known], (left.name, right.name))
    single = all(int(of_rows.max()) + 1 == len(of_rows) for of_rows in numbers)
    columns = (left if left.named else right).columns
    return Samples(rows[0], rows[1], columns, None if single else (numbers[0], numbers[1]))


def resident_samples(X: Any, Y: Any, needed: int, why: str, clusters: Any = None) -> Samples:
    """Return both samples where they are, checked as above.

    Two samples of this machine are arrays. Two on the same other device are what its engine has for arrays, and stay
    there. If only one is on another device, or rows come in clusters, both are read into memory.
    """
    left, right = _local_sources(X, Y, clusters)
    if left.bag_ids is not None:
        return _clustered(left, right, needed, why)
    rows_X, rows_Y = left.resident(), right.resident()
    if type(rows_X) is not type(rows_Y):
        rows_X, rows_Y = read_rows(left), read_rows(right)
    if rows_X.device != rows_Y.device:
        raise ValueError(
            f"X and Y must be on the same device for {why}; got X on {rows_X.device} and Y on {rows_Y.device}. Move one"
        )
    return _with_enough_rows(rows_X, rows_Y, left, right, needed, why)


def _local_sources(X: Any, Y: Any, clusters: Any) -> tuple[RowSource, RowSource]:
    sources = two_clustered(X, Y, clusters=clusters)
    for source in sources:
        if source.is_remote:
            raise ValueError(
                f"{source.name} is on a cluster, and this test needs all rows in memory; call its .compute() where "
                "they fit, or use phase_test or compare, which need no more than sums"
            )
    return sources


def _look_at(rows: Floats, columns: tuple[str, ...], name: str) -> None:
    """Raise on values that are too large, and warn of codes for missing values; rows on a device are not looked at."""
    if isinstance(rows, np.ndarray) and len(rows):
        check_values(rows, columns, name)
        warn_of_codes(rows, columns, name)


def check_values(rows: Floats, columns: tuple[str, ...], name: str) -> None:
    """Raise on values whose squares are no numbers."""
    largest = np.maximum(rows.max(axis=0), -rows.min(axis=0))
    column = int(largest.argmax())
    if largest[column] > _LARGEST_VALUE:
        raise ValueError(
            f"{name} must be at most {_LARGEST_VALUE:g} in size; got {largest[column]:g} in the column "
            f"{columns[column]!r}. It may stand for a missing value: leave such rows out first"
        )


def _with_enough_rows(X: Floats, Y: Floats, left: RowSource, right: RowSource, needed: int, why: str) -> Samples:
    for name, rows in (("X", X), ("Y", Y)):
        if len(rows) < needed:
            raise ValueError(f"{name} must have at least {needed} rows for {why}; got {len(rows)}")
        _look_at(rows, left.columns, name)
    return Samples(X, Y, left.columns if left.named else right.columns)
