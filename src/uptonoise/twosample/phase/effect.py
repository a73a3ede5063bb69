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
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.results import Result, computed
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_number
from uptonoise.fourier import Sketch, spread_of_amplitudes
from uptonoise.twosample.phase.pair import Movable, Pair, SampleMoments, even_turns
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
        # The squared effect of what was seen, without what errors add; that of all, if the rest is alike.
        lambda self: math.sqrt(
            max(
                (max(0.0, float(np.sum(p.scores**2 - p.variances))) / p.seen for p in self.parts if p.seen > 0),
                default=math.nan,
            )
        )
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


class _Form(NamedTuple):
    """A squared effect as a quadratic form of nearly normal values, and what was seen of it, as in a part."""

    name: str
    form: Floats
    values: Floats
    covariance: Floats
    seen: float
    unseen: float


class Phases(NamedTuple):
    """The phase differences of two samples at m frequencies, and what makes effects of them, with or without an offset.

    `covariance` is that of their errors, and `seen` tells which of them are known.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.twosample import Pair, Phases
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.gamma(2, size=(2, 5_000))
    >>> left = un.Sketch.for_samples(X, Y).update(X + 3 + rng.normal(size=5_000))
    >>> phases = Phases.of(Pair.of(left, un.Sketch.like(left).update(Y)))
    >>> [round(phases.effect(up_to_offset=up_to).estimate, 1) for up_to in (False, True)]
    [2.2, 0.0]
    """

    values: Floats
    covariance: Floats
    seen: NDArray[np.bool_]
    frequencies: Floats
    spreads: Floats
    columns: Sequence[str]
    freedom: float

    @classmethod
    def of(cls, pair: Pair, differences: Sketch | None = None) -> Phases:
        """Return those of two independent samples, or, where rows belong together, of the sketch of x_i - y_i.

        The phase of the differences is the phase difference; the spreads are those of the two samples.
        """
        W, spreads = pair.X.frequencies, column_spreads(pair.X, pair.Y)
        sketch, freedom = pair.X, min(pair.X.effective_size, pair.Y.effective_size)
        right = SampleMoments.of(pair.Y)
        if differences is not None:
            m, sketch, freedom = differences.n_frequencies, differences, differences.effective_size
            one, certain, origin = np.ones(m, dtype=complex), np.zeros((2 * m, 2 * m)), np.zeros(sketch.n_columns)
            right = SampleMoments(one, certain, np.asarray(np.inf), centre=origin)
        left = SampleMoments.of(sketch)
        product = left.phi * right.phi.conj()
        # A large shift would be lost in whole turns: each column is moved on by where its frequencies agree best.
        ahead = np.zeros(len(spreads))
        for column, places in enumerate(_own_frequencies(W)):
            near = places[np.abs(W[places, column]) * spreads[column] <= _REACH]
            if len(near):
                w = W[near, column]
                step, reach = _STEP / np.abs(w).max(), np.pi / np.abs(w).min()
                turns = even_turns(min(int(reach / step), _MOST_STEPS) + 1, step * w)
                back, forward = ((turns @ either).real for either in (product[near].conj(), product[near]))
                agreement = np.concatenate([back[:0:-1], forward])
                ahead[column] = step * (np.argmax(agreement) - (len(turns) - 1))
        left = SampleMoments.of(sketch, left.centre + ahead)
        product = left.phi * right.phi.conj()
        size, angle = np.abs(product), np.angle(product)
        # The error of a phase is that of Im(phi_X conj phi_Y) with its own phase taken off, over the amplitudes.
        inverse = np.divide(1, size, out=np.zeros_like(size), where=size > 0)
        to_left, to_right = np.exp(-1j * angle) * right.phi.conj() * inverse, np.exp(-1j * angle) * left.phi * inverse
        covariance = left.projected(to_left.imag, to_left.real) / left.size
        covariance = covariance + right.projected(to_right.imag, -to_right.real) / right.size
        seen = (np.diag(covariance) < _LARGEST_ERROR**2) & (size > 0)
        for sample in (left, right):
            seen &= np.abs(sample.phi) * np.sqrt(sample.size) > _RELIABLE
        values = W @ (left.centre - right.centre) + angle
        return cls(values, covariance, seen, W, spreads, pair.columns, max(freedom - 1, 1.0))

    def effect(self, *, up_to_offset: bool, movable: Movable = None) -> EffectSize:
        """Return the effect of each column and of columns together, and the largest one.

        Only the columns that are movable may have an offset, by default all.
        """
        forms: list[_Form] = []
        for column, places in enumerate(_own_frequencies(self.frequencies)):
            if not len(places):
                continue
            has_offset = up_to_offset and (movable is None or bool(movable[column]))
            if self.spreads[column] > 0:
                forms.append(self._column_form(column, places, has_offset))
            else:  # constant in both samples
                differ = not has_offset and bool(np.abs(self.values[places]).max() > _ROUNDING)
                value = np.array([math.inf if differ else 0.0])
                forms.append(_Form(self.columns[column], np.eye(1), value, np.zeros((1, 1)), 1.0, 0.0))
        u = self.frequencies * self.spreads
        lengths = np.linalg.norm(u, axis=1)
        joint = (np.count_nonzero(u, axis=1) > 1) & (lengths <= 1) & (lengths >= _LEAST_JOINT)
        if joint.any():  # a mean over the directions of frequencies on several columns
            known, unknown = np.flatnonzero(joint & self.seen), joint & ~self.seen
            directions, squares = u[known], np.sum(u**2, axis=1)
            total = float(squares[joint].sum())
            form = np.eye(len(directions)) / total
            if up_to_offset and len(directions):
                explained = directions if movable is None else directions[:, movable]
                form = form - explained @ np.linalg.pinv(explained) / total
            seen = float(squares[known].sum()) / total
            unseen = float(np.sum((np.abs(self.values[unknown]) + np.pi) ** 2)) / total
            covariance = self.covariance[np.ix_(known, known)]
            forms.append(_Form("columns together", form, self.values[known], covariance, seen, unseen))
        parts = []
        for name, form, values, covariance, seen, unseen in forms:
            # Scores without correlations, whose squares add up to the form, and their variances.
            weights, basis = np.linalg.eigh(form)
            root = np.sqrt(np.maximum(weights, 0))[:, None] * basis.T
            variances, turn = np.linalg.eigh(root @ covariance @ root.T)
            scores = turn.T @ (root @ values)
            parts.append(Part(name, scores, np.maximum(variances, 0), seen, unseen, self.freedom))
        return EffectSize(parts=tuple(parts))

    def _column_form(self, column: int, places: NDArray[np.intp], up_to_offset: bool) -> _Form:
        """Return the effect in one column, at its own frequencies, the lowest first."""
        u = self.frequencies[places, column] * self.spreads[column]
        signs, u, seen = np.sign(u), np.abs(u), self.seen[places]  # a phase is odd
        known = seen & (u <= _REACH) & (u < u[~seen].min(initial=np.inf))
        places, signs, u = places[known], signs[known], u[known]
        values = self.values[places] * signs
        covariance = self.covariance[np.ix_(places, places)] * np.outer(signs, signs)
        reach = float(u[-1]) if len(u) else 0.0
        slope = abs(float(values[-1])) / reach if len(u) and not up_to_offset else 0.0
        if reach >= _NEARLY_ALL:
            reach = 1.0
        exponents = (_POWERS[:, None] + _POWERS + 1)[: len(u), : len(u)]
        form = 3 * reach**exponents / exponents  # integrals of products of two powers
        if up_to_offset and len(u):
            form = form - np.outer(form[0], form[0]) / form[0, 0]
        # What makes coefficients of phases, by weighted least squares.
        roots = 1 / np.sqrt(np.maximum(np.diag(covariance), 1e-14))
        terms = u[:, None] ** _POWERS[: len(form)] * roots[:, None]
        sizes = np.sqrt(np.sum(terms**2, axis=0))
        fit = np.linalg.pinv(terms / sizes) * roots / sizes[:, None]
        # Beyond the reach a phase may be off by half a turn from the line that it was on.
        unseen = slope**2 * (1 - reach**3) + 3 * slope * np.pi * (1 - reach**2) + 3 * np.pi**2 * (1 - reach)
        return _Form(self.columns[column], form, fit @ values, fit @ covariance @ fit.T, reach**3, unseen)


def column_spreads(X: Sketch, Y: Sketch) -> Floats:
    """Return the standard deviation of each column that effects are told in, that of the less spread-out sample.

    A sample that is constant there does not count; it is 0 where both are.

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
    squares = [np.clip(SampleMoments.of(sketch).squared_amplitudes, 0, 1) for sketch in (X, Y)]
    spreads = np.zeros(X.n_columns)
    for column, places in enumerate(_own_frequencies(X.frequencies)):
        if len(places):
            w = np.abs(X.frequencies[places, column])
            of_samples = [spread_of_amplitudes(w, of_sample[places]) for of_sample in squares]
            of_samples = [spread for spread in of_samples if spread * w[-1] > _ROUNDING]
            spreads[column] = min(of_samples, default=0.0)
    return spreads


def _own_frequencies(frequencies: Floats) -> list[NDArray[np.intp]]:
    """Return the places of each column's own frequencies, the lowest first."""
    alone = np.count_nonzero(frequencies, axis=1) == 1
    own = [np.flatnonzero(alone & (frequencies[:, column] != 0)) for column in range(frequencies.shape[1])]
    return [places[np.argsort(np.abs(frequencies[places, column]))] for column, places in enumerate(own)]
