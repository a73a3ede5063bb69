"""How clearly a difference beyond noise shows per row, whatever the p-value: its noncentrality, with an interval.

Noise makes it smaller: for the size of a difference whatever the noise, see :mod:`uptonoise.twosample.phase.effect`.

With S, its correlations R and T = S'(R + lam)^-1 S of :mod:`uptonoise.twosample.phase.statistic`, the difference of two
samples is the noncentrality

    delta = mu' (R + 1)^-1 mu        mu = E S in units of its standard deviations

over n k / (n + k), which depends on the sizes by their ratio alone, and not by that where both samples spread alike.
For two samples of one column that differ by a shift of s of their standard deviations it is about s^2, for small s. An
R that is estimated with nu degrees of freedom acts as c R, c = 1 - s1/nu (random matrices again), so that the ridge c
in place of 1 makes c T - s1 an estimate of delta.

Its distribution is that of a scaled noncentral F: c T has mean s1 + delta and variance 2 s2 + 4 delta q, where q, the
share of what H lets through along S, is z'Hz / z'z; the estimated R adds the denominator. Inverting it gives the
interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import fdtr, ncfdtr

from uptonoise._util.results import Result, computed
from uptonoise._util.solvers import nonnegative_least_squares, root
from uptonoise._util.validation import checked_number
from uptonoise.twosample.phase.pair import Pair
from uptonoise.twosample.phase.statistic import Decomposition, Ridge

_CONFIDENCE = 0.95
_RELIABLE = 3.0  # times its sampling error, for an amplitude whose phase describes a difference
_TINY = np.finfo(np.float64).tiny
_UNBOUNDED = 1e3  # times the value of a statistic: no noncentrality is looked for beyond


class NoncentralF(NamedTuple):
    """The distribution of c T at any noncentrality."""

    value: float
    s1: float
    s2: float
    share: float  # q
    denominator: float  # degrees of freedom

    def cdf(self, noncentrality: float) -> float:
        """Return the probability of at most the value."""
        scale = (self.s2 + 2 * noncentrality * self.share) / (self.s1 + 2 * noncentrality)
        inflation = self.denominator / (self.denominator - 2)
        ratio = self.value / self.s1 * inflation
        numerator, excess = self.s1 / scale, noncentrality / scale
        probability = float(ncfdtr(numerator, self.denominator, excess, ratio))
        if not math.isnan(probability):
            return probability
        # Where the series does not converge, a central F with the same two moments is as good (Patnaik 1949).
        central = (numerator + excess) ** 2 / (numerator + 2 * excess)
        return float(fdtr(central, self.denominator, ratio * numerator / (numerator + excess)))

    def noncentrality_at(self, probability: float) -> float:
        """Return the noncentrality at which at most the value has this probability.

        It is 0 where none has so small a one, and infinite where too few degrees of freedom bound it.
        """
        if self.cdf(0.0) <= probability:
            return 0.0
        above = max(10.0, 2 * self.value)
        while not self.cdf(above) <= probability:
            above *= 2
            if above > _UNBOUNDED * (1 + self.value):
                return float("inf")
        return float(root(lambda noncentrality: self.cdf(noncentrality) - probability, 0.0, above))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Noncentrality(Result):
    """How clearly a difference beyond noise shows per row; noise makes it smaller.

    Attributes
    ----------
    estimate : float
        The noncentrality per row, at least 0. For a shift of s standard deviations of a column it is about s squared,
        for s below 1.
    low, high : float
        Its 95 % confidence interval; without an upper end where nothing varies, so that nothing is known.
    phase_discrepancy : float or None
        The mean of abs(exp(i a) - exp(i b))^2 over the phases a of X and b of Y at the reliable frequencies, without
        what sampling errors add; None where no frequency is reliable.
    n_reliable : int
        How many frequencies these are: those where both amplitudes are at least three times their sampling errors.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> noncentrality = un.phase_test(rng.normal(size=2_000), rng.normal(0.5, size=2_000)).noncentrality
    >>> noncentrality.low < 0.25 < noncentrality.high
    True
    """

    hidden: ClassVar[tuple[str, ...]] = ("distribution", "rows")

    estimate: float
    low: float = computed(
        lambda self: self.distribution.noncentrality_at((1 + _CONFIDENCE) / 2) / self.rows if self.distribution else 0.0
    )
    high: float = computed(lambda self: self.upper_bound((1 - _CONFIDENCE) / 2))
    phase_discrepancy: float | None
    n_reliable: int
    distribution: NoncentralF | None  # None where neither sample varies
    rows: float  # n k / (n + k)

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return the bound that the noncentrality is below, with confidence 1 - alpha."""
        checked_number(alpha, "alpha", above=True, most=1.0)
        if self.distribution is None:
            return float("inf")
        # A value below its null mean says no more than one at it.
        least = self.distribution._replace(value=max(self.distribution.value, self.distribution.s1))
        return least.noncentrality_at(alpha) / self.rows

    def detectable(self, alpha: float = 0.05, power: float = 0.95) -> float:
        """Return the noncentrality that a test at the significance level alpha detects with this power.

        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rng = np.random.default_rng(0)
        >>> noncentrality = un.phase_test(rng.gamma(2, size=1_000), rng.gamma(2, size=1_000)).noncentrality
        >>> 0.01 < noncentrality.detectable() < 0.1
        True
        """
        checked_number(alpha, "alpha", above=True, most=1.0)
        checked_number(power, "power", above=True, most=1.0)
        if self.distribution is None:
            return float("inf")
        distribution, above = self.distribution, self.distribution.s1 + 10.0

        def too_often(value: float) -> float:
            """Return how much more often than alpha a value is exceeded where the noncentrality is 0."""
            return 1 - distribution._replace(value=value).cdf(0.0) - alpha

        while too_often(above) > 0:
            above *= 2
        needed = distribution._replace(value=float(root(too_often, 1e-9, above)), share=1.0)
        return needed.noncentrality_at(1 - power) / self.rows

    def __repr__(self) -> str:
        return (
            f"noncentrality {self.estimate:.3g} per row, {_CONFIDENCE:.0%} interval {self.low:.3g} to {self.high:.3g}"
        )


