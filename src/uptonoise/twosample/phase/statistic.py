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

T is compared with a scaled chi-squared distribution of this mean and variance. The variance is that for Gaussian
influences. But T = |sum u_i|^2, with one u_i for each row, and given the lengths of these the variance lacks
2 sum |u_i|^4. Where a sample has few rows, they are at hand, and kappa = mean |u|^4 / (mean |u|^2)^2 tells how much
more it lacks than with Gaussian influences. With G the sample's part of H the variance is

    Var T - 2 e/c^2        e = the sum over both samples of ((kappa - 1) tr(G)^2 - 2 tr G^2) / n

Where one sample makes most of R, by its size or by its noise, its skewness does not cancel in S. So a part of nu is
taken off, in proportion to what nu lacks of n + k - 2, and e counts in the proportion of nu to n + k - 2. With very few
rows the distribution is an F, whose denominator grows with their square. lam grows with the number of frequencies per
degree of freedom, which keeps the significance level for heavy tails. Directions in which S may move for other reasons
than a difference, such as an offset, are projected out of z. Then z is rotated so that its covariance H stays diagonal;
G is projected and rotated alike.

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

from uptonoise._util.typing import Complex, Floats
from uptonoise.twosample.phase.pair import SampleMoments
from uptonoise.twosample.result import representable

_MANY_ROWS = 1e5  # denominators from which on F is chi-squared
_SMALLEST_C = 0.05
_ROUNDING = 1e-12  # of the variance of a row's influence: cosines and sines are good to 1e-7
_NO_RANK = 1e-9  # of s1: what rounding leaves where nothing is left to test
_LEAST_RIDGE = 0.1  # in units of a correlation: where there are many rows
_LEAST_VARIANCE = 0.25  # of that for Gaussian influences
_TINY = np.finfo(np.float64).tiny


class Constants(NamedTuple):
    """The numbers in the statistic that no theorem gives; docs/results/constants.md has what each one is worth."""

    ridge: float = 0.5
    """The ridge lam, in units of a correlation, per frequency and degree of freedom that the sizes give."""
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
    own_phase: float = 0.7
    """How much a sample's own phase counts beside the other one's, where its covariance is taken across their phase."""
    few_rows: float = 4.0
    """What the squared number of rows is divided by in the denominator of the F distribution."""


CONSTANTS = Constants()

