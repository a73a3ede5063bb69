"""Densities of numbers, whatever their tails: smooth curves over the range where nearly all of them lie."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats

_GRID = 256
_QUANTILES = (0.005, 0.995)
_REACH = 4.0  # interquartile ranges beyond the quartiles, at most


def common_grid(*samples: Floats) -> Floats:
    """Return the points that densities are shown at: within the range of the values, without far tails."""
    lows, highs = [], []
    for values in samples:
        low, first, third, high = np.quantile(values, [_QUANTILES[0], 0.25, 0.75, _QUANTILES[1]])
        reach = _REACH * (third - first) if third > first else math.inf
        lows.append(max(low, first - reach))
        highs.append(min(high, third + reach))
    low, high = min(lows), max(highs)
    if low == high:
        return np.linspace(low - 0.5 * max(1.0, abs(low)), high + 0.5 * max(1.0, abs(high)), _GRID)
    margin = 0.08 * (high - low)
    least, most = min(float(values.min()) for values in samples), max(float(values.max()) for values in samples)
    return np.linspace(max(low - margin, least), min(high + margin, most), _GRID)


class Density(NamedTuple):
    """A density at points."""

    x: Floats
    y: Floats


def density_of(values: Floats, grid: Floats, noise: float = 0.0) -> Density | None:
    """Return the density of values at the points of a grid, which stops where they do; None where all are the same.

    `noise` is the standard deviation of Gaussian noise to add; with noise the density does not stop.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise._util.density import common_grid, density_of
    >>> values = np.random.default_rng(0).exponential(size=1_000)
    >>> density = density_of(values, common_grid(values))
    >>> bool(density.x[0] >= 0), bool(density.y[0] > 0.7)
    (True, True)
    """
    shown, width = values[(values >= grid[0]) & (values <= grid[-1])], 0.0
    if len(shown) > 1:  # Silverman's bandwidth; 0 for constant values
        deviation, (first, third) = shown.std(), np.quantile(shown, [0.25, 0.75])
        spread = min(deviation, (third - first) / 1.349) or deviation
        width = float(0.9 * spread * len(shown) ** -0.2)
    if noise > 0:
        return Density(grid, _smoothed(values, grid, max(math.hypot(width, noise), grid[1] - grid[0])))
    if width == 0:
        return None
    low, high = float(values.min()), float(values.max())
    inside = np.unique(np.clip(grid, low, high))
    width = max(width, grid[1] - grid[0])
    # What smoothing moves beyond the ends comes back, as from a mirror.
    mirrored = (values, 2 * low - values[values < low + 5 * width], 2 * high - values[values > high - 5 * width])
    total = np.sum([_smoothed(part, inside, width) * len(part) for part in mirrored], axis=0)
    return Density(inside, total / len(values))


def _smoothed(values: Floats, grid: Floats, width: float) -> Floats:
    if not len(values):
        return np.zeros_like(grid)
    steps = ((grid[:, None] - values) / width).astype(np.float32)
    return np.asarray(np.exp(-(steps**2) / 2).mean(axis=1, dtype=np.float64) / (width * math.sqrt(2 * math.pi)))