def noncentrality_of(pair: Pair, decomposition: Decomposition) -> Noncentrality:
    """Return the noncentrality of two samples, from their decomposition in the largest block."""
    left, right = pair.left.at(pair.blocks.largest), pair.right.at(pair.blocks.largest)
    rows = float(left.size * right.size / (left.size + right.size))
    discrepancy = None
    amplitudes = np.abs(left.phi), np.abs(right.phi)
    reliable = (amplitudes[0] * np.sqrt(left.size) > _RELIABLE) & (amplitudes[1] * np.sqrt(right.size) > _RELIABLE)
    if reliable.any():
        products, unit = (left.phi * right.phi.conj())[reliable], decomposition.unit[reliable]
        variances = np.divide(1, unit * np.abs(products), out=np.zeros(len(unit)), where=unit > 0) ** 2
        discrepancy = float(max(0.0, np.mean(2 * (1 - np.cos(np.angle(products))) - variances)))
    block, distribution = decomposition.noncentral(), None
    if block.has_rank:
        s1, s2, statistic = float(block.null.s1), float(block.null.s2), float(block.statistic)
        distribution = NoncentralF(
            value=float(block.shrinkage) * statistic,
            s1=s1,
            s2=s2,
            share=float((block.z * block.variances) @ block.z) / statistic if statistic > 0 else s2 / s1,
            denominator=float(block.null.denominator),
        )
    return Noncentrality(
        estimate=max(0.0, float(block.shrinkage * block.statistic - block.null.s1)) / rows if distribution else 0.0,
        phase_discrepancy=discrepancy,
        n_reliable=int(reliable.sum()),
        distribution=distribution,
        rows=rows,
    )


def reference_power(pair: Pair, statistics: Iterable[Ridge], level: float) -> float:
    """Return the power of the best block where one column of the less noisy sample is otherwise; the median column's.

    A shift of column j by half of its spread turns the phase at w by w_j spread/2; up to a shift, a skewness of 1 turns
    it by (w_j spread)^3/6. In the largest block, abs(phi)^2 is near exp(-sum of (w_j spread_j)^2).
    """
    known, smaller = pair.blocks.largest, np.full(pair.X.n_columns, np.inf)
    W = pair.X.frequencies[known]
    units = np.abs(W).max(axis=0)
    of_samples = [np.clip(sample.squared_amplitudes, 0, 1) for sample in (pair.left, pair.right)]
    for squares, size in zip(of_samples, (pair.left.size, pair.right.size), strict=True):
        heard = squares[known] * size > _RELIABLE**2
        if heard.any():
            scaled = np.divide(W[heard], units, out=np.zeros_like(W[heard]), where=units > 0) ** 2
            variances = nonnegative_least_squares(scaled, -np.log(np.maximum(squares[known][heard], _TINY)))
            spreads = np.divide(np.sqrt(variances), units, out=np.zeros_like(units), where=units > 0)
            smaller = np.minimum(smaller, np.where(spreads > 0, spreads, np.inf))
    turns = pair.X.frequencies * np.where(np.isfinite(smaller), smaller, 0.0)
    turns = turns / 2 if pair.shift is None else turns**3 / 6
    effects = np.sqrt(of_samples[0] * of_samples[1])[:, None] * np.sin(turns)  # what S would be, of shape (m, d)
    powers = np.zeros((len(pair.blocks.weights), pair.X.n_columns))
    for of_block, tested, block, weight in zip(
        powers, pair.blocks.tested.values(), statistics, pair.blocks.weights, strict=True
    ):
        if block.has_rank:
            s1, s2, denominator = (float(n) for n in (block.null.s1, block.null.s2, block.null.denominator))
            needed = float(block.critical_value(level * weight))
            for column, effect in enumerate(effects[tested.place].T):
                scores = block.root.T @ effect
                noncentrality = float(scores @ scores)
                share = float((scores * block.variances) @ scores) / noncentrality if noncentrality > 0 else 0.0
                distribution = NoncentralF(float(block.shrinkage) * needed, s1, s2, share, denominator)
                of_block[column] = 1 - distribution.cdf(noncentrality)
    return float(np.median(powers.max(axis=0)))
