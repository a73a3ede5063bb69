"""Groups of any kind as rows: each group by itself, or rows that know their group; and their clusters, if any."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from uptonoise.bags import Bags
from uptonoise.comparison.inputs import KeptRows, rows_in_memory
from uptonoise.fourier import Sketch
from uptonoise.rows import (
    ArrayRows,
    Block,
    ClusteredRows,
    GroupedClusters,
    Missing,
    RowSource,
    SourceRecord,
    as_frame,
    as_ids,
    as_rows,
    chunk_rows,
    clustered_rows,
    coded_samples,
    expanded,
    grouping,
    is_frame,
    select_columns,
    suspected_in_frame,
    without_missing,
)

Records = dict[str, Callable[[], SourceRecord]]


class SeparateGroups(NamedTuple):
    """One sample per group, by name, and what tells later what was left out of them."""

    samples: dict[Any, RowSource]
    records: Records

    def sketches(self, generator: np.random.Generator) -> dict[Any, Sketch]:
        """Return one sketch per group, with the same frequencies."""
        if not self.samples:
            return {}
        empty = Sketch.for_samples(*self.samples.values(), random_state=generator)
        return {name: Sketch.like(empty).update(rows, complete=True) for name, rows in self.samples.items()}

    def two_samples(self) -> list[RowSource] | None:
        """Return the samples of two groups, where these can be read again."""
        samples = list(self.samples.values())
        return samples if all(sample.can_be_read_again for sample in samples) else None


class MixedGroups(NamedTuple):
    """The rows of all groups, by group, the same rows by cluster, and what tells later what was left out of them."""

    by_group: RowSource
    by_cluster: RowSource | None
    records: Records

    def sketches(self, generator: np.random.Generator) -> dict[Any, Sketch]:
        """Return one sketch per group, with the same frequencies."""
        return Sketch.for_groups(self.by_group, clusters=self.by_cluster, random_state=generator)

    def two_samples(self) -> list[RowSource] | None:
        """Return the samples of two groups after a pass; of clusters only where all rows are few enough for memory."""
        if self.by_group.is_remote or not self.by_group.can_be_read_again:
            return None
        if self.by_cluster is None:
            return [OneGroup(self.by_group, number) for number in range(2)]
        rows = GroupedClusters(self.by_group, self.by_cluster)
        values: list[NDArray[Any]] = []
        numbers: list[NDArray[np.int64]] = []
        for block in rows.blocks(chunk_rows(len(rows.columns))):
            values.append(block.values)
            numbers.append(np.asarray(block.bags))
            if sum(map(len, values)) > rows_in_memory(len(rows.columns)):
                return None
        table, clusters = np.concatenate(values), np.concatenate(numbers)
        ids, columns = np.asarray(rows.bag_ids), rows.columns if rows.named else None
        samples: list[RowSource] = []
        for name, of_group in rows.clusters_by_group().items():
            here = np.isin(clusters, of_group)
            samples.append(ClusteredRows(ArrayRows(table[here], f"the group {name}", columns), ids[clusters[here]]))
        return samples


class OneGroup(RowSource):
    """The rows of one group out of rows that know their groups.

    Examples
    --------
    >>> import uptonoise as un
    >>> from uptonoise.comparison.group_rows import OneGroup
    >>> from uptonoise.rows import as_rows, read_rows
    >>> read_rows(OneGroup(as_rows(un.Bags([[1.0, 2.0], [3.0]], ids=["a", "b"])), 1)).tolist()
    [[3.0]]
    """

    def __init__(self, rows: RowSource, number: int) -> None:
        assert rows.bag_ids is not None
        self._rows, self._number = rows, number
        self.name, self.columns, self.named = f"the group {rows.bag_ids[number]}", rows.columns, rows.named

    def chunks(self) -> Iterator[Block]:
        """Yield the rows of the group."""
        for chunk in self._rows.chunks():
            here = np.asarray(chunk.bags) == self._number
            if here.any():
                yield Block(chunk.values[here], None if chunk.weights is None else chunk.weights[here])


def read_groups(
    groups: Any, by: str | None, columns: Sequence[str] | None, clusters: Any, missing: Missing
) -> SeparateGroups | MixedGroups:
    """Return groups of any kind but sketches, without rows that have missing values where these are dropped.

    Arguments are those of :func:`compare_groups`.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.comparison.group_rows import read_groups
    >>> rng = np.random.default_rng(0)
    >>> patients = un.Bags(rng.normal(size=(20, 30, 1)), labels=["ill", "well"] * 10)
    >>> read_groups(patients, None, None, None, "error").sketches(rng)["ill"]
    Sketch(300 rows in 10 clusters, 74 frequencies, 1 column: x0)
    """
    if is_frame(groups):
        if by is None:
            raise ValueError("by must name the column with each row's group; got None")
        return _of_frame(groups, by, columns, clusters, missing)
    if by is not None or columns is not None:
        what = "dict" if isinstance(groups, Mapping) else type(groups).__name__
        raise ValueError(f"by and columns are for frames; groups is a {what}, which has its groups and columns already")
    if isinstance(groups, Mapping):
        return _of_samples(groups, clusters, missing)
    source = groups if isinstance(groups, RowSource) else as_rows(groups, name="groups")
    labels = groups.labels if isinstance(groups, Bags) else None
    by_cluster: RowSource | None = None
    if isinstance(groups, Bags) and clusters is not None:
        raise ValueError("clusters must be left out for Bags; those of Bags with labels are the clusters of each group")
    if labels is not None:
        rows = ArrayRows(groups.values, "groups", groups.columns if groups.named else None)
        source, by_cluster = ClusteredRows(rows, np.repeat(labels, groups.sizes)), source
    elif clusters is not None:
        source, by_cluster = _by_column(source, clusters)
    if missing == "drop":
        source, by_cluster = without_missing(source), by_cluster and without_missing(by_cluster)
    records = {source.name if isinstance(groups, RowSource) else "the groups": source.record}
    if by_cluster is None and not source.is_remote and source.can_be_read_again:
        source = KeptRows(source)
    return MixedGroups(source, by_cluster, records)


def read_coded_groups(
    groups: Any, by: str | None, columns: Sequence[str] | None, clusters: Any, missing: Missing
) -> SeparateGroups | MixedGroups:
    """Return groups with columns of 0 and 1 in the place of text, the same ones in all groups."""
    samples = groups if isinstance(groups, Mapping) else {"groups": groups}
    coded, categories = coded_samples(list(samples.values()), list(map(str, samples)), (by, clusters), columns)
    given = dict(zip(samples, coded, strict=True)) if isinstance(groups, Mapping) else coded[0]
    columns = None if columns is None else expanded(columns, categories)
    rows = read_groups(given, by, columns, clusters, missing)
    return rows._replace(records={name: partial(_knowing, record, categories) for name, record in rows.records.items()})


def _knowing(record: Callable[[], SourceRecord], categories: Mapping[str, Sequence[str]]) -> SourceRecord:
    return record()._replace(categories=categories)


def _by_column(groups: RowSource, clusters: Any) -> tuple[RowSource, RowSource]:
    """Return the rows of a source by group and by cluster."""
    if groups.bag_ids is None or not isinstance(clusters, str):
        raise ValueError(
            "groups must be a frame with by=, a dict of samples, Bags with labels, or a source made with by= and "
            f"clusters the name of a column, where rows have clusters; got {groups.name} with clusters of type "
            f"{type(clusters).__name__}"
        )
    by_cluster = groups.clustered(clusters)
    if by_cluster is None:
        raise ValueError(f"clusters={clusters!r} cannot be read from {groups.name}; give a frame")
    return select_columns(groups, by_cluster.columns), by_cluster


def _of_samples(groups: Mapping[Any, Any], clusters: Any, missing: Missing) -> SeparateGroups:
    if isinstance(clusters, Mapping):
        lacking = [name for name in groups if name not in clusters]
        if lacking:
            raise ValueError(f"clusters must have ids for every group; those of {lacking[0]!r} are missing")
    elif clusters is not None and not isinstance(clusters, str):
        raise ValueError(
            "clusters must be a dict with the ids of each group, or the name of a column; got a "
            f"{type(clusters).__name__}"
        )
    samples = {
        name: clustered_rows(sample, clusters[name] if isinstance(clusters, Mapping) else clusters, f"the group {name}")
        for name, sample in groups.items()
    }
    if missing == "drop":
        samples = {name: without_missing(sample) for name, sample in samples.items()}
    return SeparateGroups(samples, {str(name): sample.record for name, sample in samples.items()})


def _of_frame(groups: Any, by: str, columns: Sequence[str] | None, clusters: Any, missing: Missing) -> MixedGroups:
    group = grouping(groups)
    if group is not None:  # a frame on a cluster of computers
        elsewhere = group(groups, by, columns)
        source, by_cluster = (elsewhere, None) if clusters is None else _by_column(elsewhere, clusters)
        if missing == "drop":
            source = without_missing(source)
        return MixedGroups(source, by_cluster, {source.name: source.record})
    frame = as_frame(groups, "groups")
    column = clusters if isinstance(clusters, str) else None
    for name in (by, *([] if column is None else [column])):
        if name not in frame.columns:
            raise ValueError(f"groups has no column {name!r}; its columns are {list(frame.columns)[:20]}")
    suspected = {} if columns is not None else suspected_in_frame(frame)
    kept = list(columns) if columns is not None else [name for name in frame.columns if name not in (by, column)]
    record = SourceRecord(suspected=suspected)
    if missing == "drop":
        names = [name for name in (by, column, *kept) if name is not None]
        gaps = [nw.col(name).is_null() for name in names]
        gaps += [nw.col(name).is_nan().fill_null(False) for name in names if frame.schema[name].is_float()]
        gap = frame.select(nw.any_horizontal(*gaps, ignore_nulls=True).alias("gap"))["gap"]
        complete = ~np.asarray(gap.to_numpy(), dtype=bool)
        record = SourceRecord(len(frame), int(np.count_nonzero(~complete)), suspected=suspected)
        frame = frame.filter(complete.tolist())
        if clusters is not None and column is None:
            clusters = as_ids(clusters)
            if len(clusters) != len(complete):
                raise ValueError(
                    f"clusters must have one id for each row of groups ({len(complete):,}); got {len(clusters):,}"
                )
            clusters = clusters[complete]
    records: Records = {"the frame": lambda: record}
    if clusters is None:
        return MixedGroups(
            as_rows(Bags.from_long(frame.to_native(), by=by, values=columns), name="groups"), None, records
        )
    rows = as_rows(frame.select(kept).to_native(), name="groups")
    ids = clusters if column is None else as_ids(frame.get_column(column).to_native(), f"the column {column!r}")
    of_groups = as_ids(frame.get_column(by).to_native(), f"the column {by!r}")
    return MixedGroups(ClusteredRows(rows, of_groups), ClusteredRows(rows, ids), records)
