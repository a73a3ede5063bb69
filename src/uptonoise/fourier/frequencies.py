"""Where the frequencies come from.

By Bochner's theorem a shift-invariant kernel is the mean of cos(w.(x - y)) over frequencies w from its spectral
distribution. Every distribution here is a function of a standard normal vector z and a uniform number u, scaled by the
inverse root of a covariance (the paper's Sigma^(-1/2)); every method is a way to sample z and u. With
r = |x - y| / scale:

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

from typing import Any, Literal, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import chdtri, gammaincinv, ndtr, ndtri

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_choice, checked_number, positive_int
from uptonoise.fourier.docs import described
from uptonoise.fourier.provenance import Frequencies
from uptonoise.rows import as_real_array, is_frame, is_tensor

Law = Literal["gaussian", "laplace", "matern", "radial"]
Method = Literal["iid", "orthogonal", "sobol"]
_MOST_NUMBERS = 2**26  # frequencies times columns: half a gigabyte


@described
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
    """Sample frequencies from the spectral distribution of a kernel.

    Parameters
    ----------
    n_frequencies : int
        The number of frequencies, m.
    n_columns : int
        The number of columns of the data, d.
    law : {"gaussian", "laplace", "matern", "radial"}
        The distribution of the frequencies, which stands for a kernel; see the table at the top of this module.
        "radial" is the paper's: it has low and middle frequencies in high dimension too.
    scale : float, array of shape (d,), or array of shape (d, d)
        A length in the data's units, a length for each column, or a covariance matrix.
    method : {"iid", "orthogonal", "sobol"}
        Independent frequencies; or orthogonal directions in groups of d, or scrambled Sobol points, which cover the
        space more evenly. The Cauchy numbers of "laplace" are then functions of the coordinates of orthogonal normal
        vectors.
    nu : float
        The smoothness of "matern".
    {random_state}

    Returns
    -------
    array of shape (m, d)
        The frequencies, one per row.

    Examples
    --------
    >>> import uptonoise as un
    >>> W = un.sample_frequencies(100, 5, law="radial", scale=2.0, method="orthogonal", random_state=0)
    >>> W.shape
    (100, 5)
    """
    d = positive_int(n_columns, "n_columns")
    m = positive_int(n_frequencies, "n_frequencies", most=max(_MOST_NUMBERS // d, 1))
    checked_choice(law, get_args(Law), "law")
    checked_choice(method, get_args(Method), "method")
    checked_number(nu, "nu", above=True)
    root = _inverse_root(scale, d)
    generator, seed = seeded_generator(random_state)
    normals, uniforms = _normals_and_uniforms(method, m, d, generator)
    standard = _at_unit_scale(law, normals, uniforms, float(nu))
    with np.errstate(over="ignore"):
        frequencies = np.ascontiguousarray(standard @ root if root.ndim == 2 else standard * root)
    if not np.isfinite(frequencies).all():
        raise ValueError(f"scale={scale!r} (and nu={nu:g}) gives frequencies that are too large for float64")
    provenance = {"law": law, "scale": np.asarray(scale, dtype=np.float64).tolist(), "method": method, "seed": seed}
    return Frequencies.sampled(frequencies, provenance | ({"nu": float(nu)} if law == "matern" else {}))


def _at_unit_scale(law: Law, normals: Floats, uniforms: Floats, nu: float) -> Floats:
    """Turn standard normal vectors and uniform numbers into frequencies of the distribution."""
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


def _normals_and_uniforms(method: Method, m: int, d: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Sample m standard normal vectors, and as many uniform numbers."""
    if method == "sobol":
        from scipy.stats import qmc  # scipy.stats takes as long to import as everything else together

        if d + 1 > qmc.Sobol.MAXDIM:
            raise ValueError(f'method "sobol" has at most {qmc.Sobol.MAXDIM - 1} columns; got {d}. Use "orthogonal"')
        points = qmc.Sobol(d + 1, scramble=True, rng=generator).random_base2((m - 1).bit_length())[:m]
        points = _open_interval(points)
        return ndtri(points[:, :d]), points[:, d]
    if method == "iid":
        normals = generator.standard_normal((m, d))
    else:  # directions are orthogonal in groups of d; each vector by itself is standard normal
        groups = -(-m // d)
        directions, upper = np.linalg.qr(generator.standard_normal((groups, d, d)))
        # The signs of R's diagonal make the QR factor uniform over rotations.
        directions = directions * np.sign(np.einsum("gii->gi", upper))[:, None, :]
        lengths = np.sqrt(2 * gammaincinv(d / 2, _open_interval(generator.random(groups * d))))
        normals = (lengths[:, None] * directions.transpose(0, 2, 1).reshape(groups * d, d))[:m]
    return normals, _open_interval(generator.random(m))


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
    smallest = float(scipy.linalg.eigvalsh((correlation + correlation.T) / 2)[0])
    variances, axes = scipy.linalg.eigh((given + given.T) / 2)
    if smallest <= 1e-12 or variances[0] <= 0:
        raise ValueError(
            f"scale must be a positive definite covariance; the smallest eigenvalue of its correlations is {smallest:g}"
        )
    return np.asarray((axes / np.sqrt(variances)) @ axes.T)


def as_frequencies(frequencies: Any, n_columns: int | None = None) -> Floats:
    """Return frequencies as a float64 array of shape (m, d), or raise with what is wrong."""
    if not isinstance(frequencies, np.ndarray) and is_frame(frequencies):
        raise ValueError(
            "frequencies must be an array with its columns in the order of the data's; got a data frame. Select its "
            "columns in that order and call .to_numpy()"
        )
    if not isinstance(frequencies, np.ndarray) and is_tensor(frequencies):
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
    values: Floats = np.array(array, dtype=np.float64, order="C", subok=False)
    if not np.isfinite(values).all():
        raise ValueError("frequencies must be finite; got NaN or infinite ones")
    return values
