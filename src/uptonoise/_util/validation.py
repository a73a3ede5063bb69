"""Checks of arguments that know nothing of the subject."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

_MOST_JOBS = 10_000
_MOST_INT = 2**53


def positive_int(value: Any, name: str, most: int | None = None) -> int:
    """Return `value` as an int, or raise where it is not a positive whole number, or more than is affordable."""
    number = int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else 0
    if number < 1:
        raise ValueError(f"{name} must be a positive integer; got {value!r}")
    if number > _MOST_INT:
        raise ValueError(f"{name} must be at most {_MOST_INT:,}; got {value!r}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most:,}, since more take too much memory; got {number:,}")
    return number


def checked_choice(value: Any, choices: Iterable[str], name: str) -> str:
    """Return a string that is one of the choices, or raise."""
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name} must be one of {', '.join(names)}; got {value!r}")
    return value


def checked_column(value: Any, name: str) -> Any:
    """Return the name of a column, text or a whole number as pandas has them, or raise where it is something else."""
    if not isinstance(value, str | numbers.Integral) or isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must name a column; got {value!r}")
    return value


def checked_columns(values: Any, name: str) -> list[Any]:
    """Return the names of columns, one or a list of them, or raise where they are something else."""
    if isinstance(values, str | numbers.Integral):
        return [checked_column(values, name)]
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Sequence | np.ndarray):
        raise ValueError(f"{name} must name columns; got {values!r}")
    return [checked_column(value, name) for value in list(values)]


def checked_flag(value: Any, name: str) -> bool:
    """Return a truth value, or raise where it is something else."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def checked_text(value: Any, name: str) -> str:
    """Return text, or raise where it is something else."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text; got {value!r}")
    return value


def checked_jobs(value: Any, name: str = "n_jobs") -> int | None:
    """Return a number of workers as joblib counts them, or raise where it is something else."""
    if value is None:
        return None
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or abs(int(value)) > _MOST_JOBS:
        raise ValueError(f"{name} must be a whole number of workers, or None; got {value!r}")
    if value == 0:
        raise ValueError(f"{name} must not be 0; 1 is one worker, and -1 is one per core")
    return int(value)


def checked_number(value: Any, name: str, *, least: float = 0.0, above: bool = False, most: float = np.inf) -> float:
    """Return a number at least (or above) `least` and below `most`, or raise."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not (least < value if above else least <= value) or not value < most:
        lower = f"above {least:g}" if above else f"at least {least:g}"
        raise ValueError(f"{name} must be a number {lower} and below {most:g}; got {value!r}")
    return float(value)
