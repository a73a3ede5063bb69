"""How far a column spreads, read off the amplitudes of its characteristic function.

abs(phi(w))^2 is exp(-(w s)^2) for a normal distribution with standard deviation s. The spread is the s of the normal
distribution whose amplitude at w s = 0.3 is that of the sample: the standard deviation for a normal
distribution, a few per cent less for skewed ones, and finite however heavy the tails are.
"""

from __future__ import annotations

import numpy as np

from uptonoise._util.typing import Floats

_RADIANS = 0.3  # of a standard deviation, where spreads are measured
_POINTS = 1_000  # values of a column, at equal steps of their ranks, that are enough
_GRID = np.geomspace(0.01, 30, 60)  # times the length of a column, where rows are looked at
_TINY = np.finfo(np.float64).tiny


def spread_of_amplitudes(frequencies: Floats, squares: Floats, n_rows: float | None = None) -> float:
    """Return the spread that squared amplitudes tell, at ascending positive frequencies of a column.

    It is 0 where all amplitudes are 1, as for a constant. With the number of rows, what sampling errors add to squared
    amplitudes is taken off.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.spread import spread_of_amplitudes
    >>> w = np.array([0.1, 0.2, 0.4])
    >>> round(spread_of_amplitudes(w, np.exp(-((3 * w) ** 2))), 6)
    3.0
    """
    if n_rows is not None:
        squares = (n_rows * squares - 1) / max(n_rows - 1, _TINY)
    radians = np.sqrt(-np.log(np.clip(squares, _TINY, 1.0)))
    of_each = radians / frequencies
    beyond = np.flatnonzero(radians >= _RADIANS)
    if not len(beyond):
        return float(of_each[-1])
    place = int(beyond[0])
    if place == 0:
        return float(of_each[0])
    share = (_RADIANS - radians[place - 1]) / (radians[place] - radians[place - 1])
    return float(np.sqrt((1 - share) * of_each[place - 1] ** 2 + share * of_each[place] ** 2))


def spreads_of_rows(rows: Floats, lengths: Floats) -> Floats:
    """Return the spread of each column of some rows; `lengths` are of its order.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.fourier.spread import spreads_of_rows
    >>> spreads_of_rows(np.random.default_rng(0).normal(size=(2_000, 1)), np.ones(1)).round(1)
    array([1.])
    """
    spreads = np.zeros(rows.shape[1])
    if len(rows) < 2:
        return spreads
    ranks = np.rint(np.linspace(0, len(rows) - 1, min(len(rows), _POINTS))).astype(np.int64)
    for column, length in enumerate(lengths):
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused with the rows
            points = np.sort((rows[:, column] - np.median(rows[:, column])) / length)[ranks]
            phases = np.outer(_GRID, points)
            squares = np.cos(phases).mean(axis=1) ** 2 + np.sin(phases).mean(axis=1) ** 2
        spreads[column] = spread_of_amplitudes(_GRID / length, squares, len(rows))
    return spreads
