"""Cosine and sine of w.x for blocks of rows: the hot loop of the library, compiled where it can be.

Rows come in blocks that stay in cache. w.x is reduced to one turn in float64; cosine and sine are taken in float32,
where they are some twenty times cheaper; sums are float64 again. The error of a value is near 1e-7, far below its
sampling error 1/sqrt(n). Nothing of size rows x frequencies is ever in memory.
"""

from __future__ import annotations

import threading
from typing import Any, get_args

import numpy as np
import scipy
from numpy.typing import NDArray

from uptonoise._util.typing import Complex, Floats, Precision
from uptonoise._util.validation import checked_choice
from uptonoise.fourier.compiled import features_of_rows, is_compiled, sums_between

BLOCK_ELEMENTS = 2**18
_BLOCKS_PER_SUM = 16  # blocks in one call where only sums are needed, so that little of the time goes to Python
LARGEST_ANGLE = 1e15
"""In radians. Beyond it float64 has no correct digit of the angle within one turn."""


class CosineSine:
    """Cosine and sine features of rows: [cos(w_1.x), ..., cos(w_m.x), sin(w_1.x), ..., sin(w_m.x)].

    Each thread has its own buffers, and what it gets is valid until its next call.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.cosine_sine import CosineSine
    >>> CosineSine(np.array([[1.0]]), "float64")(np.array([[0.0], [np.pi / 2]])).round(6)
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, frequencies: Floats, precision: Precision, name: str = "X") -> None:
        self.name = name
        check_precision(precision)
        self.precision = precision
        self.n_frequencies, self.n_columns = int(frequencies.shape[0]), int(frequencies.shape[1])
        turn = 2 * np.pi if precision == "fast" else 1.0
        self.projection = np.ascontiguousarray(frequencies.T / turn)
        self._largest = np.abs(frequencies).max(axis=0)
        self._buffers = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_buffers"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _buffers=threading.local())

    @property
    def block_rows(self) -> int:
        """The number of rows of a block whose features stay in cache."""
        return max(1, BLOCK_ELEMENTS // max(self.n_frequencies, self.n_columns))

    @property
    def sum_rows(self) -> int:
        """The number of rows of a block where only sums are needed."""
        return _BLOCKS_PER_SUM * self.block_rows

    @property
    def uses_kernel(self) -> bool:
        """Whether the compiled kernel does the work."""
        return is_compiled() and self.precision == "fast"

    def __call__(self, values: Floats) -> NDArray[Any]:
        """Return the features of the rows, of shape (n, 2m): float64 by numpy, float32 by the compiled kernel."""
        return self.with_sums(values, None)[0] if self.uses_kernel else self._by_numpy(values)

    def with_sums(self, values: Floats, weights: Floats | None) -> tuple[NDArray[Any], Floats]:
        """Return the features of the rows, as a call does, and their weighted sums, of shape (2m,)."""
        features: NDArray[Any]
        if not self.uses_kernel:
            features = self._by_numpy(values)
            return features, (np.ones(len(values)) if weights is None else weights) @ features
        self.check_size(values)
        features = self._buffer("features", len(values), 2 * self.n_frequencies, np.float32)
        return features, features_of_rows(values, self.projection, weights, features)

    def sums(
        self, values: Floats, weights: Floats | None, bounds: NDArray[np.int64], out: Complex | None = None
    ) -> Complex:
        """Return the weighted sums of exp(i w.x) over the rows between consecutive bounds, of shape (b, m).

        The kernel writes them to `out`, where there is one.
        """
        if self.uses_kernel:
            self.check_size(values)
            return sums_between(values, self.projection, weights, bounds, out)
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
        self.check_size(values)
        n, m = len(values), self.n_frequencies
        features = self._buffer("features", n, 2 * m, np.float64)
        if self.precision == "float64":
            angles = np.matmul(values, self.projection, out=self._buffer("angles", n, m, np.float64))
            np.cos(angles, out=features[:, :m])
            np.sin(angles, out=features[:, m:])
            return features
        # The memory of the result holds the turns and their whole parts until they are no longer needed.
        turns, whole = features.reshape(2, n, m)
        np.matmul(values, self.projection, out=turns)
        np.rint(turns, out=whole)
        np.subtract(turns, whole, out=turns)
        angles32 = self._buffer("angles", n, m, np.float32)
        np.multiply(turns, 2 * np.pi, out=angles32, casting="same_kind")
        np.cos(angles32, out=features[:, :m], dtype=np.float32)
        np.sin(angles32, out=features[:, m:], dtype=np.float32)
        return features

    def _buffer(self, name: str, n: int, width: int, dtype: Any) -> NDArray[Any]:
        buffer: NDArray[Any] | None = getattr(self._buffers, name, None)
        if buffer is None or buffer.size < n * width:
            buffer = np.empty(n * width, dtype=dtype)
            setattr(self._buffers, name, buffer)
        return buffer[: n * width].reshape(n, width)

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


def check_precision(precision: Any) -> None:
    """Raise where a precision is none of the known ones."""
    checked_choice(precision, get_args(Precision), "precision")


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
