"""Sums of cosine and sine features by cluster, with memory for the clusters that may still get rows.

Rows of a cluster may lie anywhere, so each cluster's sum is kept until all rows are there: clusters x frequencies
numbers. Clusters are numbered by their first rows. As long as these numbers never go down from row to row the rows lie
together by cluster, and once there are many sums all but the last are handed on and forgotten. A cluster that comes
back after that is an error, which says so: whoever can read the rows again then keeps all sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.fourier.cosine_sine import CosineSine
from uptonoise.fourier.sums import bags_of_rows
from uptonoise.rows import Accumulator, Block

KEPT_NUMBERS = 2**24  # of sums, beyond which clusters that have ended are handed on
_MOST_NUMBERS = 2**27  # of sums that are kept, 1 GB


class ClusterPart(NamedTuple):
    """Of some clusters, their increasing numbers, sums of features, sums of weights, and numbers of rows."""

    numbers: NDArray[np.int64]
    sums: Floats
    weight: Floats
    counts: NDArray[np.int64]
    in_order: bool  # no number is lower than that of the row before


HandOn = Callable[[ClusterPart], None]


class ClusterReturnedError(Exception):
    """A cluster got rows after its sum was handed on."""

    def __init__(self, number: int) -> None:
        super().__init__(f"the cluster with the number {number} came back")
        self.number = number


class ClusterSums(Accumulator[ClusterPart]):
    """The sum of the features of each cluster's rows, about a centre.

    Parameters
    ----------
    features : CosineSine
        The features.
    centre : array of shape (d,)
        What is subtracted from the rows.
    hand_on : callable, optional
        Where the sums of clusters go that have ended; by default all are kept.
    """

    def __init__(self, features: CosineSine, centre: Floats, hand_on: HandOn | None = None) -> None:
        self.features, self.centre, self.hand_on = features, centre, hand_on
        self.block_rows = features.block_rows
        self._first = 0  # the lowest number that is kept
        self._stop = 0  # one more than the highest so far
        self._in_order = True
        self._sums = np.zeros((0, 2 * features.n_frequencies))
        self._weight = np.zeros(0)
        self._counts = np.zeros(0, dtype=np.int64)

    def part(self, block: Block) -> ClusterPart:
        """Return the sums of the clusters that have rows in the block."""
        n_rows, numbers = len(block.values), bags_of_rows(block, self.features.name)
        order, steps = np.arange(n_rows, dtype=np.int32), np.diff(numbers)
        in_order = not steps.min(initial=0) < 0
        if not in_order:
            order = np.argsort(numbers, kind="stable").astype(np.int32)
            numbers = numbers[order]
            steps = np.diff(numbers)
        bounds = np.concatenate([[0], np.flatnonzero(steps) + 1, [n_rows]]).astype(np.int32)
        starts = bounds[:-1]
        with np.errstate(over="ignore"):  # what overflows is refused as too large
            rows = self.features(block.values - self.centre)
        counts = np.diff(bounds).astype(np.int64)
        if block.weights is None:
            weights, weight = np.ones(n_rows), counts.astype(np.float64)
        else:
            weights = block.weights[order]
            weight = np.add.reduceat(weights, starts)
        by_cluster = scipy.sparse.csr_array((weights, order, bounds), shape=(len(starts), n_rows))
        return ClusterPart(numbers[starts], by_cluster @ rows, weight, counts, in_order)

    def add(self, part: ClusterPart) -> None:
        """Add the sums of the next rows."""
        if len(part.numbers) == 0:
            return
        lowest, highest = int(part.numbers[0]), int(part.numbers[-1])
        if lowest < self._first:
            raise ClusterReturnedError(lowest)
        self._in_order = self._in_order and part.in_order and lowest >= self._stop - 1
        if highest >= self._first + len(self._weight):
            self._grow(highest + 1 - self._first)
        self._stop = max(self._stop, highest + 1)
        places = part.numbers - self._first
        self._sums[places] += part.sums
        self._weight[places] += part.weight
        self._counts[places] += part.counts
        if self._in_order and self.hand_on is not None and self._sums.size > KEPT_NUMBERS:
            self._hand_on_all_but_last(self.hand_on)

    def _hand_on_all_but_last(self, hand_on: HandOn) -> None:
        last = self._stop - 1 - self._first
        if last == 0:
            return
        numbers = np.arange(self._first, self._stop - 1)
        hand_on(ClusterPart(numbers, self._sums[:last], self._weight[:last], self._counts[:last], True))
        kept = slice(last, last + 1)
        self._sums, self._weight = self._sums[kept].copy(), self._weight[kept].copy()
        self._counts = self._counts[kept].copy()
        self._first = self._stop - 1

    def total(self) -> ClusterPart:
        """Return the sums that are kept."""
        kept = slice(self._stop - self._first)
        numbers = np.arange(self._first, self._stop)
        return ClusterPart(numbers, self._sums[kept], self._weight[kept], self._counts[kept], self._in_order)

    def empty(self) -> ClusterSums:
        """Return the same without any rows; it keeps all sums."""
        return ClusterSums(self.features, self.centre)

    def renumbered(self, part: ClusterPart, numbers: NDArray[np.int64]) -> ClusterPart:
        """Return a part with other numbers of its clusters."""
        new = numbers[part.numbers]
        order = np.argsort(new)
        in_order = part.in_order and bool((np.diff(new) > 0).all())
        return ClusterPart(new[order], part.sums[order], part.weight[order], part.counts[order], in_order)

    def _grow(self, n_clusters: int) -> None:
        """Make room for more clusters, in place: a copy would take as much memory again."""
        width = self._sums.shape[1]
        if n_clusters * width > _MOST_NUMBERS:
            raise ValueError(
                f"{self.features.name} must have at most {_MOST_NUMBERS // width:,} clusters whose rows do not lie "
                f"together, with {width // 2:,} frequencies; got more. Sort the rows by cluster"
            )
        room = n_clusters + n_clusters // 8
        self._sums.resize((room, self._sums.shape[1]), refcheck=False)
        self._weight.resize(room, refcheck=False)
        self._counts.resize(room, refcheck=False)
