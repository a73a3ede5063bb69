"""The length of each column: how far its values lie apart, in its own units and whatever the order of the rows.

It is the median distance of two values over sqrt(2). Where most values are equal it is the median distance of the
others from them, and where all values that were looked at are equal, a pass over all rows finds the rare ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.rows import CHUNK_ROWS, Accumulator, Block, RowSource

_POINTS = 400  # values of a column whose distances are taken
_FEW = 200  # values up to which all distances are faster
_HALVINGS = 40
_WRITTEN_OUT = 4  # distances for each value, among which the middle ones are sorted out
_DIGITS = 9  # of a mean, which rounding does not change
_SMALLEST = np.finfo(np.float64).smallest_subnormal

RareLengths = Callable[[Floats, Sequence[int]], Floats]
"""From the constants of each sample, of shape (n_samples, k), in k columns to the lengths of these; NaN if unknown."""


def lengths_and_order(
    samples: Sequence[Floats], rare_lengths: RareLengths | None = None
) -> tuple[Floats, NDArray[np.intp]]:
    """Return the length of each column, wherever each sample lies, and an order of the columns by their values alone.

    A column that is constant in all samples gets what `rare_lengths` finds in the rows that are not here, or the
    distance between the samples, and 1 where there is none. Neither the order of the samples, of the rows or of the
    columns changes the order, nor do units.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier import lengths_and_order
    >>> X = np.random.default_rng(0).exponential(size=(100, 2)) * [1, 1_000]
    >>> lengths, order = lengths_and_order([X, X + 5])
    >>> lengths.round(1)
    array([  0.6, 465.1])
    >>> again = lengths_and_order([X[::-1, ::-1]])[1]
    >>> np.array_equal(X[:, order], X[:, ::-1][:, again])
    True
    """
    centres = np.stack([np.median(rows, axis=0) for rows in samples])
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused with the rows
        apart = [rows - centre for rows, centre in zip(samples, centres, strict=True)]
    pooled = np.concatenate(apart)
    lengths = np.full(pooled.shape[1], np.nan)  # where all values are equal
    ranks = np.rint(np.linspace(0, len(pooled) - 1, min(len(pooled), _POINTS))).astype(np.int64)
    for number, column in enumerate(pooled.T):
        largest = float(np.abs(column).max())
        if not 0 < largest < np.inf:
            continue
        # In units of the largest, the squares of huge and of tiny numbers stay inside float64.
        median = float(np.mean(middle_distances(np.sort(column)[ranks] / largest)))
        if median == 0:
            median = float(np.median(np.abs(column[column != 0]) / largest))
        lengths[number] = largest * median / np.sqrt(2)
    unknown = np.flatnonzero(np.isnan(lengths))
    if len(unknown):
        if rare_lengths is not None:
            lengths[unknown] = rare_lengths(centres[:, unknown], unknown.tolist())
        between = np.ptp(centres, axis=0)
        lengths = np.where(np.isnan(lengths), np.where(between > 0, between, 1.0), lengths)
    lengths = np.asarray(np.maximum(lengths, _SMALLEST))
    with np.errstate(over="ignore", invalid="ignore"):
        means = [np.arctan(rows / lengths).mean(axis=0) for rows in apart]
    return lengths, np.argsort(np.round(np.sum(means, axis=0), _DIGITS), kind="stable")


def middle_distances(values: Floats) -> Floats:
    """Return the distance in the middle of all distances between two of the values, or both in the middle.

    Of n values there are n (n - 1) / 2 distances. In sorted values those of the i-th one ascend, so a bisection over
    lengths counts how many are shorter, and only the few in the middle are written out. The result is the same to the
    last bit as that of all distances: what the bisection left out is checked against it.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.lengths import middle_distances
    >>> middle_distances(np.array([0.0, 1.0, 3.0])), middle_distances(np.array([0.0, 1.0, 3.0, 7.0]))
    (array([2.]), array([3., 4.]))
    """
    ordered, n = np.sort(values), len(values)
    n_pairs = n * (n - 1) // 2
    middle = np.unique([(n_pairs - 1) // 2, n_pairs // 2])
    if n > _FEW:
        # Of each value, the place of the first one that is further up than a short length, and than a long one.
        itself, rank = np.arange(1, n + 1), int(middle[0])
        low, high, shorter, longer = 0.0, float(ordered[-1] - ordered[0]), itself, np.full(n, n)
        for _ in range(_HALVINGS):
            if int((longer - shorter).sum()) <= _WRITTEN_OUT * n:
                break
            length = (low + high) / 2
            places = np.maximum(np.searchsorted(ordered, ordered + length, side="right"), itself)
            n_shorter = int((places - itself).sum())
            # Both middle distances must be inside, and the second one may be the next longer.
            if n_shorter <= rank:
                low, shorter = length, places
            elif n_shorter >= rank + 2:
                high, longer = length, places
            else:
                break
        counts = longer - shorter
        first = np.repeat(np.arange(n), counts)
        second = np.arange(len(first)) + np.repeat(shorter - np.cumsum(counts) + counts, counts)
        distances = ordered[second] - ordered[first]
        ranks = middle - int((shorter - itself).sum())
        if ranks[0] >= 0 and ranks[-1] < len(distances):
            picked = np.partition(distances, ranks)[ranks]
            # Rounding has not misled where none left out as shorter is longer, and none left out as longer is shorter.
            left_out, beyond = shorter > itself, longer < n
            longest = (ordered[shorter - 1] - ordered)[left_out].max(initial=0.0)
            shortest = (ordered[longer[beyond]] - ordered[beyond]).min(initial=np.inf)
            if longest <= picked[0] and picked[-1] <= shortest:
                return np.asarray(picked)
    first, second = np.triu_indices(n, 1)
    return np.asarray(np.partition(ordered[second] - ordered[first], middle)[middle])


class RareValues(Accumulator[NDArray[np.float64]]):
    """Of each column, how many values are not a constant, and the sum of the logarithms of their distances from it.

    The geometric mean of these distances does not depend on the order of rows, and follows the units. The
    constants are of shape (k,), or (n_bags, k) for the rows of bags, for k columns at these places.
    """

    block_rows = CHUNK_ROWS

    def __init__(self, constants: Floats, columns: Sequence[int]) -> None:
        self.constants, self.columns = constants, list(columns)
        self.needs_known_bags = constants.ndim == 2

    def part(self, block: Block) -> NDArray[np.float64]:
        """Return both sums over the rows of the block."""
        constants = self.constants if block.bags is None or self.constants.ndim == 1 else self.constants[block.bags]
        with np.errstate(over="ignore", divide="ignore"):
            logs = np.log(np.abs(block.values[:, self.columns] - constants))
        counted = np.isfinite(logs) & (1 if block.weights is None else (block.weights > 0)[:, None])
        return np.stack([counted.sum(axis=0), np.where(counted, logs, 0.0).sum(axis=0)])


def rare_lengths(sources: Sequence[RowSource] | RowSource, constants: Floats, columns: Sequence[int]) -> Floats:
    """Return lengths in a pass over samples that can be read again, or over the bags of one source.

    Each sample, or each bag, has constants of its own.
    """
    pairs = [(sources, constants)] if isinstance(sources, RowSource) else zip(sources, constants, strict=True)
    totals = np.zeros((2, len(columns)))
    for source, of_source in pairs:
        if source.can_be_read_again:
            totals += source.fold(RareValues(of_source, columns)).total()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.exp(totals[1] / totals[0]) / np.sqrt(2))
