"""What the tests that resample compute from rows in memory; an engine registers how, for rows that it keeps elsewhere.

Each function is for arrays. Another type of rows has its own by ``function.register``, with the same draws and hence
the same result.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.fourier.characteristic import Waves


@singledispatch
def mean_variance(X: Any, Y: Any) -> float:
    """Return the variance of all rows of both samples, averaged over columns."""
    return float(np.concatenate([X, Y]).var(axis=0, ddof=1).mean())


@singledispatch
def labelled_wave_sums(
    X: Any, Y: Any, frequencies: Floats, labels: Iterable[NDArray[np.float32]]
) -> tuple[Floats, Floats]:
    """Return the sums of [cos, sin] over the rows of both samples that are labelled, and over all rows.

    The labels come in blocks of columns, one column for each row of X, then of Y.
    """
    waves = Waves(frequencies, "fast")
    pooled = np.concatenate([X, Y])
    centre = np.median(pooled, axis=0)  # neither distances nor phases between samples depend on it
    sums: Any = 0.0
    total = np.zeros(2 * len(frequencies))
    start = 0
    for labelled in labels:
        stop = start + labelled.shape[1]
        block = waves(pooled[start:stop] - centre).astype(np.float32)
        sums = sums + np.asarray(labelled @ block, dtype=np.float64)
        total += block.sum(axis=0, dtype=np.float64)
        start = stop
    return sums, total
