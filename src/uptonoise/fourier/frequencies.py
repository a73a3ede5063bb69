"""Where the frequencies come from.

By Bochner's theorem a shift-invariant kernel is the mean of cos(w.(x - y)) over frequencies w from its spectral law.
Every law here is a function of a standard normal vector z and a uniform number u, scaled by the inverse root of a
covariance (the paper's Sigma^(-1/2)); every method is a way to draw z and u. With r = |x - y| / scale:

============  ==========================================  ===========================================
law           frequency at scale 1                        kernel
============  ==========================================  ===========================================
``gaussian``  z                                           exp(-r^2 / 2)
``laplace``   Cauchy in each column                       exp(-sum of abs(x_j - y_j) / scale_j)
``matern``    z / sqrt(chi2(2 nu) / (2 nu))               Matern with smoothness nu
``radial``    R z / abs(z), R folded normal               1F1(1/2; d/2; -r^2 / 2)
============  ==========================================  ===========================================
"""

from __future__ import annotations

import numbers
import zlib
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, eigvalsh
from scipy.spatial.distance import pdist
from scipy.special import chdtri, gammaincinv, ndtr, ndtri

from uptonoise._util.random import RandomState, as_generator, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import positive_int
from uptonoise.rows import (
    RowSource,
    aligned,
    as_real_array,
    as_rows,
    is_frame,
    is_tensor,
    refuse_one_iterator_twice,
    sample_rows,
)

Law = Literal["gaussian", "laplace", "matern", "radial"]
Method = Literal["iid", "orthogonal", "sobol"]


class Frequencies(np.ndarray):
    """An array of frequencies that remembers how it was drawn.

    It is an ordinary array in every other way. Once changed, or sliced, it is no longer what was drawn, and says so
    with None; what is computed from it is a plain array.

    Examples
    --------
    >>> import uptonoise as un
    >>> W = un.sample_frequencies(3, 2, random_state=0)
    >>> W.drawn
    {'law': 'gaussian', 'scale': 1.0, 'method': 'iid', 'seed': 0}
    >>> W[:2].drawn is None
    True
    """

    _drawn: dict[str, Any] | None
    _checksum: int

    def __array_finalize__(self, obj: Any) -> None:
        self._drawn, self._checksum = None, 0

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    @property
    def drawn(self) -> dict[str, Any] | None:
        """Law, scale, method and seed, ready for JSON; None where the values are not those that were drawn."""
        return self._drawn if self._drawn is not None and self._checksum == _checksum(self) else None

    def __reduce__(self) -> Any:
        return _as_drawn, (np.asarray(self), self.drawn)

    def __deepcopy__(self, memo: Any) -> Frequencies:
        return _as_drawn(np.array(self), self.drawn)


def _as_drawn(values: Floats, drawn: dict[str, Any] | None) -> Frequencies:
    frequencies = values.view(Frequencies)
    frequencies._drawn, frequencies._checksum = drawn, _checksum(values)
    return frequencies


def _checksum(values: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(values).tobytes())


def sample_frequencies(
    n_frequencies: int,
    n_columns: int,
    law: Law = "gaussian",
    scale: ArrayLike = 1.0,
    method: Method = "iid",
    *,
    nu: float = 1.5,
    random_state: RandomState = None,
) -> Frequencies:
    """Draw frequencies from the spectral law of a kernel.

    Parameters
    ----------
    n_frequencies : int
        How many, m.
    n_columns : int
        The number of columns of the data, d.
    law : {"gaussian", "laplace", "matern", "radial"}
        The kernel; see the table at the top of this module. "radial" is the paper's, which reaches low and middle
        frequencies in high dimension too.
    scale : float, array of shape (d,), or array of shape (d, d)
        A length in the data's units, a length for each column, or a covariance matrix.
    method : {"iid", "orthogonal", "sobol"}
        Independent draws; orthogonal directions in groups of d, or scrambled Sobol points, which cover the space more
        evenly. The Cauchy draws of "laplace" are then coordinate-wise functions of orthogonal normal vectors.
    nu : float
        The smoothness of "matern".
    random_state : None, int, Generator or RandomState
        The seed.

    Returns
    -------
    array of shape (m, d)
        One frequency a row.

    Examples
    --------
    >>> import uptonoise as un
    >>> W = un.sample_frequencies(100, 5, law="radial", scale=2.0, method="orthogonal", random_state=0)
    >>> W.shape
    (100, 5)
    """
    m = positive_int(n_frequencies, "n_frequencies")
    d = positive_int(n_columns, "n_columns")
    if not isinstance(law, str) or law not in get_args(Law):
        raise ValueError(f"law must be one of {', '.join(get_args(Law))}; got {law!r}")
    if not isinstance(method, str) or method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}; got {method!r}")
    if not (isinstance(nu, numbers.Real) and 0 < nu < np.inf):
        raise ValueError(f"nu must be a positive number; got {nu!r}")
    root = _inverse_root(scale, d)
    generator, seed = seeded_generator(random_state)
    normals, uniforms = _DRAWS[method](m, d, generator)
    standard = _at_unit_scale(law, normals, uniforms, float(nu))
    lengths = np.asarray(scale, dtype=np.float64).tolist()
    drawn = {"law": law, "scale": lengths, "method": method, "seed": seed}
    if law == "matern":
        drawn["nu"] = float(nu)
    with np.errstate(over="ignore"):
        frequencies = np.ascontiguousarray(standard @ root if root.ndim == 2 else standard * root)
    if not np.isfinite(frequencies).all():
        raise ValueError(
            f"scale={scale!r} (and nu={nu:g}) must give finite frequencies; they are too large for float64"
        )
    return _as_drawn(frequencies, drawn)


