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
from uptonoise.fourier.designs import default_design
from uptonoise.fourier.spread import spreads_of_rows
from uptonoise.fourier.frequencies import as_frequencies, median_scale, sample_names
from uptonoise.rows import (
    Accumulator,
    Block,
    Columns,
    RowSource,
    aligned,
    as_column_names,
    as_real_array,
    as_rows,
    check_same_columns,
    numbered_columns,
    one_sample,
    some_rows,
)

_FORMAT = "uptonoise sketch"
_VERSION = 1
_LARGEST_ANGLE = 1e15
_SCALE_ROWS = 200  # of each sample


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
            one_sample(sample, None if isinstance(sample, RowSource) else name)
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
        cls, groups: Any, *, random_state: RandomState = 0, precision: Precision = "fast"
    ) -> dict[Any, Sketch]:
        """Return the sketches of many groups by their ids, with the same frequencies, as :meth:`for_samples` has them.

        Parameters
        ----------
        groups : Bags, list of arrays, or RowSource with groups
            Such as ``Bags.from_long(frame, by="site")`` or ``scan_parquet(path, by="site")``. Rows of a group may be
            anywhere; they are read twice, for the scale of the frequencies and for the sketches.
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
        centres = np.stack([np.median(rows, axis=0) for rows in picked])
        sums = source.fold(_GroupSums(Waves(empty._frequencies, precision), centres)).moments
        found: dict[Any, Sketch] = {}
        for name, centre, moments in zip(source.bag_ids, centres, sums, strict=True):
            if moments.weight == 0:
                raise ValueError(f"weights of the group {shown(name)} must not all be 0")
            sketch = found[name.item() if isinstance(name, np.generic) else name] = empty._with(moments)
            sketch._centre = centre
        return found

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
        spreads = np.stack([spreads_of_rows(few, lengths) for few in rows])
        design = default_design(lengths, generator, n_frequencies, spreads)
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
        if not other._centre_is_given:
            new._centre = None
        return new

    def _with(self, moments: _Moments) -> Sketch:
        new = Sketch.__new__(Sketch)
        new.__dict__.update(self.__dict__, drawn=_checked_drawn(self.drawn))
        new._moments = moments
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
        new = self._with(self._moments.at(kept))
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
        signs = np.repeat([1.0, -1.0], self.n_frequencies)
        turned_back = replace(
            self._moments, mean=signs * self._moments.mean, scatter=self._moments.scatter * np.outer(signs, signs)
        )
        new = self._with(turned_back)
        new._centre = None if self._centre is None else -self._centre
        return new

    def update(self, X: Any, weights: Any = None) -> Sketch:
        """Add rows to this sketch and return it.

        Parameters
        ----------
        X : array, tensor, frame, iterator of these, or RowSource
            One sample, or a chunk of it.
        weights : array of shape (n_rows,) or str, optional
            A weight for each row, or the column that holds them.

        Returns
        -------
        Sketch
            This one. Where the rows are refused it has not changed.
        """
        source = one_sample(X, weights=weights)
        if len(source.columns) != self.n_columns:
            raise ValueError(
                f"X must have {counted(self.n_columns, 'column')}, as the frequencies have; got {len(source.columns)}: "
                f"{', '.join(source.columns[:8])}"
            )
        source = aligned(source, self)
        # Rows are centred where they lie, also those of a later chunk far from the first; meeting costs no accuracy.
        given = self._centre if self._centre_is_given else None
        near = np.median(source.head(), axis=0) if given is None else given
        centre = near if self._centre is None else self._centre
        waves = Waves(self._frequencies, self.precision)  # with buffers that last as long as this pass
        added = source.fold(MomentSum(waves, near)).moments
        if added.weight == 0:
            raise ValueError("weights of X must not all be 0")
        self._moments = self._moments.plus(_recentred(added, self._frequencies, near, centre))
        self._centre = centre
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
        centred = next((one for one in (self, other) if one._centre is not None), self)
        named = next((one for one in (self, other) if one.named), self)
        moments = self._moments.plus(other._moments_about(self._centre))
        new = self._with(moments)
        new._centre = centred._centre
        new.columns, new.named = named.columns, named.named
        return new

    def __add__(self, other: Sketch) -> Sketch:
        return self.merge(other) if isinstance(other, Sketch) else NotImplemented

    def __radd__(self, other: Any) -> Sketch:
        # sum() starts from 0.
        return self._with(self._moments) if isinstance(other, int) and other == 0 else NotImplemented

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
        return self._moments.n_rows

    @property
    def weight(self) -> float:
        """The sum of the weights; the number of rows where there were none."""
        return self._moments.weight

    @property
    def weight_squares(self) -> float:
        """The sum of the squared weights."""
        return self._moments.weight_squares

    @property
    def effective_size(self) -> float:
        """The number of equally weighted rows that would give the mean the same variance."""
        return self.weight**2 / self.weight_squares if self.weight else 0.0

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
        if freedom <= 1e-12 * moments.weight:
            raise ValueError("the weights of the sketch leave it an effective size of 1 row; a covariance needs 2")
        return moments.scatter / freedom

    def _check_rows(self, needed: int, what: str) -> None:
        if self.n_rows < needed:
            least = counted(needed, "row")
            raise ValueError(f"the sketch must have at least {least} for {what}; it has {self.n_rows}")

    def _moments_about(self, centre: Floats | None) -> _Moments:
        if self._centre is None or centre is None:
            return self._moments
        return _recentred(self._moments, self._frequencies, self._centre, centre)

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
            "version": _VERSION,
            "columns": list(self.columns),
            "named": self.named,
            "precision": self.precision,
            "drawn": self.drawn,
            "n_rows": self.n_rows,
            "centre_is_given": self._centre_is_given,
        }
        arrays = {
            "header": np.array(json.dumps(header)),
            "frequencies": self._frequencies,
            "weights": np.array([self.weight, self.weight_squares]),
            "mean": self._moments.mean,
            "scatter": self._moments.scatter,
        }
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
            and self._moments.equals(other._moments)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(self.columns[:5]) + (", ..." if self.n_columns > 5 else "")
        frequencies = "1 frequency" if self.n_frequencies == 1 else f"{self.n_frequencies:,} frequencies"
        columns = counted(self.n_columns, "column")
        return f"Sketch({counted(self.n_rows, 'row')}, {frequencies}, {columns}: {shown})"


@dataclass(frozen=True, eq=False)
class _Moments:
    """Weights, mean, and scatter: the weighted sum of outer products about the mean."""

    n_rows: int
    weight: float
    weight_squares: float
    mean: Floats
    scatter: Floats

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

    def at(self, frequencies: NDArray[np.intp]) -> _Moments:
        """Return the moments at some of the frequencies."""
        waves = np.concatenate([frequencies, len(self.mean) // 2 + frequencies])
        return replace(self, mean=self.mean[waves], scatter=self.scatter[np.ix_(waves, waves)])

    def turned(self, angles: Floats) -> _Moments:
        """Return the moments after each frequency's [cos, sin] pair has turned by its angle."""
        mean = turned(self.mean, angles)
        scatter = turned(turned(self.scatter, angles).T, angles)
        return replace(self, mean=mean, scatter=(scatter + scatter.T) / 2)

    def equals(self, other: _Moments) -> bool:
        return (
            (self.n_rows, self.weight, self.weight_squares) == (other.n_rows, other.weight, other.weight_squares)
            and np.array_equal(self.mean, other.mean)
            and np.array_equal(self.scatter, other.scatter)
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
