"""Clusters of a sketch: one pass over clustered rows, and what is kept for later passes and merges.

A sketch keeps the sum of each cluster that may get more rows, and a 64-bit hash of the id of each cluster that gets no
more. The hashes tell whether two sketches hold rows of the same cluster; they take 8 bytes per cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.wording import shown
from uptonoise.fourier.cluster_sums import KEPT_NUMBERS, ClusterPart, ClusterReturnedError, ClusterSums, OpenClusters
from uptonoise.fourier.cosine_sine import CosineSine
from uptonoise.fourier.moments import Moments, MomentSum
from uptonoise.rows import GroupedClusters, RowsByBag, RowSource, cluster_hashes

Hashes = NDArray[np.uint64]


def _no_hashes() -> Hashes:
    return np.empty(0, dtype=np.uint64)


@dataclass(frozen=True)
class SketchClusters:
    """What a sketch knows of its clusters: those that may get more rows, and the hashes of the ids of the others."""

    open: OpenClusters | None = None
    ended: Hashes = field(default_factory=_no_hashes)

    @property
    def hashes(self) -> Hashes:
        """The sorted hashes of all ids; none of clusters whose ids mean nothing beyond their own sample."""
        return self.ended if self.open is None else _joined(self.ended, cluster_hashes(self.open.ids))

    def merged(self, other: SketchClusters) -> SketchClusters:
        """Return the clusters of both, all of them ended; raise where both hold the same cluster."""
        left, right = self.hashes, other.hashes
        n_shared = len(np.intersect1d(left, right, assume_unique=True))
        if n_shared:
            raise ValueError(
                f"the sketches hold rows of the same clusters ({n_shared:,} of {len(left):,}). All rows of a cluster "
                "must be in one sketch: give them to one Sketch.update after the other, or divide the rows by cluster"
            )
        return SketchClusters(None, _joined(left, right))


NO_CLUSTERS = SketchClusters()


def _joined(*parts: Hashes) -> Hashes:
    filled = [part for part in parts if len(part)]
    if len(filled) < 2:
        return filled[0] if filled else _no_hashes()
    return np.sort(np.concatenate(filled))


class ClusterPass:
    """A pass over clustered rows: moments of clusters that have ended, and sums of those that have not.

    `near` is subtracted from these rows, and `centre` from those of the sketch; `before` has the clusters of earlier
    passes.
    """

    def __init__(
        self,
        source: RowSource,
        features: CosineSine,
        frequencies: Floats,
        near: Floats,
        centre: Floats,
        before: SketchClusters,
    ) -> None:
        self.source, self.features, self.frequencies, self.before = source, features, frequencies, before
        self.near, self.centre = near, centre
        self._no_clusters = OpenClusters(2 * features.n_frequencies)
        self.known = (before.open or self._no_clusters).recentred(frequencies, centre, near)
        self.moments = self._no_clusters.moments
        self.hashes: list[Hashes] = []
        self.taken: list[Any] = []

    def run(self, complete: bool) -> tuple[Moments, SketchClusters]:
        """Read all rows; return the moments of clusters that have ended, about `near`, and all clusters of the sketch.

        With `complete` all clusters end, also those of earlier passes that have rows here.
        """
        source = self.source
        is_of_single_rows = _is_array(source) and not source.is_remote and source.weights is None
        if complete and is_of_single_rows and source.n_rows == len(np.asarray(source.bag_ids)):
            # Every cluster is known to have one row: then rows are clusters, to the last bit.
            moments = source.fold(MomentSum(self.features, self.near, keeps_few=True)).total()
            moments = replace(moments, n_clusters=moments.n_rows, cross=np.zeros_like(moments.mean))
            ids = self._ids(np.arange(source.n_rows or 0))
            hashes = _no_hashes() if source.ids_are_local else self._checked_hashes(ids)
            return moments, SketchClusters(self.before.open, _joined(self.before.ended, hashes))
        rest = self._read()
        if complete or source.ids_are_local:
            self._end(rest)
            kept = self.known.without(self.taken)
        else:
            ids = self._ids(rest.numbers)
            self._checked_hashes(ids)
            kept = self.known.without(self.taken)
            kept.add(ids, rest)
        if kept.sums.size > KEPT_NUMBERS and kept.in_order:  # all but the last have ended, and take much memory
            ended, kept = kept.at(np.arange(len(kept) - 1)), kept.at(np.arange(len(kept) - 1, len(kept)))
            self.moments += ended.moments
            self.hashes.append(cluster_hashes(ended.ids))
        if self.moments.weight + float(kept.weight.sum()) == 0:
            raise ValueError(f"weights of {self.source.name} must not all be 0")
        hashes = _joined(self.before.ended, *self.hashes)
        kept = kept.recentred(self.frequencies, self.near, self.centre)
        return self.moments, SketchClusters(kept if len(kept) else None, hashes)

    def _read(self) -> ClusterPart:
        source, keep_all = self.source, ClusterSums(self.features, self.near)
        if source.is_remote or (_is_array(source) and not source.bags_in_order):
            return (source if source.is_remote else RowsByBag(source)).fold(keep_all).total()
        try:
            return source.fold(ClusterSums(self.features, self.near, self._end)).total()
        except ClusterReturnedError as error:
            if not source.can_be_read_again:
                cluster = shown(self._ids([error.number])[0])
                raise ValueError(
                    f"the clusters of {source.name} came one after the other, so that the sums of those that had ended "
                    f"were not kept; but the cluster {cluster} came back. Sort the rows by cluster, or give a source "
                    "that can be read again"
                ) from None
        self.moments, self.hashes, self.taken = self._no_clusters.moments, [], []
        return RowsByBag(source).fold(keep_all).total()

    def _ids(self, numbers: Sequence[int] | NDArray[np.int64]) -> list[Any]:
        ids: Any = self.source.bag_ids
        if _is_array(self.source):
            return list(ids[np.asarray(numbers)].tolist())
        return [ids[number] for number in np.asarray(numbers).tolist()]

    def _end(self, part: ClusterPart) -> None:
        """End clusters, with what earlier passes have of them."""
        if len(part.numbers) == 0:
            return
        sums, weight, counts = part.sums, part.weight, part.counts
        if not self.source.ids_are_local:
            ids = self._ids(part.numbers)
            if len(self.known):
                sums, weight, counts = sums.copy(), weight.copy(), counts.copy()
                self.taken += self.known.added_to(ids, sums, weight, counts)
            self.hashes.append(self._checked_hashes(ids))
        self.moments += Moments.of_clusters(sums, weight, int(counts.sum()))

    def _checked_hashes(self, ids: list[Any]) -> Hashes:
        """Return the hashes of ids, or raise where one of them had ended before."""
        hashes, ended = cluster_hashes(ids), self.before.ended
        again = np.isin(hashes, ended) if len(ended) else np.zeros(len(hashes), dtype=bool)
        if again.any():
            cluster = next(cluster for cluster in ids if cluster_hashes([cluster])[0] == hashes[np.argmax(again)])
            raise ValueError(
                f"{self.source.name} has rows of the cluster {shown(cluster)}, which the sketch holds already and "
                "whose sum it has not kept. Give all rows of a cluster before the sketch is saved, loaded or merged"
            )
        return hashes


def moments_by_group(
    rows: GroupedClusters, features: CosineSine, centre: Floats
) -> dict[Any, tuple[Moments, Floats, SketchClusters]]:
    """Return the moments, centre and clusters of each group, from one pass over rows in groups of clusters."""
    total = rows.fold(ClusterSums(features, centre)).total()
    groups = {}
    for name, numbers in rows.clusters_by_group().items():
        n_rows = int(total.counts[numbers].sum())
        hashes = cluster_hashes([rows.bag_ids[number] for number in numbers.tolist()])
        moments = Moments.of_clusters(total.sums[numbers], total.weight[numbers], n_rows)
        groups[name] = moments, centre, SketchClusters(None, hashes)
    return groups


def _is_array(source: RowSource) -> bool:
    """Tell whether the ids of all clusters are known before a pass, and with them the order of the rows."""
    return isinstance(source.bag_ids, np.ndarray)
