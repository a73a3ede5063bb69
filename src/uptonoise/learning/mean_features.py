"""The mean of each bag: what models on bags are to be compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.learning.docs import described
from uptonoise.learning.transformer import BagTransformer
from uptonoise.rows import Accumulator, Block, RowSource, read_rows

BagTotals = tuple[NDArray[np.int64], Floats, NDArray[np.int64]]
"""Of some bags: their increasing numbers, the sums of their rows, and how many there are."""


class TotalsByBag(Accumulator[BagTotals]):
    """The number of rows of each bag and their sum; a bag's rows may lie anywhere."""

    block_rows = 65_536

    def __init__(self, n_bags: int, n_columns: int) -> None:
        self.sums = np.zeros((n_bags, n_columns))
        self.sizes = np.zeros(n_bags, dtype=np.int64)

    def part(self, block: Block) -> BagTotals:
        """Return the totals of the bags that have rows in the block."""
        bags, places, sizes = np.unique(np.asarray(block.bags), return_inverse=True, return_counts=True)
        sums = [np.bincount(places, weights=column) for column in block.values.T]
        return bags, np.stack(sums, axis=1), sizes

    def add(self, part: BagTotals) -> None:
        """Add the totals of the next rows."""
        bags, sums, sizes = part
        if len(bags) == 0:
            return
        needed = int(bags[-1]) + 1
        if needed > len(self.sizes):  # a stream brings new bags: make room for them, and for as many again
            more = 2 * needed - len(self.sizes)
            self.sums, self.sizes = np.pad(self.sums, ((0, more), (0, 0))), np.pad(self.sizes, (0, more))
        self.sums[bags] += sums
        self.sizes[bags] += sizes

    def total(self) -> BagTotals:
        """Return the totals of the bags that have rows so far."""
        present = np.flatnonzero(self.sizes)
        return present, self.sums[present], self.sizes[present]

    def empty(self) -> TotalsByBag:
        """Return the same without any rows."""
        return TotalsByBag(0, self.sums.shape[1])

    def renumbered(self, part: BagTotals, numbers: NDArray[np.int64]) -> BagTotals:
        """Return a part with other numbers of its bags."""
        bags = numbers[part[0]]
        order = np.argsort(bags)
        return bags[order], part[1][order], part[2][order]


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
    totals = source.fold(TotalsByBag(len(ids), len(source.columns)))
    n_bags = len(ids)  # a stream knows only now
    means: Floats = totals.sums[:n_bags] / totals.sizes[:n_bags, None]
    return means
