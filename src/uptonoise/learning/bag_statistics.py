"""Statistics of every bag: quantiles, cumulants, L-moments and products of columns.

Bags of similar sizes are put into one array, padded at the end, so that each statistic is one numpy call for many bags.
Cumulants are roots (the square root of a covariance, the cube root of a third cumulant), so that all statistics have
the units of the data. Independent symmetric noise does not change the expectation of odd cumulants, nor of products of
different columns; Gaussian noise changes no cumulant beyond the second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats

Integers = NDArray[np.int64]
Blocks = dict[str, Floats]
"""Named statistics: for each name an array of shape (n_bags, k)."""

VALUES_AT_ONCE = 2**23
"""How many values of bags are looked at together, so that copies of them take little memory."""
N_SPREADS = 5
"""How many spreads each column has."""
QUANTILES = np.array([0.0, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 1.0])
_MEDIAN = 5
_CELLS_AT_ONCE = 400_000
_SIZE_RATIO = 1.3  # of bags that are padded to the same size
_LEAST = 1e-3  # in units of the column's scale: below that all spreads are alike


def statistics(values: Floats, offsets: Integers, pairs: Sequence[tuple[int, int]]) -> Blocks:
    """Return the statistics of all bags.

    The rows of all bags, in units of the columns' scales, lie one bag after the other; `pairs` are those of columns
    whose products are looked at.
    """
    sizes = np.diff(offsets)
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    blocks: Blocks = {}
    start = 0
    while start < len(order):
        # Bags of similar sizes, as many at once as fit into memory.
        alike = int(np.searchsorted(ordered, _SIZE_RATIO * ordered[start] + 2, side="right"))
        room = max(1, _CELLS_AT_ONCE // (int(ordered[alike - 1]) * values.shape[1]))
        which = order[start : min(alike, start + room)]
        rows = np.arange(sizes[which].max())
        padded = values[np.minimum(offsets[which][:, None] + rows, len(values) - 1)]
        for name, part in _statistics(padded, rows < sizes[which][:, None], sizes[which], pairs).items():
            if name not in blocks:
                blocks[name] = np.empty((len(sizes), part.shape[1]))
            blocks[name][which] = part
        start += len(which)
    return blocks


def _statistics(values: Floats, is_row: NDArray[np.bool_], sizes: Integers, pairs: Sequence[tuple[int, int]]) -> Blocks:
    """Return the statistics of bags with padded values of shape (b, n, d), of which some rows are theirs."""
    mask, count = is_row[..., None], sizes[:, None].astype(np.float64)
    mean = np.sum(values * mask, axis=1) / count
    centred = np.where(mask, values - mean[:, None], 0.0)
    # The cumulants of orders 2 to 5 of each column.
    squares = centred * centred
    m2, m3 = squares.sum(axis=1) / count, (squares * centred).sum(axis=1) / count
    m4, m5 = (squares * squares).sum(axis=1) / count, (squares * squares * centred).sum(axis=1) / count
    k2 = m2 * count / np.maximum(count - 1, 1)
    k3 = m3 * count**2 / np.maximum((count - 1) * (count - 2), 1)
    k4, k5 = m4 - 3 * m2**2, m5 - 10 * m3 * m2
    ordered = np.sort(np.where(mask, values, np.inf), axis=1)
    quantiles = _quantiles(ordered, count, QUANTILES)
    median = quantiles[:, _MEDIAN]
    deviations = np.sort(np.where(mask, np.abs(values - median[:, None]), np.inf), axis=1)
    mad = _quantiles(deviations, count, np.array([0.5]))[:, 0]
    l2, l3, l4 = _l_moments(np.where(mask, ordered, 0.0), mean, count)
    sd = np.sqrt(k2)
    spread = sd + _LEAST
    # How far the middle of two quantiles is from the median.
    lopsided = [quantiles[:, 10 - place] + quantiles[:, place] - 2 * median for place in (0, 2, 3, 4)]
    spreads = (sd, quantiles[:, 6] - quantiles[:, 4], quantiles[:, 8] - quantiles[:, 2], mad, np.abs(l2))
    l_spread = np.abs(l2) + _LEAST
    blocks = {
        "mean": mean,
        "sd": sd,
        "quantile": quantiles.reshape(len(mean), -1),
        "log_spread": np.log(np.concatenate(spreads, axis=1) + _LEAST),
        "odd": np.concatenate([_root(k3, 3), _root(k5, 5), *lopsided, mean - median, l3], axis=1),
        "even": _root(k4, 4),
        "shape": np.concatenate(
            [k3 / spread**3, k4 / spread**4, l3 / l_spread, l4 / l_spread, *(part / spread for part in lopsided[1:])],
            axis=1,
        ),
        "log_rows": np.log(count),
        "third": k3,
    }
    return blocks | _products(centred, count, k2, pairs) if pairs else blocks


def _quantiles(ordered: Floats, count: Floats, levels: Floats) -> Floats:
    """Return quantiles of shape (b, levels, d) from ordered columns; what is beyond a bag's size is not looked at."""
    places = (count - 1) * levels
    below = np.floor(places).astype(np.int64)
    above = np.minimum(below + 1, count.astype(np.int64) - 1)
    low = np.take_along_axis(ordered, below[..., None], axis=1)
    high = np.take_along_axis(ordered, above[..., None], axis=1)
    return np.asarray(low + (places - below)[..., None] * (high - low))


def _l_moments(ordered: Floats, mean: Floats, count: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the second to fourth L-moments, which are linear in the ordered rows."""
    rank, n = np.arange(ordered.shape[1])[None, :, None], count[:, :, None]
    weighted, sums = ordered, []
    for order in (1, 2, 3):
        weighted = weighted * (rank - order + 1) / np.maximum(n - order, 1)
        sums.append(weighted.sum(axis=1) / count)
    b1, b2, b3 = sums
    return 2 * b1 - mean, 6 * b2 - 6 * b1 + mean, 20 * b3 - 30 * b2 + 12 * b1 - mean


def _products(centred: Floats, count: Floats, k2: Floats, pairs: Sequence[tuple[int, int]]) -> Blocks:
    """Return what two columns have together: covariance and higher joint cumulants."""
    first, second = (list(side) for side in zip(*pairs, strict=True))
    a, b = centred[:, :, first], centred[:, :, second]
    covariance, k21, k12 = (np.sum(product, axis=1) / count for product in (a * b, a * a * b, a * b * b))
    k22 = np.sum(a * a * b * b, axis=1) / count - k2[:, first] * k2[:, second] - 2 * covariance**2
    spread = np.sqrt(k2) + _LEAST
    return {
        "pair_odd": np.concatenate([_root(covariance, 2), _root(k21, 3), _root(k12, 3)], axis=1),
        "pair_even": _root(k22, 4),
        "pair_cumulant": np.concatenate([covariance, k21, k12], axis=1),
        "pair_shape": np.concatenate(
            [
                covariance / (spread[:, first] * spread[:, second]),
                k21 / (spread[:, first] ** 2 * spread[:, second]),
                k12 / (spread[:, first] * spread[:, second] ** 2),
            ],
            axis=1,
        ),
    }


def _root(cumulant: Floats, order: int) -> Floats:
    return np.asarray(np.sign(cumulant) * np.abs(cumulant) ** (1 / order))
