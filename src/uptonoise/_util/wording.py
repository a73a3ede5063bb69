"""How messages show numbers and values."""

from __future__ import annotations

import unicodedata
from typing import Any

_DIRECTIONS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # which turn the order of letters


def shown(value: Any) -> str:
    """Return how a message shows an id or a label: as users write it, not as numpy keeps it."""
    is_numpys = type(value).__module__ == "numpy" and value.ndim == 0  # without an import, which help has no time for
    return repr(value.item() if is_numpys else value)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it must be."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def printable(text: str) -> str:
    r"""Return a text whose control characters, which a terminal would obey, are written out.

    Examples
    --------
    >>> from uptonoise._util.wording import printable
    >>> printable("red \x1b[31m")
    'red \\x1b[31m'
    """
    letters = []
    for letter in text:
        is_control = unicodedata.category(letter) in ("Cc", "Cs") or letter in _DIRECTIONS
        letters.append(ascii(letter)[1:-1] if is_control and letter not in "\n\t" else letter)
    return "".join(letters)
