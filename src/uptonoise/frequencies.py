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
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, eigh
from scipy.spatial.distance import pdist
from scipy.special import chdtri, gammaincinv, ndtr, ndtri

from uptonoise._random import RandomState, as_generator, seeded_generator
from uptonoise.rows import Floats, aligned, as_real_array, as_rows, is_tensor, sample_rows, tensor_values

Law = Literal["gaussian", "laplace", "matern", "radial"]
Method = Literal["iid", "orthogonal", "sobol"]


class Frequencies(np.ndarray):
    """An array of frequencies that remembers how it was drawn.

    It is an ordinary array in every other way; whatever is computed from it, also a slice, is an array that was not
    drawn, and says so with None.

    Attributes
    ----------
    drawn : dict or None
        Law, scale, method and seed, ready for JSON.

    Examples
    --------
    >>> import uptonoise as un
    >>> W = un.sample_frequencies(3, 2, random_state=0)
    >>> W.drawn
    {'law': 'gaussian', 'scale': 1.0, 'method': 'iid', 'seed': 0}
    >>> (2 * W).drawn is None
    True
    """

    drawn: dict[str, Any] | None

    def __array_finalize__(self, obj: Any) -> None:
        self.drawn = None

    def __reduce__(self) -> Any:
        return _restored, (np.asarray(self), self.drawn)


def _restored(values: Floats, drawn: dict[str, Any] | None) -> Frequencies:
    frequencies = values.view(Frequencies)
    frequencies.drawn = drawn
    return frequencies


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
    if law not in get_args(Law):
        raise ValueError(f"law must be one of {', '.join(get_args(Law))}; got {law!r}")
    if method not in get_args(Method):
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
    return _restored(np.ascontiguousarray(standard @ root if root.ndim == 2 else standard * root), drawn)


def _at_unit_scale(law: Law, normals: Floats, uniforms: Floats, nu: float) -> Floats:
    """Turn standard normal vectors and uniform numbers into frequencies of the law."""
    if law == "gaussian":
        return normals
    if law == "laplace":
        # cot(pi * tail) is the Cauchy quantile, exact in the tails where 1 - ndtr is not.
        cauchy: Floats = np.sign(normals) / np.tan(np.pi * ndtr(-np.abs(normals)))
        return cauchy
    if law == "matern":
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
        return np.asarray(1 / given)
    if not (np.isfinite(given).all() and np.allclose(given, given.T, rtol=1e-8, atol=0)):
        raise ValueError("scale must be a symmetric covariance matrix of finite numbers")
    try:
        variances, axes = eigh(given)
    except LinAlgError as error:
        raise ValueError(f"scale must be a covariance matrix; it has no eigenvalues ({error})") from None
    if variances[0] <= 1e-14 * variances[-1]:
        raise ValueError(
            f"scale must be a positive definite covariance; its eigenvalues go from {variances[0]:g} to "
            f"{variances[-1]:g}"
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
    names = ["X"] if len(samples) == 1 else [f"samples[{number}]" for number in range(len(samples))]
    sources = [as_rows(sample, name=name) for sample, name in zip(samples, names, strict=True)]
    sources = [aligned(source, sources[0]) for source in sources]
    n_rows = positive_int(max_rows, "max_rows")
    if n_rows < 2:
        raise ValueError(f"max_rows must be at least 2; got {max_rows}")
    rows = sample_rows(sources, n_rows, as_generator(random_state))
    if len(rows) < 2:
        raise ValueError(f"{names[0]} must have at least 2 rows for a distance between them; got {len(rows)}")
    if (rows == rows[0]).all():
        raise ValueError(f"all rows of {names[0]} are equal, so there is no scale; give a length instead")
    if not per_column:
        return _median_length(rows)
    return np.array([_median_length(column[:, None]) if np.ptp(column) > 0 else 1.0 for column in rows.T])


def _median_length(rows: Floats) -> float:
    # Halves of the range keep the squares of huge and of tiny numbers inside float64.
    unit = max(float(np.ptp(column / 2)) for column in rows.T)
    squares = pdist(rows / unit, "sqeuclidean")
    median = np.median(squares)
    if median == 0:
        median = np.median(squares[squares > 0])
    return float(unit * np.sqrt(median / 2))


def as_frequencies(frequencies: Any, n_columns: int | None = None) -> Floats:
    """Return frequencies as a float64 array of shape (m, d), or raise with what is wrong.

    Examples
    --------
    >>> from uptonoise.frequencies import as_frequencies
    >>> as_frequencies([0.5, 1.0], n_columns=1).shape
    (2, 1)
    """
    if is_tensor(frequencies):
        frequencies = tensor_values(frequencies, "frequencies")
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


def positive_int(value: Any, name: str) -> int:
    """Return `value` as an int, or raise where it is not a positive whole number."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive integer; got {value!r}")
    return int(value)
