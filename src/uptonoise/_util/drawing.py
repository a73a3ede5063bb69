"""Small drawings as SVG elements of a page or a notebook, without matplotlib: no scripts, no ids, nothing to load.

Colours are classes, so that one drawing serves a light and a dark page; :data:`STYLE` has the rules, and the page says
what ``--first``, ``--second``, ``--third``, ``--muted`` and ``--line`` are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

Kind = Literal["first", "second", "third", "ink", "muted"]

LIGHT = {"first": "#0b5fa5", "second": "#b0440a", "third": "#0a6e55", "muted": "#57606c", "line": "#d4d8de"}
DARK = {"first": "#7ab8f5", "second": "#f2a56b", "third": "#6fd6b4", "muted": "#a9b2bd", "line": "#3a424c"}
STYLE = """
svg.drawing { display: block; width: 100%; height: auto; overflow: visible; color: inherit; }
svg.drawing text { font: 12px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: currentColor; }
svg.drawing .mark { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
svg.drawing .thin { stroke-width: 1; }
svg.drawing .grid { stroke: var(--line); stroke-width: 1; }
svg.drawing .area { stroke: none; opacity: 0.14; }
svg.drawing .dot { stroke: none; fill: currentColor; }
svg.drawing .faint { opacity: 0.35; }
svg.drawing .first { color: var(--first); }
svg.drawing .second { color: var(--second); }
svg.drawing .third { color: var(--third); }
svg.drawing .muted { color: var(--muted); }
svg.drawing .second.dash { stroke-dasharray: 7 4; }
svg.drawing .third.dash { stroke-dasharray: 2 4; stroke-linecap: round; }
svg.drawing .area.first, svg.drawing .area.second, svg.drawing .area.third { fill: currentColor; }
"""
_LETTER = 6.3  # about how wide a letter is
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Axis(NamedTuple):
    """The range of an axis, on a logarithmic scale where `log`."""

    low: float
    high: float
    log: bool = False

    def share(self, values: ArrayLike) -> np.ndarray:
        """Return where values lie, from 0 to 1 between the ends."""
        numbers, low, high = np.asarray(values, dtype=float), self.low, self.high
        if self.log:
            numbers, low, high = np.log(np.maximum(numbers, low)), math.log(low), math.log(high)
        return (numbers - low) / ((high - low) or 1.0)

    def ticks(self, most: int = 5) -> list[float]:
        """Return round numbers within the range, at most so many."""
        if self.log:
            powers = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
            return [10.0**power for power in powers][:: max(1, math.ceil(len(powers) / most))]
        step = _round_step((self.high - self.low) / most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, ... times a power of ten that is not below `least`."""
    if not least > 0 or not math.isfinite(least):
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


class Drawing:
    """An SVG element with a plain pair of axes; later marks lie above earlier ones, and y grows upwards.

    At this width and height letters have 12 pixels; `left`, `right`, `top` and `bottom` are the space around the axes.

    Examples
    --------
    >>> from uptonoise._util.drawing import Axis, Drawing
    >>> drawing = Drawing(Axis(0, 1), Axis(0, 2))
    >>> drawing.line([0, 1], [0, 2], "first")
    >>> drawing.svg("A line")[:44]
    '<svg class="drawing" viewBox="0 0 340 210" r'
    """

    def __init__(
        self,
        x: Axis,
        y: Axis,
        *,
        width: float = 340,
        height: float = 210,
        left: float = 10,
        right: float = 10,
        top: float = 8,
        bottom: float = 38,
    ) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        self.left, self.top = left, top
        self.inner = width - left - right, height - top - bottom
        self._elements: list[str] = []

    def across(self, values: ArrayLike) -> np.ndarray:
        """Return how far from the left values of x lie."""
        return self.left + self.inner[0] * self.x.share(values)

    def down(self, values: ArrayLike) -> np.ndarray:
        """Return how far from the top values of y lie."""
        return self.top + self.inner[1] * (1 - self.y.share(values))

    def line(self, x: ArrayLike, y: ArrayLike, kind: Kind, *, thin: bool = False, solid: bool = False) -> None:
        """Draw a line through points, with the dashes of its kind."""
        style = f"mark {kind}{' thin' if thin else ''}{'' if solid else ' dash'}"
        self._elements.append(f'<path class="{style}" d="{_path(self.across(x), self.down(y))}"/>')

    def area(self, x: ArrayLike, y: ArrayLike, kind: Kind) -> None:
        """Fill what lies between a line and the bottom."""
        across = self.across(x)
        base = f" L{across[-1]:.1f} {self.down(self.y.low):.1f} L{across[0]:.1f} {self.down(self.y.low):.1f} Z"
        self._elements.append(f'<path class="area {kind}" d="{_path(across, self.down(y))}{base}"/>')

    def band(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, kind: Kind) -> None:
        """Fill what lies between two lines."""
        across = self.across(x)
        back = _path(across[::-1], self.down(low)[::-1]).replace("M", "L", 1)
        self._elements.append(f'<path class="area {kind}" d="{_path(across, self.down(high))} {back} Z"/>')

    def dot(self, x: float, y: float, kind: Kind, *, radius: float = 4, faint: bool = False) -> None:
        """Draw a dot."""
        place = f'cx="{float(self.across(x)):.1f}" cy="{float(self.down(y)):.1f}" r="{radius:g}"'
        self._elements.append(f'<circle class="dot {kind}{" faint" if faint else ""}" {place}/>')

    def bar(self, x: tuple[float, float], y: tuple[float, float], kind: Kind, *, faint: bool = False) -> None:
        """Draw a filled rectangle between two points."""
        across, down = sorted(self.across(x)), sorted(self.down(y))
        place = f'x="{across[0]:.1f}" y="{down[0]:.1f}"'
        size = f'width="{max(across[1] - across[0], 0.5):.1f}" height="{max(down[1] - down[0], 0.5):.1f}"'
        self._elements.append(f'<rect class="dot {kind}{" faint" if faint else ""}" {place} {size}/>')

    def upright(self, x: float, kind: Kind, *, thin: bool = True) -> None:
        """Draw an upright line over the whole height."""
        self.line([x, x], [self.y.low, self.y.high], kind, thin=thin)

    def level(self, y: float, kind: Kind, *, thin: bool = True) -> None:
        """Draw a level line over the whole width."""
        self.line([self.x.low, self.x.high], [y, y], kind, thin=thin)

    def sample(self, across: float, down: float, kind: Kind) -> None:
        """Draw a short line of a kind, for a legend, in the drawing's own units."""
        self._elements.append(f'<path class="mark {kind} dash" d="M{across:.1f} {down:.1f} h28"/>')

    def text(self, across: float, down: float, text: str, *, anchor: str = "start", kind: Kind = "ink") -> None:
        """Write a text at a place of the drawing, in its own units."""
        style = f' class="{kind}"' if kind != "ink" else ""
        self._elements.append(
            f'<text{style} x="{across:.1f}" y="{down:.1f}" text-anchor="{anchor}">{escape(printable(text))}</text>'
        )

    def x_axis(self, label: str = "", most: int = 5) -> None:
        """Draw the axis of x below, with round numbers and a label."""
        base = self.top + self.inner[1]
        self._rule(self.left, base, self.left + self.inner[0], base)
        for tick, text in numbered(self.x.ticks(most)):
            across = float(self.across(tick))
            self._rule(across, base, across, base + 4)
            half = len(text) * _LETTER / 2
            place = min(max(across, half), self.width - half)
            self.text(place, base + 17, text, anchor="middle", kind="muted")
        if label:
            letters = int(self.width / _LETTER)
            self.text(self.left + self.inner[0] / 2, base + 33, shortened(label, letters), anchor="middle")

    def y_axis(self, most: int = 4) -> None:
        """Draw a thin grid with numbers at the left."""
        for tick, text in numbered(self.y.ticks(most)):
            down = float(self.down(tick))
            self._rule(self.left, down, self.left + self.inner[0], down)
            self.text(self.left - 5, down + 4, text, anchor="end", kind="muted")

    def _rule(self, x1: float, y1: float, x2: float, y2: float) -> None:
        self._elements.append(f'<path class="mark grid" d="M{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f}"/>')

    def svg(self, description: str) -> str:
        """Return the element, with a description for those who do not see it."""
        size = f'viewBox="0 0 {self.width:g} {self.height:g}"'
        label = escape(printable(description))
        return f'<svg class="drawing" {size} role="img" aria-label="{label}">{"".join(self._elements)}</svg>'


def _path(across: np.ndarray, down: np.ndarray) -> str:
    points = [f"{x:.1f} {y:.1f}" for x, y in zip(across.tolist(), down.tolist(), strict=True)]
    return "M" + " L".join(points)


def numbered(ticks: Sequence[float]) -> list[tuple[float, str]]:
    """Return ticks with their texts, in as many digits as tell them apart."""
    for digits in range(2, 16):
        texts = [tick_text(tick, digits) for tick in ticks]
        numbers = [float(text.replace(",", "")) for text in texts]
        if np.allclose(numbers, ticks, rtol=1e-9, atol=0):
            break
    return list(zip(ticks, texts, strict=True))


def tick_text(value: float, digits: int = 4) -> str:
    """Return a number of an axis."""
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.{digits}g}".replace("e-0", "e-").replace("e+0", "e")
    text = f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}" if value else "0"
    return text.rstrip("0").rstrip(".") if "." in text else text


def shortened(text: str, letters: int) -> str:
    """Return a text in one line of at most so many letters."""
    line = " ".join(text.split())
    return line if len(line) <= letters else f"{line[: max(1, letters - 1)]}…"


def printable(text: str) -> str:
    """Return a text without characters that XML and HTML forbid."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)
