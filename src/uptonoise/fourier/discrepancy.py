"""Distances between two samples, from their characteristic functions at m frequencies.

    mmd         mean abs(phi_X - phi_Y)^2       sees every difference, noise too
    phd         mean abs(rho_X - rho_Y)^2       rho = phi/abs(phi): does not see symmetric noise
    paired_mmd  4 mean Im(phi_X conj phi_Y)^2   MMD of X - Y and Y - X: 0 up to symmetric noise, and shrunk by it

All are squared distances, as in the paper, and estimates that include the diagonal: a sample is at 0 from itself.
``pairwise_mmd`` and ``pairwise_phd`` are their matrices between bags.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import scipy

from uptonoise._util.threads import ordered_map, single_threaded_blas
from uptonoise._util.typing import Complex, Floats, Precision
from uptonoise._util.validation import checked_choice
from uptonoise.fourier.characteristic import Characteristic, characteristic_function, unit, warn_where_unreliable
from uptonoise.fourier.cosine_sine import as_complex
from uptonoise.fourier.docs import described
from uptonoise.fourier.frequencies import as_frequencies
from uptonoise.fourier.sketch import Sketch
from uptonoise.rows import RowSource, aligned, as_rows, two_samples

_BLOCK_ELEMENTS = 2**20


@described
def mmd(X: Any, Y: Any, frequencies: Any = None, *, precision: Precision = "fast") -> float:
    """Return the squared maximum mean discrepancy of two samples, for the kernel that the frequencies stand for.

    {of_two_samples}

    {frequencies_for_example}
    >>> un.mmd(np.zeros(5), np.zeros(7), W)
    0.0
    >>> un.mmd(np.zeros(5), np.ones(7), W) > 0.5
    True
    """
    left, right = _characteristics(X, Y, frequencies, precision)
    return float(squared_mmd(left.phi, right.phi))


@described
def phd(X: Any, Y: Any, frequencies: Any = None, *, precision: Precision = "fast") -> float:
    """Return the phase discrepancy of two samples: their distance up to noise with a positive characteristic function.

    It warns when the phase of a sample is not reliable at some frequency: it is noise there, and so is its share of the
    distance.

    {of_two_samples}

    {examples}
    >>> X, Y = rng.exponential(size=(2, 50_000))
    >>> noisy = Y + rng.normal(size=Y.shape)
    >>> W = un.sample_frequencies(100, 1, scale=2, random_state=0)
    >>> un.mmd(X, noisy, W) > 0.01, un.phd(X, noisy, W) < 0.001
    (True, True)
    """
    left, right = _characteristics(X, Y, frequencies, precision)
    warn_where_unreliable(left, "X")
    warn_where_unreliable(right, "Y")
    return float(squared_phd(left.phi, right.phi))


@described
def paired_mmd(X: Any, Y: Any, frequencies: Any = None, *, precision: Precision = "fast") -> float:
    """Return the squared maximum mean discrepancy of X - Y and Y - X, over all pairs of rows.

    It is 0 where X and Y are equal up to symmetric noise. Where they are not, it shrinks as the noise grows.

    {of_two_samples}

    {examples}
    >>> X, Y = rng.exponential(size=5_000), rng.normal(1, 1, size=5_000)
    >>> W = un.sample_frequencies(100, 1, random_state=0)
    >>> un.paired_mmd(X, Y, W) > un.paired_mmd(X + rng.normal(size=5_000), Y, W)
    True
    """
    left, right = _characteristics(X, Y, frequencies, precision)
    return float(squared_paired_mmd(left.phi, right.phi))


@described
def pairwise_mmd(bags: Any, other: Any = None, frequencies: Any = None, *, precision: Precision = "fast") -> Floats:
    """Return the squared maximum mean discrepancy of every pair of bags.

    {of_pairs_of_bags}

    {frequencies_for_example}
    >>> un.pairwise_mmd([np.zeros(5), np.zeros(7), np.ones(3)], frequencies=W).round(2)
    array([[0.  , 0.  , 0.77],
           [0.  , 0.  , 0.77],
           [0.77, 0.77, 0.  ]])
    """
    return squared_distances(*features_of_bags(bags, other, frequencies, precision, phases=False))


@described
def pairwise_phd(bags: Any, other: Any = None, frequencies: Any = None, *, precision: Precision = "fast") -> Floats:
    """Return the phase discrepancy of every pair of bags: their distance up to Gaussian and similar noise.

    It warns when the phase of the bags is not reliable at more than a tenth of the frequencies.

    {of_pairs_of_bags}

    {examples}

    The second bag has the distribution of the first plus noise, the third its mirror image:

    >>> X, Y, Z = rng.exponential(size=(3, 20_000)) - 1
    >>> W = un.sample_frequencies(100, 1, scale=2, random_state=0)
    >>> un.pairwise_phd([X, Y + rng.normal(size=Y.shape), -Z], frequencies=W).round(2)
    array([[0.  , 0.  , 0.02],
           [0.  , 0.  , 0.02],
           [0.02, 0.02, 0.  ]])
    """
    return squared_distances(*features_of_bags(bags, other, frequencies, precision, phases=True))


def squared_mmd(phi_X: Complex, phi_Y: Complex) -> Floats:
    """Return mean abs(phi_X - phi_Y)^2 over the last axis."""
    apart = phi_X - phi_Y
    return np.asarray(np.mean(apart.real**2 + apart.imag**2, axis=-1))


def squared_phd(phi_X: Complex, phi_Y: Complex) -> Floats:
    """Return the mean squared distance of the phases over the last axis."""
    return squared_mmd(unit(phi_X), unit(phi_Y))


def squared_paired_mmd(phi_X: Complex, phi_Y: Complex) -> Floats:
    """Return 4 mean Im(phi_X conj phi_Y)^2 over the last axis."""
    return np.asarray(4 * np.mean((phi_X * np.conj(phi_Y)).imag ** 2, axis=-1))


def _characteristics(X: Any, Y: Any, frequencies: Any, precision: Precision) -> tuple[Characteristic, Characteristic]:
    """Return the characteristic functions of both, from rows or from sketches."""
    checked_choice(precision, get_args(Precision), "precision")
    if isinstance(X, Sketch) and isinstance(Y, Sketch):
        X.check_comparable(Y)
        if frequencies is not None and not np.array_equal(as_frequencies(frequencies, X.n_columns), X.frequencies):
            raise ValueError("frequencies must be left out for sketches, which have their own; got different values")
        of_sketches = []
        for name, sketch in (("X", X), ("Y", Y)):
            if sketch.n_rows == 0:
                raise ValueError(f"{name} is a sketch without rows; update it first")
            # A common centre near the data: distances do not depend on it, and their accuracy does.
            phi = as_complex(sketch.mean_about(np.asarray(X.centre)))
            of_sketches.append(Characteristic(phi, np.asarray(sketch.weight), np.asarray(sketch.weight_squares)))
        return of_sketches[0], of_sketches[1]
    if isinstance(X, Sketch) or isinstance(Y, Sketch):
        raise ValueError("X and Y must both be samples or both be sketches; make the other with Sketch.like")
    if frequencies is None:
        raise ValueError("frequencies must be given for samples: un.sample_frequencies samples them")
    left, right = two_samples(X, Y)
    wanted = as_frequencies(frequencies, len(left.columns))
    return (
        characteristic_function(left, wanted, precision=precision),
        characteristic_function(right, wanted, precision=precision),
    )


def features_of_bags(
    bags: Any, other: Any, frequencies: Any, precision: Precision, *, phases: bool
) -> tuple[Floats, Floats | None]:
    """Return the Fourier or the phase features of bags, and of other bags where there are any.

    It warns where phases are not reliable.
    """
    checked_choice(precision, get_args(Precision), "precision")
    if frequencies is None:
        raise ValueError("frequencies must be given, by name where `other` is not: un.sample_frequencies samples them")
    features: list[Floats | None] = []
    for name, source in zip(("bags", "other"), bag_sources(bags, other), strict=True):
        if source is None:
            features.append(None)
            continue
        characteristic = characteristic_function(source, frequencies, precision=precision)
        if phases:
            warn_where_unreliable(characteristic, name)
        features.append(fourier_features(unit(characteristic.phi) if phases else characteristic.phi))
    return np.asarray(features[0]), features[1]


def bag_sources(bags: Any, other: Any) -> tuple[RowSource, RowSource | None]:
    """Return bags, and other bags where there are any, as row sources with the same columns in the same order."""
    left, right = as_rows(bags, name="bags"), None if other is None else as_rows(other, name="other")
    for name, source in (("bags", left), ("other", right)):
        if source is not None and source.bag_ids is None:
            raise ValueError(f"{name} must be Bags, a list of samples or a 3-D array; got a single sample")
    return left, None if right is None else aligned(right, left)


def fourier_features(phi: Complex) -> Floats:
    """Return sqrt(1/m) [Re phi_1, Im phi_1, Re phi_2, ...] of each row; of phases these are the phase features."""
    return np.asarray(np.ascontiguousarray(phi).view(np.float64) / np.sqrt(phi.shape[-1]))


def squared_distances(left: Floats, right: Floats | None = None) -> Floats:
    """Return the squared distance of every row of `left` to every row of `right`, or of `left`.

    Sums of squared differences: equal rows are at 0, which the shorter way over inner products would miss by rounding.
    """
    distances = scipy.spatial.distance.cdist
    return matrix_of_pairs(lambda rows, others: np.asarray(distances(rows, others, "sqeuclidean")), left, right)


def matrix_of_pairs(function: Callable[[Floats, Floats], Floats], left: Floats, right: Floats | None = None) -> Floats:
    """Return the matrix of a function of two rows, by threads; where `right` is None it is symmetric.

    `function` takes two arrays and returns its matrix for their rows. In the symmetric case it sees half of the pairs.
    """
    others = left if right is None else right
    matrix = np.empty((len(left), len(others)))
    step = max(1, _BLOCK_ELEMENTS // max(len(others), left.shape[1]))

    def part(start: int) -> tuple[int, Floats]:
        return start, function(left[start : start + step], others[start if right is None else 0 :])

    with single_threaded_blas():
        for start, block in ordered_map(part, range(0, len(left), step)):
            stop = start + len(block)
            if right is not None:
                matrix[start:stop] = block
                continue
            # A product of matrices may round the two halves of a symmetric block differently.
            block[:, : len(block)] = np.triu(block[:, : len(block)]) + np.triu(block[:, : len(block)], 1).T
            matrix[start:stop, start:] = block
            matrix[start:, start:stop] = block.T
    return matrix
