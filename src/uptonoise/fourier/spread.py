"""How far a column spreads, read off the amplitudes of its characteristic function.

abs(phi(w))^2 is exp(-(w s)^2) for a normal distribution with standard deviation s. The spread is the s of the normal
distribution whose amplitude at w s = 0.3 is that of the sample: the standard deviation for a normal
distribution, a few per cent less for skewed ones, and finite however heavy the tails are.
"""

from __future__ import annotations

import numpy as np

from uptonoise._util.typing import Floats

_RADIANS = 0.3  # of a standard deviation, where spreads are measured
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
