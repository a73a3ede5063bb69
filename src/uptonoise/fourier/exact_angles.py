"""Angles w.(c - c') within one turn, exact to float64 however large the centres c and c' are.

The products and their sum are kept as unevaluated pairs of float64 (twice its digits), and whole turns are subtracted
before anything is rounded.
"""

from __future__ import annotations

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.fourier.cosine_sine import LARGEST_ANGLE

_SPLIT = 2.0**27 + 1  # takes the digits of a float64 apart
_TURN = 2 * np.pi
_TURN_REST = 2.4492935982947064e-16  # 2 pi minus its float64


def angles_between(frequencies: Floats, centre: Floats, other: Floats) -> Floats:
    """Return w.(centre - other) within one turn."""
    reach = float((np.abs(frequencies).max(axis=0) * (np.abs(centre) + np.abs(other))).sum())
    if not reach < LARGEST_ANGLE:
        raise ValueError(
            f"the centres of sketches times frequencies reach {reach:.3g} radians, where float64 has no correct digit "
            "of a phase; subtract a constant from the columns of X before sketching"
        )
    high, low = np.zeros(len(frequencies)), np.zeros(len(frequencies))
    for column, values in enumerate(zip(centre, -other, strict=True)):
        for value in values:
            high, error, rest = _plus_product(high, frequencies[:, column], value)
            low = low + (error + rest)
    turns = np.rint(high / _TURN)
    high, error, rest = _plus_product(high, turns, -_TURN)
    return high + (error + low + rest - turns * _TURN_REST)


def _plus_product(total: Floats, a: Floats, b: float) -> tuple[Floats, Floats, Floats]:
    """Return total + a b, and what rounding has taken from the sum (Knuth 1969) and from the product (Dekker 1971)."""
    product = a * b
    of_a, of_b = a * _SPLIT, b * _SPLIT
    a_high, b_high = of_a - (of_a - a), of_b - (of_b - b)
    a_low, b_low = a - a_high, b - b_high
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    grown = total + product
    added = grown - total
    return grown, (total - (grown - added)) + (product - added), rest
