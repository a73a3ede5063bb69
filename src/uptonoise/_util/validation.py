"""Checks of arguments that know nothing of the subject."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np


def positive_int(value: Any, name: str) -> int:
    """Return `value` as an int, or raise where it is not a positive whole number."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive integer; got {value!r}")
    return int(value)


def checked_choice(value: Any, choices: Iterable[str], name: str) -> str:
    """Return a string that is one of the choices, or raise."""
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name} must be one of {', '.join(names)}; got {value!r}")
    return value


def checked_flag(value: Any, name: str) -> bool:
    """Return a truth value, or raise where it is something else."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def checked_number(value: Any, name: str, *, least: float = 0.0, above: bool = False, most: float = np.inf) -> float:
    """Return a number at least (or above) `least` and below `most`, or raise."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not (least < value if above else least <= value) or not value < most:
        lower = f"above {least:g}" if above else f"at least {least:g}"
        raise ValueError(f"{name} must be a number {lower} and below {most:g}; got {value!r}")
    return float(value)
