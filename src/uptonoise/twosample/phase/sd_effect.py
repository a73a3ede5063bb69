"""How large a difference beyond noise is, in standard deviations of a shift, whatever the noise.

The phase difference of two samples does not depend on noise. With s the standard deviation of the less spread-out
sample in a column, and u = w s, it is an odd function of u, and a shift by t standard deviations is the line t u. So

    effect^2 = 3 * integral of delta(u)^2 over u from 0 to 1        delta = arg(phi_X conj phi_Y)

is the squared size of a difference in units of a shift: t for a shift by t. Up to an offset it is the minimum over a
line: 3 * min over t of the integral of (delta(u) - t u)^2.

A polynomial a u + b u^3 + c u^5 is fitted to the phase differences at the frequencies of the column, by least squares
with weights one over their variances. The effect is a quadratic form of its coefficients, c'Kc, and these are nearly
normal with the covariance C that follows from that of the phases.

**Upper bound.** The largest c'Kc over all c within z standard errors of the estimate, (c - c0)'C^-1(c - c0) <= z^2. It is
a confidence bound with the one-sided probability of z: where the true effect is e, the claim that it is smaller is made
only if the estimate lies further than z from all c with c'Kc >= e^2, and so further than z from the half-space beyond
the tangent at the true c.

**Lower bound.** The quadratic form has the distribution of a weighted sum of noncentral chi-squared variables (Liu, Tang
and Zhang 2009), which is inverted along the estimate.

**What cannot be seen.** Where a standard error exceeds half a radian, or an amplitude is less than three times its own
error, a phase is not known. From the first frequency that is not seen up to u = 1 the upper bounds count the largest
difference, pi. The estimate is that of the frequencies below.

s is that of :mod:`uptonoise.fourier.spread`: read off the amplitudes at low frequencies, where it is
nearly the standard deviation, and finite for any tails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import chdtr, chndtr, stdtrit

from uptonoise._util.typing import Floats
from uptonoise.fourier.sketch import Sketch
from uptonoise.fourier.spread import spread_of_amplitudes, unbiased_squares
from uptonoise.twosample.phase.places import centre_of
from uptonoise.twosample.phase.statistic import Sample
from uptonoise.twosample.phase.offset import _grid_best

_LOWER, _UPPER = 0.03, 0.02  # what the two ends of the 95 % interval miss
_REACH = 1.25  # standard deviations times frequency that the fit looks at
_NEARLY_ALL = 0.9  # from where on the polynomial reaches 1
_LEAST_JOINT = 0.2  # of frequencies on several columns
_LARGEST_ERROR = 0.5  # radians
_RELIABLE = 3.0  # times its sampling error, for an amplitude
_POWERS = np.array([1, 3, 5, 7])
_TINY = np.finfo(np.float64).tiny


class PhaseDifferences(NamedTuple):
    """Phase differences at m frequencies, with the covariance of their errors, and which of them are known."""

    values: Floats
    covariance: Floats
    seen: NDArray[np.bool_]

    def at(self, places: NDArray[np.bool_]) -> PhaseDifferences:
        """Return those at some of the frequencies."""
        return PhaseDifferences(self.values[places], self.covariance[np.ix_(places, places)], self.seen[places])


def phase_differences(left: Sample, right: Sample, turns: Floats) -> PhaseDifferences:
    """Return the phase differences of two samples.

    `turns` are angles that the phase difference is known to be near, so that a large shift is not lost in whole turns;
    the samples' own phases are taken without them.
    """
    product = left.phi * right.phi.conj()
    size = np.abs(product)
    angle = np.angle(product)
    # The error of a phase is that of Im(phi_X conj phi_Y) with its own phase taken off, over the amplitudes.
    inverse = np.divide(1, size, out=np.zeros_like(size), where=size > 0)
    to_left, to_right = np.exp(-1j * angle) * right.phi.conj() * inverse, np.exp(-1j * angle) * left.phi * inverse
    covariance = left.projected(to_left.imag, to_left.real) / left.size
    covariance = covariance + right.projected(to_right.imag, -to_right.real) / right.size
    seen = (np.diag(covariance) < _LARGEST_ERROR**2) & (size > 0)
    for sample in (left, right):
        seen &= np.abs(sample.phi) * np.sqrt(sample.size) > _RELIABLE
    return PhaseDifferences(turns + angle, covariance, seen)


class Part(NamedTuple):
    """A quadratic form of nearly normal scores, |scores|^2, and what was not seen of the effect.

    Attributes
    ----------
    name : str
        The column, or what else is compared.
    scores, variances : array
        Uncorrelated scores whose squares add up to the squared effect of what was seen, and their variances.
    seen : float
        The share of the squared effect of a shift that was seen, from 0 to 1.
    unseen : float
        The largest that the rest of the squared effect can be.
    freedom : float
        Degrees of freedom of the variances.
    """

    name: str
    scores: Floats
    variances: Floats
    seen: float
    unseen: float
    freedom: float

    @property
    def square(self) -> float:
        """The squared effect of what was seen, without what errors add; that of all, if the rest is alike."""
        return max(0.0, float(np.sum(self.scores**2 - self.variances))) / self.seen if self.seen > 0 else np.nan

    def upper(self, alpha: float) -> float:
        """Return what the effect is below, with confidence 1 - alpha."""
        radius = float(stdtrit(self.freedom, 1 - alpha))
        return float(np.sqrt(largest_square(self.scores, self.variances, radius) + self.unseen))

    def lower(self, alpha: float) -> float:
        """Return what the effect is above, with confidence 1 - alpha."""
        square = float(np.sum(self.scores**2))
        kept = self.variances > 1e-12 * self.variances.max(initial=0.0)
        variances, squares = self.variances[kept], self.scores[kept] ** 2
        if not kept.any():
            return float(np.sqrt(square))

        def missed(share: float) -> float:
            return _quadratic_cdf(square, variances, share * squares / variances) - (1 - alpha)

        if missed(0.0) <= 0:
            return 0.0
        return float(np.sqrt(square * (brentq(missed, 0.0, 1.0) if missed(1.0) < 0 else 1.0)))


def largest_square(scores: Floats, variances: Floats, radius: float) -> float:
    """Return the largest |y|^2 over all y within `radius` standard errors of the scores.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.phase.sd_effect import largest_square
    >>> largest_square(np.array([1.0]), np.array([0.25]), 2.0)
    4.0
    """
    top = float(variances.max(initial=0.0))
    if radius <= 0 or top <= 0:
        return float(np.sum(scores**2))

    def beyond(multiplier: float) -> float:
        return float(np.sum(variances * (scores / (multiplier - variances)) ** 2)) - radius**2

    nearest = top * (1 + 1e-10)
    if beyond(nearest) <= 0:  # what is left of the radius goes where the variance is largest
        most = int(np.argmax(variances))
        rest = variances < nearest - 2e-10 * top
        moved = np.zeros_like(scores)
        moved[rest] = np.sqrt(variances[rest]) * scores[rest] / (top - variances[rest])
        moved[most] = np.copysign(np.sqrt(max(radius**2 - float(moved @ moved), 0.0)), scores[most])
        return float(np.sum((scores + np.sqrt(variances) * moved) ** 2))
    furthest = 2 * top + float(np.sqrt(np.sum(variances * scores**2))) / radius
    multiplier = brentq(beyond, nearest, furthest, xtol=1e-14 * top, rtol=1e-12)
    return float(np.sum((scores * multiplier / (multiplier - variances)) ** 2))


def _quadratic_cdf(value: float, weights: Floats, noncentralities: Floats) -> float:
    """Return P(sum of weights times noncentral chi-squared variables <= value), by four moments (Liu et al. 2009)."""
    first, second, third, fourth = (np.sum(weights**k * (1 + k * noncentralities)) for k in (1, 2, 3, 4))
    skewness, tails = third / second**1.5, fourth / second**2
    if skewness**2 > tails:
        a = 1 / (skewness - np.sqrt(skewness**2 - tails))
        noncentrality = skewness * a**3 - a**2
        freedom = a**2 - 2 * noncentrality
    else:
        a, noncentrality, freedom = 1 / skewness, 0.0, 1 / skewness**2
    standardised = (value - first) / np.sqrt(2 * second)
    matched = max(float(standardised * np.sqrt(2) * a + freedom + noncentrality), 0.0)
    if noncentrality > 0:
        return float(chndtr(matched, freedom, noncentrality))
    return float(chdtr(freedom, matched))


def column_part(name: str, u: Floats, phases: PhaseDifferences, freedom: float, up_to_offset: bool) -> Part:
    """Return the effect in one column, at positive ascending u = w s."""
    known = _known_from_below(u, phases.seen)
    phases, u = phases.at(known), u[known]
    reach = float(u[-1]) if len(u) else 0.0
    slope = abs(float(phases.values[-1])) / reach if len(u) and not up_to_offset else 0.0
    if reach >= _NEARLY_ALL:
        reach = 1.0
    form = _integrals(reach)[: len(u), : len(u)]
    if up_to_offset and len(u):
        form = form - np.outer(form[0], form[0]) / form[0, 0]
    fit = _fitted_coefficients(u, np.diag(phases.covariance), len(form))
    scores, variances = _uncorrelated(form, fit @ phases.values, fit @ phases.covariance @ fit.T)
    # Beyond the reach a phase may be off by half a turn from the line that it was on.
    unseen = slope**2 * (1 - reach**3) + 3 * slope * np.pi * (1 - reach**2) + 3 * np.pi**2 * (1 - reach)
    return Part(name, scores, variances, reach**3, unseen, freedom)


def _known_from_below(u: Floats, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    unseen = u[~seen]
    return np.asarray(seen & (u <= _REACH) & (u < unseen.min(initial=np.inf)))


def _integrals(reach: float) -> Floats:
    sums = _POWERS[:, None] + _POWERS + 1
    return np.asarray(3 * reach**sums / sums)


def _fitted_coefficients(u: Floats, variances: Floats, n_terms: int) -> Floats:
    """Return what makes coefficients of phases, by weighted least squares."""
    roots = 1 / np.sqrt(np.maximum(variances, 1e-14))
    terms = u[:, None] ** _POWERS[:n_terms] * roots[:, None]
    sizes = np.sqrt(np.sum(terms**2, axis=0))
    return np.asarray(np.linalg.pinv(terms / sizes) * roots / sizes[:, None])


def _uncorrelated(form: Floats, values: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Return scores whose squares add up to values' form, and their variances."""
    weights, basis = np.linalg.eigh(form)
    root = np.sqrt(np.maximum(weights, 0))[:, None] * basis.T
    variances, turn = np.linalg.eigh(root @ covariance @ root.T)
    return turn.T @ (root @ values), np.maximum(variances, 0)


