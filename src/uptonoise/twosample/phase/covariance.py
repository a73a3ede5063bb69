"""The covariance of S, which is 0 where two samples differ by noise alone.

Noise that is symmetric with a positive characteristic function multiplies phi by a positive number. So where the
samples differ by such noise alone, at every frequency w

    S(w) = Im(phi_X conj phi_Y) = s_X c_Y - c_X s_Y = 0        (c, s: the means of cos(w.x) and sin(w.x))

S is linear in the means of each sample, so its covariance comes from the covariances C_X and C_Y of [cos, sin], which
two sketches hold. With t_X and t_Y the phases across which rows vary, J_X = abs(phi_Y) [-sin t_X, cos t_X] and
J_Y = abs(phi_X) [sin t_Y, -cos t_Y], one pair per frequency,

    A = J_X C_X J_X' / n        B = J_Y C_Y J_Y' / k        Cov(S) = A + B

at the first order. What the second order changes where errors are not small against phi, as where noise hides the
signal, is in :mod:`uptonoise.twosample.phase.bending`.

The derivative of S has the other sample's phase: t_X = arg phi_Y. But then A + B is too small just where S is large, by
S^2 times what the rows' variance along the phase lacks of that across it, and heavy tails lose the significance level.
Under the null hypothesis both samples have one phase. With the phase of both together in place of t_X and t_Y that
error is gone, and T becomes somewhat too small. So the own phase counts in part: t_X is that of
own_phase n abs(phi_X) phi_X + k abs(phi_Y) phi_Y.

At unequal sizes the smaller sample, say Y, makes nearly all of R. Where its rows are skewed or mostly equal, B may by
chance be too small just where S is large, and the significance level is lost. Under the null hypothesis the larger
sample says what B should be, up to noise: with C_X in place of C_Y it is B'. Where B' is the larger one by no more than
the error of B can explain, variances that are too small are raised to those of B', and a part of the correlations is
taken from it. The error of a variance b over k rows is b sqrt((kappa - 1)/k), with kappa the kurtosis of what rows move
S by. How much of it comes with S itself is told by their skewness gamma: the squared correlation of S and its variance
is gamma^2/(kappa - 1), 1 for rare events and 0 for symmetric rows. Variances are raised in that proportion, that of the
sample in which it is larger. Where the rows of the larger sample are not at hand it counts as 1, and a bound as kappa.
Where the larger sample has less noise than that, B has no such guard, and the skewness of rows counts in the null
distribution of T (:mod:`uptonoise.twosample.phase.skewness`).

S may also be combined, with a few columns of weights (:mod:`uptonoise.twosample.phase.contrasts`). Then all of this
holds for the combinations.

All arrays may have leading dimensions, one test each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Complex, Floats
from uptonoise.twosample.phase.pair import SampleMoments

_ROUNDING = 1e-12  # of the variance of a row's influence: cosines and sines are good to 1e-7
_TINY = np.finfo(np.float64).tiny

Rows = tuple[Complex | None, Complex | None]
"""exp(i w.x) of the rows of two samples, of shape (n, m); None where they are not at hand."""

Weights = Floats | None
"""Weights of S in some combinations of it, of shape (..., m, q); None for S itself."""


class Constants(NamedTuple):
    """The numbers in the statistic that no theorem gives; docs/results/constants.md has what each one is worth."""

    ridge: float = 0.7
    """The ridge lam, in units of a correlation, per frequency and degree of freedom, or per square of that above 1."""
    least_ridge: float = 0.1
    """The smallest ridge, which counts where rows are many."""
    unequal_ridge: float = 2.0
    """How much more ridge there is at sizes as unequal as can be."""
    tolerance: float = 2.0
    """Standard errors of a variance of the smaller sample by which the larger sample's may differ from it."""
    borrowed: float = 0.6
    """The share of the correlations that comes from the larger sample, at sizes as unequal as can be."""
    own_phase: float = 0.85
    """How much a sample's own phase counts beside the other one's, where its covariance is taken across their phase."""
    heard: float = 3.0
    """Sampling errors that both amplitudes must have at a frequency that tells the skewness of a column."""
    merging: float = 1 / 20
    """The power of the number of blocks that merged p-values are raised by, as blocks are correlated."""


CONSTANTS: Constants = Constants()


