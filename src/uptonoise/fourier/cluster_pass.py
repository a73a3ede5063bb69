"""One pass over clustered rows for a sketch, which is changed only when all of it went well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.wording import shown
from uptonoise.fourier.characteristic import Waves
from uptonoise.fourier.cluster_sums import ClusterPart, ClusterReturnedError, ClusterSums
from uptonoise.fourier.open_clusters import OpenClusters
from uptonoise.rows import RowsByBag, RowSource, cluster_hashes


class ClusterPass:
    """What a pass brings: the sums of clusters that have ended, one after the other, and of those that have not.

    Parameters
    ----------
    source : RowSource
        Rows with clusters.
    waves : Waves
        The features.
    centre : array of shape (d,)
        What is subtracted from the rows.
    known : OpenClusters
        Clusters that have rows from earlier passes, about the same centre.
    closed : array of uint64
        The sorted hashes of clusters that can get no more rows.
    """

    def __init__(
        self, source: RowSource, waves: Waves, centre: Floats, known: OpenClusters, closed: NDArray[np.uint64]
    ) -> None:
        self.source, self.waves, self.centre, self.known, self.closed = source, waves, centre, known, closed
        self.hashes: list[NDArray[np.uint64]] = []
        self.taken: list[Any] = []
        self.end: Any = None

    def run(self, end: Any) -> ClusterPart:
        """Read all rows; give `end` the sums of clusters as they end, and return those that are left."""
        self.end = end
        source, whole = self.source, ClusterSums(self.waves, self.centre)
        if source.is_remote:
            return source.fold(whole).total()
        if isinstance(source.bag_ids, np.ndarray) and not source.bags_in_order:
            return RowsByBag(source).fold(whole).total()
        try:
            return source.fold(ClusterSums(self.waves, self.centre, self.close)).total()
        except ClusterReturnedError as error:
            if not source.can_be_read_again:
                cluster = shown(self.ids([error.number])[0])
                raise ValueError(
                    f"the clusters of {source.name} came one after the other, so that sums of those that had ended were "
                    f"not kept; but the cluster {cluster} came back. Sort the rows by cluster, or give a source that "
                    "can be read again"
                ) from None
        self.hashes, self.taken = [], []
        end(None)
        return RowsByBag(source).fold(whole).total()

    def ids(self, numbers: Sequence[int] | NDArray[np.int64]) -> list[Any]:
        """Return the ids of clusters."""
        ids: Any = self.source.bag_ids
        if isinstance(ids, np.ndarray):
            return list(ids[np.asarray(numbers)].tolist())
        return [ids[number] for number in np.asarray(numbers).tolist()]

    def close(self, part: ClusterPart) -> None:
        """End clusters, with what earlier passes have of them."""
        if len(part.numbers) == 0:
            return
        sums, weight, counts = part.sums, part.weight, part.counts
        if len(self.known) or not self.source.ids_are_local:
            ids = self.ids(part.numbers)
            if len(self.known):
                sums, weight, counts = sums.copy(), weight.copy(), counts.copy()
                self.taken += self.known.added_to(ids, sums, weight, counts)
            self.hashes.append(self.checked_hashes(ids))
        self.end((sums, weight, int(counts.sum())))

    def checked_hashes(self, ids: list[Any]) -> NDArray[np.uint64]:
        """Return the hashes of ids, or raise where one of them had ended before."""
        own = cluster_hashes(ids)
        if len(self.closed):
            again = np.isin(own, self.closed)
            if again.any():
                cluster = next(cluster for cluster in ids if cluster_hashes([cluster])[0] == own[np.argmax(again)])
                raise ValueError(
                    f"{self.source.name} has rows of the cluster {shown(cluster)}, which the sketch holds already and "
                    "whose sum it has not kept. Give all rows of a cluster before the sketch is saved, loaded or merged"
                )
        return own
