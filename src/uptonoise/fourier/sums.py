"""Sums of cosine and sine features over rows: of one sample, of each bag, or none at all (every row by itself)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Complex, Floats
from uptonoise.fourier import compiled
from uptonoise.fourier.cosine_sine import CosineSine, as_complex
from uptonoise.rows import Accumulator, Block


class RowFeatures(Accumulator[Complex]):
    """exp(i w.x) of every row: the characteristic functions of bags of one row, which need no sum by bag."""

    def __init__(self, features: CosineSine) -> None:
        self.features = features
        self.block_rows = features.block_rows
        self.parts: list[Complex] = []

    def part(self, block: Block) -> Complex:
        """Return exp(i w.x) of the rows."""
        return as_complex(self.features(block.values))

    def add(self, part: Complex) -> None:
        """Keep the features of the next rows."""
        self.parts.append(part)

    def total(self) -> Complex:
        """Return the features of all rows."""
        return np.concatenate(self.parts)

    def empty(self) -> RowFeatures:
        """Return the same without any rows."""
        return RowFeatures(self.features)


SamplePart = tuple[Floats, float, float]
"""The weighted sum of the features, the sum of the weights, and the sum of their squares."""


class SampleSum(Accumulator[SamplePart]):
    """The sum of the features of one sample's rows."""

    def __init__(self, features: CosineSine) -> None:
        self.features = features
        self.block_rows = features.sum_rows

    def part(self, block: Block) -> SamplePart:
        """Return the sums of the rows."""
        n_rows, weights = len(block.values), block.weights
        phi_sum = self.features.sums(block.values, weights, np.array([0, n_rows]))[0]
        feature_sum = np.concatenate([phi_sum.real, phi_sum.imag])
        if weights is None:
            return feature_sum, float(n_rows), float(n_rows)
        return feature_sum, float(weights.sum()), float(weights @ weights)

    def plus(self, left: SamplePart, right: SamplePart) -> SamplePart:
        """Return the sums of the rows of both parts."""
        return left[0] + right[0], left[1] + right[1], left[2] + right[2]


def bags_of_rows(block: Block, name: str) -> NDArray[np.int64]:
    """Return the number of each row's bag, or raise where the source of the block does not tell it."""
    if block.bags is None:
        raise ValueError(f"{name} is a source of bags, and its blocks must tell each row's bag")
    return block.bags


class BagPart(NamedTuple):
    """Of some bags: their increasing numbers, sums of exp(i w.x), weights and squared weights."""

    bags: NDArray[np.int64]
    phi_sums: Complex
    weight: NDArray[Any]
    weight_squares: NDArray[Any]


class BagSums(Accumulator[BagPart]):
    """The sum of the features of each bag's rows; a bag's rows may lie anywhere, unless they come `in_order`.

    Where they do, and all bags are known, a block shares its first bag at most with blocks before it. The kernel writes
    the sums of its other bags where they belong, and the part has the sum of the first bag only.
    """

    def __init__(self, features: CosineSine, n_bags: int, in_order: bool = False) -> None:
        self.features, self.in_order = features, in_order
        self.block_rows = features.sum_rows
        self.phi_sums = np.zeros((n_bags, features.n_frequencies), dtype=np.complex128)
        self.weight = np.zeros(n_bags)
        self.weight_squares = np.zeros(n_bags)

    def part(self, block: Block) -> BagPart:
        """Return the sums of the bags that have rows in the block."""
        values, weights, numbers = block.values, block.weights, bags_of_rows(block, self.features.name)
        if (np.diff(numbers) < 0).any():
            order = np.argsort(numbers, kind="stable")
            values, numbers = values[order], numbers[order]
            weights = None if weights is None else weights[order]
        # Where runs of equal numbers start, and where the last run ends.
        bounds = np.concatenate([[0], np.flatnonzero(numbers[1:] != numbers[:-1]) + 1, [len(numbers)]])
        starts, bags = bounds[:-1], numbers[bounds[:-1]]
        if weights is None:
            weight = squares = np.diff(bounds)
        else:
            weight, squares = np.add.reduceat(weights, starts), np.add.reduceat(weights**2, starts)
        first, stop = int(bags[0]), int(bags[-1]) + 1
        by_kernel = compiled.kernel is not None and self.features.precision == "fast"
        if not (self.in_order and by_kernel) or stop - first != len(bags) or stop > len(self.phi_sums):
            return BagPart(bags, self.features.sums(values, weights, bounds), weight, squares)
        end = int(bounds[1])
        of_first, of_others = (None, None) if weights is None else (weights[:end], weights[end:])
        if len(bags) > 1:
            self.features.sums(values[end:], of_others, bounds[1:] - end, self.phi_sums[first + 1 : stop])
        return BagPart(bags, self.features.sums(values[:end], of_first, bounds[:2]), weight, squares)

    def add(self, part: BagPart) -> None:
        """Add the sums of the next rows."""
        bags = part.bags
        if len(bags) == 0:  # the total of rows without any weight
            return
        first, stop = int(bags[0]), int(bags[-1]) + 1
        if stop > len(self.weight):
            self._resize(stop + stop // 8)  # room for bags that a stream is yet to bring
        # Bags that follow each other are a slice, and adding to a slice makes no copy.
        places = slice(first, stop) if stop - first == len(bags) else bags
        if len(part.phi_sums) < len(bags):  # the others are where they belong
            self.phi_sums[first] += part.phi_sums[0]
        elif isinstance(places, slice) and not self.weight[first + 1 : stop].any():
            # Only the first bag can have had rows before. New memory is faster to write than to add to.
            self.phi_sums[first] += part.phi_sums[0]
            self.phi_sums[first + 1 : stop] = part.phi_sums[1:]
        else:
            self.phi_sums[places] += part.phi_sums
        self.weight[places] += part.weight
        self.weight_squares[places] += part.weight_squares

    def total(self) -> BagPart:
        """Return the sums of all rows so far."""
        present = np.flatnonzero(self.weight_squares + self.weight)
        if len(present) == len(self.weight):
            return BagPart(present, self.phi_sums, self.weight, self.weight_squares)
        return BagPart(present, self.phi_sums[present], self.weight[present], self.weight_squares[present])

    def empty(self) -> BagSums:
        """Return the same without any rows."""
        return BagSums(self.features, 0)

    def renumbered(self, part: BagPart, numbers: NDArray[np.int64]) -> BagPart:
        """Return a part with other numbers of its bags."""
        bags = numbers[part.bags]
        order = np.argsort(bags)
        return BagPart(bags[order], part.phi_sums[order], part.weight[order], part.weight_squares[order])

    def trim(self, n_bags: int) -> None:
        """Give back the room that was not needed."""
        if len(self.weight) != n_bags:
            self._resize(n_bags)

    def _resize(self, n_bags: int) -> None:
        """Change the number of bags in place: the sums of many bags are most of the memory, and a copy doubles it."""
        for sums in (self.phi_sums, self.weight, self.weight_squares):
            sums.resize((n_bags, *sums.shape[1:]), refcheck=False)
