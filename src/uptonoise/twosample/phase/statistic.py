"""The ridge statistic of the phase test: from means and covariances of cosines and sines to its null distribution.

Noise that is symmetric with a positive characteristic function multiplies phi by a positive number. So where the
samples differ by such noise alone, at every frequency w

    S(w) = Im(phi_X conj phi_Y) = s_X c_Y - c_X s_Y = 0        (c, s: the means of cos(w.x) and sin(w.x))

S is linear in the means of each sample, so its covariance comes from the covariances C_X and C_Y of [cos, sin], which
two sketches hold. With t_X and t_Y the phases across which rows vary, J_X = abs(phi_Y) [-sin t_X, cos t_X] and
J_Y = abs(phi_X) [sin t_Y, -cos t_Y], one pair per frequency,

    A = J_X C_X J_X' / n        B = J_Y C_Y J_Y' / k        Cov(S) = A + B

The derivative of S has the other sample's phase: t_X = arg phi_Y. But then A + B is too small just where S is large, by
S^2 times what the rows' variance along the phase lacks of that across it, and heavy tails lose the significance level.
Under the null hypothesis both samples have one phase. With the phase of both together in place of t_X and t_Y that
error is gone, and T becomes somewhat too small. So the own phase counts in part: t_X is that of
own_phase n abs(phi_X) phi_X + k abs(phi_Y) phi_Y.

The statistic of a block of frequencies is T = S'(R + lam)^-1 S, with R = A + B and S in correlation form. With (w, V)
the eigenpairs of R, z = (w + lam)^-1/2 V'S has the covariance H = diag(w/(w + lam)). With s1 = tr H and s2 = tr H^2,

    T = |z|^2        E T = M = s1/c        Var T = 2 (s1/c^3 - (s1 - s2)/c^4)        c = 1 - s1/nu

are its mean and variance where R has nu degrees of freedom: the limit of random matrices for a regularised Hotelling
statistic (Chen, Paul, Prentice and Wang 2011). nu is Satterthwaite's for the two samples' covariances, with G and
H - G the parts of H that come from A and from B:

    nu = (s2 + s1^2) / ((|G|^2 + tr(G)^2)/(n - 1) + (|H - G|^2 + tr(H - G)^2)/(k - 1))

T is compared with a scaled chi-squared distribution of this mean and variance. Where one sample makes most of R, by its
size or by its noise, its skewness does not cancel in S; so a part of nu is taken off, in proportion to what nu lacks of
n + k - 2. With very few rows the distribution is an F, whose denominator grows with their square. lam grows with the
number of frequencies, which keeps the significance level for heavy tails. Directions in which S may move for other
reasons than a difference, such as an offset, are projected out of z. Then z is rotated so that its covariance H stays
diagonal; G is projected and rotated alike.

At unequal sizes the smaller sample, say Y, makes nearly all of R. Where its rows are skewed or mostly equal, B may by
chance be too small just where S is large, and the significance level is lost. Under the null hypothesis the larger
sample says what B should be, up to noise: with C_X in place of C_Y it is B'. Where B' and B differ by no more than the
error of B can explain, variances that are too small are raised to those of B', and a part of the correlations is taken
from it; the ridge is larger.

All arrays may have leading dimensions, one test each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

from uptonoise._util.typing import Floats
from uptonoise.twosample.phase.pair import SampleMoments
from uptonoise.twosample.result import representable

_MANY_ROWS = 1e5  # denominators from which on F is chi-squared
_SMALLEST_C = 0.05
_ROUNDING = 1e-12  # of the variance of a row's influence: cosines and sines are good to 1e-7
_NO_RANK = 1e-9  # of s1: what rounding leaves where nothing is left to test
_TINY = np.finfo(np.float64).tiny


class Constants(NamedTuple):
    """The numbers in the statistic that no theorem gives; docs/results/constants.md has what each one is worth."""

    ridge: float = 0.1
    """The ridge lam, in units of a correlation, at many rows and few frequencies."""
    ridge_rows: float = 20.0
    """The ridge is at least this over the rows of the smaller sample."""
    ridge_frequencies: float = 60.0
    """The number of frequencies from which on the ridge grows with it."""
    unequal_ridge: float = 4.0
    """How much more ridge there is at sizes as unequal as can be."""
    caution: float = 0.3
    """What is taken off the degrees of freedom where one sample makes all of the covariance: its skewness shows."""
    tolerance: float = 2.0
    """Standard errors of a variance of the smaller sample that the larger one's may be off."""
    cleaner: float = 2.0
    """How much less the larger one's may be off where it is the smaller of the two: it may have less noise."""
    borrowed: float = 0.6
    """The share of the correlations that comes from the larger sample, at sizes as unequal as can be."""
    own_phase: float = 0.5
    """How much a sample's own phase counts beside the other one's, where its covariance is taken across their phase."""
    few_rows: float = 4.0
    """What the squared number of rows is divided by in the denominator of the F distribution."""


