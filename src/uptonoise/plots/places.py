"""Where two samples differ, drawn over their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uptonoise.comparison import Comparison, Place
from uptonoise.plots.style import LOOKS, add_legend, canvas, documented, dress, require, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DRAWN_ROWS = 1_500  # of each sample
_N_BINS = 40


@documented
def plot_places(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Plot the places where one sample has more rows than the other, in the columns of the clearest one.

    Parameters
    ----------
    {comparison} It must have rows and places.
    {axes}
    >>> X, Y = rng.normal(size=(2, 1_000, 2))
    >>> X[:150] = [2, 2] + 0.3 * rng.normal(size=(150, 2))
    >>> ax = plots.plot_places(un.compare(rng.permutation(X), Y))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x0', 'x1')
    >>> plt.close()
    """
    if comparison.shown is None or not comparison.places:
        raise ValueError("comparison must have rows, and places where the samples differ; got none")
    columns = comparison.places[0].columns
    places = [place for place in comparison.places if place.columns == columns]
    draw = _draw_on_a_line if len(columns) == 1 else _draw_on_a_plane
    with canvas(ax) as ax:
        entries = draw(ax, comparison, places)
        labels = [short_name(name) for name in columns]
        dress(ax, "Where they differ", labels[0], labels[1] if len(labels) > 1 else "share of rows")
        add_legend(ax, entries, loc="best")
        return ax


def _draw_on_a_plane(ax: Axes, comparison: Comparison, places: list[Place]) -> list[tuple[object, str]]:
    patches = require("matplotlib.patches")
    assert comparison.shown is not None
    first, second = (comparison.columns.index(name) for name in places[0].columns)
    entries: list[tuple[object, str]] = []
    for name, rows, look in zip(comparison.names, comparison.shown, LOOKS, strict=False):
        few = rows[:_DRAWN_ROWS]
        (marks,) = ax.plot(few[:, first], few[:, second], ".", color=look.color, markersize=3, alpha=0.5)
        entries.append((marks, short_name(name)))
    for place in places:
        ring = patches.Ellipse(place.values, 4 * place.widths[0], 4 * place.widths[1], fill=False, linewidth=1.8)
        ax.add_patch(ring)
    return entries


def _draw_on_a_line(ax: Axes, comparison: Comparison, places: list[Place]) -> list[tuple[object, str]]:
    assert comparison.shown is not None
    column = comparison.columns.index(places[0].columns[0])
    both = [rows[:, column] for rows in comparison.shown]
    ends = min(values.min() for values in both), max(values.max() for values in both)
    entries: list[tuple[object, str]] = []
    for name, values, look in zip(comparison.names, both, LOOKS, strict=False):
        shares, edges = np.histogram(values, _N_BINS, ends)
        (line,) = ax.step(edges[:-1], shares / len(values), where="post", color=look.color, linewidth=1.8)
        entries.append((line, short_name(name)))
    for place in places:
        ax.axvspan(place.values[0] - 2 * place.widths[0], place.values[0] + 2 * place.widths[0], color="0.85", zorder=0)
    return entries
