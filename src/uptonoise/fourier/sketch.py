"""Sketch: count, mean and covariance of [cos(w.x), sin(w.x)], in one pass and mergeable.

Two sketches with the same frequencies are all that a noise-invariant test needs; the rows can stay where they are.
The sums are of x minus a centre, so that a large offset costs no accuracy. Another centre c' turns every frequency's
pair by the angle w.(c - c'), a rotation, so sketches with different centres meet exactly.

With weights, W1 their sum and W2 the sum of their squares, the covariance is

    sum_i weight_i (f_i - mean)(f_i - mean)' / (W1 - W2/W1)

which is unbiased, and the usual one for equal weights; the mean has covariance W2/W1^2 times that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uptonoise._util.files import read_arrays, write_arrays
from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Complex, Floats, Precision
from uptonoise._util.validation import positive_int
from uptonoise._util.wording import counted, shown
from uptonoise.fourier.characteristic import Waves, as_complex, check_precision
from uptonoise.fourier.cluster_pass import ClusterPass
from uptonoise.fourier.cluster_sums import ClusterSums
from uptonoise.fourier.designs import default_design
from uptonoise.fourier.frequencies import as_frequencies, median_scale, sample_names
from uptonoise.fourier.open_clusters import OpenClusters
from uptonoise.rows import (
    Accumulator,
    Block,
    Columns,
    GroupedClusters,
    RowSource,
    aligned,
    as_column_names,
    as_real_array,
    as_rows,
    check_same_columns,
    cluster_hashes,
    clustered_rows,
    numbered_columns,
    some_rows,
)

_FORMAT = "uptonoise sketch"
_VERSION = 2
_VERSION_WITHOUT_CLUSTERS = 1
_LARGEST_ANGLE = 1e15
_SCALE_ROWS = 200  # of each sample
_CLUSTERS_AT_ONCE = 4_096


class Sketch:
    """Count, mean and covariance of [cos, sin] at given frequencies: all that tests between samples need.

    Parameters
    ----------
    frequencies : array of shape (m, d)
        One frequency a row.
    columns : sequence of str, optional
        The names of the columns; by default those of the first rows.
    centre : array of shape (d,), optional
        What is subtracted from the rows; by default the median of the first rows.
    drawn : dict, optional
        How the frequencies were drawn, ready for JSON; :func:`~uptonoise.sample_frequencies` brings it along.
    precision : {"fast", "float64"}
        As for :func:`~uptonoise.ecf`.

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

    name: str = "the sketch"

    def __init__(
        self,
        frequencies: Any,
        *,
        columns: Sequence[str] | None = None,
        centre: ArrayLike | None = None,
        drawn: dict[str, Any] | None = None,
        precision: Precision = "fast",
    ) -> None:
        self._frequencies = as_frequencies(frequencies)
        self._frequencies.flags.writeable = False
        self.drawn = _checked_drawn(getattr(frequencies, "drawn", None) if drawn is None else drawn)
        if self.drawn is not None and "blocks" in self.drawn:
            _check_blocks(self.drawn["blocks"], self.n_frequencies)
        check_precision(precision)
        self.precision = precision
        self.named = columns is not None
        self.columns = as_column_names(columns or numbered_columns(self.n_columns), "columns", self.n_columns)
        self._centre = None if centre is None else _checked_centre(centre, self.n_columns)
        self._centre_is_given = centre is not None
        self._moments = _Moments.none(self.n_frequencies)
        self._open: OpenClusters | None = None
        self._hashes = np.empty(0, dtype=np.uint64)

    @classmethod
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
            One sample, or all that are to be compared; of each a few hundred rows are looked at.
        n_frequencies : int, optional
            At most so many frequencies; by default some 200, by the number of columns. The work on each row grows with
            their square, and few see less.
        random_state : None, int, Generator or RandomState
            The seed.
        precision : {"fast", "float64"}
            As for :func:`~uptonoise.ecf`.

        Returns
        -------
        Sketch
            Without rows; `update` it with one sample, and :meth:`like` makes another for the next.

        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rows = np.random.default_rng(0).normal(size=(500, 3))
        >>> s = un.Sketch.for_samples(rows).update(rows)
        >>> list(s.blocks)
        ['single columns', 'pairs of columns', 'all frequencies', 'high frequencies']
        """
        if not samples:
            raise ValueError("samples must be at least one sample; got none")
        sources = [
            as_rows(sample, name=None if isinstance(sample, RowSource) else name)
            for sample, name in zip(samples, sample_names(samples), strict=True)
        ]
        sources = [aligned(source, sources[0]) for source in sources]
        named = next((source for source in sources if source.named), sources[0])
        return cls._scaled(
            lambda seed: [some_rows(source, _SCALE_ROWS, np.random.default_rng(seed)) for source in sources],
            named,
            random_state,
            precision,
            n_frequencies,
        )

    @classmethod
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
            Such as ``Bags.from_long(frame, by="site")`` or ``scan_parquet(path, by="site")``. Rows of a group may be
            anywhere; they are read twice, for the scale of the frequencies and for the sketches.
        clusters : RowSource, optional
            The same rows by cluster, as ``scan_parquet(path, by="patient")``. A cluster lies in one group.
        random_state : None, int, Generator or RandomState
            The seed.
        precision : {"fast", "float64"}
            As for :func:`~uptonoise.ecf`.

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
        Sketch(60 rows, 136 frequencies, 2 columns: x0, x1)
        """
        source = as_rows(groups)
        if source.bag_ids is None:
            raise ValueError(
                "groups must say which row is in which group: a Bags, a list of arrays, or a source made with by=; got "
                "one sample"
            )
        picked: list[Floats] = []

        def pick(seed: int) -> list[Floats]:
            picked.extend(source.drawn_of_bags(_SCALE_ROWS, seed))
            return picked

        empty = cls._scaled(pick, source, random_state, precision)
        if clusters is not None:
            return empty._of_cluster_groups(
                GroupedClusters(source, clusters), np.median(np.concatenate(picked), axis=0)
            )
        centres = np.stack([np.median(rows, axis=0) for rows in picked])
        sums = source.fold(_GroupSums(Waves(empty._frequencies, precision), centres)).moments
        found: dict[Any, Sketch] = {}
        for name, centre, moments in zip(source.bag_ids, centres, sums, strict=True):
            if moments.weight == 0:
                raise ValueError(f"weights of the group {shown(name)} must not all be 0")
            sketch = found[name.item() if isinstance(name, np.generic) else name] = empty._with(moments)
            sketch._centre = centre
        return found

    def _of_cluster_groups(self, rows: GroupedClusters, centre: Floats) -> dict[Any, Sketch]:
        """Return the sketches of groups of clusters, from one pass over all rows."""
        total = rows.fold(ClusterSums(Waves(self._frequencies, self.precision), centre)).total()
        groups, names = np.array(rows.group_of), rows.by_group.bag_ids
        ids = np.array(list(map(str, rows.bag_ids)), dtype=object)
        assert names is not None
        sketches = {}
        for number, name in enumerate(names):
            of_group = groups == number
            counts = int(total.counts[of_group].sum())
            sketch = self._with(_Moments.of_clusters(total.sums[of_group], total.weight[of_group], counts))
            sketch._centre = centre
            sketch._hashes = cluster_hashes(ids[of_group])
            sketches[name.item() if isinstance(name, np.generic) else name] = sketch
        return sketches

    @classmethod
    def _scaled(
        cls,
        pick: Callable[[int], list[Floats]],
        columns: Columns,
        random_state: RandomState,
        precision: Precision,
        n_frequencies: int | None = None,
    ) -> Sketch:
        """Return an empty sketch with the default design, scaled by the rows that `pick` gives of each sample."""
        if n_frequencies is not None:
            positive_int(n_frequencies, "n_frequencies")
        generator, seed = seeded_generator(random_state)
        # A generator of its own for each: how many numbers it takes to pick rows must not change the frequencies, nor
        # the order of the samples which rows are picked.
        picking = int(generator.integers(2**63))
        rows = pick(picking)
        lengths = _column_lengths(rows, np.random.default_rng(picking))
        design = default_design(lengths, generator, n_frequencies)
        drawn = {"design": "default", "lengths": lengths.tolist(), "seed": seed, "blocks": design.blocks}
        names = columns.columns if columns.named else None
        return cls(design.frequencies, columns=names, drawn=drawn, precision=precision)

    @classmethod
    def like(cls, other: Sketch) -> Sketch:
        """Return an empty sketch with the frequencies and columns of another, which it can be compared with.

        It has the other's centre where that was given; otherwise each takes one from its own first rows.

        Examples
        --------
        >>> import uptonoise as un
        >>> s = un.Sketch([[1.0], [2.0]]).update([1.0, 2.0, 3.0])
        >>> un.Sketch.like(s)
        Sketch(0 rows, 2 frequencies, 1 column: x0)
        """
        if not isinstance(other, Sketch):
            raise ValueError(f"other must be a Sketch; got a {type(other).__name__}")
        new = other._with(_Moments.none(other.n_frequencies))
        new._hashes = np.empty(0, dtype=np.uint64)
        if not other._centre_is_given:
            new._centre = None
        return new

    def _with(self, moments: _Moments) -> Sketch:
        new = Sketch.__new__(Sketch)
        new.__dict__.update(self.__dict__, drawn=_checked_drawn(self.drawn))
        new._moments, new._open = moments, None
        return new

    def select(self, columns: Sequence[str]) -> Sketch:
        """Return the sketch of some columns, with the frequencies that look at no other: exactly, without the rows.

        Parameters
        ----------
        columns : sequence of str
            The names of the columns to keep.

        Returns
        -------
        Sketch

        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rows = np.random.default_rng(0).normal(size=(500, 3))
        >>> s = un.Sketch.for_samples(rows).update(rows)
        >>> s.select(["x1"])
        Sketch(500 rows, 28 frequencies, 1 column: x1)
        """
        wanted = as_column_names(columns, "columns")
        unknown = [column for column in wanted if column not in self.columns]
        if unknown or not wanted:
            raise ValueError(f"columns must be some of {list(self.columns)}; got {list(wanted)}")
        places = [self.columns.index(column) for column in wanted]
        others = np.delete(self._frequencies, places, axis=1)
        kept = np.flatnonzero((others == 0).all(axis=1) & (self._frequencies[:, places] != 0).any(axis=1))
        if len(kept) == 0:
            raise ValueError(f"columns must have frequencies of their own in the sketch; {list(wanted)} have none")
        new = self._with(self._whole.at(kept))
        new._frequencies = self._frequencies[kept][:, places]
        new._frequencies.flags.writeable = False
        new.columns = wanted
        new._centre = None if self._centre is None else self._centre[places]
        if new.drawn is not None and "blocks" in new.drawn:
            new.drawn["blocks"] = _blocks_at(new.drawn["blocks"], kept)
        return new

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
        new = self._with(self._whole.mirrored())
        new._centre = None if self._centre is None else -self._centre
        return new

    def update(self, X: Any, weights: Any = None, clusters: Any = None, *, complete: bool = False) -> Sketch:
        """Add rows to this sketch and return it.

        Parameters
        ----------
        X : array, tensor, frame, iterator of these, Bags, or RowSource
            One sample, or a chunk of it. Bags are clusters.
        weights : array of shape (n_rows,) or str, optional
            A weight for each row, or the column that holds them.
        clusters : array of shape (n_rows,) or str, optional
            An id for each row, or the column that holds them: rows with the same id belong together, as the cells of a
            patient. Rows of a cluster may lie anywhere, in several updates too. The sum of each cluster is kept for
            that, and where rows come sorted by cluster only those of the last 100 MB.
        complete : bool
            Whether no cluster gets more rows later. Then no sums are kept, and a hash of 8 bytes for each cluster is.

        Returns
        -------
        Sketch
            This one. Where the rows are refused it has not changed.

        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rows = np.random.default_rng(0).normal(size=(100, 1))
        >>> un.Sketch([[1.0]]).update(rows, clusters=np.repeat(np.arange(20), 5))
        Sketch(100 rows in 20 clusters, 1 frequency, 1 column: x0)
        """
        source = clustered_rows(X, clusters, weights=weights)
        if len(source.columns) != self.n_columns:
            raise ValueError(
                f"X must have {counted(self.n_columns, 'column')}, as the frequencies have; got {len(source.columns)}: "
                f"{', '.join(source.columns[:8])}"
            )
        source = aligned(source, self)
        if self.n_rows and self.is_clustered != (source.bag_ids is not None):
            with_or_without = "with" if self.is_clustered else "without"
            raise ValueError(
                f"{source.name} must come {with_or_without} clusters, as the other rows of the sketch; got it "
                f"{'without' if self.is_clustered else 'with'} them"
            )
        # Rows are centred where they lie, also those of a later chunk far from the first; meeting costs no accuracy.
        given = self._centre if self._centre_is_given else None
        near = np.median(source.head(), axis=0) if given is None else given
        centre = near if self._centre is None else self._centre
        waves = Waves(self._frequencies, self.precision)  # with buffers that last as long as this pass
        if source.bag_ids is not None and not (complete and _is_of_single_rows(source)):
            self._update_clusters(source, waves, near, centre, complete or source.ids_are_local)
        else:
            added = source.fold(MomentSum(waves, near)).moments
            if added.weight == 0:
                raise ValueError("weights of X must not all be 0")
            if source.bag_ids is not None:
                added = replace(added, n_clusters=added.n_rows, cross=np.zeros_like(added.mean))
                if not source.ids_are_local:
                    closing = ClusterPass(source, waves, near, OpenClusters(0), self._hashes)
                    self._hashes = _joined_hashes(self._hashes, closing.checked_hashes(list(source.bag_ids)))
            self._moments = self._moments.plus(_recentred(added, self._frequencies, near, centre))
        self._centre = centre
        if source.named and not self.named:
            self.columns, self.named = source.columns, True
        return self

    def _update_clusters(self, source: RowSource, waves: Waves, near: Floats, centre: Floats, complete: bool) -> None:
        width = 2 * self.n_frequencies
        known = self._open or OpenClusters(width)
        if len(known) and not np.array_equal(near, centre):
            known = known.turned(turned(known.sums, exact_angles(self._frequencies, centre, near)))
        moments = _Moments.none(self.n_frequencies)

        def end(ended: tuple[Floats, Floats, int] | None) -> None:
            nonlocal moments
            moments = moments.plus(_Moments.of_clusters(*ended)) if ended else _Moments.none(self.n_frequencies)

        reading = ClusterPass(source, waves, near, known, self._hashes)
        rest = reading.run(end)
        kept = known.without(reading.taken) if reading.taken else known
        if complete:
            reading.close(rest)
            kept = known.without(reading.taken)
        else:
            ids = reading.ids(rest.numbers)
            reading.checked_hashes(ids)
            kept.add(ids, rest)
            self._whole_of = None
        total = moments.weight + float(kept.weight.sum())
        if total == 0:
            raise ValueError("weights of X must not all be 0")
        self._moments = self._moments.plus(_recentred(moments, self._frequencies, near, centre))
        self._hashes = _joined_hashes(self._hashes, *reading.hashes)
        if len(kept) and not np.array_equal(near, centre):
            kept = kept.turned(turned(kept.sums, exact_angles(self._frequencies, near, centre)))
        self._open = kept if len(kept) else None
        if kept.are_many and kept.in_order:
            ended, self._open = kept.split_last()
            self._close(ended)

    def _close(self, ended: OpenClusters) -> None:
        """Count clusters that get no more rows."""
        if len(ended):
            moments = _Moments.of_clusters(ended.sums, ended.weight, int(ended.counts.sum()))
            self._moments = self._moments.plus(moments)
            self._hashes = _joined_hashes(self._hashes, cluster_hashes(ended.ids))

    @property
    def _whole(self) -> _Moments:
        """The moments with those of clusters that may still get rows."""
        if self._open is None:
            return self._moments
        if self._whole_of is None or self._whole_of[0] is not self._open:
            of_open = _Moments.of_clusters(self._open.sums, self._open.weight, int(self._open.counts.sum()))
            self._whole_of = (self._open, self._moments.plus(of_open))
        return self._whole_of[1]

    _whole_of: tuple[OpenClusters, _Moments] | None = None

    @property
    def cluster_hashes(self) -> NDArray[np.uint64]:
        """Sorted 64-bit hashes of the ids of clusters; none of clusters that have no ids beyond their own sample."""
        return _joined_hashes(self._hashes, cluster_hashes([] if self._open is None else self._open.ids))

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
        centred = next((one for one in (self, other) if one._centre is not None), self)
        named = next((one for one in (self, other) if one.named), self)
        hashes = self.cluster_hashes, other.cluster_hashes
        if self.n_rows and other.n_rows:
            _check_mergeable(self, other, *hashes)
        moments = self._whole.plus(other._moments_about(self._centre))
        new = self._with(moments)
        new._hashes = _joined_hashes(*hashes)
        new._centre = centred._centre
        new.columns, new.named = named.columns, named.named
        return new

    def __add__(self, other: Sketch) -> Sketch:
        return self.merge(other) if isinstance(other, Sketch) else NotImplemented

    def __radd__(self, other: Any) -> Sketch:
        # sum() starts from 0.
        if not isinstance(other, int) or other != 0:
            return NotImplemented
        new = self._with(self._whole)
        new._hashes = self.cluster_hashes
        return new

    def check_comparable(self, other: Sketch) -> None:
        """Raise where another sketch has other frequencies or columns."""
        if not isinstance(other, Sketch):
            raise ValueError(f"other must be a Sketch; got {type(other).__name__}")
        advice = "Make one of them with Sketch.like(the other), so that both have the same frequencies and columns"
        if not np.array_equal(self._frequencies, other._frequencies):
            raise ValueError(
                f"the sketches have different frequencies: {self.n_frequencies} in {counted(self.n_columns, 'column')} "
                f"and {other.n_frequencies} in {other.n_columns}"
                + (" with other values" if self._frequencies.shape == other._frequencies.shape else "")
                + f". {advice}"
            )
        check_same_columns(other, self)
        if self.named and other.named and self.columns != other.columns:
            raise ValueError(
                f"the sketches have their columns in different orders: {list(self.columns)} and {list(other.columns)}. "
                f"{advice}"
            )

    @property
    def frequencies(self) -> Floats:
        """The frequencies, of shape (m, d); read-only."""
        return self._frequencies

    @property
    def has_blocks(self) -> bool:
        """Whether blocks of frequencies were named."""
        return "blocks" in (self.drawn or {})

    @property
    def blocks(self) -> dict[str, slice]:
        """The named blocks of frequencies that tests look at one by one; a single one where none were named."""
        named = (self.drawn or {}).get("blocks")
        if named is None:
            return {"all frequencies": slice(0, self.n_frequencies)}
        return {name: slice(start, stop) for name, (start, stop) in named.items()}

    @property
    def n_frequencies(self) -> int:
        """The number of frequencies, m."""
        return int(self._frequencies.shape[0])

    @property
    def n_columns(self) -> int:
        """The number of columns of the rows, d."""
        return int(self._frequencies.shape[1])

    @property
    def centre(self) -> Floats | None:
        """What was subtracted from the rows; None before the first ones."""
        return None if self._centre is None else self._centre.copy()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._whole.n_rows

    @property
    def weight(self) -> float:
        """The sum of the weights; the number of rows where there were none."""
        return self._whole.weight

    @property
    def weight_squares(self) -> float:
        """The sum of the squared weights of rows, or of clusters."""
        return self._whole.weight_squares

    @property
    def is_clustered(self) -> bool:
        """Whether the rows came in clusters."""
        return self._moments.is_clustered or self._open is not None

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters; None where rows came without."""
        return self._whole.n_clusters if self.is_clustered else None

    @property
    def effective_size(self) -> float:
        """The number of equally weighted rows, or of clusters of equal weight, that the sample is worth."""
        return self.weight**2 / self.weight_squares if self.weight else 0.0

    @property
    def independent_rows(self) -> float:
        """How many independent rows would give the characteristic function the same sampling error, over frequencies.

        Without clusters that is the effective size. With clusters it lies between their number, where the rows of a
        cluster are all alike, and the number of rows, where they are as different as those of other clusters.
        """
        if not self.is_clustered or self.effective_size < 1 + 1e-9:
            return self.effective_size
        moments = self._whole
        of_rows = float(np.sum(1 - np.abs(as_complex(moments.mean)) ** 2))
        of_mean = float(np.trace(moments.covariance)) / self.effective_size
        return float(min(self.n_rows, of_rows / of_mean)) if of_mean > 0 else float(self.n_rows)

    @property
    def ecf(self) -> Complex:
        """The characteristic function at the frequencies, of shape (m,)."""
        return as_complex(self.mean)

    @property
    def mean(self) -> Floats:
        """The mean of [cos(w.x), sin(w.x)], of shape (2m,): all cosines, then all sines."""
        return self.mean_about(np.zeros(self.n_columns))

    @property
    def covariance(self) -> Floats:
        """The covariance of [cos(w.x), sin(w.x)] over rows, of shape (2m, 2m)."""
        return self.covariance_about(np.zeros(self.n_columns))

    def mean_about(self, centre: ArrayLike) -> Floats:
        """Return the mean of [cos(w.(x - centre)), sin(w.(x - centre))].

        Examples
        --------
        >>> import uptonoise as un
        >>> un.Sketch([[1.0]]).update([1e9, 1e9 + 2]).mean_about([1e9 + 1]).round(6)
        array([0.540302, 0.      ])
        """
        self._check_rows(1, "a mean")
        return self._moments_about(_checked_centre(centre, self.n_columns)).mean

    def covariance_about(self, centre: ArrayLike) -> Floats:
        """Return the covariance of [cos(w.(x - centre)), sin(w.(x - centre))] over rows."""
        self._check_rows(2, "a covariance")
        moments = self._moments_about(_checked_centre(centre, self.n_columns))
        freedom = moments.weight - moments.weight_squares / moments.weight
        if not self.is_clustered and freedom <= 1e-12 * moments.weight:
            raise ValueError("the weights of the sketch leave it an effective size of 1 row; a covariance needs 2")
        if self.is_clustered and self.effective_size < 1 + 1e-9:
            raise ValueError("the sketch has 1 cluster; a covariance needs 2")
        return moments.covariance

    def _check_rows(self, needed: int, what: str) -> None:
        if self.n_rows < needed:
            least = counted(needed, "row")
            raise ValueError(f"the sketch must have at least {least} for {what}; it has {self.n_rows}")

    def _moments_about(self, centre: Floats | None) -> _Moments:
        if self._centre is None or centre is None:
            return self._whole
        return _recentred(self._whole, self._frequencies, self._centre, centre)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sketch to a plain .npz file, whole or not at all.

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
        header = {
            "format": _FORMAT,
            "version": _VERSION if self.is_clustered else _VERSION_WITHOUT_CLUSTERS,
            "columns": list(self.columns),
            "named": self.named,
            "precision": self.precision,
            "drawn": self.drawn,
            "n_rows": self.n_rows,
            "n_clusters": self.n_clusters,
            "centre_is_given": self._centre_is_given,
        }
        arrays = {
            "header": np.array(json.dumps(header)),
            "frequencies": self._frequencies,
            "weights": np.array([self.weight, self.weight_squares]),
            "mean": self._whole.mean,
            "scatter": self._whole.scatter,
        }
        if self._whole.cross is not None:
            arrays |= {"cross": self._whole.cross, "cluster_hashes": self.cluster_hashes}
        if self._centre is not None:
            arrays["centre"] = self._centre
        write_arrays(Path(path), arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sketch:
        """Read a sketch that :meth:`save` wrote; nothing in the file is executed."""
        arrays = read_arrays(Path(path), "a sketch")
        header = _checked_header(arrays, Path(path))
        try:
            sketch = cls(
                arrays["frequencies"],
                columns=header["columns"] if header["named"] else None,
                centre=arrays["centre"] if header["n_rows"] else arrays.get("centre"),
                drawn=header["drawn"],
                precision=header["precision"],
            )
            sketch._centre_is_given = bool(header["centre_is_given"])
            sketch._moments = _Moments.checked(header["n_rows"], arrays, sketch.n_frequencies)
            if header.get("n_clusters") is not None:
                sketch._moments = sketch._moments.with_clusters(header["n_clusters"], arrays["cross"])
                sketch._hashes = np.sort(np.asarray(arrays["cluster_hashes"], dtype=np.uint64))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is a damaged sketch: {error}") from None
        return sketch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sketch):
            return NotImplemented
        return bool(
            self.columns == other.columns
            and self.drawn == other.drawn
            and np.array_equal(self._frequencies, other._frequencies)
            and (self._centre is None) == (other._centre is None)
            and (self._centre is None or np.array_equal(self._centre, other._centre))  # type: ignore[arg-type]
            and self._whole.equals(other._whole)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(self.columns[:5]) + (", ..." if self.n_columns > 5 else "")
        frequencies = "1 frequency" if self.n_frequencies == 1 else f"{self.n_frequencies:,} frequencies"
        columns = counted(self.n_columns, "column")
        clusters = "" if self.n_clusters is None else f" in {counted(self.n_clusters, 'cluster')}"
        return f"Sketch({counted(self.n_rows, 'row')}{clusters}, {frequencies}, {columns}: {shown})"


@dataclass(frozen=True, eq=False)
class _Moments:
    """Weights, mean, and scatter: the weighted sum of outer products about the mean.

    Of clusters, with u the sum of a cluster's features and n that of its weights, the scatter is the sum of
    (u - n mean)(u - n mean)', `weight_squares` that of n^2, and `cross` that of n (u - n mean), which another mean needs.
    """

    n_rows: int
    weight: float
    weight_squares: float
    mean: Floats
    scatter: Floats
    n_clusters: int = 0
    cross: Floats | None = None

    @property
    def is_clustered(self) -> bool:
        return self.cross is not None

    @property
    def covariance(self) -> Floats:
        """The covariance over rows, or over clusters: the effective size times that of the mean."""
        total, squares = self.weight, self.weight_squares
        if self.is_clustered:
            return self.scatter * (total**2 / (squares * (total**2 - squares)))
        return self.scatter / (total - squares / total)

    @classmethod
    def of_clusters(cls, sums: Floats, weight: Floats, n_rows: int) -> _Moments:
        """Return the moments of clusters, from the sums of their rows' features and weights."""
        total = float(weight.sum())
        if total == 0:
            return replace(cls.none(sums.shape[1] // 2), n_rows=n_rows, cross=np.zeros(sums.shape[1]))
        mean = sums.sum(axis=0) / total
        scatter = np.zeros((sums.shape[1], sums.shape[1]))
        cross = np.zeros(sums.shape[1])
        for start in range(0, len(sums), _CLUSTERS_AT_ONCE):
            here = slice(start, start + _CLUSTERS_AT_ONCE)
            beyond = sums[here] - weight[here, None] * mean
            scatter += beyond.T @ beyond
            cross += weight[here] @ beyond
        return cls(n_rows, total, float(weight @ weight), mean, scatter, int(np.count_nonzero(weight)), cross)

    @classmethod
    def none(cls, n_frequencies: int) -> _Moments:
        return cls(0, 0.0, 0.0, np.zeros(2 * n_frequencies), np.zeros((2 * n_frequencies, 2 * n_frequencies)))

    @classmethod
    def checked(cls, n_rows: Any, arrays: dict[str, Any], n_frequencies: int) -> _Moments:
        """Return moments that were read from a file, where they can be moments of cosines and sines."""
        names = ("weights", "mean", "scatter")
        weights, mean, scatter = (as_real_array(arrays[name], name).astype(np.float64) for name in names)
        width = 2 * n_frequencies
        if (weights.shape, mean.shape, scatter.shape) != ((2,), (width,), (width, width)):
            raise ValueError(f"its sums do not have the shape that {n_frequencies} frequencies need")
        if not all(np.isfinite(array).all() for array in (weights, mean, scatter)):
            raise ValueError("its sums are not finite")
        is_count = isinstance(n_rows, int) and not isinstance(n_rows, bool) and n_rows >= 0
        if not is_count or ((weights > 0) != (n_rows > 0)).any():
            raise ValueError(f"it has {n_rows!r} rows of weight {weights[0]:g}")
        if np.abs(mean).max() > 1 + 1e-6 or not np.array_equal(scatter, scatter.T) or np.diag(scatter).min() < 0:
            raise ValueError("its sums are not those of cosines and sines")
        return cls(n_rows, float(weights[0]), float(weights[1]), mean, scatter)

    def plus(self, other: _Moments) -> _Moments:
        """Return the moments of both sets of rows together."""
        weight = self.weight + other.weight
        if self.n_rows == 0 or other.n_rows == 0 or weight == 0:
            kept = other if self.n_rows == 0 else self
            return replace(kept, n_rows=self.n_rows + other.n_rows)
        apart = other.mean - self.mean
        share = other.weight / weight
        if self.is_clustered:
            return self._plus_clusters(other, self.mean + share * apart)
        scatter = self.scatter + other.scatter
        scaled = np.sqrt(self.weight * share) * apart  # so that the product is symmetric to the last bit
        scatter += np.outer(scaled, scaled)
        return _Moments(
            self.n_rows + other.n_rows,
            weight,
            self.weight_squares + other.weight_squares,
            self.mean + share * apart,
            scatter,
        )

    def with_clusters(self, n_clusters: Any, cross: Any) -> _Moments:
        """Return moments that were read from a file as those of clusters."""
        array = as_real_array(cross, "cross").astype(np.float64)
        is_count = isinstance(n_clusters, int) and not isinstance(n_clusters, bool) and 0 <= n_clusters <= self.n_rows
        if array.shape != self.mean.shape or not np.isfinite(array).all() or not is_count:
            raise ValueError(f"its {n_clusters!r} clusters do not fit its rows")
        return replace(self, n_clusters=n_clusters, cross=array)

    def _plus_clusters(self, other: _Moments, mean: Floats) -> _Moments:
        left, right = self._about(mean), other._about(mean)
        assert left.cross is not None and right.cross is not None
        return _Moments(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.weight_squares + other.weight_squares,
            mean,
            left.scatter + right.scatter,
            self.n_clusters + other.n_clusters,
            left.cross + right.cross,
        )

    def _about(self, mean: Floats) -> _Moments:
        """Return the scatter and the cross sums of clusters about another mean."""
        assert self.cross is not None
        apart = self.mean - mean
        crossed = np.outer(self.cross, apart)
        scaled = np.sqrt(self.weight_squares) * apart
        scatter = self.scatter + (crossed + crossed.T) + np.outer(scaled, scaled)
        return replace(self, scatter=scatter, cross=self.cross + self.weight_squares * apart)

    def at(self, frequencies: NDArray[np.intp]) -> _Moments:
        """Return the moments at some of the frequencies."""
        waves = np.concatenate([frequencies, len(self.mean) // 2 + frequencies])
        cross = None if self.cross is None else self.cross[waves]
        return replace(self, mean=self.mean[waves], scatter=self.scatter[np.ix_(waves, waves)], cross=cross)

    def mirrored(self) -> _Moments:
        """Return the moments of the rows with their signs turned."""
        signs = np.repeat([1.0, -1.0], len(self.mean) // 2)
        cross = None if self.cross is None else signs * self.cross
        return replace(self, mean=signs * self.mean, scatter=self.scatter * np.outer(signs, signs), cross=cross)

    def turned(self, angles: Floats) -> _Moments:
        """Return the moments after each frequency's [cos, sin] pair has turned by its angle."""
        mean = turned(self.mean, angles)
        scatter = turned(turned(self.scatter, angles).T, angles)
        cross = None if self.cross is None else turned(self.cross, angles)
        return replace(self, mean=mean, scatter=(scatter + scatter.T) / 2, cross=cross)

    def equals(self, other: _Moments) -> bool:
        counts = (self.n_rows, self.n_clusters, self.weight, self.weight_squares, self.is_clustered)
        return (
            counts == (other.n_rows, other.n_clusters, other.weight, other.weight_squares, other.is_clustered)
            and np.array_equal(self.mean, other.mean)
            and np.array_equal(self.scatter, other.scatter)
        )


def _is_of_single_rows(source: RowSource) -> bool:
    """Tell whether every cluster is known to have one row: then rows are clusters, to the last bit."""
    known = isinstance(source.bag_ids, np.ndarray) and not source.is_remote
    return known and getattr(source, "weights", None) is None and source.n_rows == len(source.bag_ids)


def _joined_hashes(*parts: NDArray[np.uint64]) -> NDArray[np.uint64]:
    filled = [part for part in parts if len(part)]
    if len(filled) < 2:
        return filled[0] if filled else np.empty(0, dtype=np.uint64)
    return np.sort(np.concatenate(filled))


def _check_mergeable(
    one: Sketch, other: Sketch, own_hashes: NDArray[np.uint64], other_hashes: NDArray[np.uint64]
) -> None:
    """Raise where two sketches have clusters and none, or the same cluster."""
    if one.is_clustered != other.is_clustered:
        raise ValueError("the sketches must both have clusters, or neither; got one of each")
    n_shared = len(np.intersect1d(own_hashes, other_hashes, assume_unique=True))
    if n_shared:
        raise ValueError(
            f"the sketches hold rows of the same clusters ({n_shared:,} of {len(own_hashes):,}). All rows of a cluster "
            "must be in one sketch: give them to one Sketch.update after the other, or divide the rows by cluster"
        )


def turned(waves: Floats, angles: Floats) -> Floats:
    """Turn [cos, sin] along the last axis."""
    m = len(angles)
    cos, sin = waves[..., :m], waves[..., m:]
    c, s = np.cos(angles), np.sin(angles)
    return np.concatenate([c * cos - s * sin, s * cos + c * sin], axis=-1)


class MomentSum(Accumulator[_Moments]):
    """The moments of the waves of rows minus a centre."""

    def __init__(self, waves: Waves, centre: Floats, products: type[np.floating[Any]] | None = None) -> None:
        self.waves = waves
        self.centre = centre
        # Waves that are good to 1e-7 lose nothing by products of float32, which take half the time.
        self._products = products or (np.float32 if waves.precision == "fast" else np.float64)
        # A block long enough that the outer products, not the sums of their results, are the work.
        self.block_rows = max(waves.block_rows, 2 * waves.n_frequencies)
        self._added: _Moments | None = None

    @property
    def moments(self) -> _Moments:
        """The moments of all rows so far."""
        return _Moments.none(self.waves.n_frequencies) if self._added is None else self._added

    def part(self, block: Block) -> _Moments:
        """Return the moments of the rows."""
        n_rows = len(block.values)
        with np.errstate(over="ignore"):  # what overflows is refused as too large
            waves = self.waves(block.values - self.centre)
        if block.weights is None:
            weight, weight_squares = float(n_rows), float(n_rows)
            mean = np.ones(n_rows) @ waves / n_rows
            waves -= mean
        else:
            weight, weight_squares = float(block.weights.sum()), float(block.weights @ block.weights)
            mean = block.weights @ waves / weight if weight > 0 else np.zeros(waves.shape[1])
            waves -= mean
            waves *= np.sqrt(block.weights)[:, None]
        centred = waves if self._products == np.float64 else waves.astype(self._products)
        scatter = np.asarray(centred.T @ centred, dtype=np.float64)
        return _Moments(n_rows, weight, weight_squares, mean, scatter)

    def add(self, part: _Moments) -> None:
        """Add the moments of the next rows."""
        self._added = part if self._added is None else self._added.plus(part)

    def total(self) -> _Moments:
        """Return the sums of all rows so far."""
        return self.moments

    def empty(self) -> MomentSum:
        """Return the same without any rows."""
        return MomentSum(self.waves, self.centre, self._products)

    def renumbered(self, part: _Moments, numbers: NDArray[np.int64]) -> _Moments:
        """Return a part with other numbers of its bags."""
        return part

    def add_sums(
        self, n_rows: int, weights: tuple[float, float], about: Floats, sums: Floats, products: Floats
    ) -> None:
        """Add rows by the sums of b and of b b', where b is their waves less `about`, weighted.

        `weights` is the sum of the weights and that of their squares.
        """
        if weights[0] == 0:
            self.add(replace(_Moments.none(self.waves.n_frequencies), n_rows=n_rows))
            return
        beyond = sums / weights[0]
        scaled = np.sqrt(weights[0]) * beyond  # so that the product is symmetric to the last bit
        scatter = products - np.outer(scaled, scaled)
        np.fill_diagonal(scatter, np.maximum(np.diag(scatter), 0))
        self.add(_Moments(n_rows, *weights, about + beyond, scatter))


class _GroupSums(Accumulator[list[tuple[int, _Moments]]]):
    """The moments of each group of rows, each about a centre of its own."""

    # Long blocks, so that a group has many rows in each: adding up outer products costs as much as making them.
    block_rows = 65_536
    needs_known_bags = True

    def __init__(self, waves: Waves, centres: Floats) -> None:
        self.waves, self.centres = waves, centres
        # A group's rows fall into other blocks where other rows lie between them, which float64 does not see.
        self.of_groups = [MomentSum(waves, centre, np.float64) for centre in centres]

    @property
    def moments(self) -> list[_Moments]:
        """The moments of all rows so far."""
        return [one.moments for one in self.of_groups]

    def part(self, block: Block) -> list[tuple[int, _Moments]]:
        assert block.bags is not None
        order = np.argsort(block.bags, kind="stable")
        groups, starts = np.unique(block.bags[order], return_index=True)
        found = []
        for group, rows in zip(groups.tolist(), np.split(order, starts[1:]), strict=True):
            own = self.of_groups[group]
            for start in range(0, len(rows), own.block_rows):
                here = rows[start : start + own.block_rows]
                weights = None if block.weights is None else block.weights[here]
                found.append((group, own.part(Block(block.values[here], weights))))
        return found

    def add(self, part: list[tuple[int, _Moments]]) -> None:
        for group, moments in part:
            self.of_groups[group].add(moments)

    def total(self) -> list[tuple[int, _Moments]]:
        """Return the sums of all rows so far."""
        found = ((group, one.moments) for group, one in enumerate(self.of_groups))
        return [(group, moments) for group, moments in found if moments.n_rows]

    def empty(self) -> _GroupSums:
        """Return the same without any rows."""
        return _GroupSums(self.waves, self.centres)

    def renumbered(self, part: list[tuple[int, _Moments]], numbers: NDArray[np.int64]) -> list[tuple[int, _Moments]]:
        """Return a part with other numbers of its bags."""
        return [(int(numbers[group]), moments) for group, moments in part]


def _column_lengths(samples: list[Floats], generator: np.random.Generator) -> Floats:
    """Return the median distance of rows in each column, wherever each sample lies; 1 in all where no row differs."""
    pooled = np.concatenate([rows - np.median(rows, axis=0) for rows in samples])
    if (pooled == pooled[0]).all():
        return np.ones(pooled.shape[1])
    return np.asarray(median_scale(pooled, per_column=True, max_rows=2 * _SCALE_ROWS, random_state=generator))


def _recentred(moments: _Moments, frequencies: Floats, centre: Floats, other: Floats) -> _Moments:
    """Return the moments of rows minus `centre` as those of the same rows minus another one."""
    if np.array_equal(centre, other):
        return moments
    return moments.turned(exact_angles(frequencies, centre, other))


def exact_angles(frequencies: Floats, centre: Floats, other: Floats) -> Floats:
    """Return w.(centre - other) within one turn, correct to float64 however large the centres are.

    The products and their sum are kept as unevaluated pairs of float64 (twice its digits), and whole turns are taken
    off before anything is rounded.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.sketch import exact_angles
    >>> float(exact_angles(np.array([[1.0]]), np.array([1e9 + 0.5]), np.array([1e9]))[0])
    0.5
    """
    reach = float((np.abs(frequencies).max(axis=0) * (np.abs(centre) + np.abs(other))).sum())
    if not reach < _LARGEST_ANGLE:
        raise ValueError(
            f"the centres of sketches times frequencies reach {reach:.3g} radians, where float64 has no correct digit "
            "of a phase; subtract a constant from the columns of X before sketching"
        )
    high, low = np.zeros(len(frequencies)), np.zeros(len(frequencies))
    for column, (one, two) in enumerate(zip(centre, -other, strict=True)):
        for value in (one, two):
            product, rest = _exact_product(frequencies[:, column], value)
            high, error = _exact_sum(high, product)
            low = low + (error + rest)
    turns = np.rint(high / _TURN)
    product, rest = _exact_product(turns, _TURN)
    high, error = _exact_sum(high, -product)
    return high + (error + low - rest - turns * _TURN_REST)


_TURN = 2 * np.pi
_TURN_REST = 2.4492935982947064e-16  # what 2 pi has beyond its float64


def _exact_product(a: Floats, b: Any) -> tuple[Floats, Floats]:
    """Return a b as the sum of two float64 (Dekker 1971)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Any) -> tuple[Any, Any]:
    scaled = a * 134217729.0  # 2^27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def _exact_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b as the sum of two float64 (Knuth 1969)."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def _checked_drawn(drawn: Any) -> dict[str, Any] | None:
    """Return a copy of how frequencies were drawn, as JSON gives it back."""
    try:
        copied = json.loads(json.dumps(drawn))
    except (TypeError, ValueError) as error:
        raise ValueError(f"drawn must be a dict that JSON can hold; {error}") from None
    if copied is not None and not isinstance(copied, dict):
        raise ValueError(f"drawn must be a dict; got {drawn!r}")
    return copied


def _check_blocks(blocks: Any, n_frequencies: int) -> None:
    """Raise where named blocks of frequencies are not such."""
    if not isinstance(blocks, dict) or not blocks:
        raise ValueError(f"drawn['blocks'] must name at least one block of frequencies; got {blocks!r}")
    for name, place in blocks.items():
        whole = isinstance(place, list) and len(place) == 2 and all(type(end) is int for end in place)
        if not whole or not 0 <= place[0] < place[1] <= n_frequencies:
            raise ValueError(
                f"drawn['blocks'] must have a start and a stop within {n_frequencies} frequencies for each block; got "
                f"{place!r} for {name!r}"
            )


def _blocks_at(blocks: dict[str, Any], kept: NDArray[np.intp]) -> dict[str, list[int]]:
    """Return the blocks of the frequencies that were kept, each once."""
    found: dict[str, list[int]] = {}
    for name, ends in blocks.items():
        place = np.searchsorted(kept, ends).tolist()
        if place[0] < place[1] and place not in found.values():
            found[name] = place
    return found


def _checked_centre(centre: ArrayLike, n_columns: int) -> Floats:
    array = as_real_array(centre, "centre").astype(np.float64)
    if array.shape != (n_columns,) or not np.isfinite(array).all():
        raise ValueError(f"centre must be {n_columns} finite numbers, one for each column; got {centre!r}")
    return array


def _checked_header(arrays: dict[str, Any], path: Path) -> dict[str, Any]:
    try:
        header = json.loads(str(arrays["header"]))
        is_ours = header["format"] == _FORMAT
        version = int(header["version"])
    except (KeyError, TypeError, ValueError):
        is_ours, version, header = False, 0, {}
    if not is_ours:
        raise ValueError(f"{path} is not a sketch: it was not written by Sketch.save")
    if version > _VERSION:
        raise ValueError(
            f"{path} has the sketch format {version}, and this version of uptonoise reads up to {_VERSION}; upgrade it"
        )
    if header.get("precision") not in get_args(Precision):
        raise ValueError(f"{path} is a damaged sketch: its precision is {header.get('precision')!r}")
    return dict(header)