CONSTANTS = Constants()


@dataclass(eq=False)
class Ridge:
    """The statistic of a block of frequencies, and its distribution under the null hypothesis.

    Attributes
    ----------
    S : array of shape (..., m)
        What is 0 under the null hypothesis.
    basis : array of shape (..., m, r)
        What makes uncorrelated scores of it.
    whitening : array of shape (..., r)
        What makes z of these.
    variances : array of shape (..., r)
        The variances of z, the diagonal of H.
    nu : array
        Degrees of freedom of H.
    caution : array
        The part of these that the null distribution counts on.
    few_rows : array
        The denominator of the F distribution of T: large, but where there are few rows.
    traces, shrinkage, has_rank : arrays
        (s1, s2), c, and whether anything is left to test.
    """

    S: Floats
    basis: Floats
    whitening: Floats
    variances: Floats
    nu: Floats
    caution: Floats
    few_rows: Floats

    def __post_init__(self) -> None:
        s1, _ = self.traces = np.sum(self.variances, axis=-1), np.sum(self.variances**2, axis=-1)
        self.shrinkage = np.asarray(np.maximum(1 - s1 / np.maximum(self.caution * self.nu, _TINY), _SMALLEST_C))
        self.has_rank = np.asarray(s1 > _NO_RANK)

    # The steps towards a ridge ask for c alone, of very many pairs: what follows is computed when it is first used.
    @cached_property
    def z(self) -> Floats:
        """The scores."""
        return np.asarray(self.whitening * np.einsum("...mr,...m->...r", self.basis, self.S))

    @cached_property
    def statistic(self) -> Floats:
        """The statistic T."""
        return np.asarray(np.sum(self.z**2, axis=-1))

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """The mean and variance of T under the null hypothesis."""
        (s1, s2), c = self.traces, self.shrinkage
        return s1 / c, np.maximum(2 * (s1 / c**3 - (s1 - s2) / c**4), 2 * s2 / c**2)

    @cached_property
    def root(self) -> Floats:
        """What makes z of S."""
        return np.asarray(self.basis * self.whitening[..., None, :])

    @property
    def without_caution(self) -> Ridge:
        """The same statistic, with the null distribution for Gaussian influence functions."""
        return replace(self, caution=np.ones_like(self.caution))

    @property
    def denominator(self) -> Floats:
        """The degrees of freedom of the F distribution that adds to the variance of T what estimating H adds."""
        (s1, s2), (mean, variance) = self.traces, self.moments
        numerator = 2 * s2 / np.maximum(s1, _TINY) ** 2
        more = (variance / np.maximum(mean, _TINY) ** 2 - numerator) / (1 + numerator)
        return np.asarray(np.minimum(4 + 2 / np.maximum(more, _TINY), 1e7))

    @property
    def pvalue(self) -> Floats:
        """The p-value; 1 where neither sample varies at any frequency that the other lets through."""
        return self.pvalue_of(self.statistic)

    def pvalue_of(self, statistic: Floats) -> Floats:
        """Return the p-value that another statistic would have."""
        mean, variance = (np.maximum(moment, _TINY) for moment in self.moments)
        freedom, ratio = 2 * mean**2 / variance, statistic / mean
        with_few = fdtrc(freedom, np.minimum(self.few_rows, _MANY_ROWS), ratio)
        pvalue = np.where(self.few_rows < _MANY_ROWS, with_few, chdtrc(freedom, ratio * freedom))
        return np.asarray(np.where(self.has_rank, representable(pvalue), 1.0))

    @property
    def noncentrality(self) -> Floats:
        """C T - s1, which estimates what T has beyond its null mean."""
        return np.asarray(self.shrinkage * self.statistic - self.traces[0])

    @property
    def contributions(self) -> Floats:
        """What each frequency adds to T, in units of its mean under the null hypothesis."""
        added = self.S * np.einsum("...mr,...r->...m", self.root, self.z)
        return np.asarray(added / np.maximum(self.moments[0], _TINY)[..., None])


