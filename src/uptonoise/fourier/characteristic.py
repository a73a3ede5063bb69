"""The empirical characteristic function, phi(w) = mean_i exp(i w.x_i): of a sample, or of every bag.

This is the waist of the library and its hot loop. Rows come in blocks that stay in cache; w.x is reduced to one turn in
float64, cosine and sine are taken in float32, where they are some twenty times cheaper, and sums are float64 again.
The error of a value is near 1e-7, far below its sampling error 1/sqrt(n). Nothing of size rows x frequencies is
ever in memory.

The phase, phi/abs(phi), does not see additive symmetric noise with a positive characteristic function: such noise
multiplies phi by a positive number. Where abs(phi) is no larger than its own sampling error, the phase is noise.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from uptonoise._util.typing import Complex, Floats, Precision
from uptonoise._util.wording import counted, shown
from uptonoise.fourier.frequencies import as_frequencies
from uptonoise.rows import Accumulator, Block, RowsByBag, RowSource, as_rows

_BLOCK_ELEMENTS = 2**18
_LARGEST_ANGLE = 1e15
_TOLERATED_SHARE_IN_BAGS = 0.1


class UnreliablePhaseWarning(UserWarning):
    """The phase was taken where the characteristic function is no larger than its sampling error."""


def ecf(X: Any, frequencies: Any, weights: Any = None, *, precision: Precision = "fast") -> Complex:
    """Return the empirical characteristic function, phi(w) = mean_i exp(i w.x_i).

    Parameters
    ----------
    X : array, tensor, frame, iterator of these, Bags, or RowSource
        One sample, or bags (also a list of arrays or a 3-D array).
    frequencies : array of shape (m, d)
        One frequency a row.
    weights : array of shape (n_rows,) or str, optional
        A weight for each row (for bags: of the rows of all bags, in order), or the column that holds them.
    precision : {"fast", "float64"}
        "fast" takes the trigonometric functions in float32, with an error near 1e-7.

    Returns
    -------
    complex array of shape (m,), or (n_bags, m) for bags

    Examples
    --------
    The characteristic function of the standard normal law is exp(-w^2 / 2):

    >>> import numpy as np
    >>> import uptonoise as un
    >>> X = np.random.default_rng(0).normal(size=(100_000, 1))
    >>> phi = un.ecf(X, [[0.0], [1.0], [2.0]])
    >>> np.allclose(phi, np.exp([0, -1 / 2, -2]), atol=0.01)
    True
    """
    return characteristic(X, frequencies, weights, precision=precision).phi


def phase(X: Any, frequencies: Any, weights: Any = None, *, precision: Precision = "fast") -> Complex:
    """Return the phase function phi/abs(phi), which additive symmetric noise leaves as it is.

    A warning says when abs(phi) is below its sampling error at some frequency of a sample (for bags, at more than a
    tenth of them): the phase there is noise.

    Parameters
    ----------
    X : array, tensor, frame, iterator of these, Bags, or RowSource
        One sample, or bags.
    frequencies : array of shape (m, d)
        One frequency a row.
    weights : array of shape (n_rows,) or str, optional
        A weight for each row, or the column that holds them.
    precision : {"fast", "float64"}
        As for :func:`ecf`.

    Returns
    -------
    complex array of shape (m,), or (n_bags, m) for bags
        Of modulus 1; 0 where phi is 0.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> X = rng.exponential(size=(100_000, 1))
    >>> noisy = X + rng.laplace(size=X.shape)
    >>> W = [[0.5], [1.0]]
    >>> np.allclose(un.ecf(X, W), un.ecf(noisy, W), atol=0.02)
    False
    >>> np.allclose(un.phase(X, W), un.phase(noisy, W), atol=0.02)
    True
    """
    found = characteristic(X, frequencies, weights, precision=precision)
    warn_where_unreliable(found, "X")
    return unit(found.phi)


class Characteristic(NamedTuple):
    """The characteristic function of a sample (or of each bag), with the weights' sum and sum of squares."""

    phi: Complex
    weight: Floats
    weight_squares: Floats

    @property
    def effective_size(self) -> Floats:
        """The number of equally weighted rows with the same sampling error."""
        return np.asarray(self.weight**2 / self.weight_squares)

    @property
    def sampling_error(self) -> Floats:
        """The size of phi where there is only noise: 1/sqrt(n), n the effective number of rows."""
        return np.sqrt(self.weight_squares) / self.weight


