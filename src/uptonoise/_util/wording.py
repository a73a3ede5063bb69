"""How messages show numbers and values."""

from __future__ import annotations

from typing import Any

import numpy as np


def shown(value: Any) -> str:
    """Return how a message shows an id or a label: as users write it, not as numpy keeps it."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it must be."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
