"""Weights, mean and scatter of cosine and sine features of rows: what adds up to a sketch.

With weights, W1 their sum and W2 the sum of their squares, the covariance is

    sum_i weight_i (f_i - mean)(f_i - mean)' / (W1 - W2/W1)

which is unbiased, and the usual one for equal weights; the mean has covariance W2/W1^2 times that.

Rows that come in clusters count as their clusters. With u_c the weighted sum of the features over the rows of cluster
c, n_c the sum of their weights, N that of all weights and g = N^2 / sum n_c^2 the effective number of clusters,

    Cov(mean) = g/(g - 1) sum_c (u_c - n_c mean)(u_c - n_c mean)' / N^2

and the covariance over clusters is g times that. A cluster is then one row with weight n_c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.fourier.cosine_sine import CosineSine, turned
from uptonoise.fourier.exact_angles import angles_between
from uptonoise.fourier.sums import bags_of_rows
from uptonoise.rows import Accumulator, Block, as_real_array

_TILES_PER_BLOCK = 8  # tiles of features in one part, so that little of the time goes to Python and sums of parts
_AT_ONCE = 256  # rows of a product
_BLOCK_VALUES = 4_000_000  # of long rows, which are in memory three times
_CLUSTERS_AT_ONCE = 4_096
_GROUP_ROWS, _GROUP_VALUES = 65_536, 1 << 24  # in a block of rows of all groups
_ROUNDING = 1e-9  # of sums of weights in a file
_FEW_ROWS = 1_000  # whose features are kept, too
_DAMAGE = 1e-4  # of a covariance in a file, in units of its largest variance; float32 is good to 1e-6


@dataclass(frozen=True, eq=False)
class Moments:
    """Number of rows, weights, mean, and scatter: the weighted sum of outer products about the mean.

    Of clusters the scatter is the sum of (u_c - n_c mean)(u_c - n_c mean)' and `weight_squares` that of n_c^2. Their
    `cross`, the sum of n_c (u_c - n_c mean), is what another mean needs.
    """

    n_rows: int
    weight: float
    weight_squares: float
    mean: Floats
    scatter: Floats
    n_clusters: int = 0
    cross: Floats | None = None  # None where rows are independent
    features: Floats | None = None  # of every row, as long as rows are few and have the same weight

    @property
    def covariance(self) -> Floats:
        """The covariance over rows, or over clusters: the effective size times that of the mean."""
        total, squares = self.weight, self.weight_squares
        if self.cross is None:
            return self.scatter / (total - squares / total)
        return self.scatter / squares / (1 - squares / total / total)  # no product of large weights overflows

    @classmethod
    def of_clusters(cls, sums: Floats, weight: Floats, n_rows: int) -> Moments:
        """Return the moments of clusters, from the sums of their rows' features and weights."""
        total, width = float(weight.sum()), sums.shape[1]
        cross, scatter = np.zeros(width), np.zeros((width, width))
        mean = sums.sum(axis=0) / total if total > 0 else np.zeros(width)
        for start in range(0, len(sums), _CLUSTERS_AT_ONCE):
            here = slice(start, start + _CLUSTERS_AT_ONCE)
            beyond = sums[here] - weight[here, None] * mean
            scatter += beyond.T @ beyond
            cross += weight[here] @ beyond
        return cls(n_rows, total, float(weight @ weight), mean, scatter, int(np.count_nonzero(weight)), cross)

    def as_clusters(self) -> Moments:
        """Return the moments of independent rows as those of clusters of one row."""
        return replace(self, n_clusters=self.n_rows, cross=np.zeros_like(self.mean))

    @classmethod
    def none(cls, n_frequencies: int, n_rows: int = 0) -> Moments:
        """Return the moments before any row, or of rows without weight."""
        return cls(n_rows, 0.0, 0.0, np.zeros(2 * n_frequencies), np.zeros((2 * n_frequencies, 2 * n_frequencies)))

    @classmethod
    def checked(cls, n_rows: Any, arrays: dict[str, Any], n_frequencies: int) -> Moments:
        """Return moments that were read from a file, or raise where they cannot be those of cosines and sines."""
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
        moments = cls(n_rows, float(weights[0]), float(weights[1]), mean, scatter)
        _check_covariance(scatter)
        return moments

    def check_rows(self) -> None:
        """Raise where moments of rows that were read from a file cannot be those of so many."""
        _check_weights(self.weight, self.weight_squares, self.n_rows, "row")
        m = len(self.mean) // 2
        # The squares of a cosine and its sine sum to 1 in each row.
        expected = self.weight * (1 - np.sum(self.mean.reshape(2, m) ** 2, axis=0))
        if np.abs(np.diag(self.scatter).reshape(2, m).sum(axis=0) - expected).max() > _DAMAGE * self.weight:
            raise ValueError("its sums are not those of cosines and sines")

    def with_clusters(self, n_clusters: Any, cross: Any) -> Moments:
        """Return moments that were read from a file as those of clusters, or raise where they cannot be."""
        array = as_real_array(cross, "cross").astype(np.float64)
        is_count = isinstance(n_clusters, int) and not isinstance(n_clusters, bool) and 0 <= n_clusters <= self.n_rows
        if array.shape != self.mean.shape or not np.isfinite(array).all() or not is_count:
            raise ValueError(f"its {n_clusters!r} clusters do not fit its rows")
        _check_weights(self.weight, self.weight_squares, n_clusters, "cluster")
        return replace(self, n_clusters=n_clusters, cross=array)

    def plus(self, other: Moments) -> Moments:
        """Return the moments of both sets of rows together."""
        weight = self.weight + other.weight
        if self.n_rows == 0 or other.n_rows == 0 or weight == 0:
            kept = other if self.n_rows == 0 else self
            return replace(kept, n_rows=self.n_rows + other.n_rows)
        apart = other.mean - self.mean
        share = other.weight / weight
        if self.cross is not None:
            return self._plus_clusters(other, self.mean + share * apart)
        scatter = self.scatter + other.scatter
        scaled = np.sqrt(self.weight * share) * apart  # so that the product is symmetric to the last bit
        for start in range(0, len(scaled), _AT_ONCE):  # the whole product is as large as the scatter
            part = slice(start, start + _AT_ONCE)
            scatter[part] += np.outer(scaled[part], scaled)
        return Moments(
            self.n_rows + other.n_rows,
            weight,
            self.weight_squares + other.weight_squares,
            self.mean + share * apart,
            scatter,
            features=self._features_with(other),
        )

    def _features_with(self, other: Moments) -> Floats | None:
        """Return the features of both sets of rows, where they are at hand, few together, and of the same weight."""
        first, second = self.features, other.features
        if first is None or second is None or len(first) + len(second) > _FEW_ROWS:
            return None
        alike = abs(self.weight * len(second) - other.weight * len(first)) <= _ROUNDING * self.weight * len(second)
        return np.concatenate([first, second]) if alike else None

    def _plus_clusters(self, other: Moments, mean: Floats) -> Moments:
        left, right = self._about(mean), other._about(mean)
        return Moments(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.weight_squares + other.weight_squares,
            mean,
            left.scatter + right.scatter,
            self.n_clusters + other.n_clusters,
            left._cross + right._cross,
        )

    def _about(self, mean: Floats) -> Moments:
        """Return the scatter and the cross sums of clusters about another mean."""
        apart = self.mean - mean
        crossed = np.outer(self._cross, apart)
        scaled = np.sqrt(self.weight_squares) * apart
        scatter = self.scatter + (crossed + crossed.T) + np.outer(scaled, scaled)
        return replace(self, scatter=scatter, cross=self._cross + self.weight_squares * apart)

    @property
    def _cross(self) -> Floats:
        return np.zeros_like(self.mean) if self.cross is None else self.cross

    def at(self, frequencies: NDArray[np.intp]) -> Moments:
        """Return the moments at some of the frequencies."""
        places = np.concatenate([frequencies, len(self.mean) // 2 + frequencies])
        cross = None if self.cross is None else self.cross[places]
        features = None if self.features is None else self.features[:, places]
        scatter = self.scatter[np.ix_(places, places)]
        return replace(self, mean=self.mean[places], scatter=scatter, cross=cross, features=features)

    def recentred(self, frequencies: Floats, centre: Floats, other: Floats) -> Moments:
        """Return the moments of rows minus `centre` as those of the same rows minus another centre."""
        if np.array_equal(centre, other):
            return self
        angles = angles_between(frequencies, centre, other)
        turned_once = turned(self.scatter, angles)
        scatter = turned(turned_once.T, angles)
        np.add(scatter, scatter.T, out=turned_once)  # of many frequencies, each copy takes 100 MB
        turned_once /= 2
        cross = None if self.cross is None else turned(self.cross, angles)
        features = None if self.features is None else turned(self.features, angles)
        mean = turned(self.mean, angles)
        return replace(self, mean=mean, scatter=turned_once, cross=cross, features=features)

    def mirrored(self) -> Moments:
        """Return the moments of the same rows with their signs turned."""
        signs = np.repeat([1.0, -1.0], len(self.mean) // 2)
        cross = None if self.cross is None else signs * self.cross
        features = None if self.features is None else signs * self.features
        scatter = self.scatter * np.outer(signs, signs)
        return replace(self, mean=signs * self.mean, scatter=scatter, cross=cross, features=features)

    def equals(self, other: Moments) -> bool:
        """Tell whether all numbers are the same."""
        counts, others = (
            (moments.n_rows, moments.n_clusters, moments.cross is None, moments.weight, moments.weight_squares)
            for moments in (self, other)
        )
        return (
            counts == others and np.array_equal(self.mean, other.mean) and np.array_equal(self.scatter, other.scatter)
        )


def _check_weights(weight: float, squares: float, count: int, unit: str) -> None:
    """Raise where so many weights that are not negative cannot have this sum and this sum of squares."""
    if not squares <= (1 + _ROUNDING) * weight * weight or not weight * weight <= (1 + _ROUNDING) * count * squares:
        raise ValueError(f"its weights are not those of {counted(count, unit)}")


def _check_covariance(scatter: Floats) -> None:
    """Raise where a symmetric matrix has a negative eigenvalue that rounding does not explain."""
    largest = float(np.diag(scatter).max(initial=0.0))
    if largest == 0:
        if scatter.any():
            raise ValueError("its covariance is none")
        return
    try:
        np.linalg.cholesky(scatter / largest + _DAMAGE * np.eye(len(scatter)))
    except np.linalg.LinAlgError:
        raise ValueError("its covariance has negative eigenvalues") from None


class MomentSum(Accumulator[Moments]):
    """The moments of the features of rows minus a centre."""

    def __init__(
        self,
        features: CosineSine,
        centre: Floats,
        products: type[np.floating[Any]] | None = None,
        *,
        keeps_few: bool = False,
    ) -> None:
        self.features = features
        self.centre = centre
        self.keeps_few = keeps_few  # the features of rows that are few
        # Features that are good to 1e-7 lose nothing by products of float32, which take half the time.
        self._products = products or (np.float32 if features.precision == "fast" else np.float64)
        # A tile long enough that the outer products, not the sums of their results, are the work.
        self._tile_rows = max(features.block_rows // 2, 2 * features.n_frequencies)
        tiles = _BLOCK_VALUES // (self._tile_rows * features.n_columns)
        self.block_rows = min(max(tiles, 1), _TILES_PER_BLOCK) * self._tile_rows
        width = 2 * features.n_frequencies
        # Two copies of the rows, a tile of features and their products, and the sum of these, twice.
        self.part_bytes = 16 * self.block_rows * features.n_columns + 4 * self._tile_rows * width + 20 * width**2

    def part(self, block: Block) -> Moments:
        """Return the moments of the rows."""
        n_rows, weights = len(block.values), block.weights
        scatter = np.zeros(2 * (2 * self.features.n_frequencies,))
        tile_weights, tile_means = [], []
        for start in range(0, n_rows, self._tile_rows):
            tile = slice(start, start + self._tile_rows)
            with np.errstate(over="ignore"):  # what overflows is refused as too large
                values = block.values[tile] - self.centre
            weight, mean = self._add_tile(values, None if weights is None else weights[tile], scatter)
            tile_weights.append(weight)
            tile_means.append(mean)
        weight = float(np.sum(tile_weights))
        mean = tile_weights @ np.array(tile_means) / (weight or 1.0)
        between = np.sqrt(tile_weights)[:, None] * (tile_means - mean)
        scatter += between.T @ between
        squares = weight if weights is None else float(weights @ weights)
        return Moments(n_rows, weight, squares, mean, scatter, features=self._features_of_few(block))

    def _features_of_few(self, block: Block) -> Floats | None:
        """Return the features of rows with weight, where these are few and all weights are the same."""
        values, weights = block.values, block.weights
        if not self.keeps_few or len(values) > _FEW_ROWS:
            return None
        if weights is not None:
            values, weights = values[weights > 0], weights[weights > 0]
            if not len(weights) or weights.min() < weights.max():
                return None
        return np.array(self.features.with_sums(values - self.centre, None)[0])

    def _add_tile(self, values: Floats, weights: Floats | None, scatter: Floats) -> tuple[float, Floats]:
        """Add the scatter of rows about their own mean, and return their weight and that mean."""
        features, sums = self.features.with_sums(values, weights)
        weight = float(len(values)) if weights is None else float(weights.sum())
        if weight == 0:
            return 0.0, np.zeros(len(sums))
        mean = sums / weight
        centred = features.astype(self._products, copy=False)
        centred -= mean.astype(self._products)
        if weights is None:
            scatter += centred.T @ centred
        else:
            largest = float(weights.max())  # float32 might not hold the weights as they are
            centred *= np.sqrt(weights / largest)[:, None].astype(self._products)
            scatter += largest * np.asarray(centred.T @ centred, dtype=np.float64)
        return weight, mean

    def plus(self, left: Moments, right: Moments) -> Moments:
        """Return the moments of the rows of both parts."""
        return left.plus(right)

    def total(self) -> Moments:
        """Return the moments of all rows so far."""
        return Moments.none(self.features.n_frequencies) if self.added is None else self.added

    def add_sums(
        self, n_rows: int, weights: tuple[float, float], about: Floats, sums: Floats, products: Floats
    ) -> None:
        """Add rows by the weighted sums of b and of b b', where b is their features minus `about`.

        `weights` is the sum of the weights and that of their squares.
        """
        if weights[0] == 0:
            self.add(Moments.none(self.features.n_frequencies, n_rows))
            return
        beyond = sums / weights[0]
        scaled = np.sqrt(weights[0]) * beyond  # so that the product is symmetric to the last bit
        scatter = products - np.outer(scaled, scaled)
        np.fill_diagonal(scatter, np.maximum(np.diag(scatter), 0))
        self.add(Moments(n_rows, *weights, about + beyond, scatter))


GroupParts = list[tuple[int, Moments]]
"""Moments of rows, each with the number of their group; a group may occur several times."""


class GroupMoments(Accumulator[GroupParts]):
    """The moments of each group of rows, each about its own centre."""

    needs_known_bags = True

    def __init__(self, features: CosineSine, centres: Floats) -> None:
        self.features, self.centres = features, centres
        # A group's rows fall into other blocks where other rows lie between them, which float64 does not see.
        self.groups = [MomentSum(features, centre, np.float64) for centre in centres]
        # Long blocks, so that a group has many rows in each: adding up outer products costs as much as making them.
        self.block_rows = max(1, min(_GROUP_ROWS, _GROUP_VALUES // features.n_columns))
        # A block may have rows of all groups.
        self.part_bytes = self.groups[0].part_bytes + 8 * len(centres) * (2 * features.n_frequencies) ** 2

    @property
    def moments(self) -> list[Moments]:
        """The moments of all rows so far, for each group."""
        return [group.total() for group in self.groups]

    def part(self, block: Block) -> GroupParts:
        """Return the moments of the rows of each group in the block."""
        bags = bags_of_rows(block, self.features.name)
        order = np.argsort(bags, kind="stable")
        numbers, starts = np.unique(bags[order], return_index=True)
        parts = []
        for number, rows in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
            group = self.groups[number]
            for start in range(0, len(rows), group.block_rows):
                here = rows[start : start + group.block_rows]
                weights = None if block.weights is None else block.weights[here]
                parts.append((number, group.part(Block(block.values[here], weights))))
        return parts

    def add(self, part: GroupParts) -> None:
        """Add the moments of the next rows."""
        for number, moments in part:
            self.groups[number].add(moments)

    def total(self) -> GroupParts:
        """Return the moments of the groups that have rows so far."""
        return [(number, moments) for number, moments in enumerate(self.moments) if moments.n_rows]

    def empty(self) -> GroupMoments:
        """Return the same without any rows."""
        return GroupMoments(self.features, self.centres)

    def renumbered(self, part: GroupParts, numbers: NDArray[np.int64]) -> GroupParts:
        """Return a part with other numbers of its groups."""
        return [(int(numbers[number]), moments) for number, moments in part]
