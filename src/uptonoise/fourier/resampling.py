"""What resampling tests compute from rows in memory.

Each function is for arrays. An engine that keeps rows elsewhere adds its own with ``function.register``; it uses the
same random numbers, and so has the same result.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.fourier.cosine_sine import CosineSine


@singledispatch
def column_variances(X: Any, Y: Any) -> Floats:
    """Return the variance of each column over all rows of both samples."""
    return np.asarray(np.concatenate([X, Y]).var(axis=0, ddof=1))


@singledispatch
def labelled_feature_sums(
    X: Any, Y: Any, frequencies: Floats, labels: Iterable[NDArray[np.float32]]
) -> tuple[Floats, Floats]:
    """Return the sums of [cos, sin] over the labelled rows of both samples, and over all rows.

    The labels come in blocks of columns, with one column for each row of X, then of Y.
    """
    features = CosineSine(frequencies, "fast")
    pooled = np.concatenate([X, Y])
    centre = np.median(pooled, axis=0)  # distances and phases between samples do not depend on it
    sums: Any = 0.0
    total = np.zeros(2 * len(frequencies))
    start = 0
    for labelled in labels:
        stop = start + labelled.shape[1]
        block, block_sum = features.with_sums(pooled[start:stop] - centre, None)
        sums = sums + np.asarray(labelled @ block.astype(np.float32, copy=False), dtype=np.float64)
        total += block_sum
        start = stop
    return sums, total
