"""Groups whose rows come in clusters: patients of several diagnoses, days of several sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from uptonoise.bags import Bags
from uptonoise.fourier import Sketch
from uptonoise.rows import (
    ArrayRows,
    ClusteredRows,
    RowSource,
    as_frame,
    as_ids,
    as_rows,
    clustered_rows,
    is_frame,
    select_columns,
)


def clustered_sketches(
    groups: Any, by: str | None, columns: Sequence[str] | None, clusters: Any, generator: np.random.Generator
) -> dict[Any, Sketch]:
    """Return the sketches of groups by their names, where rows belong to clusters.

    Parameters
    ----------
    groups : frame, dict of samples, Bags with labels, or RowSource with groups
        The rows. Of Bags each bag is a cluster, and its label says which group it is in.
    by : str, optional
        The column of a frame that names each row's group.
    columns : sequence of str, optional
        The columns of a frame to compare.
    clusters : str, array of shape (n_rows,), or dict of arrays
        The column that holds ids, or the ids; of a dict of samples, those of each.
    generator : Generator
        The seed of the frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.comparison.clustered import clustered_sketches
    >>> rng = np.random.default_rng(0)
    >>> patients = un.Bags(rng.normal(size=(20, 30, 1)), labels=["ill", "well"] * 10)
    >>> clustered_sketches(patients, None, None, None, rng)["ill"]
    Sketch(300 rows in 10 clusters, 74 frequencies, 1 column: x0)
    """
    if isinstance(groups, Mapping):
        return _of_samples(groups, clusters, generator)
    by_group, by_cluster = _both(groups, by, columns, clusters)
    return Sketch.for_groups(by_group, clusters=by_cluster, random_state=generator)


def _of_samples(groups: Mapping[Any, Any], clusters: Any, generator: np.random.Generator) -> dict[Any, Sketch]:
    if isinstance(clusters, Mapping):
        lacking = [name for name in groups if name not in clusters]
        if lacking:
            raise ValueError(f"clusters must have ids for every group; those of {lacking[0]!r} are missing")
    elif clusters is not None and not isinstance(clusters, str):
        raise ValueError(
            "clusters must be a dict with the ids of each group, or the name of a column; got a "
            f"{type(clusters).__name__}"
        )
    sources = {
        name: clustered_rows(sample, clusters[name] if isinstance(clusters, Mapping) else clusters, str(name))
        for name, sample in groups.items()
    }
    empty = Sketch.for_samples(*sources.values(), random_state=generator)
    return {name: Sketch.like(empty).update(source, complete=True) for name, source in sources.items()}


def _both(groups: Any, by: str | None, columns: Sequence[str] | None, clusters: Any) -> tuple[RowSource, RowSource]:
    """Return the same rows by group and by cluster."""
    if isinstance(groups, Bags):
        if groups.labels is None:
            raise ValueError("groups must be Bags with labels, which say which group each bag is in; got none")
        rows = ArrayRows(groups.values, "groups", groups.columns if groups.named else None)
        return ClusteredRows(rows, np.repeat(groups.labels, groups.sizes)), as_rows(groups, name="groups")
    if isinstance(groups, RowSource):
        if groups.bag_ids is None or not isinstance(clusters, str):
            raise ValueError(
                "groups must be made with by=, and clusters the name of a column, where groups are files or on a "
                "cluster of computers"
            )
        by_cluster = groups.clustered(clusters)
        if by_cluster is None:
            raise ValueError(f"clusters={clusters!r} cannot be read from {groups.name}; give a frame")
        return select_columns(groups, by_cluster.columns), by_cluster
    if not is_frame(groups) or by is None:
        raise ValueError(
            "groups must be a frame with by=, a dict of samples, Bags with labels or a source with groups, where rows "
            f"have clusters; got a {type(groups).__name__}" + ("" if by is not None else " without by")
        )
    return _of_frame(groups, by, columns, clusters)


def _of_frame(groups: Any, by: str, columns: Sequence[str] | None, clusters: Any) -> tuple[RowSource, RowSource]:
    frame = as_frame(groups, "groups")
    of_clusters = [clusters] if isinstance(clusters, str) else []
    for name in (by, *of_clusters):
        if name not in frame.columns:
            raise ValueError(f"groups has no column {name!r}; its columns are {list(frame.columns)[:20]}")
    kept = [name for name in frame.columns if name not in (by, *of_clusters)] if columns is None else list(columns)
    rows = as_rows(frame.select(kept).to_native(), name="groups")
    ids = as_ids(frame.get_column(clusters).to_native(), f"the column {clusters!r}") if of_clusters else clusters
    names = as_ids(frame.get_column(by).to_native(), f"the column {by!r}")
    return ClusteredRows(rows, names), ClusteredRows(rows, ids)
