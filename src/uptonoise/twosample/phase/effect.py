"""How large a difference beyond noise is, in standard deviations of a shift, whatever the noise.

The phase difference of two samples does not depend on noise. With s the standard deviation of the less spread-out
sample in a column, and u = w s, it is an odd function of u, and a shift by t standard deviations is the line t u. So

    effect^2 = 3 * integral of delta(u)^2 over u from 0 to 1        delta = arg(phi_X conj phi_Y)

is the squared size of a difference in units of a shift: t^2 for a shift by t. Up to an offset it is the minimum over
lines, 3 * min over t of the integral of (delta(u) - t u)^2. s is that of :mod:`uptonoise.fourier.spread`: nearly the
standard deviation, and finite for any tails. It is the spread of a sample as it was measured, with its noise; so where
both samples have noise, the effect is in units of that, and the value that the interval covers is that of the signals'
phases at the same u / s.

**Estimate.** A polynomial a u + b u^3 + c u^5 + d u^7 is fitted to the phase differences at the frequencies of the
column, by least squares with weights one over their variances. The squared effect is a quadratic form of its
coefficients, which are nearly normal.

**Bounds.** Those of :mod:`uptonoise.twosample.phase.squared_length`: the upper one holds whatever the direction of the
difference is.

**What cannot be seen.** Where a standard error exceeds half a radian, or an amplitude is less than three times its own
error, a phase is not known. From the first unknown one up to u = 1, the upper end counts the largest difference, pi.
The estimate is that of the frequencies below.

**Several columns.** Each column is a part of its own, and the frequencies on several columns together are another one,
with |w s| up to 1 and a mean over directions. The effect of all is the largest of the parts. The largest of their upper
bounds is a bound for it, with no correction; the lower end is corrected for the number of parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.results import Result, computed
from uptonoise._util.typing import Complex, Floats
from uptonoise._util.validation import checked_number
from uptonoise.fourier import Sketch, spread_of_amplitudes
from uptonoise.twosample.phase.pair import Movable, Pair, SampleMoments, centre_of, even_turns
from uptonoise.twosample.phase.squared_length import Part

_LOWER, _UPPER = 0.03, 0.02  # what the two ends of the 95 % interval miss
_REACH = 1.25  # standard deviations times frequency that the fit looks at
_NEARLY_ALL = 0.9  # from where on the polynomial reaches 1
_LEAST_JOINT = 0.2  # of frequencies on several columns
_LARGEST_ERROR = 0.5  # radians
_RELIABLE = 3.0  # times its sampling error, for an amplitude
_POWERS = np.array([1, 3, 5, 7])
_ROUNDING = 1e-5  # radians: cosines and sines are good to 1e-7
_STEP = 0.25  # radians of the highest frequency, in the search for a shift
_MOST_STEPS = 2_000  # in each direction


class PhaseDifferences(NamedTuple):
    """Phase differences at m frequencies, with the covariance of their errors, and which of them are known."""

    values: Floats
    covariance: Floats
    seen: NDArray[np.bool_]

    def at(self, places: NDArray[Any]) -> PhaseDifferences:
        """Return those at some of the frequencies."""
        return PhaseDifferences(self.values[places], self.covariance[np.ix_(places, places)], self.seen[places])

    def times(self, signs: Floats) -> PhaseDifferences:
        """Return those at the frequencies times signs: a phase is odd."""
        return PhaseDifferences(self.values * signs, self.covariance * np.outer(signs, signs), self.seen)


def phase_differences(left: SampleMoments, right: SampleMoments, turns: Floats) -> PhaseDifferences:
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


def column_part(name: str, u: Floats, phases: PhaseDifferences, freedom: float, up_to_offset: bool) -> Part:
    """Return the effect in one column, at positive ascending u = w s."""
    known = phases.seen & (u <= _REACH) & (u < u[~phases.seen].min(initial=np.inf))
    phases, u = phases.at(known), u[known]
    reach = float(u[-1]) if len(u) else 0.0
    slope = abs(float(phases.values[-1])) / reach if len(u) and not up_to_offset else 0.0
    if reach >= _NEARLY_ALL:
        reach = 1.0
    exponents = (_POWERS[:, None] + _POWERS + 1)[: len(u), : len(u)]
    form = 3 * reach**exponents / exponents  # integrals of products of two powers
    if up_to_offset and len(u):
        form = form - np.outer(form[0], form[0]) / form[0, 0]
    fit = _fitted_coefficients(u, np.diag(phases.covariance), len(form))
    scores, variances = _uncorrelated(form, fit @ phases.values, fit @ phases.covariance @ fit.T)
    # Beyond the reach a phase may be off by half a turn from the line that it was on.
    unseen = slope**2 * (1 - reach**3) + 3 * slope * np.pi * (1 - reach**2) + 3 * np.pi**2 * (1 - reach)
    return Part(name, scores, variances, reach**3, unseen, freedom)


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


def joint_part(
    name: str, u: Floats, phases: PhaseDifferences, freedom: float, up_to_offset: bool, movable: Movable = None
) -> Part:
    """Return the effect at frequencies on several columns, u of shape (m, d): a mean over their directions.

    Only the columns that are movable may have an offset, by default all.
    """
    lengths = np.sum(u**2, axis=1)
    total = float(lengths.sum())
    unseen = float(np.sum((np.abs(phases.values[~phases.seen]) + np.pi) ** 2)) / total
    known, directions = phases.at(phases.seen), u[phases.seen]
    form = np.eye(len(directions)) / total
    if up_to_offset and len(directions):
        explained = directions if movable is None else directions[:, movable]
        form = form - explained @ np.linalg.pinv(explained) / total
    scores, variances = _uncorrelated(form, known.values, known.covariance)
    return Part(name, scores, variances, float(lengths[phases.seen].sum()) / total, unseen, freedom)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class EffectSize(Result):
    """The size of a difference beyond noise, in standard deviations (SD) of a shift.

    The difference is as large as that of a shift by this many standard deviations of the less spread-out sample.

    Attributes
    ----------
    estimate : float
        The largest effect of all columns, and of columns together; NaN where nothing was seen.
    low, high : float
        Its 95 % confidence interval; without an upper end where nothing is known.
    seen : float
        How much of the effect of a shift was seen, from 0 to 1, in the part where this is smallest. Below 1 the upper
        end counts the largest possible difference for the rest.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> effect = un.phase_test(rng.normal(size=2_000), rng.normal(0.5, size=2_000)).effect
    >>> effect.low < 0.5 < effect.high, effect.equivalent(0.7), effect.equivalent(0.2)
    (True, True, False)
    """

    hidden: ClassVar[tuple[str, ...]] = ("parts",)

    estimate: float = computed(
        lambda self: math.sqrt(max((part.square for part in self.parts if part.seen > 0), default=math.nan))
    )
    low: float = computed(lambda self: max((part.lower(_LOWER / len(self.parts)) for part in self.parts), default=0.0))
    high: float = computed(lambda self: self.upper_bound(_UPPER))
    seen: float = computed(lambda self: min((part.seen for part in self.parts), default=0.0))
    parts: tuple[Part, ...]

    def upper_bound(self, alpha: float = 0.05) -> float:
        """Return the bound that the effect is below, with confidence 1 - alpha."""
        checked_number(alpha, "alpha", above=True, most=1.0)
        return max((part.upper(alpha) for part in self.parts), default=math.inf)

    def equivalent(self, margin: float, alpha: float = 0.05) -> bool:
        """Tell whether the effect is below `margin` standard deviations, with confidence 1 - alpha."""
        return self.upper_bound(alpha) < checked_number(margin, "margin", above=True)

    def in_column(self, column: str) -> EffectSize:
        """Return the effect in one column; nothing is known of a column without frequencies of its own."""
        return EffectSize(parts=tuple(part for part in self.parts if part.name == column))

    def __repr__(self) -> str:
        interval = f"95 % interval {self.low:.2g} to {self.high:.2g}"
        return f"effect {self.estimate:.2g} SD, {interval}" + ("" if self.seen == 1 else f"; {self.seen:.0%} seen")


def effect_size(pair: Pair, *, up_to_offset: bool) -> EffectSize:
    """Return the effect between two sketches.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.twosample.phase.effect import effect_size
    >>> from uptonoise.twosample.phase.pair import Pair
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.gamma(2, size=(2, 5_000))
    >>> left = un.Sketch.for_samples(X, Y).update(X + 3 + rng.normal(size=5_000))
    >>> pair = Pair.of(left, un.Sketch.like(left).update(Y))
    >>> [round(effect_size(pair, up_to_offset=up_to).estimate, 1) for up_to in (False, True)]
    [2.2, 0.0]
    """
    return Phases.of(pair).effect(up_to_offset=up_to_offset)


class Phases(NamedTuple):
    """The phase differences of two samples, and the spreads that make effects of them, with or without an offset."""

    differences: PhaseDifferences
    frequencies: Floats
    spreads: Floats
    columns: Sequence[str]
    freedom: float

    @classmethod
    def of(cls, pair: Pair) -> Phases:
        """Return those of two independent samples."""
        X, Y = pair.X, pair.Y
        centres = centre_of(X), centre_of(Y)
        right = SampleMoments.of(Y, centres[1])
        moments = SampleMoments.of(X, centres[0])
        spreads = _smaller_spreads(X.frequencies, moments, right)
        ahead = _aligning_shifts(X.frequencies, moments.phi * right.phi.conj(), spreads)
        left = SampleMoments.of(X, centres[0] + ahead)
        phases = phase_differences(left, right, X.frequencies @ (centres[0] + ahead - centres[1]))
        freedom = max(min(X.effective_size, Y.effective_size) - 1, 1.0)
        return cls(phases, X.frequencies, spreads, pair.columns, freedom)

    @classmethod
    def of_pairs(cls, pair: Pair, differences: Sketch) -> Phases:
        """Return those of two samples whose rows belong together, from the sketch of x_i - y_i.

        The phase of the differences is the phase difference; the spreads are those of the two samples.
        """
        W, centre = differences.frequencies, centre_of(differences)
        spreads = column_spreads(pair.X, pair.Y)
        ahead = _aligning_shifts(W, SampleMoments.of(differences, centre).phi, spreads)
        m = differences.n_frequencies
        certain = SampleMoments(np.ones(m, dtype=complex), np.zeros((2 * m, 2 * m)), np.asarray(np.inf))  # a point at 0
        phases = phase_differences(SampleMoments.of(differences, centre + ahead), certain, W @ (centre + ahead))
        return cls(phases, W, spreads, pair.columns, max(differences.effective_size - 1, 1.0))

    def effect(self, *, up_to_offset: bool, movable: Movable = None) -> EffectSize:
        """Return the effect of each column and of columns together, and the largest one.

        Only the columns that are movable may have an offset, by default all.
        """
        phases, frequencies, spreads, freedom = self.differences, self.frequencies, self.spreads, self.freedom
        parts = []
        for column, places in enumerate(_own_frequencies(frequencies)):
            if not len(places):
                continue
            has_offset = up_to_offset and (movable is None or bool(movable[column]))
            if spreads[column] > 0:
                u = frequencies[places, column] * spreads[column]
                upright = phases.at(places).times(np.sign(u))
                parts.append(column_part(self.columns[column], np.abs(u), upright, freedom, has_offset))
            else:
                differ = not has_offset and bool(np.abs(phases.values[places]).max() > _ROUNDING)
                parts.append(_part_of_constants(self.columns[column], differ))
        u = frequencies * spreads
        lengths = np.linalg.norm(u, axis=1)
        joint = (np.count_nonzero(u, axis=1) > 1) & (lengths <= 1) & (lengths >= _LEAST_JOINT)
        if joint.any():
            together = phases.at(joint)
            parts.append(joint_part("columns together", u[joint], together, freedom, up_to_offset, movable))
        return EffectSize(parts=tuple(parts))


def column_spreads(X: Sketch, Y: Sketch) -> Floats:
    """Return the standard deviation of each column that effects are told in, that of the less spread-out sample.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.twosample import column_spreads
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 5_000)) * [[2.0], [5.0]]
    >>> left = un.Sketch.for_samples(X, Y).update(X)
    >>> column_spreads(left, un.Sketch.like(left).update(Y)).round(1)
    array([2.])
    """
    samples = (SampleMoments.of(sketch, centre_of(sketch)) for sketch in (X, Y))
    return _smaller_spreads(X.frequencies, *samples)


def _own_frequencies(frequencies: Floats) -> list[NDArray[np.intp]]:
    """Return the places of each column's own frequencies, the lowest first."""
    alone = np.count_nonzero(frequencies, axis=1) == 1
    own = [np.flatnonzero(alone & (frequencies[:, column] != 0)) for column in range(frequencies.shape[1])]
    return [places[np.argsort(np.abs(frequencies[places, column]))] for column, places in enumerate(own)]


