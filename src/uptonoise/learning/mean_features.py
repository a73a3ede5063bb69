"""The mean of each bag: what models on bags are to be compared with."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.learning.docs import described
from uptonoise.learning.transformer import BagTransformer
from uptonoise.rows import Accumulator, Block, RowSource, read_rows

PartByBag = tuple[NDArray[np.int64], Floats]
"""Of some bags: their increasing numbers, and their sums, one row for each."""


class SumsByBag(Accumulator[PartByBag]):
    """Several sums over the rows of each bag, which may lie anywhere; a subclass says which."""

    def __init__(self, n_bags: int, n_sums: int) -> None:
        self.sums = np.zeros((n_bags, n_sums))

    def add(self, part: PartByBag) -> None:
        """Add the sums of the next rows."""
        bags, sums = part
        if len(bags) == 0:
            return
        needed = int(bags[-1]) + 1
        if needed > len(self.sums):  # a stream brings new bags: make room for them, and for as many again
            self.sums = np.pad(self.sums, ((0, 2 * needed - len(self.sums)), (0, 0)))
        self.sums[bags] += sums

    def total(self) -> PartByBag:
        """Return the sums of the bags that have any so far."""
        present = np.flatnonzero(self.sums.any(axis=1))
        return present, self.sums[present]

    def empty(self) -> Self:
        """Return the same without any rows."""
        empty = copy(self)
        empty.sums = np.zeros((0, self.sums.shape[1]))
        return empty

    def renumbered(self, part: PartByBag, numbers: NDArray[np.int64]) -> PartByBag:
        """Return a part with other numbers of its bags."""
        bags = numbers[part[0]]
        order = np.argsort(bags)
        return bags[order], part[1][order]


class TotalsByBag(SumsByBag):
    """The sum of the rows of each bag, and in the last place their number."""

    block_rows = 65_536

    def part(self, block: Block) -> PartByBag:
        """Return the totals of the bags that have rows in the block."""
        bags, places, sizes = np.unique(np.asarray(block.bags), return_inverse=True, return_counts=True)
        sums = [np.bincount(places, weights=column) for column in block.values.T]
        return bags, np.stack([*sums, sizes], axis=1)


@described
class MeanFeatures(BagTransformer):
    """The mean of each bag: what models on bags are to be compared with.

    Attributes
    ----------
    {fitted_columns}

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> un.MeanFeatures().fit_transform([np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([[5.0, 5.0]])])
    array([[1., 1.],
           [5., 5.]])
    """

    def _fit_rows(self, source: RowSource) -> None:
        source.check()

    def _fit_transform_rows(self, source: RowSource, X: Any) -> Floats:
        return bag_means(source)

    def _transform_rows(self, source: RowSource, X: Any) -> Floats:
        return bag_means(source)


def bag_means(source: RowSource) -> Floats:
    """Return the mean of each bag, or the rows of a sample, which are bags of one row."""
    ids: Any = source.bag_ids
    if ids is None:
        return read_rows(source)
    totals = source.fold(TotalsByBag(len(ids), len(source.columns) + 1)).sums[: len(ids)]  # a stream knows only now
    return np.asarray(totals[:, :-1] / totals[:, -1:])