def characteristic(X: Any, frequencies: Any, weights: Any = None, *, precision: Precision = "fast") -> Characteristic:
    """Return the characteristic function together with what its sampling error needs.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.characteristic import characteristic
    >>> float(characteristic(np.zeros(100), [1.0]).sampling_error)
    0.1
    """
    source = as_rows(X, weights=weights)
    waves = Waves(_fitting_frequencies(frequencies, source), precision, source.name)
    if source.bag_ids is not None:
        return _of_bags(source, waves)
    total = source.fold(SampleSum(waves))
    if total.weight == 0:
        raise ValueError(f"weights of {source.name} must not all be 0")
    return Characteristic(
        as_complex(total.waves_sum / total.weight), np.asarray(total.weight), np.asarray(total.weight_squares)
    )


def _fitting_frequencies(frequencies: Any, source: RowSource) -> Floats:
    try:
        return as_frequencies(frequencies, len(source.columns))
    except ValueError as error:
        if source.bag_ids is None:
            raise
        read = f"{source.name} was read as {counted(len(source.bag_ids), 'bag')}"
        raise ValueError(f"{error}; {read} of {counted(len(source.columns), 'column')}") from None


def _of_bags(source: RowSource, waves: Waves) -> Characteristic:
    ids: Any = source.bag_ids
    in_order = source if source.bags_in_order or source.is_remote else RowsByBag(source)
    total = in_order.fold(BagSums(waves, len(ids)))
    total.trim(len(ids))  # a stream knows only now
    phi_sums, weight = total.phi_sums, total.weight
    if (weight == 0).any():
        bag = ids[int(np.argmin(weight))]
        raise ValueError(f"weights of {source.name} must not all be 0 in a bag; they are in bag {shown(bag)}")
    phi_sums /= weight[:, None]
    return Characteristic(phi_sums, weight, total.weight_squares)


def unit(phi: Complex) -> Complex:
    """Return phi/abs(phi), and 0 where phi is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.characteristic import unit
    >>> unit(np.array([3j, 0j])).tolist()
    [1j, 0j]
    """
    amplitude = np.abs(phi)
    return np.divide(phi, amplitude, out=np.zeros_like(phi), where=amplitude > 0)


def warn_where_unreliable(found: Characteristic, name: str) -> None:
    """Warn when phi is below its sampling error: at any frequency of a sample, or at a tenth of those of bags.

    Features of many small bags always hold some such phases, and a model can live with a few; a distance cannot.
    """
    # A single row has amplitude 1 and sampling error 1, up to rounding.
    unreliable = np.abs(found.phi) < (1 - 1e-6) * found.sampling_error[..., None]
    if unreliable.mean() <= (0 if unreliable.ndim == 1 else _TOLERATED_SHARE_IN_BAGS):
        return
    where = f"{unreliable.sum()} of {unreliable.size} frequencies" + (" of bags" if unreliable.ndim > 1 else "")
    warnings.warn(
        f"the phase of {name} is not reliable at {where}: abs(phi) is below its sampling error 1/sqrt(n) there. "
        "Use lower frequencies (a larger scale) or more rows",
        UnreliablePhaseWarning,
        stacklevel=3,
    )


def as_complex(waves: Floats) -> Complex:
    """Return [cos, sin] of shape (..., 2m) as complex numbers of shape (..., m).

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.characteristic import as_complex
    >>> as_complex(np.array([1.0, 2.0, 3.0, 4.0]))
    array([1.+3.j, 2.+4.j])
    """
    m = waves.shape[-1] // 2
    phi = np.empty((*waves.shape[:-1], m), dtype=np.complex128)
    phi.real, phi.imag = waves[..., :m], waves[..., m:]
    return phi


def check_precision(precision: Any) -> None:
    """Raise where a precision is not one of those that there are."""
    if precision not in get_args(Precision):
        raise ValueError(f"precision must be one of {', '.join(get_args(Precision))}; got {precision!r}")


