"""A few steps down a smooth function within bounds: those of L-BFGS-B (Byrd, Lu, Nocedal and Zhu 1995).

A step goes to the minimum of a quadratic model

    f + g'p + p'Bp / 2        B = theta + sum of c_j v_j v_j'

whose B (BFGS) comes from the steps before. First along the way of steepest descent, bent where it meets a bound, then
in all numbers that are not at one; along that direction a line search (More and Thuente 1994) takes enough of it.

These are the steps that `scipy.optimize.minimize` takes, but for rounding, without the time that it takes to load. Its
defaults are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.line_search import LineSearch
from uptonoise._util.typing import Floats

Mask = NDArray[np.bool_]
Loss = Callable[[Floats], tuple[float, Floats]]

_EPSILON = float(np.finfo(np.float64).eps)
_FLAT = 1e-5  # gradient at which there is nothing to gain
_SMALL_GAIN = 1e7 * _EPSILON  # of a step, against the value
_MOST_TRIALS = 20  # of a line search
_LONGEST = 1e10


class _Model(NamedTuple):
    """The matrix B."""

    theta: float
    vectors: Floats  # (n, j)
    factors: Floats  # c

    @classmethod
    def of(cls, steps: list[tuple[Floats, Floats]], n: int) -> _Model:
        """Return B from steps and how each has changed the gradient."""
        model = cls(1.0, np.empty((n, 0)), np.empty(0))
        if steps:
            step, change = steps[-1]
            model = model._replace(theta=float(change @ change) / float(step @ change))
        for step, change in steps:
            turned = model.times(step)
            vectors = np.column_stack([model.vectors, turned, change])
            factors = np.append(model.factors, [-1 / float(step @ turned), 1 / float(step @ change)])
            model = model._replace(vectors=vectors, factors=factors)
        return model

    def times(self, p: Floats) -> Floats:
        return np.asarray(self.theta * p + self.vectors @ (self.factors * (p @ self.vectors)))

    def solved(self, right: Floats, free: Mask) -> Floats:
        """Return the p with B p = right, both of the free numbers only (Woodbury)."""
        vectors = self.vectors[free]
        small = np.diag(self.theta / self.factors) + vectors.T @ vectors
        return np.asarray((right - vectors @ np.linalg.solve(small, right @ vectors)) / self.theta)


class _Place(NamedTuple):
    x: Floats
    value: float
    gradient: Floats


def descend(loss: Loss, start: Floats, low: Floats, high: Floats, n_steps: int) -> Floats:
    """Take steps down a function, and return where they end.

    Parameters
    ----------
    loss : callable
        Returns the value and the gradient at a place.
    start, low, high : array of shape (n,)
        The place to start from, inside the bounds. A bound may be infinite; some are, and some are not, as then the
        first step is as long as scipy's.
    n_steps : int
        The largest number of steps.

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
        model = _Model.of(steps, len(start))
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
    bent, free = _down_the_bent_way(here, model, low, high)
    if not model.factors.size or not free.any():
        return bent
    move = np.zeros_like(bent)
    move[free] = model.solved(-(here.gradient + model.times(bent - here.x))[free], free)
    target = np.clip(bent + move, low, high)
    if (target == bent + move).all() or float((target - here.x) @ here.gradient) <= 0:
        return target
    share = min(1.0, float(_room(bent, move, low, high).min()))
    return np.clip(bent + share * move, low, high)


def _down_the_bent_way(here: _Place, model: _Model, low: Floats, high: Floats) -> tuple[Floats, Mask]:
    """Return the first minimum of the model along x - t g, whose numbers stop at their bounds (the Cauchy point).

    And which numbers have not stopped.
    """
    way = -here.gradient
    ends = _room(here.x, way, low, high)
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
    stopped = np.where(here.gradient > 0, low, high)
    return np.where(free, here.x + moved, stopped), free


def _room(x: Floats, move: Floats, low: Floats, high: Floats) -> Floats:
    """Return for each number how much of its move leads to its bound."""
    return np.divide(np.where(move < 0, low, high) - x, move, out=np.full_like(x, np.inf), where=move != 0)


def _searched(
    loss: Loss, here: _Place, direction: Floats, low: Floats, high: Floats, is_first: bool
) -> tuple[_Place | None, float]:
    """Return the place that a line search accepts and how much of the direction leads there; None where none does."""
    slope = float(direction @ here.gradient)
    if not slope < 0:
        return None, 0.0
    room = np.divide(
        np.where(direction < 0, low, high) - here.x,
        direction,
        out=np.full_like(direction, _LONGEST),
        where=direction != 0,
    )
    longest = 1.0 if is_first else min(_LONGEST, float(room.min()))
    first = min(1 / float(np.linalg.norm(direction)) if is_first else 1.0, longest)
    search = LineSearch(here.value, slope, first, longest)
    for _ in range(_MOST_TRIALS):
        length = search.length
        x = here.x + length * direction
        there = _Place(x, *loss(x))
        if search.accepts(there.value, float(direction @ there.gradient)):
            return there, length
    return None, 0.0
