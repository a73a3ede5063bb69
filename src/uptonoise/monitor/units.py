"""Units of evidence: differences of rows that are symmetric about 0 where only noise differs.

A unit is one pair of rows, z = x - y. Rows that belong together (clusters) make one unit: the signals of two clusters
can change places as a whole, and noise can change its sign as a whole, so that all differences of a pair of clusters
change their signs together.

Up to noise and an offset, z is symmetric about an offset that nobody knows. A unit is then a group of pairs, each less
the group's own centre. The centre of -z is minus the centre of z, so that the centred differences of a group change
their signs together, exactly, whatever the offset is. It may be another one in every group.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats

GROUP = 20
"""Pairs that share one estimate of the offset; chosen on gamma signals in three and eight columns."""

_TRIMMED = 4  # one in so many is left out at each end, for the centre


class Units(NamedTuple):
    """Differences (n, d), NaN where a value is missing, and the first row of each unit; None where each row is one."""

    z: Floats
    starts: NDArray[np.int64] | None = None

    @classmethod
    def none(cls, n_columns: int) -> Self:
        """Return no units."""
        return cls(np.empty((0, n_columns)))

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return len(self.z) if self.starts is None else len(self.starts)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each unit has."""
        if self.starts is None:
            return np.ones(len(self.z), dtype=np.int64)
        return np.diff(self.starts, append=len(self.z))

    def part(self, start: int, stop: int) -> Units:
        """Return the units from `start` to the one before `stop`."""
        if self.starts is None:
            return Units(self.z[start:stop])
        n = len(self.starts)
        first, last = (int(self.starts[unit]) if unit < n else len(self.z) for unit in (start, stop))
        return Units(self.z[first:last], self.starts[start:stop] - first)

    def joined(self, other: Units) -> Units:
        """Return these units, then others."""
        if not len(self.z):
            return other
        if not len(other.z):
            return self
        z = np.concatenate([self.z, other.z])
        if self.starts is None and other.starts is None:
            return Units(z)
        left, right = (units.starts if units.starts is not None else np.arange(len(units.z)) for units in (self, other))
        return Units(z, np.concatenate([left, right + len(self.z)]))

    def mean(self, values: Floats) -> Floats:
        """Return the mean over each unit of values (n, m) of its rows."""
        if self.starts is None:
            return values
        return np.asarray(np.add.reduceat(values, self.starts, axis=0) / self.sizes[:, None])


def centred_groups(units: Units) -> tuple[Units, Units]:
    """Return groups of units, less the centre of each group, and the units that wait for a group to be complete.

    All units that come together are cut into groups of nearly the same size, at least `GROUP`: a batch that is large
    enough shares no group with another one. A centre is the trimmed mean; the median where values are missing.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.monitor.units import Units, centred_groups
    >>> groups, waiting = centred_groups(Units(np.arange(50.0)[:, None]))
    >>> groups.sizes, waiting.n_units, float(groups.z[0, 0])
    (array([25, 25]), 0, -12.0)
    """
    n_groups = units.n_units // GROUP
    if n_groups == 0:
        return Units.none(units.z.shape[1]), units
    firsts = np.arange(n_groups) * units.n_units // n_groups
    starts = firsts if units.starts is None else units.starts[firsts]
    sizes = np.diff(starts, append=len(units.z))
    centres = np.empty((n_groups, units.z.shape[1]))
    for size in np.unique(sizes):
        of_size = np.flatnonzero(sizes == size)
        groups = units.z[starts[of_size][:, None] + np.arange(size)]  # of shape (g, size, d)
        if np.isnan(groups).any():
            present = np.isfinite(groups).any(axis=1, keepdims=True)
            centres[of_size] = np.nanmedian(np.where(present, groups, 0.0), axis=1)
        else:
            trimmed = np.sort(groups, axis=1)[:, size // _TRIMMED : size - size // _TRIMMED]
            centres[of_size] = trimmed.mean(axis=1)
    return Units(units.z - np.repeat(centres, sizes, axis=0), starts), Units.none(units.z.shape[1])
