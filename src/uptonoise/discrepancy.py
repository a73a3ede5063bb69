"""How far two samples are apart, read off their characteristic functions at m frequencies.

    mmd         mean abs(phi_X - phi_Y)^2       sees every difference, noise too
    phd         mean abs(rho_X - rho_Y)^2       rho = phi/abs(phi): does not see symmetric noise
    paired_mmd  4 mean Im(phi_X conj phi_Y)^2   MMD of X - Y and Y - X: 0 up to symmetric noise, and shrunk by it

All are squared distances, as in the paper, and estimates that include the diagonal: a sample is at 0 from itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from uptonoise.characteristic import (
    Characteristic,
    Complex,
    Precision,
    as_complex,
    characteristic,
    check_precision,
    unit,
    warn_where_unreliable,
)
from uptonoise.frequencies import as_frequencies
from uptonoise.rows import Floats, two_samples
from uptonoise.sketch import Sketch


def mmd(X: Any, Y: Any, frequencies: Any = None, *, precision: Precision = "fast") -> float:
    """Return the squared maximum mean discrepancy of two samples, for the kernel that the frequencies stand for.

    Parameters
    ----------
    X, Y : array, frame, RowSource, or Sketch
        The two samples; weighted ones come as sketches.
    frequencies : array of shape (m, d)
        One frequency a row; two sketches bring their own.
    precision : {"fast", "float64"}
        As for :func:`~uptonoise.ecf`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> W = un.sample_frequencies(100, 1, random_state=0)
    >>> un.mmd(np.zeros(5), np.zeros(7), W)
    0.0
    >>> un.mmd(np.zeros(5), np.ones(7), W) > 0.5
    True
    """
    left, right = _both(X, Y, frequencies, precision)
    return float(squared_mmd(left.phi, right.phi))


def phd(X: Any, Y: Any, frequencies: Any = None, *, precision: Precision = "fast") -> float:
    """Return the phase discrepancy of two samples: how far they are apart up to symmetric noise.

    A warning says when the phase of a sample is not reliable at some frequency: it is noise there, and so is its share
    of the distance.

    Parameters
    ----------
    X, Y : array, frame, RowSource, or Sketch
        The two samples; weighted ones come as sketches.
    frequencies : array of shape (m, d)
        One frequency a row; two sketches bring their own.
    precision : {"fast", "float64"}
        As for :func:`~uptonoise.ecf`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.exponential(size=(2, 50_000))
    >>> noisy = Y + rng.normal(size=Y.shape)
    >>> W = un.sample_frequencies(100, 1, scale=2, random_state=0)
    >>> un.mmd(X, noisy, W) > 0.01, un.phd(X, noisy, W) < 0.001
    (True, True)
    """
    left, right = _both(X, Y, frequencies, precision)
    warn_where_unreliable(left, "X")
    warn_where_unreliable(right, "Y")
    return float(squared_phd(left.phi, right.phi))


def paired_mmd(X: Any, Y: Any, frequencies: Any = None, *, precision: Precision = "fast") -> float:
    """Return the squared maximum mean discrepancy of X - Y and Y - X, over all pairs of rows.

    It is 0 where X and Y are equal up to symmetric noise, but where they are not it shrinks with the noise.

    Parameters
    ----------
    X, Y : array, frame, RowSource, or Sketch
        The two samples; weighted ones come as sketches.
    frequencies : array of shape (m, d)
        One frequency a row; two sketches bring their own.
    precision : {"fast", "float64"}
        As for :func:`~uptonoise.ecf`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.exponential(size=5_000), rng.normal(1, 1, size=5_000)
    >>> W = un.sample_frequencies(100, 1, random_state=0)
    >>> un.paired_mmd(X, Y, W) > un.paired_mmd(X + rng.normal(size=5_000), Y, W)
    True
    """
    left, right = _both(X, Y, frequencies, precision)
    return float(squared_paired_mmd(left.phi, right.phi))


def squared_mmd(phi_X: Complex, phi_Y: Complex) -> Floats:
    """Return mean abs(phi_X - phi_Y)^2 over the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.discrepancy import squared_mmd
    >>> float(squared_mmd(np.array([1.0, 1j]), np.array([1.0, 0.0])))
    0.5
    """
    apart = phi_X - phi_Y
    return np.asarray(np.mean(apart.real**2 + apart.imag**2, axis=-1))


def squared_phd(phi_X: Complex, phi_Y: Complex) -> Floats:
    """Return the mean squared distance of the phases over the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.discrepancy import squared_phd
    >>> float(squared_phd(np.array([0.5 + 0j]), np.array([0.1 + 0j])))
    0.0
    """
    return squared_mmd(unit(phi_X), unit(phi_Y))


def squared_paired_mmd(phi_X: Complex, phi_Y: Complex) -> Floats:
    """Return 4 mean Im(phi_X conj phi_Y)^2 over the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.discrepancy import squared_paired_mmd
    >>> float(squared_paired_mmd(np.array([0.5j]), np.array([1.0 + 0j])))
    1.0
    """
    return np.asarray(4 * np.mean((phi_X * np.conj(phi_Y)).imag ** 2, axis=-1))


def _both(X: Any, Y: Any, frequencies: Any, precision: Precision) -> tuple[Characteristic, Characteristic]:
    """Return the characteristic functions of both, from rows or from sketches."""
    check_precision(precision)
    if isinstance(X, Sketch) and isinstance(Y, Sketch):
        return _of_sketches(X, Y, frequencies)
    if isinstance(X, Sketch) or isinstance(Y, Sketch):
        raise ValueError("X and Y must both be samples or both be sketches; make the other one with Sketch.like")
    if frequencies is None:
        raise ValueError("frequencies must be given for samples: un.sample_frequencies draws them")
    left, right = two_samples(X, Y)
    wanted = as_frequencies(frequencies, len(left.columns))
    return characteristic(left, wanted, precision=precision), characteristic(right, wanted, precision=precision)


def _of_sketches(X: Sketch, Y: Sketch, frequencies: Any) -> tuple[Characteristic, Characteristic]:
    X.check_comparable(Y)
    if frequencies is not None and not np.array_equal(as_frequencies(frequencies, X.n_columns), X.frequencies):
        raise ValueError("frequencies must be left out for sketches, which bring their own; got other ones")
    for name, sketch in (("X", X), ("Y", Y)):
        if sketch.n_rows == 0:
            raise ValueError(f"{name} is a sketch without rows; update it first")
    centre = X.centre  # a common one near the data: distances do not depend on it, and their accuracy does
    return _about(X, centre), _about(Y, centre)


def _about(sketch: Sketch, centre: Any) -> Characteristic:
    phi = as_complex(sketch.mean_about(centre))
    return Characteristic(phi, np.asarray(sketch.weight), np.asarray(sketch.weight_squares))
