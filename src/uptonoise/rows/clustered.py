"""Rows with clusters: the same rows, each with the number of the cluster that it belongs to.

A clustered sample is a :class:`RowSource` of bags. Ids come from an array beside the rows, or from a column of a frame,
of a file, of chunks or of partitions. Two bags of rows are two clusters.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from uptonoise._util.validation import positive_int
from uptonoise._util.warning import warn
from uptonoise._util.wording import counted, shown
from uptonoise.rows.block import CHUNK_ROWS, Block
from uptonoise.rows.cluster_ids import BlockIds, as_ids, numbered
from uptonoise.rows.convert import IteratorRows, as_rows, grouping, same_iterator
from uptonoise.rows.derived import DerivedRows, WithoutColumn, with_weights
from uptonoise.rows.matching import aligned
from uptonoise.rows.memory import as_frame, is_frame
from uptonoise.rows.source import RowSource

LEAST_CLUSTERS = 3
_REMOTE = "clusters of {}, whose rows are on a cluster of computers, must be the name of the column that holds the ids"


class SharedClustersWarning(UserWarning):
    """Both samples have clusters with the same ids: the samples are not independent if these are the same units."""


class ClusteredRows(DerivedRows):
    """The same rows with the number of each row's cluster, from an array of ids beside them."""

    def __init__(self, source: RowSource, clusters: Any) -> None:
        super().__init__(source)
        if source.is_remote:
            raise ValueError(_REMOTE.format(source.name))
        ids = as_ids(clusters, f"clusters of {source.name}")
        if self.n_rows is not None:
            self._check_length(self.n_rows, len(ids))
        self.bag_ids, self._numbers, self.bags_in_order = numbered(ids)
        self.ids_are_local = isinstance(ids, BlockIds)

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks of the source with the numbers of their clusters."""
        start = 0
        for chunk in self.source.chunks():
            for first in range(0, len(chunk.values), CHUNK_ROWS):
                part = chunk.at(slice(first, first + CHUNK_ROWS))
                stop = start + len(part.values)
                if stop > len(self._numbers):
                    self._check_length(stop, len(self._numbers))
                yield part._replace(bags=self._numbers[start:stop])
                start = stop
        self._check_length(start, len(self._numbers))

    def _check_length(self, n_rows: int, n_ids: int) -> None:
        if n_ids != n_rows:
            raise ValueError(f"clusters must have one id for each row of {self.name} ({n_rows:,}); got {n_ids:,}")


class BlockedRows(DerivedRows):
    """The same rows in blocks of consecutive ones, which are their clusters."""

    def __init__(self, source: RowSource, size: int) -> None:
        super().__init__(source)
        if source.is_remote:
            raise ValueError(_REMOTE.format(source.name))
        if source.bag_ids is not None:
            raise ValueError(f"{source.name} has bags already; blocks are for rows without them")
        self.size, self.ids_are_local = positive_int(size, "the size of a block"), True
        self.bag_ids: list[int] = []

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks of the source with the numbers of their blocks."""
        start = 0
        for chunk in self.source.chunks():
            stop = start + len(chunk.values)
            self.bag_ids += range(len(self.bag_ids), -(-stop // self.size))
            yield chunk._replace(bags=np.arange(start, stop) // self.size)
            start = stop
        if start < self.size:
            raise ValueError(f"a block must not be longer than {self.name} ({start:,} rows); got {self.size:,}")


class ClusterColumnRows(WithoutColumn):
    """The same rows with one column of whole numbers taken out as the ids of their clusters."""

    def __init__(self, source: RowSource, column: str) -> None:
        super().__init__(source, column, "clusters")
        self._known: dict[Any, int] = {}
        self.bag_ids: list[Any] = []
        self.bags_in_order = False

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks of the source, the numbers of clusters beside the values."""
        column = self.source.columns[self.place_taken]
        for chunk in self.source.chunks():
            ids = as_ids(np.asarray(chunk.values[:, self.place_taken]), f"the column {column!r} of {self.name}")
            yield chunk._replace(values=self._derived(chunk.values), bags=_added(self._known, self.bag_ids, ids))


class ClusteredChunks(DerivedRows):
    """The rows of an iterator of frames, with the ids of clusters in one of the columns; it can be read once."""

    def __init__(self, chunks: Iterator[Any], column: str, name: str) -> None:
        self._ids: list[NDArray[Any]] = []
        super().__init__(IteratorRows(self._without(chunks, column, name), name))
        self._known: dict[Any, int] = {}
        self.bag_ids: list[Any] = []

    def _without(self, chunks: Iterator[Any], column: str, name: str) -> Iterator[Any]:
        """Yield the frames without the column, and keep its ids until the rows are asked for."""
        for number, chunk in enumerate(chunks):
            if not is_frame(chunk):
                raise ValueError(
                    f"clusters={column!r} must name a column, which only frames have; chunk {number} of {name} is a "
                    f"{type(chunk).__name__}"
                )
            frame, ids = _split(as_frame(chunk, name), column, f"{name} (chunk {number})")
            self._ids.append(ids)
            yield frame

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks with the numbers of their clusters."""
        waiting = np.empty(0, dtype=np.int64)
        for chunk in self.source.chunks():
            while len(waiting) < len(chunk.values):
                waiting = np.concatenate([waiting, _added(self._known, self.bag_ids, self._ids.pop(0))])
            yield chunk._replace(bags=waiting[: len(chunk.values)])
            waiting = waiting[len(chunk.values) :]


class GroupedClusters(RowSource):
    """Rows in clusters, which lie in groups: the same rows, once by group and once by cluster, read side by side.

    Attributes
    ----------
    group_of : list of int
        The number of each cluster's group, after a pass.
    """

    def __init__(self, by_group: RowSource, by_cluster: RowSource) -> None:
        self.by_group, self.by_cluster = by_group, aligned(by_cluster, by_group)
        self.name, self.columns, self.named = by_group.name, by_group.columns, by_group.named
        self.n_rows, self.can_be_read_again = by_group.n_rows, by_group.can_be_read_again
        self.bag_ids: Any = self.by_cluster.bag_ids
        self.group_of: list[int] = []

    def chunks(self) -> Iterator[Block]:
        """Yield rows with the numbers of their clusters; raise where a cluster has rows in two groups."""
        both = (source.blocks(CHUNK_ROWS) for source in (self.by_group, self.by_cluster))
        for of_group, of_cluster in itertools.zip_longest(*both):
            if of_group is None or of_cluster is None or not np.array_equal(of_group.values, of_cluster.values):
                raise ValueError(
                    f"every row of {self.name} must have a group and a cluster; drop rows that lack one of them first"
                )
            groups, clusters = np.asarray(of_group.bags), np.asarray(of_cluster.bags)
            known = np.array(self.group_of + [-1] * max(0, int(clusters.max()) + 1 - len(self.group_of)))
            here, first = np.unique(clusters, return_index=True)
            known[here] = np.where(known[here] < 0, groups[first], known[here])
            wrong = known[clusters] != groups
            if wrong.any():
                row = int(np.argmax(wrong))
                names: Any = self.by_group.bag_ids
                raise ValueError(
                    f"the cluster {shown(self.bag_ids[clusters[row]])} of {self.name} has rows in the groups "
                    f"{shown(names[known[clusters[row]]])} and {shown(names[groups[row]])}. The groups are then not "
                    "independent: flip_test(..., paired=True) may be meant, or ids that are unique within all groups"
                )
            self.group_of = known.tolist()
            yield of_cluster

    def clusters_by_group(self) -> dict[Any, NDArray[np.int64]]:
        """Return the numbers of each group's clusters by its name, after a pass."""
        names, groups = self.by_group.bag_ids, np.array(self.group_of)
        plain = names.tolist() if isinstance(names, np.ndarray) else list(names or ())
        return {name: np.flatnonzero(groups == number) for number, name in enumerate(plain)}


def _added(known: dict[Any, int], ids: list[Any], new: NDArray[Any]) -> NDArray[np.int64]:
    """Return the numbers of ids; those that are new get the next ones."""
    of_these, numbers, _ = numbered(new)
    for cluster in of_these.tolist():
        if known.setdefault(cluster, len(ids)) == len(ids):
            ids.append(cluster)
    return np.array([known[cluster] for cluster in of_these.tolist()], dtype=np.int64)[numbers]


def clustered_rows(X: Any, clusters: Any, name: str | None = None, weights: Any = None) -> RowSource:
    """Return a sample whose rows know their clusters; as it is where `clusters` is None.

    Parameters
    ----------
    X : array, tensor, frame, iterator of these, Bags, or RowSource
        The rows. Bags are clusters already.
    clusters : array of shape (n_rows,), str, or None
        An id for each row, or the name of the column that holds them.
    name : str, optional
        What messages call the rows.
    weights : array of shape (n_rows,) or str, optional
        A weight for each row, or the column that holds them.

    Examples
    --------
    >>> import pandas as pd
    >>> from uptonoise.rows.clustered import clustered_rows
    >>> source = clustered_rows(pd.DataFrame({"patient": ["p", "q", "p"], "x": [1.0, 2.0, 3.0]}), "patient")
    >>> source.columns, list(source.bag_ids)
    (('x',), ['p', 'q'])
    """
    if clusters is None:
        return as_rows(X, name=name, weights=weights)
    called = name or RowSource.name
    group = grouping(X) if isinstance(clusters, str) and not isinstance(X, RowSource) else None
    source: RowSource
    if group is not None:
        source = group(X, clusters, None).renamed(called)
    elif isinstance(clusters, str) and is_frame(X):
        frame, ids = _split(as_frame(X, called), clusters, called)
        source = ClusteredRows(as_rows(frame, name=called), ids)
    elif isinstance(clusters, str) and isinstance(X, Iterator):
        source = ClusteredChunks(X, clusters, called)
    else:
        source = as_rows(X, name=name)
        if source.bag_ids is not None:
            bags = counted(len(source.bag_ids), "bag")
            raise ValueError(f"clusters must be left out for {source.name}, whose {bags} are its clusters")
        if isinstance(clusters, str):
            source = source.clustered(clusters) or ClusterColumnRows(source, clusters)
        else:
            source = ClusteredRows(source, clusters)
    return source if weights is None else with_weights(source, weights)


def _split(frame: nw.DataFrame[Any], column: str, name: str) -> tuple[Any, NDArray[Any]]:
    """Return a frame without a column, and the ids in it."""
    if column not in frame.columns:
        raise ValueError(f"clusters={column!r} must name a column of {name}, which has {list(frame.columns)[:20]}")
    if len(frame.columns) == 1:
        raise ValueError(f"{name} has no column left beside the clusters {column!r}")
    ids = as_ids(frame.get_column(column).to_native(), f"the column {column!r} of {name}")
    return frame.drop(column).to_native(), ids


def two_clustered(
    X: Any, Y: Any, weights: tuple[Any, Any] = (None, None), clusters: Any = None
) -> tuple[RowSource, RowSource]:
    """Return two samples with the same columns, both with clusters or both without."""
    if not isinstance(weights, tuple | list) or len(weights) != 2:
        raise ValueError("weights must be a pair, those of X and those of Y (None for equal ones); got something else")
    if X is Y and isinstance(X, Iterator):
        raise same_iterator("X and Y")
    of_both = clusters is None or isinstance(clusters, str)
    is_pair = isinstance(clusters, tuple | list) and len(clusters) == 2 and all(ids is not None for ids in clusters)
    if not of_both and not is_pair:
        came = f"{len(clusters)} of them, or None in one" if isinstance(clusters, tuple | list) else "no pair"
        raise ValueError(
            f"clusters must be the ids of the rows of X and those of Y, or the name of a column of both; got {came}"
        )
    if clusters is None:
        left, right = as_rows(X, name="X", weights=weights[0]), as_rows(Y, name="Y", weights=weights[1])
    else:
        left, right = map(clustered_rows, (X, Y), (clusters, clusters) if of_both else clusters, ("X", "Y"), weights)
    if (left.bag_ids is None) != (right.bag_ids is None):
        with_clusters, without = (left, right) if right.bag_ids is None else (right, left)
        raise ValueError(
            f"both samples must have clusters, or none; {with_clusters.name} has them and {without.name} has not. Give "
            "clusters=(ids of X, ids of Y), or two Bags"
        )
    return left, aligned(right, left)


def warn_of_shared(shared: Sequence[Any], names: tuple[str, str]) -> None:
    """Warn where clusters of two samples have the same ids."""
    if len(shared) == 0:
        return
    some = ", ".join(map(shown, list(shared)[:3])) + (", ..." if len(shared) > 3 else "")
    warn(
        f"{names[0]} and {names[1]} share {counted(len(shared), 'cluster id')} ({some}). If these are the same units, "
        "the samples are not independent and the p-values do not hold: flip_test(..., paired=True) may be meant. If "
        "each sample numbers its units for itself, give ids that differ",
        SharedClustersWarning,
    )