class Decomposition(NamedTuple):
    """S in units of its standard deviations, and the eigenpairs of its correlations R = A + B."""

    S: Floats
    unit: Floats  # one over the standard deviations
    w: Floats
    basis: Floats  # V, with rows times unit
    A: Floats  # V'AV
    squares: Floats  # of the numbers in A
    freedoms: tuple[Floats, Floats]
    sizes: tuple[Floats, Floats]
    constants: Constants

    def test(self, nuisance: Floats | None = None) -> Ridge:
        """Return the statistic of the test, with the ridge that these sizes ask for.

        S may move along the columns of `nuisance`, of shape (..., m, p), without that counting as a difference.
        """
        constants, smaller, larger = self.constants, np.minimum(*self.sizes), np.maximum(*self.sizes)
        many = max(1.0, self.S.shape[-1] / constants.ridge_frequencies)
        lam = np.maximum(constants.ridge, constants.ridge_rows / smaller) * many
        plain = self.ridge(lam * (1 + constants.unequal_ridge * (1 - smaller / larger)), nuisance)
        # Where both samples make the covariance alike, their skewness cancels in S.
        balance = np.minimum(1, plain.nu / (smaller + larger - 2))
        return replace(plain, caution=np.asarray(1 - constants.caution * (1 - balance)))

    def ridge(self, lam: Floats, nuisance: Floats | None = None) -> Ridge:
        """Return the statistic with a given ridge, and no caution."""
        w = np.maximum(self.w, 0)
        whitening = 1 / np.sqrt(w + lam[..., None])
        variances, basis, A, squares = w * whitening**2, self.basis, self.A, self.squares
        if nuisance is not None:
            root = basis * whitening[..., None, :]
            directions = _directions(root.mT @ nuisance)
            left_over = np.eye(root.shape[-1]) - directions @ directions.mT  # projects onto what is orthogonal
            variances, turn = np.linalg.eigh((left_over * variances[..., None, :]) @ left_over)
            turn = left_over @ turn
            basis, A = root @ turn, turn.mT @ _scaled(A, whitening) @ turn
            whitening, squares = np.ones_like(whitening), A**2
        nu = _satterthwaite(variances, whitening**2, np.linalg.diagonal(A), squares, self.freedoms)
        few_rows = (np.minimum(*self.sizes) - 1) ** 2 / self.constants.few_rows
        return Ridge(self.S, basis, whitening, variances, nu, np.ones_like(nu), few_rows)

    def shrinkage(self, lam: Floats, nuisance: Floats) -> Floats:
        """Return c of :meth:`ridge` from traces alone, which need no further eigenvectors."""
        w = np.maximum(self.w, 0)
        whitening = 1 / np.sqrt(w + lam[..., None])
        directions = _directions((self.basis * whitening[..., None, :]).mT @ nuisance)
        H = _without(directions, (w * whitening**2)[..., None] * np.eye(w.shape[-1]))
        G = _without(directions, _scaled(self.A, whitening))
        whole, from_A, from_B = (np.sum(part**2, axis=(-2, -1)) + _trace(part) ** 2 for part in (H, G, H - G))
        spread = from_A / self.freedoms[0] + from_B / self.freedoms[1]
        nu = whole / np.maximum(spread, _TINY)
        return np.asarray(np.maximum(1 - _trace(H) / np.maximum(nu, _TINY), _SMALLEST_C))


def decomposed(left: SampleMoments, right: SampleMoments, constants: Constants = CONSTANTS) -> Decomposition:
    """Return S of two samples at the same frequencies, and its covariance decomposed."""
    S = left.S(right)
    A, freedom_A = _covariance_part(left, right, constants)
    B, freedom_B = _covariance_part(right, left, constants)
    variances = np.linalg.diagonal(A) + np.linalg.diagonal(B)
    used = variances > _ROUNDING / np.minimum(left.size, right.size)[..., None]
    unit = np.where(used, 1 / np.sqrt(np.maximum(variances, _TINY)), 0.0)
    part = _scaled(A, unit)
    w, V = np.linalg.eigh(part + _scaled(B, unit))
    rotated = V.mT @ part @ V
    freedoms, sizes = (freedom_A, freedom_B), (left.size, right.size)
    return Decomposition(S, unit, w, unit[..., None] * V, rotated, rotated**2, freedoms, sizes, constants)


