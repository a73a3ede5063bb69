"""Roots and non-negative least squares, for what a comparison needs of `scipy.optimize`.

That package takes as long to load as a small comparison takes: a short command is to do without it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from uptonoise._util.typing import Floats

_MOST_STEPS = 100
_MOST_EXCHANGES = 10
_ROUNDING = 1e-13
_ROUNDED = 4 * float(np.finfo(np.float64).eps)


def root(
    function: Callable[[float], float], low: float, high: float, absolute: float = 2e-12, relative: float = _ROUNDED
) -> float:
    """Return a root between two places at which the function has different signs, by Brent's method (1973).

    The places that it looks at are those of `scipy.optimize.brentq`, to the last bit. The answer is no further from a
    root than `absolute`, plus `relative` times the answer.

    Examples
    --------
    >>> from uptonoise._util.solvers import root
    >>> root(lambda x: x * x - 2, 0.0, 2.0)
    1.4142135623731364
    """
    before, here = low, high
    value_before, value_here = function(before), function(here)
    if value_before == 0 or value_here == 0:
        return before if value_before == 0 else here
    if not (value_before < 0 < value_here or value_here < 0 < value_before):
        raise ValueError(f"function must change its sign between {low} and {high}; got {value_before}, {value_here}")
    other, value_other = before, value_before  # a root lies between here and there
    last_step = step = here - before
    for _ in range(_MOST_STEPS):
        if (value_before < 0) != (value_here < 0):
            other, value_other = before, value_before
            last_step = step = here - before
        if abs(value_other) < abs(value_here):
            before, here, other = here, other, here
            value_before, value_here, value_other = value_here, value_other, value_here
        tolerance = (absolute + relative * abs(here)) / 2
        half = (other - here) / 2
        if value_here == 0 or abs(half) < tolerance:
            return here
        tried = np.inf
        if abs(last_step) > tolerance and abs(value_here) < abs(value_before):
            slope = (value_before - value_here) / (before - here)
            other_slope = (value_other - value_here) / (other - here)
            if before == other:  # the root of a line, else of the inverse parabola through three places
                tried = -value_here * (here - before) / (value_here - value_before)
            else:
                bend = value_other * other_slope - value_before * slope
                tried = -value_here * bend / (other_slope * slope * (value_other - value_before))
        if 2 * abs(tried) < min(abs(last_step), 3 * abs(half) - tolerance):
            last_step, step = step, tried
        else:
            last_step = step = half
        before, value_before = here, value_here
        here += step if abs(step) > tolerance else (tolerance if half > 0 else -tolerance)
        value_here = function(here)
    raise RuntimeError(f"no root was found within {_MOST_STEPS} steps between {low} and {high}")


def nonnegative_least_squares(matrix: Floats, target: Floats) -> Floats:
    """Return the x without negative numbers for which |matrix x - target| is smallest.

    All numbers that are in the wrong set, the zeros or the others, change it at once (block principal pivoting,
    Portugal, Judice and Vicente 1994), which takes few steps. Where it takes many, or where no x is the only one,
    scipy answers.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise._util.solvers import nonnegative_least_squares
    >>> nonnegative_least_squares(np.eye(2), np.array([1.0, -1.0]))
    array([1., 0.])
    """
    tolerance = _ROUNDING * float(np.abs(matrix.T @ target).max(initial=0.0))
    free = np.ones(matrix.shape[1], dtype=bool)
    for _ in range(_MOST_EXCHANGES):
        x = np.zeros(matrix.shape[1])
        x[free], _, rank, _ = np.linalg.lstsq(matrix[:, free], target, rcond=None)
        if rank < free.sum():
            break
        wrong = np.where(free, x < 0, matrix.T @ (target - matrix @ x) > tolerance)
        if not wrong.any():
            return x
        free ^= wrong
    return np.asarray(scipy.optimize.nnls(matrix, target)[0])
