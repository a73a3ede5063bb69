"""How far to go in a direction: the line search of More and Thuente (1994).

It keeps the best place so far and, once it is known, a place on the other side of a minimum, and tries the minimum of a
cubic or of a parabola through both. It accepts a place where the function has become less, and flatter, by enough.
"""

from __future__ import annotations

import math
from typing import NamedTuple

_LESS, _FLATTER = 1e-3, 0.9  # shares of the first slope: of what the value must fall by, and of what may be left of it
_NARROW = 0.1  # an interval of places, against its end, that is worth no further trial
_FURTHER = 4.0  # how much longer the next trial may be while no minimum lies between
_SHRINK = 0.66


class _Trial(NamedTuple):
    at: float
    value: float
    slope: float


class LineSearch:
    """The next length to try, from the values and slopes at the lengths before.

    Parameters
    ----------
    value, slope : float
        Of the function at the start; the slope is negative.
    first, longest : float
        The first length to try, and the longest.

    Examples
    --------
    >>> from uptonoise._util.line_search import LineSearch
    >>> search = LineSearch(1.0, -2.0, 0.01, 10.0)  # of (x - 1)^2 from 0
    >>> while not search.accepts((search.length - 1) ** 2, 2 * (search.length - 1)):
    ...     pass
    >>> 0.01 < search.length < 1.9
    True
    """

    def __init__(self, value: float, slope: float, first: float, longest: float) -> None:
        self.length = first
        self._longest = longest
        self._start = self._best = self._other = _Trial(0.0, value, slope)
        self._asked_slope = _LESS * slope
        self._is_bracketed = False
        self._has_fallen = False
        self._range = 0.0, (1 + _FURTHER) * first
        self._widths = longest, 2 * longest  # of the interval, now and one trial before

    def accepts(self, value: float, slope: float) -> bool:
        """Take the value and the slope at `length`; tell whether to stop there, or else set the next length."""
        trial, asked = _Trial(self.length, value, slope), self._start.value + self.length * self._asked_slope
        self._has_fallen |= value <= asked and slope >= self._asked_slope
        (low, high), best, other = self._range, self._best, self._other
        if (
            (value <= asked and abs(slope) <= -_FLATTER * self._start.slope)
            or (value <= asked and slope <= self._asked_slope and self.length == self._longest)
            or (self._is_bracketed and (not low < self.length < high or high - low <= _NARROW * high))
        ):
            return True
        # As long as the function has not fallen enough, it is the fall against the asked one that counts.
        tilt = self._asked_slope if not self._has_fallen and asked < value <= best.value else 0.0
        tilted = [_Trial(at, fx - at * tilt, gradient - tilt) for at, fx, gradient in (best, other, trial)]
        length, has_minimum_between = _next_length(tilted, self._is_bracketed, self._range)
        self._is_bracketed |= has_minimum_between
        if value - trial.at * tilt > best.value - best.at * tilt:
            self._other = trial
        else:
            self._best, self._other = trial, best if (slope - tilt) * (best.slope - tilt) < 0 else other
        start, end = self._best.at, self._other.at
        if not self._is_bracketed:
            self._range = length + 1.1 * (length - start), length + _FURTHER * (length - start)
            self.length = min(max(length, 0.0), self._longest)
            return False
        if abs(end - start) >= _SHRINK * self._widths[1]:
            length = start + (end - start) / 2
        self._widths = abs(end - start), self._widths[0]
        low, high = self._range = min(start, end), max(start, end)
        length = min(max(length, 0.0), self._longest)
        self.length = length if low < length < high and high - low > _NARROW * high else start
        return False


def _next_length(trials: list[_Trial], is_bracketed: bool, bounds: tuple[float, float]) -> tuple[float, bool]:
    """Return the next length, and whether a minimum lies between the best place and the one tried."""
    best, other, tried = trials
    to_best = best.at - tried.at
    if tried.value > best.value:
        cubic = best.at - _cubic_share(best, tried)[0] * to_best
        fall = (tried.value - best.value) / to_best + best.slope
        parabola = best.at - best.slope / fall / 2 * to_best
        if abs(cubic - best.at) < abs(parabola - best.at):
            return cubic, True
        return cubic + (parabola - cubic) / 2, True
    furthest = bounds[1] if to_best < 0 else bounds[0]
    if tried.slope * best.slope < 0 or abs(tried.slope) < abs(best.slope):
        share, has_minimum = _cubic_share(tried, best)
        secant = tried.at + tried.slope / (tried.slope - best.slope) * to_best
        if tried.slope * best.slope < 0:
            cubic = tried.at + share * to_best
            return (cubic if abs(cubic - tried.at) > abs(secant - tried.at) else secant), True
        cubic = tried.at + share * to_best if has_minimum else furthest
        is_cubic_nearer = abs(cubic - tried.at) < abs(secant - tried.at)
        if not is_bracketed:
            return min(max(secant if is_cubic_nearer else cubic, bounds[0]), bounds[1]), False
        length, limit = cubic if is_cubic_nearer else secant, tried.at + _SHRINK * (other.at - tried.at)
        return (min(limit, length) if to_best < 0 else max(limit, length)), False
    if is_bracketed:
        return tried.at + _cubic_share(tried, other)[0] * (other.at - tried.at), False
    return furthest, False


def _cubic_share(first: _Trial, second: _Trial) -> tuple[float, bool]:
    """Return where the cubic through two places has its minimum, 0 at the first and 1 at the second.

    And whether it has one beyond the first place, as seen from the second.
    """
    theta = 3 * (first.value - second.value) / (second.at - first.at) + first.slope + second.slope
    size = max(abs(theta), abs(first.slope), abs(second.slope))
    root = size * math.sqrt(max(0.0, (theta / size) ** 2 - first.slope / size * (second.slope / size)))
    root = math.copysign(root, second.at - first.at)
    share = (root - first.slope + theta) / (root - first.slope + root + second.slope)
    return share, share < 0 and root != 0
