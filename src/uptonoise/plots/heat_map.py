"""All pairs of groups in one picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.comparison import GroupComparison
from uptonoise.plots.style import canvas, documented, dress, inches_of, name_fonts, require, short_name
from uptonoise.twosample import PairwiseResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Shown = Literal["pvalues", "noncentralities"]

_SMALLEST = 1e-6  # p-value that has a colour of its own
_NAME_LENGTH = 16
_SMALLEST_LETTERS, _LARGEST_LETTERS = 6.0, 9.0  # points
_LETTERS = 3.4  # how wide the longest number is, in units of its height


@documented
def plot_heat_map(result: PairwiseResult | GroupComparison, show: Shown = "pvalues", *, ax: Axes | None = None) -> Axes:
    """Plot all pairs of groups: adjusted p-values on a log scale, or noncentralities. Dark pairs differ.

    Parameters
    ----------
    result : PairwiseResult or GroupComparison
        The outcome of :func:`~uptonoise.pairwise_phase_test` or :func:`~uptonoise.compare_groups`.
    show : {"pvalues", "noncentralities"}
        What the colours mean.
    {axes}
    >>> groups = un.compare_groups({name: rng.normal(shift, size=300) for name, shift in zip("abc", [0, 0, 1])})
    >>> ax = plots.plot_heat_map(groups)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['a', 'b', 'c']
    >>> plt.close()
    """
    if show not in get_args(Shown):
        raise ValueError(f"show must be one of {', '.join(get_args(Shown))}; got {show!r}")
    pairs = result.pairs if isinstance(result, GroupComparison) else result
    alpha = result.alpha if isinstance(result, GroupComparison) else 0.05
    values = (pairs.adjusted if show == "pvalues" else pairs.noncentralities).copy()
    np.fill_diagonal(values, np.nan)
    side = 4.0 + min(5.0, 0.08 * len(pairs.names))
    with canvas(ax, side + 1.2, side) as ax:
        # Dark colours for pairs that differ.
        colors, colormaps = require("matplotlib.colors"), require("matplotlib").colormaps
        if show == "pvalues":
            norm = colors.LogNorm(max(_SMALLEST, min(1e-3, float(np.nanmin(values)))), 1.0)
            adjusted = f"Adjusted p-values ({pairs.adjust.title()}"
            title = "p-values (not adjusted" if pairs.adjust == "none" else adjusted
            title += f"; line: {alpha:g})"
        else:  # a noncentrality is about the square of a shift
            norm = colors.PowerNorm(0.5, 0.0, float(np.nanmax(values)) or 1.0)
            title = "Noncentralities per row, beyond noise"
        colours = colormaps["Blues_r" if show == "pvalues" else "Blues"]
        image = ax.imshow(np.maximum(values, norm.vmin), norm=norm, cmap=colours, interpolation="nearest")
        ax.set_facecolor("0.75")  # the diagonal
        # About how many points a cell has, with room for the names and the scale of colours.
        width, height = inches_of(ax)
        names_size = 0.08 * min(_NAME_LENGTH, max(map(len, pairs.names)))
        cell = 72 * max(1.0, min(width - names_size - 0.6, height - names_size)) / len(pairs.names)
        bar = ax.figure.colorbar(image, ax=ax, extend="min" if np.nanmin(values) < norm.vmin else "neither")
        bar.ax.tick_params(labelsize="small")
        if show == "pvalues":
            bar.ax.axhline(alpha, color="black", linewidth=1.5)
        dress(ax, title, "", grid="none")
        _name_groups(ax, pairs.names, cell)
        _write_numbers(ax, values, image, cell)
        return ax


def _name_groups(ax: Axes, names: tuple[str, ...], cell: float) -> None:
    """Name as many groups as there is room for, in points, the first one always."""
    size = min(_LARGEST_LETTERS, max(cell, _SMALLEST_LETTERS))
    step = math.ceil(size / cell)
    places, labels = range(0, len(names), step), [short_name(name, _NAME_LENGTH) for name in names[::step]]
    short = 0.6 * size * max(map(len, labels)) <= cell * step
    ax.set_yticks(places, labels, fontsize=size, **name_fonts())
    ax.set_xticks(places, labels, fontsize=size, rotation=0 if short else 90, **name_fonts())
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _write_numbers(ax: Axes, values: Floats, image: Any, cell: float) -> None:
    """Write the numbers into cells that are large enough."""
    size = min(_LARGEST_LETTERS, cell / _LETTERS)
    if size < _SMALLEST_LETTERS:
        return
    for (row, column), value in np.ndenumerate(values):
        if row != column:
            light = np.dot(image.to_rgba(np.maximum(value, image.norm.vmin))[:3], [0.3, 0.6, 0.1]) > 0.5
            text = _cell_text(value) if value >= image.norm.vmin else f"<{_cell_text(image.norm.vmin)}"
            ax.text(column, row, text, ha="center", va="center", size=size, color="black" if light else "white")


def _cell_text(value: float) -> str:
    return f"{value:.2g}" if value >= 1e-3 or value == 0 else f"{value:.0e}".replace("e-0", "e-")
