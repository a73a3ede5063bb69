"""The ridge statistic of the phase test: from means and covariances of cosines and sines to its null distribution.

S, its covariance A + B and the phases that these are taken across are those of
:mod:`uptonoise.twosample.phase.covariance`. A block of frequencies is tested by all of its S, or by the skewness of
each column, which is a combination of them (:mod:`uptonoise.twosample.phase.contrasts`).

The statistic of a block is T = S'(R + lam)^-1 S, with R = A + B and S in correlation form. With (w, V) the eigenpairs
of R, z = (w + lam)^-1/2 V'S has the covariance H = diag(w/(w + lam)). With s1 = tr H and s2 = tr H^2,

    T = |z|^2      E T = M = s1/c      Var T = 2 (s1/c^3 - (s1 - s2)/c^4)      c = 1 - (s1 + s2/s1)/nu

are its mean and variance where R has nu degrees of freedom: the limit of random matrices for a regularised Hotelling
statistic (Chen, Paul, Prentice and Wang 2011). The term s2/s1 is no part of the limit: without a ridge it makes the
mean exact for few rows. nu is Satterthwaite's for the two samples' covariances, with G and H - G the parts of H that
come from A and from B:

    nu = (s2 + s1^2) / ((|G|^2 + tr(G)^2)/(n - 1) + (|H - G|^2 + tr(H - G)^2)/(k - 1))

T is compared with a scaled F distribution of this mean and variance, less what follows. Its denominator has nu - s1 + 1
degrees of freedom, as that of Hotelling's statistic, where nu is that of the samples' own rows: what one sample borrows
from the other makes its correlations surer, not its variances. Where nu is larger by what is borrowed, the variance of
T grows by as much as the denominators differ.

Bent phases. Where the errors of phi are not small against it, S^2 is smaller than its variance says. So b_1 is taken
off s1 in M, and b_2 off the variance (:mod:`uptonoise.twosample.phase.bending`).

Kurtosis. The variance is that for Gaussian influences. But T = |sum u_i|^2, with one u_i for each row, and given the
lengths of these the variance lacks 2 sum |u_i|^4. Where a sample has few rows, they are at hand, and
kappa = mean |u|^4 / (mean |u|^2)^2 tells how much more it lacks than with Gaussian influences. With G the sample's part
of H,

    Var T - (2 e + b_2)/c^3        e = the sum over both samples of ((kappa - 1) tr(G)^2 - 2 tr G^2) / n

For few directions of many rows the power of c would be 4, as T is T'/(1 - T'/nu) with T' taken about 0; where there are
about as many directions as rows, 2 is nearer to what is seen.

Where one sample makes most of R, by its size or by its noise, its skewness does not cancel in S. So e counts in the
proportion of nu to n + k - 2. lam grows with the number of frequencies per degree of freedom, and with its square where
that is more than 1, which keeps the significance level for heavy tails and for few skewed rows. It is larger at unequal
sizes. Directions in which S may move for other reasons than a difference, such as an offset, are projected
out of z. Then z is rotated so that its covariance H stays diagonal; G is projected and rotated alike.

All arrays may have leading dimensions, one test each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc, fdtri

from uptonoise._util.typing import Floats
from uptonoise.twosample.phase.bending import ALL_ERROR, Bending
from uptonoise.twosample.phase.contrasts import skewness_contrasts
from uptonoise.twosample.phase.covariance import CONSTANTS, Constants, Rows, covariance_part, scaled
from uptonoise.twosample.phase.pair import Block, SampleMoments
from uptonoise.twosample.phase.skewness import NOT_SKEWED, Skewness, borrowed_rows, skewness_of_rows
from uptonoise.twosample.result import SMALLEST_PVALUE

_CHI_SQUARED = 1e5  # degrees of freedom of the denominator from which on F is chi-squared
_LEAST_SPREAD = 1e-4  # variance of T over its squared mean: less takes more directions than there can be
_SMALLEST_C = 0.05
_TWO_PAIRS = 0.5  # two of the four ways to flip the signs of two pairs give the same statistic
_ROUNDING = 1e-12  # of the variance of a row's influence: cosines and sines are good to 1e-7
_NO_RANK = 1e-9  # of s1: what rounding leaves where nothing is left to test
_LEAST_MEAN = ALL_ERROR * _NO_RANK  # which s1 and the mean of T exceed wherever anything is left to test
_NO_DIRECTION = 1e-10  # of the largest size: what rounding leaves of a nuisance that others span
_MOST_CROWDED = 3.5  # frequencies per degree of freedom whose square counts: a handful of rows stands no such ridge
_LEAST_ROWS = 15  # that tell the skewness of a column: of fewer, the weights and the covariance are not known
_STEPS = 4  # towards the ridge of the noncentrality, each of which leaves less than a tenth of the error
_TINY = np.finfo(np.float64).tiny


Traces = tuple[Floats, Floats]
"""The traces of a matrix and of its square."""


class Null(NamedTuple):
    """The distribution of T under the null hypothesis."""

    s1: Floats  # the traces of the covariance of z, and of its square
    s2: Floats
    mean: Floats  # of T
    variance: Floats
    denominator: Floats  # degrees of freedom of the F that adds to the variance of T what estimating H adds
    freedoms: tuple[Floats, Floats]  # those of the F distribution of T, with this mean and variance


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
    covariance : array of shape (..., m, m)
        That of S, as the rows have it.
    bending : Bending
        What bent phases take off at each frequency.
    parts : arrays
        (tr G, tr G^2) of X's part of H, and of Y's.
    nu : array
        Degrees of freedom of H.
    own_nu : array
        Degrees of freedom of H without those that one sample borrows from the other.
    fewest : array
        The size of the smaller sample.
    excess : array
        By how much T varies less than with Gaussian influences: half of what c^3 Var T lacks.
    skewness : Skewness
        What skewed rows add to c times the mean and to c^2 Var T.
    trace, squares, shrinkage, has_rank : arrays
        tr H, tr H^2, c, and whether anything is left to test.
    root, z, statistic : arrays
        What makes z of S, z, and T.
    """

    S: Floats
    basis: Floats
    whitening: Floats
    variances: Floats
    covariance: Floats
    bending: Bending
    parts: tuple[Traces, Traces]
    nu: Floats
    own_nu: Floats
    fewest: Floats
    excess: Floats
    skewness: Skewness = NOT_SKEWED

    def __post_init__(self) -> None:
        self.trace = np.asarray(np.sum(self.variances, axis=-1))
        self.squares = np.asarray(np.sum(self.variances**2, axis=-1))
        used = (self.trace + self.squares / np.maximum(self.trace, _TINY)) / np.maximum(self.nu, _TINY)
        self.shrinkage = np.asarray(np.maximum(1 - used, _SMALLEST_C))
        self.has_rank = np.asarray(self.trace > _NO_RANK)
        self.root = np.asarray(self.basis * self.whitening[..., None, :])
        self.z = np.asarray(self.whitening * np.einsum("...mr,...m->...r", self.basis, self.S))
        self.statistic = np.asarray(np.sum(self.z**2, axis=-1))

    # The steps towards a ridge ask for c alone, of very many pairs, so this is computed when it is first used.
    @cached_property
    def null(self) -> Null:
        """The distribution of T under the null hypothesis."""
        trace, squares, c = self.trace, self.squares, self.shrinkage
        # What bent phases take off.
        moved = self.covariance @ self.root
        through = np.sum(self.root * moved, axis=-1)
        back = np.sum(moved**2, axis=-1) / np.maximum(np.linalg.diagonal(self.covariance), _TINY)
        twice = np.sum(self.root * moved * self.variances[..., None, :], axis=-1)
        off_mean = np.sum(self.bending.of_mean * through, axis=-1)
        off_variance = np.sum(self.bending.of_variance * (through * back + twice), axis=-1)
        s1 = np.maximum(trace - off_mean, ALL_ERROR * trace)
        s2 = np.maximum(squares - off_variance / 2, ALL_ERROR**2 * squares)
        mean = (s1 + self.skewness.mean) / c
        gaussian = np.maximum(2 * (trace / c**3 - (trace - squares) / c**4), 2 * squares / c**2)
        variance = np.maximum(gaussian - (2 * self.excess + off_variance) / c**3, ALL_ERROR**2 * gaussian)
        variance = variance + self.skewness.variance / c**2
        own, with_borrowed = (np.maximum(nu - trace + 1, 4.0) for nu in (self.own_nu, self.nu))
        variance = variance + mean**2 * 2 * (1 / own - 1 / with_borrowed)
        numerator = 2 * s2 / np.maximum(s1, _LEAST_MEAN) ** 2
        spread = variance / np.maximum(mean, _LEAST_MEAN) ** 2
        more = np.maximum((spread - numerator) / (1 + numerator), _TINY)
        # The denominator of the F of T has at least two degrees of freedom more than its numerator.
        spread = np.clip(spread, _LEAST_SPREAD, 1 / _LEAST_SPREAD)
        own = np.maximum(np.minimum(own, _CHI_SQUARED), 4 + 4 / spread)
        freedoms = 2 * (own - 2) / (spread * (own - 4) - 2), own
        return Null(s1, s2, mean, variance, np.asarray(np.minimum(4 + 2 / more, 1e7)), freedoms)

    def pvalue(self, statistic: Floats | None = None) -> Floats:
        """Return the p-value of T, or that another statistic would have.

        It is 1 where neither sample varies at any frequency that the other lets through.
        """
        numerator, denominator = self.null.freedoms
        ratio = (self.statistic if statistic is None else statistic) / np.maximum(self.null.mean, _LEAST_MEAN)
        pvalue = fdtrc(numerator, denominator, ratio * (denominator / (denominator - 2)))
        # Two rows hardly tell their own covariance; the exact test of two pairs has no smaller p-value than this.
        least = np.where(self.fewest <= 2, _TWO_PAIRS, SMALLEST_PVALUE)
        return np.asarray(np.where(self.has_rank, np.maximum(pvalue, least), 1.0))

    def critical_value(self, level: float) -> Floats:
        """Return the statistic whose p-value is `level`, where there are more than two rows."""
        numerator, denominator = self.null.freedoms
        return np.asarray(fdtri(numerator, denominator, 1 - level) * ((denominator - 2) / denominator) * self.null.mean)


