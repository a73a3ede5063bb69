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
from uptonoise.fourier.cosine_sine import CosineSine, angles_between, turned
from uptonoise.fourier.sums import bags_of_rows
from uptonoise.rows import Accumulator, Block

_TILES_PER_BLOCK = 8  # tiles of features in one part, so that little of the time goes to Python and sums of parts
_AT_ONCE = 256  # rows of a product
_BLOCK_VALUES = 4_000_000  # of long rows, which are in memory three times
_CLUSTERS_AT_ONCE = 4_096
_GROUP_ROWS, _GROUP_VALUES = 65_536, 1 << 24  # in a block of rows of all groups
_ROUNDING = 1e-9  # of sums of weights
_FEW_ROWS = 1_000  # whose features are kept, too


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

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of both sets of rows together."""
        n_rows, weight = self.n_rows + other.n_rows, self.weight + other.weight
        if self.n_rows == 0 or other.n_rows == 0 or weight == 0:
            return replace(other if self.n_rows == 0 else self, n_rows=n_rows)
        squares, share = self.weight_squares + other.weight_squares, other.weight / weight
        apart = other.mean - self.mean
        mean = self.mean + share * apart
        if self.cross is not None:
            (scatter, cross), (of_other, other_cross) = self._about(mean), other._about(mean)
            n_clusters = self.n_clusters + other.n_clusters
            return Moments(n_rows, weight, squares, mean, scatter + of_other, n_clusters, cross + other_cross)
        scatter = self.scatter + other.scatter
        scaled = np.sqrt(self.weight * share) * apart  # so that the product is symmetric to the last bit
        for start in range(0, len(scaled), _AT_ONCE):  # the whole product is as large as the scatter
            part = slice(start, start + _AT_ONCE)
            scatter[part] += np.outer(scaled[part], scaled)
        features, (first, second) = None, (self.features, other.features)
        if first is not None and second is not None and len(first) + len(second) <= _FEW_ROWS:
            apart_weights = abs(self.weight * len(second) - other.weight * len(first))
            if apart_weights <= _ROUNDING * self.weight * len(second):
                features = np.concatenate([first, second])
        return Moments(n_rows, weight, squares, mean, scatter, features=features)

    def _about(self, mean: Floats) -> tuple[Floats, Floats]:
        """Return the scatter and the cross sums of clusters about another mean."""
        apart = self.mean - mean
        cross = np.zeros_like(apart) if self.cross is None else self.cross
        crossed = np.outer(cross, apart)
        scaled = np.sqrt(self.weight_squares) * apart
        return self.scatter + (crossed + crossed.T) + np.outer(scaled, scaled), cross + self.weight_squares * apart

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
        return replace(self, mean=turned(self.mean, angles), scatter=turned_once, cross=cross, features=features)


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
            of_rows = None if weights is None else weights[tile]
            features, sums = self.features.with_sums(values, of_rows)
            weight = float(len(values)) if of_rows is None else float(of_rows.sum())
            tile_weights.append(weight)
            tile_means.append(sums / weight if weight else np.zeros(len(sums)))
            if not weight:
                continue
            centred = features.astype(self._products, copy=False)
            centred -= tile_means[-1].astype(self._products)
            if of_rows is None:
                scatter += centred.T @ centred
            else:
                largest = float(of_rows.max())  # float32 might not hold the weights as they are
                centred *= np.sqrt(of_rows / largest)[:, None].astype(self._products)
                scatter += largest * np.asarray(centred.T @ centred, dtype=np.float64)
        weight = float(np.sum(tile_weights))
        mean = tile_weights @ np.array(tile_means) / (weight or 1.0)
        between = np.sqrt(tile_weights)[:, None] * (tile_means - mean)
        scatter += between.T @ between
        squares = weight if weights is None else float(weights @ weights)
        few = None
        if self.keeps_few and n_rows <= _FEW_ROWS:  # and all weights but 0 are the same
            counting = block.values if weights is None else block.values[weights > 0]
            if weights is None or (len(counting) and weights[weights > 0].min() == weights.max()):
                few = self.features.with_sums(counting - self.centre, None)[0]
        return Moments(n_rows, weight, squares, mean, scatter, features=few)

    def add_sums(
        self, n_rows: int, weights: tuple[float, float], about: Floats, sums: Floats, products: Floats
    ) -> None:
        """Add rows by the weighted sums of b and of b b', where b is their features minus `about`.

        `weights` is the sum of the weights and that of their squares.
        """
        if weights[0] == 0:
            self.add(Moments(n_rows, 0.0, 0.0, np.zeros_like(sums), np.zeros_like(products)))
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
        return [(number, group.added) for number, group in enumerate(self.groups) if group.added is not None]

    def empty(self) -> GroupMoments:
        """Return the same without any rows."""
        return GroupMoments(self.features, self.centres)

    def renumbered(self, part: GroupParts, numbers: NDArray[np.int64]) -> GroupParts:
        """Return a part with other numbers of its groups."""
        return [(int(numbers[number]), moments) for number, moments in part]
