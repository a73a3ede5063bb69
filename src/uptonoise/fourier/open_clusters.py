"""Clusters of a sketch that may still get rows: the sum of each, by its id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.fourier.cluster_sums import KEPT_NUMBERS, ClusterPart
from uptonoise.fourier.cosine_sine import turned
from uptonoise.fourier.exact_angles import angles_between
from uptonoise.fourier.moments import Moments


class OpenClusters:
    """Sums of features, of weights and of rows by id.

    Attributes
    ----------
    in_order : bool
        Whether every cluster but the last got its rows without those of another between them.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.cluster_sums import ClusterPart
    >>> from uptonoise.fourier.open_clusters import OpenClusters
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

    @property
    def are_many(self) -> bool:
        """Whether the sums take so much memory that clusters that have ended should be let go."""
        return self.sums.size > KEPT_NUMBERS

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
        kept = np.array([place for place, cluster in enumerate(self.ids) if cluster not in gone], dtype=np.int64)
        return self._at(kept)

    def split_last(self) -> tuple[OpenClusters, OpenClusters]:
        """Return all clusters but the last, and the last."""
        return self._at(np.arange(len(self) - 1)), self._at(np.arange(len(self) - 1, len(self)))

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
        new = self._at(np.arange(len(self)))
        new.sums = turned(self.sums, angles_between(frequencies, centre, other))
        return new

    def _at(self, places: NDArray[np.int64]) -> OpenClusters:
        new = OpenClusters(self.sums.shape[1])
        new.ids, new.in_order = [self.ids[place] for place in places.tolist()], self.in_order
        new._places = {cluster: place for place, cluster in enumerate(new.ids)}
        new.sums, new.weight, new.counts = self.sums[places], self.weight[places], self.counts[places]
        return new
