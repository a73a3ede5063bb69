"""Quantiles of a long column without a copy of it: a few of its values say where to look, and two passes look there."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.rows import CHUNK_ROWS

_FEW = 1 << 20  # values, which may be copied
_SAMPLED = 1 << 16
_REACH = 4  # standard errors of the rank of a sampled value


def quantile_of(column: Floats, level: float) -> float:
    """Return a quantile of the finite values of a column, of which there must be some, as ``np.quantile`` does.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.monitor.quantiles import quantile_of
    >>> quantile_of(np.array([3.0, np.nan, 1.0, 2.0, 10.0]), 0.5)
    2.5
    """
    if len(column) <= _FEW:
        return float(np.quantile(column[np.isfinite(column)], level))
    n = sum(map(len, _finite(column)))
    place = (n - 1) * level
    rank = math.floor(place)
    values = _ranked(column, level, [rank, min(rank + 1, n - 1)])
    if values is None:
        return float(np.quantile(column[np.isfinite(column)], level))
    (low, high), share = values, place - rank
    return high - (high - low) * (1 - share) if share >= 0.5 else low + (high - low) * share


def _finite(column: Floats) -> Iterator[Floats]:
    """Yield the finite values, some thousand at a time."""
    for start in range(0, len(column), CHUNK_ROWS):
        here = column[start : start + CHUNK_ROWS]
        yield here[np.isfinite(here)]


def _ranked(column: Floats, level: float, ranks: list[int]) -> list[float] | None:
    """Return the values with these ranks near a level; None where the sampled values have misled us."""
    sample = column[:: -(-len(column) // _SAMPLED)]
    sample = np.sort(sample[np.isfinite(sample)])
    if not len(sample):
        return None
    reach = math.ceil(_REACH * math.sqrt(len(sample)))
    first, last = (int(level * len(sample)) + sign * reach for sign in (-1, 1))
    low, high = sample[max(first, 0)], sample[min(last, len(sample) - 1)]
    # Values that are equal to an end are counted only: they may be as many as the rows.
    n_below = n_low = n_high = 0
    inner = []
    for values in _finite(column):
        n_below += int(np.count_nonzero(values < low))
        n_low += int(np.count_nonzero(values == low))
        n_high += int(np.count_nonzero(values == high)) if high > low else 0
        inner.append(values[(values > low) & (values < high)])
    between = np.sort(np.concatenate(inner))
    ends = np.cumsum([n_below, n_low, len(between), n_high])
    if ranks[0] < ends[0] or ranks[-1] >= ends[-1]:
        return None
    return [float(low if rank < ends[1] else between[rank - ends[1]] if rank < ends[2] else high) for rank in ranks]
