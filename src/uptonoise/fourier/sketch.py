"""Sketch: count, mean and covariance of [cos(w.x), sin(w.x)], in one pass and mergeable.

Two sketches with the same frequencies are all that a noise-invariant test needs; the rows can stay where they are.
The sums are of x minus a centre, so that a large offset costs no accuracy. Another centre c' turns the pair [cos, sin]
of each frequency by the angle w.(c - c'), a rotation, so sketches with different centres merge exactly. In memory, but
not in its file, a sketch of few rows has their features, too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Precision
from uptonoise._util.wording import counted, shown
from uptonoise.fourier.cluster_pass import ClusterPass, moments_by_group
from uptonoise.fourier.cosine_sine import CosineSine
from uptonoise.fourier.designs import affordable_frequencies, check_design, check_groups, scaled_design
from uptonoise.fourier.docs import described
from uptonoise.fourier.lengths import rare_lengths
from uptonoise.fourier.moments import GroupMoments, MomentSum
from uptonoise.fourier.provenance import blocks_at
from uptonoise.fourier.sketch_files import load_sketch, save_sketch
from uptonoise.fourier.sketch_statistics import SketchStatistics
from uptonoise.rows import (
    SCALE_ROWS,
    GroupedClusters,
    RowSource,
    aligned,
    as_column_names,
    as_rows,
    clustered_rows,
    some_rows,
    warn_of_codes,
)

_SCALE_NUMBERS = 200_000  # numbers that are looked at for the scale where they are there


@described
class Sketch(SketchStatistics):
    """Count, mean and covariance of [cos, sin] at given frequencies: all that tests between samples need.

    Parameters
    ----------
    frequencies : array of shape (m, d)
        The frequencies, one per row.
    columns : sequence of str, optional
        The names of the columns; by default those of the first rows.
    centre : array of shape (d,), optional
        What is subtracted from the rows; by default the median of the first rows.
    provenance : dict, optional
        How the frequencies were sampled, ready for JSON; those of :func:`~uptonoise.sample_frequencies` know it.
    {precision}

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> W = un.sample_frequencies(20, 3, random_state=0)
    >>> rows = np.random.default_rng(0).normal(size=(1_000, 3))
    >>> s = un.Sketch(W).update(rows[:300]).update(rows[300:])
    >>> s
    Sketch(1,000 rows, 20 frequencies, 3 columns: x0, x1, x2)
    >>> t = un.Sketch.like(s).update(rows)
    >>> np.allclose(s.covariance, t.covariance, atol=1e-6)
    True
    """

    @classmethod
    @described
    def for_samples(
        cls,
        *samples: Any,
        n_frequencies: int | None = None,
        random_state: RandomState = 0,
        precision: Precision = "fast",
    ) -> Sketch:
        """Return an empty sketch with the frequencies of the phase test, in named blocks, scaled by some rows.

        Parameters
        ----------
        *samples : array, frame, or RowSource
            One sample, or all that are to be compared. A few hundred rows of each are looked at.
        n_frequencies : int, optional
            Maximum number of frequencies; by default about 200, depending on the number of columns. Fewer is faster
            (the work on each row grows with their square) but less sensitive.
        {random_state}
        {precision}

        Returns
        -------
        Sketch
            Without rows; `update` it with one sample, and :meth:`like` makes another for the next.

        {sketch_for_example}
        >>> list(s.blocks)
        ['single columns', 'pairs of columns', 'all frequencies', 'high frequencies', 'effect']
        """
        if not samples:
            raise ValueError("samples must be at least one sample; got none")
        names = ["X"] if len(samples) == 1 else [f"samples[{number}]" for number in range(len(samples))]
        sources = [
            as_rows(sample, name=None if isinstance(sample, RowSource) else name)
            for sample, name in zip(samples, names, strict=True)
        ]
        sources = [aligned(source, sources[0]) for source in sources]
        check_design(sources[0].columns, sources[0].name, n_frequencies)
        most, rare = None, partial(rare_lengths, sources)
        if n_frequencies is None and len(sources) > 2:
            check_groups(len(sources), len(sources[0].columns))
            most = affordable_frequencies(len(sources))
        generator, seed = seeded_generator(random_state)
        # All rows where these are not many, so that their order does not matter; with weights a few, in proportion to
        # these. How they are sampled changes no frequencies.
        samples_seed, rows = int(generator.integers(2**63)), []
        for source in sources:
            n_rows = SCALE_ROWS if source.is_weighted else max(SCALE_ROWS, _SCALE_NUMBERS // len(source.columns))
            rows.append(some_rows(source, n_rows, np.random.default_rng(samples_seed)))
        for source, some in zip(sources, rows, strict=True):
            warn_of_codes(some, source.columns, source.name)
        frequencies, provenance = scaled_design(rows, rare, generator, seed, n_frequencies, most)
        columns = next((source.columns for source in sources if source.named), None)
        return cls(frequencies, columns=columns, provenance=provenance, precision=precision)

    @classmethod
    @described
    def for_groups(
        cls,
        groups: Any,
        *,
        clusters: RowSource | None = None,
        random_state: RandomState = 0,
        precision: Precision = "fast",
    ) -> dict[Any, Sketch]:
        """Return the sketches of many groups by their ids, with the same frequencies, as :meth:`for_samples` has them.

        Parameters
        ----------
        groups : Bags, list of arrays, or RowSource with groups
            Such as ``Bags.from_long(frame, by="site")`` or ``scan_parquet(path, by="site")``, which is read twice.
        clusters : RowSource, optional
            The same rows by cluster, such as ``scan_parquet(path, by="patient")``. A cluster lies in one group.
        {random_state}
        {precision}

        Returns
        -------
        dict of Sketch

        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rng = np.random.default_rng(0)
        >>> sites = un.Bags([rng.normal(size=(n, 2)) for n in (50, 60)], ids=["north", "south"])
        >>> un.Sketch.for_groups(sites)["south"]
        Sketch(60 rows, 148 frequencies, 2 columns: x0, x1)
        """
        source = as_rows(groups)
        if source.bag_ids is None:
            raise ValueError(
                "groups must say which row is in which group: a Bags, a list of arrays, or a source made with by=; got "
                "one sample"
            )
        check_design(source.columns, source.name)
        check_groups(len(source.bag_ids), len(source.columns))
        generator, seed = seeded_generator(random_state)
        of_groups = source.sampled_by_bag(SCALE_ROWS, int(generator.integers(2**63)))
        most, rare = affordable_frequencies(len(of_groups)), partial(rare_lengths, source)
        frequencies, provenance = scaled_design(of_groups, rare, generator, seed, most=most)
        features = CosineSine(frequencies, precision, source.name)
        columns = source.columns if source.named else None
        empty = cls(frequencies, columns=columns, provenance=provenance, precision=precision)
        if clusters is not None:
            if not isinstance(clusters, RowSource):
                raise ValueError(f"clusters must be a RowSource of the same rows; got a {type(clusters).__name__}")
            rows, centre = GroupedClusters(source, clusters), np.median(np.concatenate(of_groups), axis=0)
            parts = moments_by_group(rows, features, centre)
            return {name: cls.like(empty)._hold(*part) for name, part in parts.items()}
        centres, sketches = np.stack([np.median(rows, axis=0) for rows in of_groups]), {}
        sums = source.fold(GroupMoments(features, centres)).groups
        for name, centre, group in zip(source.bag_ids, centres, sums, strict=True):
            if group.added is None or group.added.weight == 0:
                raise ValueError(f"weights of the group {shown(name)} must not all be 0")
            sketches[name.item() if isinstance(name, np.generic) else name] = cls.like(empty)._hold(group.added, centre)
        return sketches

    @classmethod
    def like(cls, other: Sketch) -> Sketch:
        """Return an empty sketch with the frequencies and columns of another, which it can be compared with.

        It has the other's centre where that was given; otherwise each takes the median of its own first rows.

        Examples
        --------
        >>> import uptonoise as un
        >>> s = un.Sketch([[1.0], [2.0]]).update([1.0, 2.0, 3.0])
        >>> un.Sketch.like(s)
        Sketch(0 rows, 2 frequencies, 1 column: x0)
        """
        if not isinstance(other, Sketch):
            raise ValueError(f"other must be a Sketch; got a {type(other).__name__}")
        centre = other._centre if other._centre_is_given else None
        provenance, precision = other.provenance, other.precision
        new = cls(other.frequencies, columns=other.columns, centre=centre, provenance=provenance, precision=precision)
        new.named = other.named
        return new

    @described
    def select(self, columns: Sequence[str]) -> Sketch:
        """Return the sketch of some columns, with the frequencies that look at no other: exactly, without the rows.

        Parameters
        ----------
        columns : sequence of str
            The names of the columns to keep.

        Returns
        -------
        Sketch

        {sketch_for_example}
        >>> s.select(["x1"])
        Sketch(500 rows, 34 frequencies, 1 column: x1)
        """
        wanted = as_column_names(columns, "columns")
        unknown = [column for column in wanted if column not in self.columns]
        if unknown or not wanted:
            raise ValueError(f"columns must be some of {list(self.columns)}; got {list(wanted)}")
        places = [self.columns.index(column) for column in wanted]
        others = np.delete(self.frequencies, places, axis=1)
        kept = np.flatnonzero((others == 0).all(axis=1) & (self.frequencies[:, places] != 0).any(axis=1))
        if len(kept) == 0:
            raise ValueError(f"columns must have frequencies of their own in the sketch; {list(wanted)} have none")
        new = Sketch.like(self)
        new.frequencies, new.columns = self.frequencies[kept][:, places], wanted
        new.frequencies.flags.writeable = False
        new.n_frequencies, new.n_columns = new.frequencies.shape
        if new.provenance is not None and "blocks" in new.provenance:
            new.provenance["blocks"] = blocks_at(new.provenance["blocks"], kept)
        centre = None if self._centre is None else self._centre[places]
        return new._hold(self._moments_about(kept=kept), centre)

    def mirrored(self) -> Sketch:
        """Return the sketch of the same rows with their signs turned.

        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> s = un.Sketch([[1.0]]).update([1.0, 2.0])
        >>> bool(np.allclose(s.mirrored().ecf, un.Sketch([[1.0]]).update([-1.0, -2.0]).ecf))
        True
        """
        moments, signs = self._moments_about(), np.repeat([1.0, -1.0], self.n_frequencies)  # of cosines, and of sines
        scatter = moments.scatter * np.outer(signs, signs)
        cross = None if moments.cross is None else signs * moments.cross
        features = None if moments.features is None else signs * moments.features
        moments = replace(moments, mean=signs * moments.mean, scatter=scatter, cross=cross, features=features)
        return copy(self)._hold(moments, None if self._centre is None else -self._centre)

    def update(self, X: Any, weights: Any = None, clusters: Any = None, *, complete: bool = False) -> Sketch:
        """Add rows to this sketch and return it.

        Parameters
        ----------
        X : array, tensor, frame, iterator of these, Bags, or RowSource
            One sample, or a chunk of it. Bags are clusters.
        weights : array of shape (n_rows,) or str, optional
            A weight for each row, or the name of the column that holds them.
        clusters : array of shape (n_rows,) or str, optional
            An id for each row, or the column that holds the ids: rows with the same id belong together, as the cells of
            a patient. Rows of a cluster may lie anywhere, in several updates too. The sums of clusters are kept for
            that; where rows come sorted by cluster, only the last 128 MB of them.
        complete : bool
            Whether these clusters get no more rows. Then no sums are kept, only a hash of 8 bytes per cluster.

        Returns
        -------
        Sketch
            This sketch. Where the rows are refused it has not changed.

        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rows = np.random.default_rng(0).normal(size=(100, 1))
        >>> un.Sketch([[1.0]]).update(rows, clusters=np.repeat(np.arange(20), 5))
        Sketch(100 rows in 20 clusters, 1 frequency, 1 column: x0)
        """
        with self._lock:  # so that several threads may update one sketch
            source = as_rows(X, weights=weights) if clusters is None else clustered_rows(X, clusters, weights=weights)
            if len(source.columns) != self.n_columns:
                raise ValueError(
                    f"X must have {counted(self.n_columns, 'column')}, as the frequencies have; got "
                    f"{len(source.columns)}: {', '.join(source.columns[:8])}"
                )
            source, is_clustered = aligned(source, self), source.bag_ids is not None
            if self.n_rows and self.is_clustered != is_clustered:
                raise self._wrong_clusters(source.name)
            # Rows are centred where they lie, also those of a chunk far from the first; merging costs no accuracy.
            given = self._centre if self._centre_is_given else None
            near = np.median(source.head(), axis=0) if given is None else given
            centre = near if self._centre is None else self._centre
            features, kept = CosineSine(self.frequencies, self.precision, source.name), self._clusters
            if not is_clustered:
                added = source.fold(MomentSum(features, near, keeps_few=True)).added
                if added is None or added.weight == 0:
                    raise ValueError("weights of X must not all be 0")
            else:
                added, kept = ClusterPass(source, features, self.frequencies, near, centre, kept).run(complete)
            self._hold(self._ended + added.recentred(self.frequencies, near, centre), centre, kept)
            if source.named and not self.named:
                self.columns, self.named = source.columns, True
            return self

    def merge(self, other: Sketch) -> Sketch:
        """Return a new sketch of the rows of both.

        Examples
        --------
        >>> import uptonoise as un
        >>> s = un.Sketch([[1.0]]).update([1.0, 2.0])
        >>> t = un.Sketch.like(s).update([3.0])
        >>> s.merge(t).n_rows, (s + t).n_rows, sum([s, t]).n_rows
        (3, 3, 3)
        """
        self.check_comparable(other)
        if self.n_rows and other.n_rows and self.is_clustered != other.is_clustered:
            raise self._wrong_clusters("the other sketch")
        clusters = self._clusters.merged(other._clusters)
        moments = self._moments_about() + other._moments_about(self._centre)
        new = Sketch.like(self)._hold(moments, other._centre if self._centre is None else self._centre, clusters)
        if other.named and not self.named:
            new.columns, new.named = other.columns, True
        return new

    def __add__(self, other: Sketch) -> Sketch:
        return self.merge(other) if isinstance(other, Sketch) else NotImplemented

    def __radd__(self, other: Any) -> Sketch:
        # sum() starts from 0.
        return self.merge(Sketch.like(self)) if isinstance(other, int) and other == 0 else NotImplemented

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> None:
        """Write the sketch to a plain .npz file, whole or not at all; `force` replaces a file that exists.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import uptonoise as un
        >>> s = un.Sketch([[1.0]]).update([1.0, 2.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     s.save(pathlib.Path(folder) / "s.npz")
        ...     un.Sketch.load(pathlib.Path(folder) / "s.npz") == s
        True
        """
        save_sketch(self, path, force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sketch:
        """Read a sketch that :meth:`save` wrote; nothing in the file is executed."""
        return load_sketch(cls, path)