def _smaller_spreads(frequencies: Floats, *samples: SampleMoments) -> Floats:
    """Return the spread of each column in the less spread-out sample that is not constant; 0 where both are."""
    squares = [np.clip(sample.squared_amplitudes, 0, 1) for sample in samples]
    spreads = np.zeros(frequencies.shape[1])
    for column, places in enumerate(_own_frequencies(frequencies)):
        if len(places):
            w = np.abs(frequencies[places, column])
            of_samples = [spread_of_amplitudes(w, of_sample[places]) for of_sample in squares]
            of_samples = [spread for spread in of_samples if spread * w[-1] > _ROUNDING]
            spreads[column] = min(of_samples, default=0.0)
    return spreads


def _aligning_shifts(frequencies: Floats, product: Complex, spreads: Floats) -> Floats:
    """Return by how much each column of the first sample is ahead, as far as its frequencies tell shifts apart."""
    shifts = np.zeros(len(spreads))
    for column, places in enumerate(_own_frequencies(frequencies)):
        w = frequencies[places, column]
        near = np.abs(w) * spreads[column] <= _REACH
        if not near.any():
            continue
        w, here = w[near], product[places[near]]
        step, reach = _STEP / np.abs(w).max(), np.pi / np.abs(w).min()
        turns = even_turns(min(int(reach / step), _MOST_STEPS) + 1, step * w)
        back, forward = ((turns @ either).real for either in (here.conj(), here))
        agreement = np.concatenate([back[:0:-1], forward])
        shifts[column] = step * (np.argmax(agreement) - (len(turns) - 1))
    return shifts


def _part_of_constants(name: str, differ: bool) -> Part:
    return Part(name, np.array([math.inf if differ else 0.0]), np.zeros(1), 1.0, 0.0, 1.0)
