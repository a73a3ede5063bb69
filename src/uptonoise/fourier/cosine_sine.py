"""Cosine and sine of w.x for blocks of rows: the hot loop of the library, compiled where it can be.

Rows come in blocks that stay in cache. w.x is reduced to one turn in float64; cosine and sine are taken in float32,
where they are some twenty times cheaper; sums are float64 again. The error of a value is near 1e-7, far below its
sampling error 1/sqrt(n). Nothing of size rows x frequencies is ever in memory.

Features of rows minus one centre become those of rows minus another by a turn of each frequency's pair. Its angle
w.(c - c') is exact within one turn however large the centres are: products and their sum are kept as unevaluated pairs
of float64 (twice its digits), and whole turns are subtracted before anything is rounded.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from uptonoise._util.typing import Complex, Floats, Precision
from uptonoise._util.validation import checked_choice
from uptonoise.fourier import compiled

BLOCK_ELEMENTS = 2**18
_BLOCKS_PER_SUM = 16  # blocks in one call where only sums are needed, so that little of the time goes to Python
LARGEST_ANGLE = 1e15
"""In radians. Beyond it float64 has no correct digit of the angle within one turn."""
_SPLIT = 2.0**27 + 1  # takes the digits of a float64 apart
_TURN = 2 * np.pi
_TURN_REST = 2.4492935982947064e-16  # 2 pi minus its float64


class CosineSine:
    """Cosine and sine features of rows: [cos(w_1.x), ..., cos(w_m.x), sin(w_1.x), ..., sin(w_m.x)].

    Features of `block_rows` rows stay in cache. A block of `sum_rows` is for sums alone.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.cosine_sine import CosineSine
    >>> CosineSine(np.array([[1.0]]), "float64")(np.array([[0.0], [np.pi / 2]])).round(6)
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, frequencies: Floats, precision: Precision, name: str = "X") -> None:
        self.precision: str = checked_choice(precision, get_args(Precision), "precision")
        self.name = name
        self.n_frequencies, self.n_columns = int(frequencies.shape[0]), int(frequencies.shape[1])
        self.block_rows = max(1, BLOCK_ELEMENTS // max(self.n_frequencies, self.n_columns))
        self.sum_rows = _BLOCKS_PER_SUM * self.block_rows
        turn = 2 * np.pi if precision == "fast" else 1.0
        self.projection = np.ascontiguousarray(frequencies.T / turn)
        self._largest = np.abs(frequencies).max(axis=0)

    def __call__(self, values: Floats) -> NDArray[Any]:
        """Return the features of the rows, of shape (n, 2m): float64 by numpy, float32 by the compiled kernel."""
        return self.with_sums(values, None)[0]

    def with_sums(self, values: Floats, weights: Floats | None) -> tuple[NDArray[Any], Floats]:
        """Return the features of the rows, as a call does, and their weighted sums, of shape (2m,)."""
        self.check_size(values)
        kernel = compiled.kernel if self.precision == "fast" else None
        if kernel is None:
            by_numpy = self._by_numpy(values)
            return by_numpy, (np.ones(len(values)) if weights is None else weights) @ by_numpy
        features, sums = np.empty((len(values), 2 * self.n_frequencies), np.float32), np.empty(2 * self.n_frequencies)
        # Contiguous, and at addresses that suit the kernel: what came from another process need not be so.
        values, projection = np.require(values, None, ("C", "A")), np.require(self.projection, None, ("C", "A"))
        weights = None if weights is None else np.require(weights, None, ("C", "A"))
        kernel.features(values, projection, weights, features, sums)
        return features, sums

    def sums(
        self, values: Floats, weights: Floats | None, bounds: NDArray[np.int64], out: Complex | None = None
    ) -> Complex:
        """Return the weighted sums of exp(i w.x) over the rows between consecutive bounds, of shape (b, m).

        The kernel writes them to `out`, where there is one.
        """
        self.check_size(values)
        kernel = compiled.kernel if self.precision == "fast" else None
        if kernel is not None:
            sums = np.empty((len(bounds) - 1, self.n_frequencies), np.complex128) if out is None else out
            values, projection = np.require(values, None, ("C", "A")), np.require(self.projection, None, ("C", "A"))
            weights = None if weights is None else np.require(weights, None, ("C", "A"))
            kernel.sums(values, projection, weights, bounds, sums)
            return sums
        sums = np.zeros((len(bounds) - 1, self.n_frequencies), dtype=np.complex128)
        weights = np.ones(len(values)) if weights is None else weights
        for start in range(0, len(values), self.block_rows):
            stop = min(len(values), start + self.block_rows)
            first, last = np.searchsorted(bounds, start, side="right") - 1, np.searchsorted(bounds, stop)
            here, features = weights[start:stop], self._by_numpy(values[start:stop])
            if last - first == 1:
                sums[first] += as_complex(here @ features)
                continue
            # One row for each sum, with the weights at the places of its rows: a product is all sums at once.
            inner = np.clip(bounds[first : last + 1], start, stop) - start
            by_sum = scipy.sparse.csr_array((here, np.arange(stop - start), inner), shape=(last - first, stop - start))
            sums[first:last] += as_complex(by_sum @ features)
        return sums

    def _by_numpy(self, values: Floats) -> Floats:
        n, m = len(values), self.n_frequencies
        features = np.empty((n, 2 * m))
        if self.precision == "float64":
            angles = values @ self.projection
            np.cos(angles, out=features[:, :m])
            np.sin(angles, out=features[:, m:])
            return features
        # The memory of the result holds the turns and their whole parts until they are no longer needed.
        turns, whole = features.reshape(2, n, m)
        np.matmul(values, self.projection, out=turns)
        np.rint(turns, out=whole)
        np.subtract(turns, whole, out=turns)
        angles32 = np.multiply(turns, 2 * np.pi, out=np.empty((n, m), np.float32), casting="same_kind")
        np.cos(angles32, out=features[:, :m], dtype=np.float32)
        np.sin(angles32, out=features[:, m:], dtype=np.float32)
        return features

    def check_size(self, values: Floats) -> None:
        """Refuse rows so large that float64 has no correct digit of w.x within one turn; their extremes suffice."""
        with np.errstate(over="ignore", invalid="ignore"):
            if max(values.max(), -values.min()) * self._largest.sum() < LARGEST_ANGLE:
                return
            largest = np.abs(values).max(axis=0)
            angle = float(np.where(self._largest > 0, largest * self._largest, 0.0).sum())
        if not angle < LARGEST_ANGLE:
            raise ValueError(
                f"{self.name} times frequencies reaches {angle:.3g} radians, where float64 has no correct digit of a "
                f"phase; subtract a constant from the columns of {self.name}, or use lower frequencies"
            )


def as_complex(features: Floats) -> Complex:
    """Return [cos, sin] of shape (..., 2m) as complex numbers of shape (..., m)."""
    m = features.shape[-1] // 2
    phi = np.empty((*features.shape[:-1], m), dtype=np.complex128)
    phi.real, phi.imag = features[..., :m], features[..., m:]
    return phi


def turned(features: Floats, angles: Floats) -> Floats:
    """Turn the pair [cos, sin] of each frequency by its angle, along the last axis."""
    m = len(angles)
    cos, sin = features[..., :m], features[..., m:]
    c, s = np.cos(angles), np.sin(angles)
    both = np.empty(features.shape)
    np.multiply(c, cos, out=both[..., :m])
    both[..., :m] -= s * sin
    np.multiply(s, cos, out=both[..., m:])
    both[..., m:] += c * sin
    return both


def angles_between(frequencies: Floats, centre: Floats, other: Floats) -> Floats:
    """Return w.(centre - other) within one turn."""
    reach = float((np.abs(frequencies).max(axis=0) * (np.abs(centre) + np.abs(other))).sum())
    if not reach < LARGEST_ANGLE:
        raise ValueError(
            f"the centres of sketches times frequencies reach {reach:.3g} radians, where float64 has no correct digit "
            "of a phase; subtract a constant from the columns of X before sketching"
        )
    high, low, error, rest = (np.zeros(len(frequencies)) for _ in range(4))
    factors = np.stack([centre, -other], axis=1).ravel()
    for place in range(len(factors) + 1):
        if place < len(factors):
            a, b = frequencies[:, place // 2], factors[place]
        else:  # the last product takes whole turns off the sum of the others
            a, b = np.rint(high / _TURN), -_TURN
        low = low + (error + rest)  # of the product before
        # What rounding takes from the product a b (Dekker 1971), and from its sum with those before (Knuth 1969).
        product, of_a, of_b = a * b, a * _SPLIT, b * _SPLIT
        a_high, b_high = of_a - (of_a - a), of_b - (of_b - b)
        a_low, b_low = a - a_high, b - b_high
        rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
        grown = high + product
        added = grown - high
        high, error = grown, (high - (grown - added)) + (product - added)
    return high + (error + low + rest - a * _TURN_REST)
