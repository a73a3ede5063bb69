"""Distances between rows, and the median distance between the values of one column without all of them.

Of n values there are n (n - 1) / 2 distances. In sorted values those of the i-th one ascend, so a bisection over
lengths counts how many are shorter, and only the few in the middle are written out. The result is the same to the last
bit as that of all distances: what the bisection left out is checked against it.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from uptonoise._util.typing import Floats

_FEW_COLUMNS = 16
_FEW = 200  # values up to which all distances are faster
_HALVINGS = 40
_WRITTEN_OUT = 4  # distances for each value, among which the middle ones are sorted out


def middle_distances(values: Floats) -> Floats:
    """Return the distance in the middle of all distances between two of the values, or both in the middle.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.distances import middle_distances
    >>> middle_distances(np.array([0.0, 1.0, 3.0])), middle_distances(np.array([0.0, 1.0, 3.0, 7.0]))
    (array([2.]), array([3., 4.]))
    """
    ordered = np.sort(values)
    n_pairs = len(ordered) * (len(ordered) - 1) // 2
    middle = np.unique([(n_pairs - 1) // 2, n_pairs // 2])
    if len(ordered) > _FEW:
        shorter, longer = _bracket(ordered, int(middle[0]))
        counts = longer - shorter
        first = np.repeat(np.arange(len(ordered)), counts)
        second = np.arange(len(first)) + np.repeat(shorter - np.cumsum(counts) + counts, counts)
        distances = ordered[second] - ordered[first]
        ranks = middle - int((shorter - np.arange(1, len(ordered) + 1)).sum())
        if ranks[0] >= 0 and ranks[-1] < len(distances):
            picked = np.partition(distances, ranks)[ranks]
            if _is_in_the_middle(ordered, shorter, longer, picked):
                return np.asarray(picked)
    first, second = np.triu_indices(len(ordered), 1)
    return np.asarray(np.partition(ordered[second] - ordered[first], middle)[middle])


def squared_distances_of_pairs(rows: Floats) -> Floats:
    """Return the squared distance of each pair of different rows: scipy's `pdist`, to the last bit.

    Of few columns it is had without scipy.spatial, which takes longer to load than a small comparison to be made.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.distances import squared_distances_of_pairs
    >>> squared_distances_of_pairs(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    array([25.,  1., 18.])
    """
    if rows.shape[1] > _FEW_COLUMNS:
        return np.asarray(scipy.spatial.distance.pdist(rows, "sqeuclidean"))
    columns, n = np.ascontiguousarray(rows.T), len(rows)
    squares, at = np.empty(n * (n - 1) // 2), 0
    for first in range(n - 1):
        differences = columns[:, first + 1 :] - columns[:, first : first + 1]
        differences *= differences
        differences.sum(axis=0, out=squares[at : at + n - 1 - first])
        at += n - 1 - first
    return squares


def _bracket(ordered: Floats, rank: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each value the place of the first one further up than a short length, and than a long one.

    The distance with this rank is between the two lengths, but for rounding.
    """
    n = len(ordered)
    itself = np.arange(1, n + 1)
    low, high = 0.0, float(ordered[-1] - ordered[0])
    shorter, longer = itself, np.full(n, n)
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
    return shorter, longer


def _is_in_the_middle(ordered: Floats, shorter: NDArray[np.int64], longer: NDArray[np.int64], picked: Floats) -> bool:
    """Tell whether no distance that was left out as shorter is longer, and none left out as longer is shorter."""
    itself, n = np.arange(len(ordered)), len(ordered)
    left_out, beyond = shorter > itself + 1, longer < n
    longest = (ordered[shorter - 1] - ordered)[left_out].max(initial=0.0)
    shortest = (ordered[longer[beyond]] - ordered[beyond]).min(initial=np.inf)
    return bool(longest <= picked[0] and picked[-1] <= shortest)