def joint_part(name: str, u: Floats, phases: PhaseDifferences, freedom: float, up_to_offset: bool) -> Part:
    """Return the effect at frequencies on several columns, u of shape (m, d): a mean over their directions."""
    lengths = np.sum(u**2, axis=1)
    total = float(lengths.sum())
    unseen = float(np.sum((np.abs(phases.values[~phases.seen]) + np.pi) ** 2)) / total
    known, directions = phases.at(phases.seen), u[phases.seen]
    form = np.eye(len(directions)) / total
    if up_to_offset and len(directions):
        form = form - directions @ np.linalg.pinv(directions) / total
    scores, variances = _uncorrelated(form, known.values, known.covariance)
    return Part(name, scores, variances, float(lengths[phases.seen].sum()) / total, unseen, freedom)


@dataclass(frozen=True, kw_only=True, repr=False)
class EffectSize:
    """The size of a difference beyond noise, in standard deviations of a shift.

    Attributes
    ----------
    estimate : float
        The largest of the parts' effects; NaN where nothing was seen.
    low, high : float
        Its 95 % confidence interval.
    seen : float
        The smallest share that was seen of a part, from 0 to 1. Below 1 the upper end counts the largest possible
        difference for the rest.
    parts : tuple of Part
        The effect in each column, and in combinations of columns.
    """

    parts: tuple[Part, ...]

    @property
    def estimate(self) -> float:
        squares = np.array([part.square for part in self.parts])
        return float(np.sqrt(np.nanmax(squares))) if np.isfinite(squares).any() else float("nan")

    @property
    def low(self) -> float:
        return max((part.lower(_LOWER / len(self.parts)) for part in self.parts), default=0.0)

    @property
    def high(self) -> float:
        return self.upper_bound(_UPPER)

    @property
    def seen(self) -> float:
        return min((part.seen for part in self.parts), default=0.0)

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return what the effect is below, with confidence 1 - alpha."""
        return max((part.upper(alpha) for part in self.parts), default=float("inf"))

    def of(self, name: str) -> EffectSize:
        """Return the effect in one column."""
        return EffectSize(parts=tuple(part for part in self.parts if part.name == name))


def effect_size(X: Sketch, Y: Sketch, up_to_offset: bool = False) -> EffectSize:
    """Return the effect of two comparable sketches, in each column that has frequencies of its own, and together."""
    W = X.frequencies
    centres = centre_of(X), centre_of(Y)
    samples = Sample.of(X, centres[0]), Sample.of(Y, centres[1])
    freedom = float(min(X.effective_size, Y.effective_size)) - 1
    own = np.count_nonzero(W, axis=1) == 1
    product = samples[0].phi * samples[1].phi.conj()
    ahead, spreads, parts = np.zeros(X.n_columns), np.zeros(X.n_columns), []
    places = []
    for column in range(X.n_columns):
        mine = np.flatnonzero(own & (W[:, column] != 0))
        mine = mine[np.argsort(np.abs(W[mine, column]))]
        places.append(mine)
        if not len(mine):
            continue
        w = np.abs(W[mine, column])
        spreads[column] = _smaller_spread(w, [unbiased_squares(np.abs(sample.phi[mine]) ** 2, float(sample.size)) for sample in samples])
        close = w * spreads[column] <= _REACH
        if close.any():
            w = w[close]
            signed = np.where(W[mine[close], column] > 0, product[mine[close]], product[mine[close]].conj())
            ahead[column] = _grid_best(signed, w)
    left, right = Sample.of(X, centres[0] + ahead), samples[1]
    turns = W @ (centres[0] + ahead - centres[1])
    phases = phase_differences(left, right, turns)
    names = (X if X.named else Y).columns
    for column, mine in enumerate(places):
        if len(mine) and spreads[column] > 0:
            signs = np.sign(W[mine, column])
            here = PhaseDifferences(
                phases.values[mine] * signs,
                phases.covariance[np.ix_(mine, mine)] * np.outer(signs, signs),
                phases.seen[mine],
            )
            parts.append(column_part(names[column], np.abs(W[mine, column]) * spreads[column], here, freedom, up_to_offset))
    u = W * spreads
    lengths = np.linalg.norm(u, axis=1)
    joint = (np.count_nonzero(u, axis=1) > 1) & (lengths <= 1) & (lengths >= _LEAST_JOINT)
    if joint.any():
        parts.append(joint_part("columns together", u[joint], phases.at(joint), freedom, up_to_offset))
    return EffectSize(parts=tuple(parts))


def _smaller_spread(w: Floats, squares: list[Floats]) -> float:
    return min((value for value in (spread_of_amplitudes(w, one) for one in squares) if value > 0), default=0.0)