class Waves:
    """Cosine and sine of w.x for blocks of rows: [cos(w_1.x), ..., cos(w_m.x), sin(w_1.x), ..., sin(w_m.x)].

    Each thread has its own buffers, and what it gets is valid until its next call.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.characteristic import Waves
    >>> Waves(np.array([[1.0]]), "float64")(np.array([[0.0], [np.pi / 2]])).round(6)
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, frequencies: Floats, precision: Precision, name: str = "X") -> None:
        self.name = name
        check_precision(precision)
        self.precision = precision
        self.n_frequencies, self.n_columns = int(frequencies.shape[0]), int(frequencies.shape[1])
        turns = 2 * np.pi if precision == "fast" else 1.0
        self.projection = np.ascontiguousarray(frequencies.T / turns)
        self._largest = np.abs(frequencies).max(axis=0)
        self._buffers = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_buffers"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _buffers=threading.local())

    @property
    def block_rows(self) -> int:
        """How many rows make a block whose waves stay in cache."""
        return max(1, _BLOCK_ELEMENTS // max(self.n_frequencies, self.n_columns))

    def __call__(self, values: Floats) -> Floats:
        """Return the waves of the rows, of shape (n, 2m)."""
        self.check_size(values)
        n, m = len(values), self.n_frequencies
        waves = self._buffer("waves", n, 2 * m, np.float64)
        if self.precision == "float64":
            angles = np.matmul(values, self.projection, out=self._buffer("angles", n, m, np.float64))
            np.cos(angles, out=waves[:, :m])
            np.sin(angles, out=waves[:, m:])
            return waves
        # The place of the result holds the turns and their whole parts until they are no longer needed.
        turns, whole = waves.reshape(2, n, m)
        np.matmul(values, self.projection, out=turns)
        np.rint(turns, out=whole)
        np.subtract(turns, whole, out=turns)
        angles32 = self._buffer("angles", n, m, np.float32)
        np.multiply(turns, 2 * np.pi, out=angles32, casting="same_kind")
        np.cos(angles32, out=waves[:, :m], dtype=np.float32)
        np.sin(angles32, out=waves[:, m:], dtype=np.float32)
        return waves

    def _buffer(self, name: str, n: int, width: int, dtype: Any) -> NDArray[Any]:
        buffer: NDArray[Any] | None = getattr(self._buffers, name, None)
        if buffer is None or buffer.size < n * width:
            buffer = np.empty(n * width, dtype=dtype)
            setattr(self._buffers, name, buffer)
        return buffer[: n * width].reshape(n, width)

    def check_size(self, values: Floats) -> None:
        """Refuse rows so large that float64 leaves no digit of w.x within one turn; their extremes are enough."""
        with np.errstate(over="ignore", invalid="ignore"):
            if max(values.max(), -values.min()) * self._largest.sum() < _LARGEST_ANGLE:
                return
            largest = np.abs(values).max(axis=0)
            angle = float(np.where(self._largest > 0, largest * self._largest, 0.0).sum())
        if not angle < _LARGEST_ANGLE:
            raise ValueError(
                f"{self.name} times frequencies reaches {angle:.3g} radians, where float64 has no correct digit of a "
                f"phase; subtract a constant from the columns of {self.name}, or use lower frequencies"
            )


class RowWaves(Accumulator[Complex]):
    """exp(i w.x) of every row: the characteristic functions of bags of one row, which need no sum by bag."""

    def __init__(self, waves: Waves) -> None:
        self.waves = waves
        self.block_rows = waves.block_rows
        self.parts: list[Complex] = []

    def part(self, block: Block) -> Complex:
        """Return the waves of the rows."""
        return as_complex(self.waves(block.values))

    def add(self, part: Complex) -> None:
        """Keep the waves of the next rows."""
        self.parts.append(part)

    def total(self) -> Complex:
        """Return the waves of all rows."""
        return np.concatenate(self.parts)

    def empty(self) -> RowWaves:
        """Return the same without any rows."""
        return RowWaves(self.waves)

    def renumbered(self, part: Complex, numbers: NDArray[np.int64]) -> Complex:
        """Return a part with other numbers of its bags, which it does not know."""
        return part


class SampleSum(Accumulator[tuple[Floats, float, float]]):
    """The sum of the waves of one sample's rows."""

    def __init__(self, waves: Waves) -> None:
        self.waves = waves
        self.block_rows = waves.block_rows
        self.waves_sum = np.zeros(2 * waves.n_frequencies)
        self.weight = 0.0
        self.weight_squares = 0.0

    def part(self, block: Block) -> tuple[Floats, float, float]:
        """Return the weighted sum of the waves, the weights' sum and the sum of their squares."""
        weights = np.ones(len(block.values)) if block.weights is None else block.weights
        return weights @ self.waves(block.values), float(weights.sum()), float(weights @ weights)

    def add(self, part: tuple[Floats, float, float]) -> None:
        """Add the sums of the next rows."""
        self.waves_sum += part[0]
        self.weight += part[1]
        self.weight_squares += part[2]

    def total(self) -> tuple[Floats, float, float]:
        """Return the sums of all rows so far."""
        return self.waves_sum, self.weight, self.weight_squares

    def empty(self) -> SampleSum:
        """Return the same without any rows."""
        return SampleSum(self.waves)

    def renumbered(self, part: tuple[Floats, float, float], numbers: NDArray[np.int64]) -> tuple[Floats, float, float]:
        """Return a part with other numbers of its bags."""
        return part