def _at_unit_scale(law: Law, normals: Floats, uniforms: Floats, nu: float) -> Floats:
    """Turn standard normal vectors and uniform numbers into frequencies of the law."""
    if law == "gaussian":
        return normals
    if law == "laplace":
        # cot(pi * tail) is the Cauchy quantile, exact in the tails where 1 - ndtr is not.
        cauchy: Floats = np.sign(normals) / np.tan(np.pi * ndtr(-np.abs(normals)))
        return cauchy
    if law == "matern":
        with np.errstate(divide="ignore"):
            student: Floats = normals / np.sqrt(chdtri(2 * nu, uniforms) / (2 * nu))[:, None]
        return student
    radii = ndtri((1 + uniforms) / 2)
    radial: Floats = radii[:, None] * normals / np.linalg.norm(normals, axis=1, keepdims=True)
    return radial


def _iid(m: int, d: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    return generator.standard_normal((m, d)), _open_interval(generator.random(m))


def _orthogonal(m: int, d: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw normal vectors whose directions are orthogonal in groups of d; each by itself is standard normal."""
    groups = -(-m // d)
    directions, upper = np.linalg.qr(generator.standard_normal((groups, d, d)))
    # The signs of R's diagonal make the QR factor uniform over rotations.
    directions = directions * np.sign(np.einsum("gii->gi", upper))[:, None, :]
    lengths = np.sqrt(2 * gammaincinv(d / 2, _open_interval(generator.random(groups * d))))
    normals = lengths[:, None] * directions.transpose(0, 2, 1).reshape(groups * d, d)
    return normals[:m], _open_interval(generator.random(m))


def _sobol(m: int, d: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    from scipy.stats import qmc  # scipy.stats takes as long to import as everything else together

    if d + 1 > qmc.Sobol.MAXDIM:
        raise ValueError(f'method "sobol" has at most {qmc.Sobol.MAXDIM - 1} columns; got {d}. Use "orthogonal"')
    points = qmc.Sobol(d + 1, scramble=True, rng=generator).random_base2((m - 1).bit_length())[:m]
    points = _open_interval(points)
    return ndtri(points[:, :d]), points[:, d]


_DRAWS: dict[str, Callable[[int, int, np.random.Generator], tuple[Floats, Floats]]] = {
    "iid": _iid,
    "orthogonal": _orthogonal,
    "sobol": _sobol,
}


def _open_interval(uniforms: Floats) -> Floats:
    """Keep quantile functions finite: numbers that are exactly 0 do occur."""
    return np.clip(uniforms, 1e-12, 1 - 1e-12)


def _inverse_root(scale: ArrayLike, d: int) -> Floats:
    """Return 1 / length, 1 / lengths, or the inverse symmetric root of a covariance."""
    given = as_real_array(scale, "scale").astype(np.float64)
    if given.shape not in {(), (d,), (d, d)}:
        raise ValueError(f"scale must be a length, {d} lengths, or a {d} x {d} covariance; got shape {given.shape}")
    if given.ndim < 2:
        if not (np.isfinite(given).all() and (given > 0).all()):
            raise ValueError(f"scale must be positive and finite; got {scale!r}")
        with np.errstate(over="ignore"):
            return np.asarray(1 / given)
    deviations = np.sqrt(np.diag(given)) if (np.diag(given) > 0).all() else np.zeros(d)
    if not (np.isfinite(given).all() and (deviations > 0).all()):
        raise ValueError("scale must be a positive definite covariance matrix of finite numbers")
    # Correlations tell whether it is symmetric and regular, whatever the units of the columns.
    correlation = given / np.outer(deviations, deviations)
    if not np.allclose(correlation, correlation.T, rtol=0, atol=1e-8):
        raise ValueError("scale must be a symmetric covariance matrix")
    smallest = float(eigvalsh((correlation + correlation.T) / 2)[0])
    variances, axes = eigh((given + given.T) / 2)
    if smallest <= 1e-12 or variances[0] <= 0:
        raise ValueError(
            f"scale must be a positive definite covariance; the smallest eigenvalue of its correlations is {smallest:g}"
        )
    return np.asarray((axes / np.sqrt(variances)) @ axes.T)


def median_scale(
    *samples: Any, per_column: bool = False, max_rows: int = 1_000, random_state: RandomState = 0
) -> float | Floats:
    """Return the length scale of the data by the median heuristic: sqrt(median squared distance / 2).

    Parameters
    ----------
    *samples : array, frame, Bags, or RowSource
        One sample, several (their rows are taken together), or bags.
    per_column : bool
        One length for each column instead of one for all.
    max_rows : int
        At most so many rows are drawn; 1,000 give the median to a few percent.
    random_state : None, int, Generator or RandomState
        The seed of that draw.

    Returns
    -------
    float, or array of shape (d,)
        Where more than half of the distances are 0, because most rows are equal, the median is of the others. A
        constant column among others gets 1.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> X = np.random.default_rng(0).normal(size=(5_000, 1))
    >>> print(f"{un.median_scale(X):.1f} {un.median_scale(10 * X, 10 * X + 1):.0f}")
    0.7 7
    """
    if not samples:
        raise ValueError("samples must be at least one sample; got none")
    refuse_one_iterator_twice(samples, "samples")
    names = sample_names(samples)
    sources = [as_rows(sample, name=name) for sample, name in zip(samples, names, strict=True)]
    sources = [aligned(source, sources[0]) for source in sources]
    n_rows = positive_int(max_rows, "max_rows")
    if n_rows < 2:
        raise ValueError(f"max_rows must be at least 2; got {max_rows}")
    rows = sample_rows(sources, n_rows, as_generator(random_state))
    if len(rows) < 2:
        raise ValueError(f"{names[0]} must have at least 2 rows for a distance between them; got {len(rows)}")
    if not per_column:
        return _median_length(_with_rare_rows(sources, rows, slice(None)))
    lengths = [_column_length(_with_rare_rows(sources, rows, [column])) for column in range(rows.shape[1])]
    if all(length is None for length in lengths):
        raise _no_scale(names[0])
    return np.array([1.0 if length is None else length for length in lengths])


def sample_names(samples: tuple[Any, ...]) -> list[str]:
    """Return how messages call samples that came as one argument or several."""
    return ["X"] if len(samples) == 1 else [f"samples[{number}]" for number in range(len(samples))]


def _with_rare_rows(sources: list[RowSource], rows: Floats, columns: Any) -> Floats:
    """Return these columns of the rows; where all rows drawn are equal, with the first others that there are."""
    picked = rows[:, columns]
    if (picked != picked[0]).any() or any(source.n_rows is None for source in sources):
        return picked
    others = [picked[:1]]
    for source in sources:
        for block in source.blocks(65_536):
            values = block.values[:, columns]
            others.append(values[(values != picked[0]).any(axis=1)][: len(rows)])
            if sum(map(len, others)) > len(rows):
                return np.concatenate(others)
    return np.concatenate(others)


def _column_length(column: Floats) -> float | None:
    return _median_length(column) if (column != column[0]).any() else None


def _median_length(rows: Floats) -> float:
    if not (rows != rows[0]).any():
        raise _no_scale("the samples")
    # In units of the range, the squares of huge and of tiny numbers stay inside float64.
    smallest = np.finfo(np.float64).smallest_subnormal
    unit = max(float((rows.max(axis=0) / 2 - rows.min(axis=0) / 2).max()), smallest)
    squares = pdist(rows / unit, "sqeuclidean")
    median = np.median(squares)
    if median == 0:
        median = np.median(squares[squares > 0])
    return max(float(unit * np.sqrt(median / 2)), smallest)


def _no_scale(name: str) -> ValueError:
    return ValueError(f"all rows of {name} are equal, so there is no scale; give a length instead")


def as_frequencies(frequencies: Any, n_columns: int | None = None) -> Floats:
    """Return frequencies as a float64 array of shape (m, d), or raise with what is wrong.

    Examples
    --------
    >>> from uptonoise.fourier.frequencies import as_frequencies
    >>> as_frequencies([0.5, 1.0], n_columns=1).shape
    (2, 1)
    """
    if is_frame(frequencies):
        raise ValueError(
            "frequencies must be an array with its columns in the order of the data's; got a data frame. Select its "
            "columns in that order and call .to_numpy()"
        )
    if is_tensor(frequencies):
        frequencies = frequencies.detach().cpu()  # from whatever device: they are few
    array = as_real_array(frequencies, "frequencies")
    if array.ndim == 1:
        array = array[:, None]
    expected = "(n_frequencies, n_columns)" if n_columns is None else f"(n_frequencies, {n_columns})"
    if array.ndim != 2 or 0 in array.shape or (n_columns is not None and array.shape[1] != n_columns):
        raise ValueError(
            f"frequencies must have shape {expected}, one column for each column of the data; "
            f"got shape {np.shape(frequencies)}"
        )
    values: NDArray[np.float64] = np.array(array, dtype=np.float64, order="C", subok=False)
    if not np.isfinite(values).all():
        raise ValueError("frequencies must be finite; got NaN or infinite ones")
    return values
