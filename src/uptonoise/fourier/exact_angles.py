"""Angles w.(c - c') within one turn, exact to float64 however large the centres c and c' are.

The products and their sum are kept as unevaluated pairs of float64 (twice its digits), and whole turns are subtracted
before anything is rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.fourier.cosine_sine import LARGEST_ANGLE

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
            product, rest = _exact_product(frequencies[:, column], value)
            high, error = _exact_sum(high, product)
            low = low + (error + rest)
    turns = np.rint(high / _TURN)
    product, rest = _exact_product(turns, _TURN)
    high, error = _exact_sum(high, -product)
    return high + (error + low - rest - turns * _TURN_REST)


def _exact_product(a: Floats, b: Any) -> tuple[Floats, Floats]:
    """Return a b as the sum of two float64 (Dekker 1971)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Any) -> tuple[Any, Any]:
    scaled = a * 134217729.0  # 2^27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def _exact_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b as the sum of two float64 (Knuth 1969)."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)
