"""Two samples as the phase test sees them: means and covariances of cosines and sines, and effective sizes.

All of it comes from two sketches with the same frequencies. Whatever changes the covariance of a sketch's mean or its
effective size, as weights do, changes the phase test and all that is built on it here, and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Complex, Floats
from uptonoise._util.wording import counted
from uptonoise.fourier import BLOCK_WEIGHTS, SKEWNESS, Sketch, as_complex
from uptonoise.rows import (
    LEAST_CLUSTERS,
    RowSource,
    categories_in,
    cluster_hashes,
    split_name,
    two_clustered,
    warn_of_shared,
)


class SampleMoments(NamedTuple):
    """The characteristic function at m frequencies, and the covariance of cosines and sines over rows or clusters.

    Arrays may have leading dimensions: one sample each. `size` is the effective number of rows or clusters.
    """

    phi: Complex
    covariance: Floats
    size: Floats
    centre: Floats = np.zeros(())  # that phases are about

    @classmethod
    def of(
        cls, sketch: Sketch, centre: Floats | None = None, block: slice | None = None, worth: float = 1.0
    ) -> SampleMoments:
        """Return the moments of a sketch at all frequencies or at a block of them.

        Phases are about `centre`, by default that of the sketch. The sample may be `worth` only a share of its rows.
        """
        if centre is None:
            centre = np.zeros(sketch.n_columns) if sketch.centre is None else sketch.centre
        mean, covariance = sketch.moments_about(centre, block)
        return cls(as_complex(mean), covariance, np.asarray(sketch.effective_size * worth), centre)

    @property
    def squared_amplitudes(self) -> Floats:
        """The squares of abs(phi) without what sampling errors add to them, which may leave them negative."""
        m = self.phi.shape[-1]
        variances = np.diagonal(self.covariance, axis1=-2, axis2=-1)
        errors = (variances[..., :m] + variances[..., m:]) / self.size[..., None]
        return np.asarray(self.phi.real**2 + self.phi.imag**2 - errors)

    def at(self, block: slice) -> SampleMoments:
        """Return the moments at some of the frequencies."""
        phi = self.phi[..., block]
        many, m, width = self.covariance.shape[:-2], self.phi.shape[-1], 2 * phi.shape[-1]
        covariance = self.covariance.reshape(*many, 2, m, 2, m)[..., block, :, block].reshape(*many, width, width)
        return self._replace(phi=phi, covariance=covariance)

    def each(self) -> Iterator[SampleMoments]:
        """Yield many samples one by one; they may share one covariance."""
        covariances = self.covariance if self.covariance.ndim > 2 else repeat(self.covariance)
        return map(SampleMoments, self.phi, covariances, self.size)

    def projected(self, cosines: Floats, sines: Floats) -> Floats:
        """Return the covariance over rows of a cos(w.x) + b sin(w.x), with one factor a and b per frequency."""
        m, C = self.phi.shape[-1], self.covariance
        a, b = cosines[..., :, None], sines[..., :, None]
        across, along = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)
        crossed = a * along * C[..., :m, m:]
        return np.asarray(
            a * across * C[..., :m, :m] + b * along * C[..., m:, m:] + crossed + np.swapaxes(crossed, -1, -2)
        )


class Block(NamedTuple):
    """Frequencies that are tested together: all of them, or the skewness that they show of each column."""

    place: slice
    columns: Floats | None = None  # the frequencies, of shape (m, d), where skewness is tested


class FrequencyBlocks(NamedTuple):
    """The blocks of frequencies that are tested, with the weights of their p-values, and the place of the largest."""

    tested: dict[str, Block]
    weights: Floats
    largest: slice

    @classmethod
    def of(cls, *sketches: Sketch) -> FrequencyBlocks:
        """Return those of comparable sketches, some of which may have lost the names of their blocks."""
        named = next((sketch for sketch in sketches if "blocks" in (sketch.provenance or {})), sketches[0]).blocks
        places = {name: place for name, place in named.items() if BLOCK_WEIGHTS.get(name, 1.0) > 0} or named
        tested = {name: Block(place) for name, place in places.items()}
        if (place := places.get("single columns")) is not None:
            columns = sketches[0].frequencies[place]
            if (np.count_nonzero(columns, axis=0) > 1).any():
                tested[SKEWNESS] = Block(place, columns)
        weights = np.array([BLOCK_WEIGHTS.get(name, 1.0) or 1.0 for name in tested])
        return cls(tested, weights / weights.sum(), max(places.values(), key=lambda place: place.stop - place.start))


Movable = NDArray[np.bool_] | None  # which columns a shift may move; None for all


_SAME = 1e-5  # up to which two characteristic functions are the same; sums of a sketch are exact to 1e-6


def categories_of_sketch(sketch: Sketch) -> dict[str, tuple[str, ...]]:
    """Return the categories that columns of a sketch stand for: those named so that hold nothing but 0 and 1.

    A column of 0 and 1 with the mean p has the characteristic function 1 + p (exp(iw) - 1).

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.rows import ArrayRows
    >>> import uptonoise as un
    >>> from uptonoise.twosample.phase.pair import categories_of_sketch
    >>> rows = ArrayRows(np.stack([np.arange(100) % 2, np.arange(100) % 7], axis=1), "X", ["colour=red", "dose=5"])
    >>> categories_of_sketch(un.Sketch.for_samples(rows).update(rows))
    {'colour': ('red',)}
    """
    W = sketch.frequencies
    coded = []
    for place, name in enumerate(sketch.columns):
        own = (W[:, place] != 0) & (np.count_nonzero(W, axis=1) == 1)
        if "=" in name and own.any():
            turns, departures = np.exp(1j * W[own, place]) - 1, sketch.ecf[own] - 1
            share = float(np.vdot(turns, departures).real / max(np.vdot(turns, turns).real, np.finfo(float).tiny))
            if np.abs(departures - share * turns).max() < _SAME:
                coded.append(name)
    return categories_in(coded)


def movable_columns(sample: Any, columns: Sequence[str], coded: Mapping[str, Sequence[str]]) -> Movable:
    """Return which columns a shift may move: not those of 0 and 1 that stand for categories.

    A source of rows tells its categories by its record.
    """
    if not coded and isinstance(sample, Sketch):
        coded = categories_of_sketch(sample)
    elif not coded and isinstance(sample, RowSource):
        coded = sample.record().categories
    return np.array([split_name(name, coded) is None for name in columns]) if coded else None


class Shift(NamedTuple):
    """By how much X lies further than Y in each column, with the covariance of its error and degrees of freedom."""

    shift: Floats
    covariance: Floats
    freedom: float
    interval: Floats  # 95 % of each column's shift, of shape (d, 2)


class Pair(NamedTuple):
    """Two sketches, and what the phase test works on: their moments about a common centre, or up to a shift.

    Up to a shift, `left` has the fitted shift taken off, and S moves along the columns of `nuisance`, of shape (m, d),
    if the shift changes. `nuisance` is per length of a column, one over the root mean square of its frequencies, so
    that no column is lost in rounding because of its units.
    """

    X: Sketch
    Y: Sketch
    left: SampleMoments
    right: SampleMoments
    blocks: FrequencyBlocks
    sizes: tuple[int, int]  # numbers of rows
    columns: tuple[str, ...]  # from the sketch that has names
    is_clustered: bool
    cluster_counts: dict[str, Any]  # fields of a result: how many clusters there are, and how many rows they are worth
    features: tuple[Complex | None, Complex | None] = (None, None)  # of all rows, where these are few
    shift: Shift | None = None
    nuisance: Floats | None = None
    doubt: Floats | None = None  # how far, in radians, the error of the shift may turn the phase at each frequency

    @classmethod
    def of(cls, X: Sketch, Y: Sketch, worth: float = 1.0, centres: tuple[Floats, Floats] | None = None) -> Pair:
        """Return two comparable sketches with their phases about one centre, on which no result depends, or about two.

        Two sketches of the same rows, as of a sample and its mirror image, are `worth` half of them.
        """
        left = SampleMoments.of(X, centres[0] if centres else None, worth=worth)
        right = SampleMoments.of(Y, centres[1] if centres else left.centre, worth=worth)
        has_features = worth == 1 and centres is None
        counts: dict[str, Any] = {}
        if X.n_clusters is not None and Y.n_clusters is not None:
            counts["n_clusters"] = X.n_clusters, Y.n_clusters
            counts["independent_rows"] = X.independent_rows, Y.independent_rows
        return cls(
            X,
            Y,
            left,
            right,
            FrequencyBlocks.of(X, Y),
            sizes=(X.n_rows, Y.n_rows),
            columns=(X if X.named else Y).columns,
            is_clustered=X.is_clustered or Y.is_clustered,
            cluster_counts=counts,
            features=(X.features_about(left.centre), Y.features_about(left.centre)) if has_features else (None, None),
        )


def even_turns(n: int, angles: Floats) -> Complex:
    """Return exp(-i k a) for k below n and all angles a, of shape (n, m), from few exponentials.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.phase.pair import even_turns
    >>> even_turns(3, np.array([np.pi / 2])).real.round(6).ravel().tolist()
    [1.0, 0.0, -1.0]
    """
    width = math.isqrt(n) + 1
    coarse = np.exp(np.multiply.outer(np.arange(0, n, width), -1j * angles))
    fine = np.exp(np.multiply.outer(np.arange(width), -1j * angles))
    return np.asarray((coarse[:, None] * fine).reshape(-1, len(angles))[:n])


def comparable(X: Any, Y: Any, clusters: Any = None) -> tuple[Sketch, Sketch]:
    """Return two sketches, or raise where they cannot be compared, or clusters were given beside them."""
    if clusters is not None:
        raise ValueError("clusters must be left out for sketches, which bring their own")
    if not (isinstance(X, Sketch) and isinstance(Y, Sketch)):
        raise ValueError("X and Y must both be samples or both be sketches; make the other one with Sketch.like")
    X.check_comparable(Y)
    return X, Y


def as_sketches(
    X: Any,
    Y: Any,
    weights: tuple[Any, Any],
    frequencies: Any,
    random_state: RandomState,
    clusters: Any = None,
) -> tuple[Sketch, Sketch, int | None]:
    """Return sketches of two samples, or the two that were given, and the seed of their frequencies."""
    seed = None
    if isinstance(X, Sketch) or isinstance(Y, Sketch):
        of_rows = weights if isinstance(weights, tuple | list) else (weights,)
        if any(given is not None for given in (*of_rows, frequencies, clusters)):
            raise ValueError("weights, clusters and frequencies must be left out for sketches, which bring their own")
        left, right = comparable(X, Y)
    else:
        generator, seed = seeded_generator(random_state)
        sources = two_clustered(X, Y, weights, clusters)
        empty = Sketch.for_samples(*sources, random_state=generator) if frequencies is None else Sketch(frequencies)
        left, right = (Sketch.like(empty).update(source, complete=True) for source in sources)
        warn_of_shared_clusters(left, right, *sources)
    for name, given, sketch in (("X", X, left), ("Y", Y, right)):
        check_size(given.name if isinstance(given, RowSource) else name, sketch)
    return left, right, seed


def warn_of_shared_clusters(left: Sketch, right: Sketch, X: RowSource, Y: RowSource) -> None:
    """Warn where clusters of both samples have the same ids."""
    shared = np.intersect1d(left.cluster_hashes, right.cluster_hashes, assume_unique=True)
    if len(shared) and X.bag_ids is not None:
        known = set(shared.tolist())
        ids = [cluster for cluster in X.bag_ids if int(cluster_hashes([cluster])[0]) in known]
        warn_of_shared(ids, (X.name, Y.name))


def check_size(name: str, sketch: Sketch) -> None:
    """Raise where a sketch has too few rows, or too few clusters, for any test."""
    if sketch.n_clusters is not None and sketch.n_clusters < LEAST_CLUSTERS:
        raise ValueError(
            f"{name} must have at least {LEAST_CLUSTERS} clusters; got {sketch.n_clusters}, with "
            f"{counted(sketch.n_rows, 'row')}. More rows in a cluster do not replace clusters"
        )
    if sketch.n_rows < 2 or sketch.effective_size < 1 + 1e-9:
        worth = "" if sketch.n_rows < 2 else f", with weights worth {sketch.effective_size:.3g}"
        raise ValueError(f"{name} must have at least 2 rows; got {sketch.n_rows}{worth}")