class Decomposition(NamedTuple):
    """S or its combinations in units of standard deviations, and the eigenpairs of their correlations R = A + B."""

    S: Floats
    unit: Floats  # one over the standard deviations, of S or of its combinations
    w: Floats
    basis: Floats  # V, with rows times unit, after what combines S
    A: Floats  # V'AV
    covariance: Floats  # of S, as the rows have it
    bending: Bending
    freedoms: tuple[Floats, Floats]
    sizes: tuple[Floats, Floats]
    constants: Constants
    influences: tuple[Floats | None, Floats | None]  # of rows on S, where they are at hand
    borrowed: Floats | None  # of the larger sample's rows, as if they were the smaller one's
    unguarded: Floats  # the share of the smaller sample's variances that has no guard for skewness
    nuisance: Floats | None  # of shape (..., m, p): S may move along its columns, which is then no difference

    def test(self) -> Ridge:
        """Return the statistic of the test, with the ridge that these sizes ask for."""
        n, k = self.sizes
        freedom = (1 / n + 1 / k) ** 2 / (1 / n**3 + 1 / k**3)  # Welch's, of samples that vary alike
        crowded = self.w.shape[-1] / freedom
        crowded = np.maximum(crowded, np.minimum(crowded, _MOST_CROWDED) ** 2)
        lam = np.maximum(self.constants.least_ridge, self.constants.ridge * crowded)
        unequal = 1 - np.minimum(n, k) / np.maximum(n, k)
        plain = self.ridge(lam * (1 + self.constants.unequal_ridge * unequal))
        # Where both samples make the covariance alike, their skewness cancels in S, and kurtosis alone counts.
        balance = np.minimum(1, plain.nu / (n + k - 2))
        # By how much less than Gaussian influences those of the rows at hand make T vary.
        excess = np.zeros_like(plain.nu)
        for influences, (trace, square), size in zip(self.influences, plain.parts, self.sizes, strict=True):
            if influences is not None:
                lengths = np.sum((influences @ plain.root) ** 2, axis=-1)
                # Rows that hardly vary, so that the larger sample says how they should, tell nothing about their kappa.
                expected = np.maximum(np.mean(lengths), size * trace)
                kappa = np.maximum(1, np.mean(lengths**2) / np.maximum(expected**2, _TINY))
                excess = excess + ((kappa - 1) * trace**2 - 2 * square) / size
        skewness = NOT_SKEWED
        if self.borrowed is not None:  # nothing guards against the skewness of rows
            whole = skewness_of_rows(self.borrowed @ plain.root, plain.variances, np.minimum(n, k))
            skewness = Skewness(self.unguarded * whole.mean, self.unguarded * whole.variance)
        return replace(plain, excess=balance * excess, skewness=skewness)

    def ridge(self, lam: Floats) -> Ridge:
        """Return the statistic with a given ridge, and the null distribution for Gaussian rows."""
        whitening = 1 / np.sqrt(self.w + lam[..., None])
        variances, basis, A = self.w * whitening**2, self.basis, self.A
        if self.nuisance is not None:
            root = basis * whitening[..., None, :]
            # Orthogonal directions of length 1 that span what S may move along; 0 for those that are not needed.
            directions, sizes, _ = np.linalg.svd(root.mT @ self.nuisance, full_matrices=False)
            directions *= (sizes > _NO_DIRECTION * sizes[..., :1])[..., None, :]
            left_over = np.eye(root.shape[-1]) - directions @ directions.mT  # projects onto what is orthogonal
            variances, turn = np.linalg.eigh((left_over * variances[..., None, :]) @ left_over)
            turn = left_over @ turn
            basis = root @ turn
            A = turn.mT @ scaled(A, whitening) @ turn
            whitening = np.ones_like(whitening)
        # H is diagonal, so that G and H - G have the same numbers off the diagonal.
        scales = whitening**2
        G = scales * np.linalg.diagonal(A)
        off_diagonal = np.sum(scales * (A**2 @ scales[..., None])[..., 0], axis=-1) - np.sum(G**2, axis=-1)
        from_A, from_B = (
            (np.sum(part, axis=-1), np.sum(part**2, axis=-1) + off_diagonal) for part in (G, variances - G)
        )
        of_H = np.sum(variances, axis=-1), np.sum(variances**2, axis=-1)
        whole, of_A, of_B = (square + trace**2 for trace, square in (of_H, from_A, from_B))
        n, k = self.sizes
        nu, own_nu = (
            np.asarray(whole / np.maximum(of_A / of_X + of_B / of_Y, _TINY))
            for of_X, of_Y in (self.freedoms, (n - 1, k - 1))
        )
        of_S = self.S, basis, whitening, variances, self.covariance, self.bending
        return Ridge(*of_S, (from_A, from_B), nu, own_nu, np.minimum(n, k), np.zeros_like(nu))

    def noncentral(self) -> Ridge:
        """Return the statistic whose c T - s1 estimates the noncentrality: its ridge is c, which some steps find."""
        lam = np.ones(self.S.shape[:-1])
        for _ in range(_STEPS):
            lam = self.ridge(lam).shrinkage
        return self.ridge(lam)


