"""What resampling tests compute from rows.

Sums of sines over rows whose signs are flipped at random are for any source. Each function is for arrays: an engine
that keeps rows elsewhere adds its own with ``function.register``; it uses the same random numbers, and so has the same
result.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.fourier.cosine_sine import CosineSine
from uptonoise.rows import Accumulator, Block

_BITS_PER_COUNT = 256  # that Philox gives for each value of its counter


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


class Signs:
    """Random signs for every row and flip, which depend on nothing but the key and the number of the row.

    Philox is a function of a key and a counter. With the number of the row as the counter, whoever holds a row knows
    its signs, and the answer is the same however the rows are cut or distributed. `n_flips` does not count the data as
    they came.
    """

    def __init__(self, n_flips: int, generator: np.random.Generator) -> None:
        self.n_flips = n_flips
        self._key = generator.integers(2**64, size=2, dtype=np.uint64)
        self._counts_per_row = -(-n_flips // _BITS_PER_COUNT)

    def __call__(self, start: int, stop: int) -> NDArray[np.float32]:
        """Return the signs of the rows from `start` to `stop`, (n_flips + 1, n); the first are those of the data."""
        n_rows = stop - start
        philox = np.random.Philox(key=self._key, counter=start * self._counts_per_row)
        words = philox.random_raw(n_rows * self._counts_per_row * (_BITS_PER_COUNT // 64)).astype("<u8", copy=False)
        bits = np.unpackbits(words.view(np.uint8).reshape(n_rows, -1), axis=1, count=self.n_flips)
        signs = np.ones((self.n_flips + 1, n_rows), dtype=np.float32)
        signs[1:] -= 2 * bits.T
        return signs


class FlipSums(Accumulator[tuple[Floats, Floats]]):
    """Sums of products of sines, which no flip changes, and sums of sines for all flips."""

    def __init__(self, features: CosineSine, signs: Signs) -> None:
        self.features = features
        self.signs = signs
        self.block_rows = features.block_rows

    def part(self, block: Block) -> tuple[Floats, Floats]:
        """Return both sums of the rows of a block, of shapes (m, m) and (n_flips + 1, m)."""
        sines = self.features(block.values)[:, self.features.n_frequencies :]
        signs = self.signs(block.first_row, block.first_row + len(sines))
        flipped = signs @ sines.astype(np.float32, copy=False)
        return np.asarray(sines.T @ sines, dtype=np.float64), np.asarray(flipped, dtype=np.float64)

    def plus(self, left: tuple[Floats, Floats], right: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Return the sums of the rows of both parts."""
        return left[0] + right[0], left[1] + right[1]