Rows = tuple[Complex | None, Complex | None]
"""exp(i w.x) of the rows of both samples, of shape (n, m); None where they are not at hand."""


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
    parts : arrays
        (tr G, tr G^2) of X's part of H, and of Y's.
    nu : array
        Degrees of freedom of H.
    caution : array
        The part of these that the null distribution counts on.
    few_rows : array
        The denominator of the F distribution of T: large, but where there are few rows.
    excess : array
        By how much T varies less than with Gaussian influences: half of what c^2 Var T lacks.
    traces, shrinkage, has_rank : arrays
        (s1, s2), c, and whether anything is left to test.
    """

    S: Floats
    basis: Floats
    whitening: Floats
    variances: Floats
    parts: tuple[tuple[Floats, Floats], tuple[Floats, Floats]]
    nu: Floats
    caution: Floats
    few_rows: Floats
    excess: Floats

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
        gaussian = np.maximum(2 * (s1 / c**3 - (s1 - s2) / c**4), 2 * s2 / c**2)
        return s1 / c, np.maximum(gaussian - 2 * self.excess / c**2, _LEAST_VARIANCE * gaussian)

    @cached_property
    def root(self) -> Floats:
        """What makes z of S."""
        return np.asarray(self.basis * self.whitening[..., None, :])

    @property
    def without_caution(self) -> Ridge:
        """The same statistic, with the null distribution for Gaussian influence functions."""
        return replace(self, caution=np.ones_like(self.caution), excess=np.zeros_like(self.excess))

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
    influences: tuple[Floats | None, Floats | None]  # of rows on S, where they are at hand

    def test(self, nuisance: Floats | None = None) -> Ridge:
        """Return the statistic of the test, with the ridge that these sizes ask for.

        S may move along the columns of `nuisance`, of shape (..., m, p), without that counting as a difference.
        """
        n, k = self.sizes
        freedom = (1 / n + 1 / k) ** 2 / (1 / n**3 + 1 / k**3)  # Welch's, of samples that vary alike
        lam = np.maximum(_LEAST_RIDGE, self.constants.ridge * self.S.shape[-1] / freedom)
        unequal = 1 - np.minimum(n, k) / np.maximum(n, k)
        plain = self.ridge(lam * (1 + self.constants.unequal_ridge * unequal), nuisance)
        # Where both samples make the covariance alike, their skewness cancels in S.
        balance = np.minimum(1, plain.nu / (n + k - 2))
        caution = np.asarray(1 - self.constants.caution * (1 - balance))
        return replace(plain, caution=caution, excess=balance * self._excess(plain))

    def _excess(self, plain: Ridge) -> Floats:
        """Return by how much less than Gaussian influences those of the rows at hand make T vary."""
        excess = np.zeros_like(plain.nu)
        for influences, (trace, square), size in zip(self.influences, plain.parts, self.sizes, strict=True):
            if influences is not None:
                lengths = np.sum((influences @ plain.root) ** 2, axis=-1)
                # Rows that hardly vary, so that the larger sample says how they should, tell nothing about their kappa.
                expected = np.maximum(np.mean(lengths), size * trace)
                kappa = np.maximum(1, np.mean(lengths**2) / np.maximum(expected**2, _TINY))
                excess = excess + ((kappa - 1) * trace**2 - 2 * square) / size
        return excess

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
        parts = _parts(variances, whitening**2, np.linalg.diagonal(A), squares)
        nu = _satterthwaite((np.sum(variances, axis=-1), np.sum(variances**2, axis=-1)), parts, self.freedoms)
        few_rows = (np.minimum(*self.sizes) - 1) ** 2 / self.constants.few_rows
        none = np.zeros_like(nu)
        return Ridge(self.S, basis, whitening, variances, parts, nu, np.ones_like(nu), few_rows, none)

    def shrinkage(self, lam: Floats, nuisance: Floats) -> Floats:
        """Return c of :meth:`ridge` from traces alone, which need no further eigenvectors."""
        w = np.maximum(self.w, 0)
        whitening = 1 / np.sqrt(w + lam[..., None])
        directions = _directions((self.basis * whitening[..., None, :]).mT @ nuisance)
        H = _without(directions, (w * whitening**2)[..., None] * np.eye(w.shape[-1]))
        G = _without(directions, _scaled(self.A, whitening))
        whole, *parts = ((_trace(part), np.sum(part**2, axis=(-2, -1))) for part in (H, G, H - G))
        nu = _satterthwaite(whole, (parts[0], parts[1]), self.freedoms)
        return np.asarray(np.maximum(1 - _trace(H) / np.maximum(nu, _TINY), _SMALLEST_C))


def decomposed(
    left: SampleMoments, right: SampleMoments, constants: Constants = CONSTANTS, rows: Rows = (None, None)
) -> Decomposition:
    """Return S of two samples at the same frequencies, and its covariance decomposed."""
    S = left.S(right)
    across_A, across_B = _across(left, right, constants), _across(right, left, constants)
    A, freedom_A = _covariance_part(left, right, across_A, constants)
    B, freedom_B = _covariance_part(right, left, across_B, constants)
    variances = np.linalg.diagonal(A) + np.linalg.diagonal(B)
    used = variances > _ROUNDING / np.minimum(left.size, right.size)[..., None]
    unit = np.where(used, 1 / np.sqrt(np.maximum(variances, _TINY)), 0.0)
    part = _scaled(A, unit)
    w, V = np.linalg.eigh(part + _scaled(B, unit))
    rotated = V.mT @ part @ V
    freedoms, sizes = (freedom_A, freedom_B), (left.size, right.size)
    influences = _influences(rows[0], across_A), _influences(rows[1], across_B)
    return Decomposition(S, unit, w, unit[..., None] * V, rotated, rotated**2, freedoms, sizes, constants, influences)


def _across(sample: SampleMoments, other: SampleMoments, constants: Constants) -> Complex:
    """Return the directions across which the rows of a sample move S, as long as the other's amplitudes."""
    of_own = constants.own_phase * sample.size[..., None] * np.abs(sample.phi) * sample.phi
    both = of_own + other.size[..., None] * np.abs(other.phi) * other.phi
    length = np.abs(both)
    return np.asarray(np.abs(other.phi) * np.divide(both, length, out=np.zeros_like(both), where=length > 0))


def _influences(rows: Complex | None, across: Complex) -> Floats | None:
    if rows is None:
        return None
    influences = (rows * across.conj()).imag
    return np.asarray(influences - influences.mean(axis=0))


def _covariance_part(
    sample: SampleMoments, other: SampleMoments, across: Complex, constants: Constants
) -> tuple[Floats, Floats]:
    """Return what one sample adds to Cov(S), and the degrees of freedom; where it is the smaller one, guarded."""
    size = sample.size[..., None, None]
    covariance = sample.projected(-across.imag, across.real) / size
    if not np.any(sample.size < other.size):
        return covariance, sample.size - 1
    expected = other.projected(-across.imag, across.real) / size
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


def _parts(
    H: Floats, scales: Floats, A: Floats, squares: Floats
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Return tr G and tr G^2 for both parts of H, G and H - G.

    G is A with rows and columns times the roots of `scales`. H is diagonal: H and A are given by their diagonals, and
    what is off the diagonal of G, and so of H - G, by the squares of all numbers in A.
    """
    G = scales * A
    off_diagonal = np.sum(scales * (squares @ scales[..., None])[..., 0], axis=-1) - np.sum(G**2, axis=-1)
    from_A, from_B = ((np.sum(part, axis=-1), np.sum(part**2, axis=-1) + off_diagonal) for part in (G, H - G))
    return from_A, from_B


def _satterthwaite(
    whole: tuple[Floats, Floats],
    parts: tuple[tuple[Floats, Floats], tuple[Floats, Floats]],
    freedoms: tuple[Floats, Floats],
) -> Floats:
    """Return the degrees of freedom of a sum of two Wishart matrices, from the traces of it, its parts and squares."""
    spread = sum((square + trace**2) / freedom for (trace, square), freedom in zip(parts, freedoms, strict=True))
    return np.asarray((whole[1] + whole[0] ** 2) / np.maximum(spread, _TINY))


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
