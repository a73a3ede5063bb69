"""Sums of cosine and sine features by cluster, with memory for the clusters that may still get rows.

Rows of a cluster may lie anywhere, so each cluster's sum is kept until all rows are there: clusters x frequencies
numbers. Clusters are numbered by their first rows. As long as these numbers never go down from row to row the rows lie
together by cluster, and once there are many sums all but the last are handed on and forgotten. A cluster that comes
back after that is an error, which says so: whoever can read the rows again then keeps all sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.fourier.cosine_sine import CosineSine, angles_between, turned
from uptonoise.fourier.moments import Moments
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

    The sums of clusters that have ended go to `hand_on`; without it all are kept.
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
            n_clusters, width = highest + 1 - self._first, self._sums.shape[1]
            if n_clusters * width > _MOST_NUMBERS:
                raise ValueError(
                    f"{self.features.name} must have at most {_MOST_NUMBERS // width:,} clusters whose rows do not lie "
                    f"together, with {width // 2:,} frequencies; got more. Sort the rows by cluster"
                )
            room = n_clusters + n_clusters // 8
            for sums in (self._sums, self._weight, self._counts):  # a copy would take as much memory again
                sums.resize((room, *sums.shape[1:]), refcheck=False)
        self._stop = max(self._stop, highest + 1)
        places = part.numbers - self._first
        self._sums[places] += part.sums
        self._weight[places] += part.weight
        self._counts[places] += part.counts
        if self._in_order and self.hand_on is not None and self._sums.size > KEPT_NUMBERS:
            last = self._stop - 1 - self._first
            if last > 0:
                numbers = np.arange(self._first, self._stop - 1)
                self.hand_on(ClusterPart(numbers, self._sums[:last], self._weight[:last], self._counts[:last], True))
                kept = slice(last, last + 1)
                self._sums, self._weight = self._sums[kept].copy(), self._weight[kept].copy()
                self._counts, self._first = self._counts[kept].copy(), self._stop - 1

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


class OpenClusters:
    """Clusters of a sketch that may still get rows: sums of features, of weights and of rows by id.

    Attributes
    ----------
    in_order : bool
        Whether every cluster but the last got its rows without those of another between them.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.cluster_sums import ClusterPart, OpenClusters
    >>> part = ClusterPart(np.arange(2), np.ones((2, 4)), np.ones(2), np.ones(2, dtype=np.int64), True)
    >>> clusters = OpenClusters(4)
    >>> clusters.add(["a", "b"], part)
    >>> clusters.add(["b", "c"], part)
    >>> clusters.ids, clusters.weight.tolist(), bool(clusters.in_order)
    (['a', 'b', 'c'], [1.0, 2.0, 1.0], True)
    """

    def __init__(self, width: int) -> None:
        self.ids: list[Any] = []
        self.in_order = True
        self._places: dict[Any, int] = {}
        self.sums = np.zeros((0, width))
        self.weight = np.zeros(0)
        self.counts = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, ids: Sequence[Any], part: ClusterPart) -> None:
        """Add the sums of clusters, some of which may be there already."""
        before = len(self.ids)
        places = np.empty(len(ids), dtype=np.int64)
        for number, cluster in enumerate(ids):
            places[number] = self._places.setdefault(cluster, len(self._places))
        new = [cluster for cluster, place in zip(ids, places.tolist(), strict=True) if place >= before]
        again = places[places < before]
        self.in_order = self.in_order and part.in_order and (len(again) == 0 or (again == before - 1).all())
        self.ids = self.ids + new
        grown = len(self.ids)
        self.sums = np.concatenate([self.sums, np.zeros((grown - before, self.sums.shape[1]))])
        self.weight = np.concatenate([self.weight, np.zeros(grown - before)])
        self.counts = np.concatenate([self.counts, np.zeros(grown - before, dtype=np.int64)])
        self.sums[places] += part.sums
        self.weight[places] += part.weight
        self.counts[places] += part.counts

    def without(self, ids: Sequence[Any]) -> OpenClusters:
        """Return the others."""
        gone = set(ids)
        kept = [place for place, cluster in enumerate(self.ids) if cluster not in gone]
        return self.at(np.array(kept, dtype=np.int64))

    def added_to(self, ids: Sequence[Any], sums: Floats, weight: Floats, counts: NDArray[np.int64]) -> list[Any]:
        """Add what is here of some clusters to their sums, in place, and return which these are."""
        here = [(number, self._places[cluster]) for number, cluster in enumerate(ids) if cluster in self._places]
        if here:
            numbers, places = np.array(here).T
            sums[numbers] += self.sums[places]
            weight[numbers] += self.weight[places]
            counts[numbers] += self.counts[places]
        return [ids[number] for number, _ in here]

    @property
    def moments(self) -> Moments:
        """The moments of all clusters."""
        return Moments.of_clusters(self.sums, self.weight, int(self.counts.sum()))

    def recentred(self, frequencies: Floats, centre: Floats, other: Floats) -> OpenClusters:
        """Return the sums of rows minus `centre` as those of the same rows minus another centre."""
        if len(self) == 0 or np.array_equal(centre, other):
            return self
        new = self.at(np.arange(len(self)))
        new.sums = turned(self.sums, angles_between(frequencies, centre, other))
        return new

    def at(self, places: NDArray[np.int64]) -> OpenClusters:
        """Return those at these places."""
        new = OpenClusters(self.sums.shape[1])
        new.ids, new.in_order = [self.ids[place] for place in places.tolist()], self.in_order
        new._places = {cluster: place for place, cluster in enumerate(new.ids)}
        new.sums, new.weight, new.counts = self.sums[places], self.weight[places], self.counts[places]
        return new
