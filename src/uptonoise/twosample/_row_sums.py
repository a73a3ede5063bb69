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

from uptonoise.characteristic import Waves
from uptonoise.rows import Floats


@singledispatch
def flip_invariant_lengths(z: Any) -> Floats:
    """Return the median of abs(z) in each column: of the values that are not 0 where most are, and 1 where all are.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample._row_sums import flip_invariant_lengths
    >>> flip_invariant_lengths(np.array([[-1.0, 0.0], [2.0, 0.0], [3.0, 5.0]]))
    array([2., 5.])
    """
    sizes = np.abs(z)
    lengths = np.median(sizes, axis=0)
    for column in np.flatnonzero(lengths == 0):
        others = sizes[:, column][sizes[:, column] > 0]
        lengths[column] = np.median(others) if len(others) else 1.0
    return np.asarray(lengths)


@singledispatch
def signed_sine_sums(z: Any, frequencies: Floats, signs: list[NDArray[np.int8]]) -> tuple[Floats, Floats]:
    """Return sum_i s_i s_i' and, for each row of the signs, sum_i sign_i s_i, where s_i = sin(W z_i).

    The signs come in blocks of columns.
    """
    waves, m = Waves(frequencies, "fast", "X - Y"), len(frequencies)
    starts = np.cumsum([0] + [block.shape[1] for block in signs])
    second = np.zeros((m, m))
    sums = np.zeros((len(signs[0]), m))
    for start, block in zip(starts[:-1], signs, strict=True):
        sines = waves(z[start : start + block.shape[1]])[:, m:]
        second += sines.T @ sines
        sums += block.astype(np.float32) @ sines.astype(np.float32)
    return second, sums


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
