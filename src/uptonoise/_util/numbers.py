"""How pages and cards write numbers."""

from __future__ import annotations

import math

UNKNOWN = "\N{EN DASH}"
_SMALLEST_P = 1e-4  # text tells no smaller p-values


def number(value: float, digits: int = 3) -> str:
    """Return a number with a few digits; a dash where it is not known.

    Examples
    --------
    >>> from uptonoise._util.numbers import number
    >>> number(1234.5), number(0.012345), number(float("inf"))
    ('1,234', '0.0123', '∞')
    """
    if math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return "∞" if value > 0 else "\N{MINUS SIGN}∞"
    size = abs(value)
    if size == 0 or 1e-4 <= size < 1e6:
        decimals = 0 if size == 0 else max(0, digits - 1 - math.floor(math.log10(size)))
        text = f"{size:,.{decimals}f}"
    else:
        text = f"{size:.{digits}g}".replace("e-0", "e-").replace("e+0", "e")
    return f"\N{MINUS SIGN}{text}" if value < 0 else text


def bound(value: float, digits: int = 2) -> str:
    """Return an upper bound, rounded up: what is below 0.151 need not be below 0.15.

    Examples
    --------
    >>> from uptonoise._util.numbers import bound
    >>> bound(0.151), bound(0.15), bound(1203)
    ('0.16', '0.15', '1,300')
    """
    if not math.isfinite(value) or value <= 0:
        return number(value, digits)
    unit = 10.0 ** (math.floor(math.log10(value)) + 1 - digits)
    return number(math.ceil(value / unit - 1e-9) * unit, digits)


def signed(value: float, digits: int = 3) -> str:
    """Return a number with its sign."""
    return ("+" if value > 0 else "") + number(value, digits)


def interval(low: float, high: float, digits: int = 3) -> str:
    """Return both ends of an interval."""
    return f"{number(low, digits)} to {number(high, digits)}"


def pvalue(value: float) -> str:
    """Return a p-value as text tells it."""
    if math.isnan(value):
        return UNKNOWN
    return f"< {_SMALLEST_P:.4f}" if value < _SMALLEST_P else f"{value:.2g}"


def size_text(n_bytes: int) -> str:
    """Return the size of a file.

    Examples
    --------
    >>> from uptonoise._util.numbers import size_text
    >>> size_text(812), size_text(2_500_000)
    ('812 bytes', '2.5 MB')
    """
    if n_bytes < 1_000:
        return f"{n_bytes} bytes"
    power = min(4, (len(str(n_bytes)) - 1) // 3)
    return f"{n_bytes / 1_000**power:.3g} {('', 'kB', 'MB', 'GB', 'TB')[power]}"
