"""The median distance between the values of one column, without all of the distances.

Of n values there are n (n - 1) / 2 distances. In sorted values those of the i-th one ascend, so a bisection over
lengths counts how many are shorter, and only the few in the middle are written out. The result is the same to the last
bit as that of all distances: what the bisection left out is checked against it.
"""

from __future__ import annotations

import numpy as np

from uptonoise._util.typing import Floats

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