class CovariancePart(NamedTuple):
    """What one sample adds to Cov(S), its degrees of freedom, and which share of it has no guard for skewness.

    That share is 0 at equal sizes, for the larger sample, and where this one does not have more noise. `plain` is the
    covariance without the guard, and before S is combined. `across` has the directions across which the rows of the
    sample move S, as long as the other's amplitudes, and `influences` what they move S by, where they are at hand.
    """

    covariance: Floats
    plain: Floats
    freedom: Floats
    unguarded: Floats
    across: Complex
    influences: Floats | None


def covariance_part(
    sample: SampleMoments, other: SampleMoments, constants: Constants, rows: Rows, weights: Weights
) -> CovariancePart:
    """Return what one sample adds to Cov(S); where it is the smaller one, guarded by what the larger one says of it.

    `rows` are those of this sample and of the other.
    """
    of_own = constants.own_phase * sample.size[..., None] * np.abs(sample.phi) * sample.phi
    both = of_own + other.size[..., None] * np.abs(other.phi) * other.phi
    length = np.abs(both)
    across = np.abs(other.phi) * np.divide(both, length, out=np.zeros_like(both), where=length > 0)
    size = sample.size[..., None, None]
    plain = sample.projected(-across.imag, across.real) / size
    covariance = plain if weights is None else np.asarray(weights.mT @ plain @ weights)
    own = None if rows[0] is None else ((rows[0] - sample.phi) * across.conj()).imag
    if not np.any(sample.size < other.size):
        return CovariancePart(covariance, plain, sample.size - 1, np.zeros_like(sample.size), across, own)

    expected = other.projected(-across.imag, across.real) / size
    expected = expected if weights is None else np.asarray(weights.mT @ expected @ weights)
    size, unequal = sample.size, np.maximum(1 - sample.size / other.size, 0.0)
    variances, wanted = (np.maximum(np.linalg.diagonal(matrix), _TINY) for matrix in (covariance, expected))
    if rows[1] is None:
        # An influence is at most abs(phi), so its fourth moment is at most abs(phi)^2 times its variance.
        most = np.abs(other.phi) if weights is None else np.sum(np.abs(weights * other.phi[..., None]), axis=-2)
        error = wanted * np.sqrt(np.maximum(most**2 / (size[..., None] * wanted) - 1, 0) / size[..., None])
        together = np.ones_like(wanted)
    else:
        excess, together = _fourth_and_third_moments(((rows[1] - other.phi) * across.conj()).imag, weights)
        error = wanted * np.sqrt(excess / size[..., None])
        if own is not None:
            together = np.maximum(together, _fourth_and_third_moments(own, weights, unknown=0.0)[1])
    gap = wanted - variances
    # Beyond the error the samples differ in noise, and the larger one says nothing about the smaller. Where it varies
    # less it may have less noise, and stronger correlations than the smaller one: nothing is borrowed there.
    alike = np.minimum(1, constants.tolerance * error / np.maximum(np.abs(gap), _TINY)) ** 2
    borrowed = constants.borrowed * unequal * np.mean(np.where(gap < 0, 0.0, alike), axis=-1)
    unguarded = unequal * np.mean(np.where(gap < 0, 1 - alike, 0.0), axis=-1)
    share = borrowed[..., None, None]
    mixed = (1 - share) * scaled(covariance, 1 / np.sqrt(variances)) + share * scaled(expected, 1 / np.sqrt(wanted))
    raised = variances + unequal[..., None] * alike * together * np.maximum(gap, 0)
    # Rows that are all equal have no correlations of their own: what is mixed has a diagonal of 1 all the same.
    factors = np.sqrt(raised / np.maximum(np.linalg.diagonal(mixed), _TINY))
    freedom = 1 / ((1 - borrowed) ** 2 / (size - 1) + borrowed**2 / (other.size - 1))
    return CovariancePart(scaled(mixed, factors), plain, freedom, unguarded, across, own)


def _fourth_and_third_moments(influences: Floats, weights: Weights, unknown: float = 1.0) -> tuple[Floats, Floats]:
    """Return kappa - 1 of influences, and their gamma^2/(kappa - 1); that is unknown where they do not vary."""
    influences = influences if weights is None else influences @ weights
    variances = np.mean(influences**2, axis=0)
    vary = variances > _ROUNDING
    standard = influences / np.sqrt(np.where(vary, variances, 1.0))
    excess = np.maximum(np.mean(standard**4, axis=0) - 1, _TINY)
    return excess, np.where(vary, np.minimum(np.mean(standard**3, axis=0) ** 2 / excess, 1.0), unknown)


def scaled(matrix: Floats, factors: Floats) -> Floats:
    """Return matrices with rows and columns times factors."""
    return np.asarray(matrix * (factors[..., :, None] * factors[..., None, :]))
