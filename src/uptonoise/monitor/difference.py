r"""How large the difference is, in standard deviations, whatever the noise.

Noise leaves the phase of the differences alone. With w = u / spread, u up to 1, and phi(w) the mean of exp(i w z),

    delta(w) = arg phi(w)        effect^2 = sum (delta^2 - var delta) / sum u^2

is the square of a distance in units of a shift in standard deviations of the reference: a shift by t of them has
delta = t u. Up to an offset, the part of delta that is proportional to u is taken away first. Means forget as those of
the players do, and the estimate is that of the memory of the player who is ahead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.monitor.units import Units
from uptonoise.rows import CHUNK_ROWS

_N_FREQUENCIES = 4
_U = np.arange(1, _N_FREQUENCIES + 1) / _N_FREQUENCIES
_IQR_OF_NORMAL = 1.349
_SMALLEST = 1e-12  # amplitude
_FAR = 1e4  # times the spread: differences beyond are all alike
_FEW = 1 << 20  # values, which may be copied
_SAMPLED = 1 << 16
_REACH = 4  # standard errors of the rank of a sampled value


@dataclass(frozen=True, eq=False)
class Moments:
    """Means of exp(i w z) of each column with forgetting, for r memories. Nothing is changed in place."""

    spreads: Floats  # (d,): the unit of the difference of each column
    sums: NDArray[np.complex128]  # (r, d, 8): over rows, at 4 frequencies and, for their variances, at twice these
    weights: Floats  # (r, d): the sums of the weights of the rows
    squared_weights: Floats  # (r, d): the sums of the squares of those of units

    @classmethod
    def new(cls, spreads: Floats, n_memories: int) -> Moments:
        """Return the moments of no rows."""
        nothing = np.zeros((n_memories, len(spreads)))
        sums = np.zeros((n_memories, len(spreads), 2 * _N_FREQUENCIES), dtype=np.complex128)
        return cls(spreads, sums, nothing, nothing)

    def learnt(self, units: Units, memories: Floats, *, alike: bool) -> Moments:
        """Return the moments after some more units, whose rows are `alike` in clusters and independent in groups."""
        kept = np.exp(-units.n_units / memories)
        pieces = []  # the sums over rows at all frequencies, multiples of one, and the numbers of rows
        for start in range(0, len(units.z), CHUNK_ROWS):
            z = units.z[start : start + CHUNK_ROWS]
            # In single precision, which is several times faster; the errors of millions of rows cancel out.
            angles = np.clip(z / (_N_FREQUENCIES * self.spreads), -_FAR, _FAR).astype(np.float32)
            powers = np.empty((2 * _N_FREQUENCIES, *angles.shape), dtype=np.complex64)
            powers[0].real, powers[0].imag = np.cos(angles), np.sin(angles)
            missing = np.isnan(angles)
            if missing.any():
                powers[0][missing] = 0
            for number in range(1, len(powers)):
                np.multiply(powers[number - 1], powers[0], out=powers[number])
            sums = powers.sum(axis=1, dtype=np.complex128).T
            pieces.append((sums, (len(z) - missing.sum(axis=0)).astype(float)))
        new, count = (np.sum(part, axis=0) for part in zip(*pieces, strict=True))
        is_clustered = alike and units.starts is not None
        squares = count * ((units.sizes**2).sum() / len(units.z)) if is_clustered else count
        return replace(
            self,
            sums=kept[:, None, None] * self.sums + new,
            weights=kept[:, None] * self.weights + count,
            squared_weights=(kept**2)[:, None] * self.squared_weights + squares,
        )

    def estimates(self, memory: int, up_to_offset: bool) -> tuple[Floats, Floats]:
        """Return the difference of each column in standard deviations, and its standard error where there is none.

        NaN where a column has no rows.
        """
        known = self.weights[memory] > 0
        weights = np.where(known, self.weights[memory], 1.0)
        phi = self.sums[memory] / weights[:, None]
        at_u, at_twice = phi[:, :_N_FREQUENCIES], phi[:, 1::2]
        amplitudes = np.maximum(np.abs(at_u), _SMALLEST)
        # The variance of sin(w z - delta), over the squared amplitude and the effective number of rows.
        turned = at_twice * (at_u.conj() / amplitudes) ** 2
        rows = weights**2 / np.where(known, self.squared_weights[memory], 1.0)
        variances = np.minimum((1 - turned.real) / (2 * rows[:, None] * amplitudes**2), np.pi**2)
        delta = np.angle(at_u)
        norm = _U @ _U
        if up_to_offset:
            delta = delta - (delta @ _U / norm)[:, None] * _U
        squares = (delta**2 - variances).sum(axis=1) / norm
        estimates, errors = np.sqrt(np.maximum(squares, 0.0)), np.sqrt(variances.sum(axis=1) / norm)
        return np.where(known, estimates, np.nan), np.where(known, errors, np.nan)


def spreads_of(rows: Floats) -> Floats:
    """Return the standard deviation of each column as the quartiles tell it; the plain one where these are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.monitor.difference import spreads_of
    >>> spreads_of(np.random.default_rng(0).normal(scale=2, size=(10_000, 1))).round(1)
    array([2.])
    """
    spreads = np.ones(rows.shape[1])
    for column, values in enumerate(rows.T):
        present = np.isfinite(values)
        if present.any():
            low, high = (quantile_of(values, level) for level in (0.25, 0.75))
            spread = (high - low) / _IQR_OF_NORMAL or values[present].std()
            spreads[column] = spread if 0 < spread < np.inf else 1.0
    return spreads


def quantile_of(column: Floats, level: float) -> float:
    """Return a quantile of the finite values of a column, of which there must be some, as ``np.quantile`` does.

    A long column is not copied: a few of its values say where to look, and two passes look there.
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
