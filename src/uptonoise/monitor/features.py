"""Odd features of differences: sines at frequencies on single columns, on pairs and on all columns.

Frequencies are in units of one over the typical size of a difference. That size is the median of abs(z) of past rows,
which flips of signs do not change, and it follows the stream slowly: a sensor that becomes noisier is looked at with
lower frequencies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.fourier import joint_frequencies
from uptonoise.monitor.units import Units

_RADII = {4: (0.25, 0.5, 0.75, 1.0), 3: (0.25, 0.5, 1.0), 2: (0.4, 0.8), 1: (0.6,)}
_N_SINGLE = 80  # frequencies on single columns, about, where there are many columns
_N_JOINT = 20  # frequencies on pairs of columns, and as many on all columns
_REACH = 0.7  # of those on several columns
_SLOWEST = 1 / 32  # share of a new block in the typical size
_SMALLEST, _LARGEST = np.finfo(float).tiny * 1e16, np.finfo(float).max / 1e16  # typical sizes
_FAR = 1e4  # times the typical size: differences beyond are all alike


class OddFeatures(NamedTuple):
    """Directions (m, d) of the features; the first ones are on single columns, `n_radii` for each in turn."""

    directions: Floats
    n_radii: int

    @classmethod
    def sampled(cls, n_columns: int, generator: np.random.Generator) -> OddFeatures:
        """Sample the directions for a number of columns."""
        n_radii = max(1, min(4, _N_SINGLE // n_columns))
        single = np.kron(np.eye(n_columns), np.array(_RADII[n_radii])[:, None])
        if n_columns == 1:
            return cls(single, n_radii)
        joint = [joint_frequencies(_N_JOINT, n_columns, generator, in_pairs=pairs) for pairs in (True, False)]
        return cls(np.concatenate([single, *(_REACH * kind for kind in joint)]), n_radii)

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.directions)

    @property
    def n_columns(self) -> int:
        """How many columns the differences have."""
        return int(self.directions.shape[1])

    def of(self, units: Units, lengths: Floats) -> Floats:
        """Return the features (n_units, m); a missing value counts as no difference."""
        # In single precision, which is several times faster; it rounds z and -z alike, so that features stay odd.
        scaled = (units.z / lengths).clip(-_FAR, _FAR).astype(np.float32)
        missing = np.isnan(scaled)
        if missing.any():
            scaled[missing] = 0
        angles = scaled @ self.directions.T.astype(np.float32)
        return units.mean(np.sin(angles, out=angles).astype(np.float64))


def typical_sizes(z: Floats, known: Floats | None = None) -> Floats:
    """Return the median of abs(z) in each column, of the values that are not 0 where most are.

    Where a column has nothing but zeros or missing values it is as before, or 1.
    """
    sizes = np.abs(z)
    sizes[np.isnan(sizes)] = 0
    middle = len(sizes) // 2
    sizes.partition(middle, axis=0)
    lengths = sizes[middle].copy()
    for column in () if lengths.all() else np.flatnonzero(lengths == 0):
        others = sizes[sizes[:, column] > 0, column]
        before = 1.0 if known is None else known[column]
        lengths[column] = np.median(others) if len(others) else before
    return np.asarray(lengths.clip(_SMALLEST, _LARGEST))


def followed(lengths: Floats, z: Floats, n_blocks: int) -> Floats:
    """Return the typical sizes after one more block of differences, the `n_blocks`-th."""
    share = max(1 / n_blocks, _SLOWEST)
    return np.asarray(lengths ** (1 - share) * typical_sizes(z, lengths) ** share)