def bags_of_rows(block: Block, name: str) -> NDArray[np.int64]:
    """Return the number of each row's bag, or raise where the source of the block does not tell it."""
    if block.bags is None:
        raise ValueError(f"{name} is a source of bags, and its blocks must tell each row's bag")
    return block.bags


class BagPart(NamedTuple):
    """Of some bags, their increasing numbers, sums of waves, weights and squared weights."""

    bags: NDArray[np.int64]
    phi_sums: Complex
    weight: NDArray[Any]
    weight_squares: NDArray[Any]


class BagSums(Accumulator[BagPart]):
    """The sum of the waves of each bag's rows; a bag's rows may lie anywhere."""

    def __init__(self, waves: Waves, n_bags: int) -> None:
        self.waves = waves
        self.block_rows = waves.block_rows
        self.phi_sums = np.zeros((n_bags, waves.n_frequencies), dtype=np.complex128)
        self.weight = np.zeros(n_bags)
        self.weight_squares = np.zeros(n_bags)
        # Made once: every call into numpy in a thread is a wait for the other threads' Python.
        self._in_order = np.arange(self.block_rows, dtype=np.int32)
        self._ones = np.ones(self.block_rows)

    def part(self, block: Block) -> BagPart:
        """Return the sums of the bags that have rows in the block."""
        n_rows, bags = len(block.values), bags_of_rows(block, self.waves.name)
        order, steps = self._in_order[:n_rows], np.diff(bags)
        if steps.min(initial=0) < 0:
            order = np.argsort(bags, kind="stable").astype(np.int32)
            bags = bags[order]
            steps = np.diff(bags)
        bounds = np.concatenate([[0], np.flatnonzero(steps) + 1, [n_rows]], dtype=np.int32, casting="unsafe")
        starts = bounds[:-1]
        if block.weights is None:
            weights = self._ones[:n_rows]
            weight = squares = np.diff(bounds)
        else:
            weights = block.weights[order]
            weight, squares = np.add.reduceat(weights, starts), np.add.reduceat(weights**2, starts)
        # One row for each bag of the block, with the weights at the places of its rows: a product is the sum by bag.
        by_bag = csr_array((weights, order, bounds), shape=(len(starts), n_rows))
        return BagPart(bags[starts], as_complex(by_bag @ self.waves(block.values)), weight, squares)

    def add(self, part: BagPart) -> None:
        """Add the sums of the next rows."""
        bags = part.bags
        if len(bags) == 0:  # the total of rows without any weight
            return
        if bags[-1] >= len(self.weight):
            self._grow(int(bags[-1]) + 1)
        self.phi_sums[bags] += part.phi_sums
        self.weight[bags] += part.weight
        self.weight_squares[bags] += part.weight_squares

    def total(self) -> BagPart:
        """Return the sums of all rows so far."""
        there = np.flatnonzero(self.weight_squares + self.weight)
        if len(there) == len(self.weight):
            return BagPart(there, self.phi_sums, self.weight, self.weight_squares)
        return BagPart(there, self.phi_sums[there], self.weight[there], self.weight_squares[there])

    def empty(self) -> BagSums:
        """Return the same without any rows."""
        return BagSums(self.waves, 0)

    def renumbered(self, part: BagPart, numbers: NDArray[np.int64]) -> BagPart:
        """Return a part with other numbers of its bags."""
        bags = numbers[part.bags]
        order = np.argsort(bags)
        return BagPart(bags[order], part.phi_sums[order], part.weight[order], part.weight_squares[order])

    def _grow(self, n_bags: int) -> None:
        """Make room for bags that a stream brings only now, and for some more.

        In place: the sums of many bags are most of the memory that there is, and a copy would take as much again.
        """
        room = n_bags + n_bags // 8
        self.phi_sums.resize((room, self.waves.n_frequencies), refcheck=False)
        self.weight.resize(room, refcheck=False)
        self.weight_squares.resize(room, refcheck=False)

    def trim(self, n_bags: int) -> None:
        """Give back the room that was not needed."""
        if len(self.weight) != n_bags:
            for sums in (self.phi_sums, self.weight, self.weight_squares):
                sums.resize((n_bags, *sums.shape[1:]), refcheck=False)