def decomposed(
    left: SampleMoments,
    right: SampleMoments,
    constants: Constants = CONSTANTS,
    rows: Rows = (None, None),
    nuisance: Floats | None = None,
    block: Block | None = None,
) -> Decomposition:
    """Return S of two samples at the same frequencies, or in a block of these, and its covariance decomposed."""
    weights = None
    if block is not None:
        left, right = left.at(block.place), right.at(block.place)
        nuisance = None if nuisance is None else nuisance[block.place]
        X, Y = (None if features is None else features[:, block.place] for features in rows)
        rows = X, Y
        if block.columns is not None:  # which a shift does not move
            enough = np.minimum(left.size, right.size) >= _LEAST_ROWS
            amplitudes = np.abs(left.phi) * np.abs(right.phi) * enough[..., None]
            # What counts lies along the other's phase: errors across it move S, and must not choose where it is taken.
            along = np.maximum((left.phi * right.phi.conj()).real, 0.0)
            for sample, other in ((left, right), (right, left)):
                errors = np.abs(sample.phi) ** 2 - sample.squared_amplitudes
                amplitudes = amplitudes * (along**2 > constants.heard**2 * errors * np.abs(other.phi) ** 2)
            weights, nuisance = skewness_contrasts(block.columns, amplitudes), None
    of_X = covariance_part(left, right, constants, rows, weights)
    of_Y = covariance_part(right, left, constants, rows[::-1], weights)
    variances = np.linalg.diagonal(of_X.covariance) + np.linalg.diagonal(of_Y.covariance)
    least = _ROUNDING / np.minimum(left.size, right.size)[..., None]
    used = variances > least * (1 if weights is None else np.sum(weights**2, axis=-2))
    unit = np.where(used, 1 / np.sqrt(np.maximum(variances, _TINY)), 0.0)
    A = scaled(of_X.covariance, unit)
    w, V = np.linalg.eigh(A + scaled(of_Y.covariance, unit))
    basis = unit[..., None] * V
    borrowed = None
    if np.any(of_X.unguarded):
        borrowed = borrowed_rows(rows[1], right, left, of_X.across)
    elif np.any(of_Y.unguarded):
        borrowed = borrowed_rows(rows[0], left, right, of_Y.across)
    return Decomposition(
        S=left.phi.imag * right.phi.real - left.phi.real * right.phi.imag,
        unit=unit,
        w=np.maximum(w, 0),
        basis=basis if weights is None else weights @ basis,
        A=V.mT @ A @ V,
        covariance=of_X.plain + of_Y.plain,
        bending=Bending.of(left, right),
        freedoms=(of_X.freedom, of_Y.freedom),
        sizes=(left.size, right.size),
        constants=constants,
        influences=(of_X.influences, of_Y.influences),
        borrowed=borrowed,
        unguarded=of_X.unguarded + of_Y.unguarded,
        nuisance=nuisance,
    )