def _covariance_part(sample: SampleMoments, other: SampleMoments, constants: Constants) -> tuple[Floats, Floats]:
    """Return what one sample adds to Cov(S), and the degrees of freedom; where it is the smaller one, guarded."""
    size = sample.size[..., None]
    of_own = constants.own_phase * size * np.abs(sample.phi) * sample.phi
    both = of_own + other.size[..., None] * np.abs(other.phi) * other.phi
    length = np.abs(both)
    across = np.abs(other.phi) * np.divide(both, length, out=np.zeros_like(both), where=length > 0)
    covariance = sample.projected(-across.imag, across.real) / size[..., None]
    if not np.any(sample.size < other.size):
        return covariance, sample.size - 1
    expected = other.projected(-across.imag, across.real) / size[..., None]
    return _guarded(covariance, expected, sample.size, other, constants)


def _guarded(
    covariance: Floats, expected: Floats, size: Floats, large: SampleMoments, constants: Constants
) -> tuple[Floats, Floats]:
    """Return the smaller sample's part of Cov(S), guarded by what the larger sample says that it should be."""
    unequal = np.maximum(1 - size / large.size, 0.0)
    variances, wanted = (np.maximum(np.linalg.diagonal(matrix), _TINY) for matrix in (covariance, expected))
    # An influence is at most abs(phi), so its fourth moment is at most abs(phi)^2 times its variance.
    kurtosis = (large.cos**2 + large.sin**2) / (size[..., None] * wanted)
    error = constants.tolerance * wanted * np.sqrt(kurtosis / size[..., None])
    gap = wanted - variances
    # Beyond the error the samples differ in noise, and the larger one says nothing about the smaller.
    alike = np.minimum(1, error / np.maximum(np.abs(gap), _TINY)) ** 2
    # Less noise means stronger correlations: those of a larger sample with less noise would be too strong.
    not_cleaner = np.minimum(1, error / constants.cleaner / np.maximum(-gap, _TINY)) ** 2
    borrowed = constants.borrowed * unequal * np.mean(alike * not_cleaner, axis=-1)
    own, other = _scaled(covariance, 1 / np.sqrt(variances)), _scaled(expected, 1 / np.sqrt(wanted))
    share = borrowed[..., None, None]
    mixed = (1 - share) * own + share * other
    raised = variances + unequal[..., None] * alike * np.maximum(gap, 0)
    # Rows that are all equal have no correlations of their own: what is mixed has a diagonal of 1 all the same.
    factors = np.sqrt(raised / np.maximum(np.linalg.diagonal(mixed), _TINY))
    freedom = 1 / ((1 - borrowed) ** 2 / (size - 1) + borrowed**2 / (large.size - 1))
    return _scaled(mixed, factors), freedom


def _satterthwaite(H: Floats, scales: Floats, A: Floats, squares: Floats, freedoms: tuple[Floats, Floats]) -> Floats:
    """Return the degrees of freedom of a sum of two Wishart matrices with means G and H - G.

    G is A with rows and columns times the roots of `scales`. H is diagonal: H and A are given by their diagonals, and
    what is off the diagonal of G, and so of H - G, by the squares of all numbers in A.
    """
    G = scales * A
    off_diagonal = np.sum(scales * (squares @ scales[..., None])[..., 0], axis=-1) - np.sum(G**2, axis=-1)
    whole, from_A, from_B = (np.sum(part**2, axis=-1) + np.sum(part, axis=-1) ** 2 for part in (H, G, H - G))
    spread = (from_A + off_diagonal) / freedoms[0] + (from_B + off_diagonal) / freedoms[1]
    return np.asarray(whole / np.maximum(spread, _TINY))


def _directions(columns: Floats) -> Floats:
    """Return orthogonal directions of length 1 that span columns; 0 in place of those that are not needed."""
    directions, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(directions * (sizes > 1e-10 * sizes[..., :1])[..., None, :])


def _without(directions: Floats, matrix: Floats) -> Floats:
    """Project directions out of the rows and columns of a matrix."""
    half = matrix - directions @ (directions.mT @ matrix)
    return np.asarray(half - (half @ directions) @ directions.mT)


def _trace(matrix: Floats) -> Floats:
    return np.asarray(np.trace(matrix, axis1=-2, axis2=-1))


def _scaled(matrix: Floats, factors: Floats) -> Floats:
    return np.asarray(matrix * (factors[..., :, None] * factors[..., None, :]))
