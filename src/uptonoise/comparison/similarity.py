"""An order of many groups that puts those that are alike side by side."""

from __future__ import annotations

import numpy as np

from uptonoise._util.typing import Floats


def by_similarity(distances: Floats) -> list[int]:
    """Return the places of things: first the one that is furthest from the others, then always the nearest one left.

    Parameters
    ----------
    distances : array of shape (n, n)
        Symmetric; unknown ones (NaN) count as the largest one.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.comparison.similarity import by_similarity
    >>> places = np.array([0.0, 5.0, 0.2, 5.5])
    >>> by_similarity(np.abs(places[:, None] - places))
    [3, 1, 2, 0]
    """
    known = np.isfinite(distances)
    filled = np.where(known, distances, distances[known].max(initial=1.0))
    left = list(range(len(distances)))
    order: list[int] = []
    while left:
        remoteness = -filled.mean(axis=1) if not order else filled[order[-1]]
        order.append(min(left, key=remoteness.__getitem__))
        left.remove(order[-1])
    return order
