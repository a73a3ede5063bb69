"""A few steps down a smooth function within bounds: those of L-BFGS-B (Byrd, Lu, Nocedal and Zhu 1995).

A step goes to the minimum of a quadratic model

    f + g'p + p'Bp / 2        B = theta + sum of c_j v_j v_j'

whose B (BFGS) comes from the steps before. First along the way of steepest descent, bent where it meets a bound, then
in all numbers that are not at one; along that direction a line search (More and Thuente 1994) takes enough of it.

These are the steps that `scipy.optimize.minimize` takes, but for rounding, without the time that it takes to load. Its
defaults are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats

Loss = Callable[[Floats], tuple[float, Floats]]

_EPSILON = float(np.finfo(np.float64).eps)
_FLAT = 1e-5  # gradient at which there is nothing to gain
_SMALL_GAIN = 1e7 * _EPSILON  # of a step, against the value
_MOST_TRIALS = 20  # of a line search
_LONGEST = 1e10
_LESS, _FLATTER = 1e-3, 0.9  # shares of the first slope: of what the value must fall by, and of what may be left of it
_NARROW = 0.1  # an interval of places, against its end, that is worth no further trial
_FURTHER = 4.0  # how much longer the next trial may be while no minimum lies between
_SHRINK = 0.66


class _Model(NamedTuple):
    """The matrix B."""

    theta: float
    vectors: Floats  # (n, j)
    factors: Floats  # c

    def times(self, p: Floats) -> Floats:
        return np.asarray(self.theta * p + self.vectors @ (self.factors * (p @ self.vectors)))


class _Place(NamedTuple):
    x: Floats
    value: float
    gradient: Floats


class _Trial(NamedTuple):
    at: float  # how much of the direction
    value: float
    slope: float


def descend(loss: Loss, start: Floats, low: Floats, high: Floats, n_steps: int) -> Floats:
    """Take at most so many steps down a function, and return where they end.

    `loss` returns the value and the gradient at a place, and `start` is inside the bounds. A bound may be infinite;
    some are, and some are not, as then the first step is as long as scipy's.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise._util.descent import descend
    >>> low, high = np.array([0.5, -np.inf]), np.array([2.0, np.inf])
    >>> descend(lambda x: (float(x @ x), 2 * x), np.array([1.0, 2.0]), low, high, 10)
    array([0.5, 0. ])
    """
    here = _Place(start, *loss(start))
    steps: list[tuple[Floats, Floats]] = []
    taken = 0
    while taken < n_steps and np.abs(np.clip(here.x - here.gradient, low, high) - here.x).max() > _FLAT:
        model = _Model(1.0, np.empty((len(start), 0)), np.empty(0))
        if steps:
            step, change = steps[-1]
            model = model._replace(theta=float(change @ change) / float(step @ change))
        for step, change in steps:
            turned = model.times(step)
            vectors = np.column_stack([model.vectors, turned, change])
            factors = np.append(model.factors, [-1 / float(step @ turned), 1 / float(step @ change)])
            model = model._replace(vectors=vectors, factors=factors)
        direction = _target(here, model, low, high) - here.x
        there, length = _searched(loss, here, direction, low, high, is_first=taken == 0)
        if there is None:  # the model has misled
            if not steps:
                break
            steps = []
            continue
        taken += 1
        if here.value - there.value <= _SMALL_GAIN * max(abs(here.value), abs(there.value), 1.0):
            return there.x
        step, change = length * direction, there.gradient - here.gradient
        if float(step @ change) > -_EPSILON * float(step @ here.gradient):
            steps.append((step, change))
        here = there
    return here.x


def _target(here: _Place, model: _Model, low: Floats, high: Floats) -> Floats:
    """Return the minimum of the model, bounded."""
    # The first minimum along x - t g, whose numbers stop at their bounds (the Cauchy point).
    way = -here.gradient
    ends = np.divide(np.where(way < 0, low, high) - here.x, way, out=np.full_like(way, np.inf), where=way != 0)
    free = ends > 0
    way = np.where(free, way, 0.0)
    moved, now = np.zeros_like(way), 0.0
    for number in np.argsort(ends, kind="stable"):
        if ends[number] <= 0:
            continue
        slope = float(way @ (here.gradient + model.times(moved)))
        curvature = float(way @ model.times(way))
        best = max(-slope / curvature, 0.0) if curvature > 0 else 0.0
        if best < ends[number] - now:
            moved += best * way
            break
        moved += (ends[number] - now) * way
        now, way[number], free[number] = ends[number], 0.0, False
    bent = np.where(free, here.x + moved, np.where(here.gradient > 0, low, high))
    if not model.factors.size or not free.any():
        return bent
    # From there on, the p with B p = -gradient, both of the free numbers only (Woodbury).
    right, vectors = -(here.gradient + model.times(bent - here.x))[free], model.vectors[free]
    small = np.diag(model.theta / model.factors) + vectors.T @ vectors
    move = np.zeros_like(bent)
    move[free] = (right - vectors @ np.linalg.solve(small, right @ vectors)) / model.theta
    target = np.asarray(np.clip(bent + move, low, high))
    is_cut = target != bent + move
    if not is_cut.any() or float((target - here.x) @ here.gradient) <= 0:
        return target
    share = min(1.0, float(((target - bent)[is_cut] / move[is_cut]).min()))  # that leads to the first bound
    return np.asarray(np.clip(bent + share * move, low, high))


def _searched(
    loss: Loss, here: _Place, direction: Floats, low: Floats, high: Floats, is_first: bool
) -> tuple[_Place | None, float]:
    """Return the place that a line search accepts and how much of the direction leads there; None where none does.

    It keeps the best place so far and, once it is known, a place on the other side of a minimum. It accepts a place
    where the function has become less, and flatter, by enough.
    """
    start = best = other = _Trial(0.0, here.value, float(direction @ here.gradient))
    if not start.slope < 0:
        return None, 0.0
    moves = direction != 0
    to_bounds = (np.where(direction < 0, low, high) - here.x)[moves] / direction[moves]
    longest = 1.0 if is_first else min(_LONGEST, float(to_bounds.min()))
    length = min(1 / float(np.linalg.norm(direction)) if is_first else 1.0, longest)
    asked_slope, is_bracketed, has_fallen = _LESS * start.slope, False, False
    least, most = 0.0, (1 + _FURTHER) * length
    widths = longest, 2 * longest  # of the interval, now and one trial before
    for _ in range(_MOST_TRIALS):
        x = here.x + length * direction
        there = _Place(x, *loss(x))
        trial, asked = (
            _Trial(length, there.value, float(direction @ there.gradient)),
            start.value + length * asked_slope,
        )
        is_less = trial.value <= asked
        has_fallen |= is_less and trial.slope >= asked_slope
        if (
            (is_less and abs(trial.slope) <= -_FLATTER * start.slope)
            or (is_less and trial.slope <= asked_slope and length == longest)
            or (is_bracketed and (not least < length < most or most - least <= _NARROW * most))
        ):
            return there, length
        # As long as the function has not fallen enough, it is the fall against the asked one that counts.
        tilt = asked_slope if not has_fallen and asked < trial.value <= best.value else 0.0
        tilted = [_Trial(at, fx - at * tilt, gradient - tilt) for at, fx, gradient in (best, other, trial)]
        length, has_minimum_between = _next_length(tilted, is_bracketed, (least, most))
        is_bracketed |= has_minimum_between
        if tilted[2].value > tilted[0].value:
            other = trial
        else:
            best, other = trial, best if tilted[2].slope * tilted[0].slope < 0 else other
        if not is_bracketed:
            least, most = length + 1.1 * (length - best.at), length + _FURTHER * (length - best.at)
            length = min(max(length, 0.0), longest)
            continue
        if abs(other.at - best.at) >= _SHRINK * widths[1]:
            length = best.at + (other.at - best.at) / 2
        widths = abs(other.at - best.at), widths[0]
        least, most = min(best.at, other.at), max(best.at, other.at)
        length = min(max(length, 0.0), longest)
        length = length if least < length < most and most - least > _NARROW * most else best.at
    return None, 0.0


def _next_length(trials: list[_Trial], is_bracketed: bool, bounds: tuple[float, float]) -> tuple[float, bool]:
    """Return the next length, and whether a minimum lies between the best place and the one tried."""
    best, other, tried = trials
    to_best = best.at - tried.at
    furthest = bounds[1] if to_best < 0 else bounds[0]
    is_higher, is_turned = tried.value > best.value, tried.slope * best.slope < 0
    is_flatter = is_turned or abs(tried.slope) < abs(best.slope)
    if not (is_higher or is_flatter or is_bracketed):
        return furthest, False
    # Where the cubic through two places has its minimum.
    first, second = (best, tried) if is_higher else (tried, best if is_flatter else other)
    theta = 3 * (first.value - second.value) / (second.at - first.at) + first.slope + second.slope
    size = max(abs(theta), abs(first.slope), abs(second.slope))
    root = size * math.sqrt(max(0.0, (theta / size) ** 2 - first.slope / size * (second.slope / size)))
    root = math.copysign(root, second.at - first.at)
    share = (root - first.slope + theta) / (root - first.slope + root + second.slope)
    cubic = first.at + share * (second.at - first.at)
    if is_higher:
        fall = (tried.value - best.value) / to_best + best.slope
        parabola = best.at - best.slope / fall / 2 * to_best
        return (cubic if abs(cubic - best.at) < abs(parabola - best.at) else cubic + (parabola - cubic) / 2), True
    if not is_flatter:
        return cubic, False
    secant = tried.at + tried.slope / (tried.slope - best.slope) * to_best
    if is_turned:
        return (cubic if abs(cubic - tried.at) > abs(secant - tried.at) else secant), True
    if share >= 0 or root == 0:  # no minimum beyond the place tried, as seen from the best one
        cubic = furthest
    is_cubic_nearer = abs(cubic - tried.at) < abs(secant - tried.at)
    if not is_bracketed:
        return min(max(secant if is_cubic_nearer else cubic, bounds[0]), bounds[1]), False
    length, limit = cubic if is_cubic_nearer else secant, tried.at + _SHRINK * (other.at - tried.at)
    return (min(limit, length) if to_best < 0 else max(limit, length)), False
