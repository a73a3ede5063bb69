"""Where two samples differ: the locations of the ME test, and the places of a comparison, with rows behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uptonoise._util.density import common_grid
from uptonoise._util.typing import Floats
from uptonoise.comparison import Comparison
from uptonoise.plots.densities import column_place, draw_density
from uptonoise.plots.style import GREY, LOOKS, Look, add_legend, canvas, documented, dress, require, short_name
from uptonoise.rows import some_rows, two_samples
from uptonoise.twosample import MeResult, p_is

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN_ROWS = 2_000
_DRAWN_ROWS = 1_500  # of each sample, over the places of a comparison
_N_BINS = 40


@documented
def plot_locations(
    result: MeResult | None,
    rows: tuple[Any, Any] | None = None,
    *,
    columns: tuple[int | str, ...] | None = None,
    names: tuple[str, str] = ("X", "Y"),
    ax: Axes | None = None,
) -> Axes:
    """Plot where two samples differ by the ME test: marks in the data, larger where they contribute more.

    Parameters
    ----------
    result : MeResult
        What :func:`~uptonoise.me_test` returned, or the ``me`` of a comparison that has one.
    rows : pair of samples, optional
        Rows of both, to draw behind; a few thousand are enough. Without them only the places are drawn.
    columns : one or two of int or str, optional
        The columns to show; by default the two along which the places lie furthest apart.
    {names}
    {axes}
    >>> X, Y = rng.normal(size=(500, 3)), rng.normal([0, 2, 0], size=(500, 3))
    >>> ax = plots.plot_locations(un.me_test(X, Y, random_state=0), (X, Y), columns=("x0", "x1"))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ("x0, in the data's units", "x1, in the data's units")
    >>> plt.close()
    """
    if result is None:
        raise ValueError(
            "result must be that of an ME test; got None: the comparison has no ME test, as it has few rows, pairs, or "
            "weights, or no rows beside its sketches"
        )
    places = _columns_to_show(result, columns)
    samples = None
    if rows is not None:
        if not isinstance(rows, tuple | list) or len(rows) != 2:
            raise ValueError("rows must be a pair, the rows of X and those of Y")
        sources, n = two_samples(*rows), len(result.columns)
        if len(sources[0].columns) != n:
            raise ValueError(f"rows must have the {n} columns of the result; got {len(sources[0].columns)}")
        samples = [some_rows(source, _SHOWN_ROWS, np.random.default_rng(0)) for source in sources]
    with canvas(ax) as ax:
        if len(places) == 1:
            entries = _draw_on_a_line(ax, result, samples, places[0], names)
            ylabel = "contribution to the statistic" if samples is None else "density"
        else:
            entries = _draw_on_a_plane(ax, result, samples, places, names)
            ylabel = f"{short_name(result.columns[places[1]])}, in the data's units"
        title = f"Where they differ (ME test, {p_is(result.pvalue)})"
        dress(ax, title, f"{short_name(result.columns[places[0]])}, in the data's units", ylabel)
        add_legend(ax, entries, loc="best")
        return ax


def _columns_to_show(result: MeResult, columns: tuple[int | str, ...] | None) -> list[int]:
    if columns is not None:
        if isinstance(columns, str) or len(columns) not in (1, 2):
            raise ValueError(f"columns must be one or two columns; got {columns!r}")
        return [column_place(column, result.columns) for column in columns]
    if len(result.columns) == 1:
        return [0]
    weights = np.maximum(result.contributions, 0) + 1e-12
    means = np.average(result.regions, axis=0, weights=weights)
    spreads = np.sqrt(np.average((result.regions - means) ** 2, axis=0, weights=weights)) / result.widths
    return sorted(np.argsort(-np.nan_to_num(spreads), kind="stable")[:2].tolist())


def _draw_on_a_line(
    ax: Axes, result: MeResult, samples: list[Floats] | None, place: int, names: tuple[str, str]
) -> list[tuple[Any, str]]:
    regions, heights = result.regions[:, place], result.contributions
    entries: list[tuple[Any, str]] = []
    if samples is not None:
        values = [rows[:, place] for rows in samples]
        grid = common_grid(*values)
        for column, look, name in zip(values, LOOKS, names, strict=False):
            entries.append((draw_density(ax, column, grid, look), short_name(name)))
        top = ax.get_ylim()[1]
        ax.set_ylim(-0.12 * top, top)  # with room for the places below the densities
        heights = np.full(len(regions), -0.06 * top)
        ax.set_xlim(min(grid[0], regions.min()), max(grid[-1], regions.max()))
    else:
        ax.vlines(regions, 0, heights, color=GREY, linewidth=1)
        ax.axhline(0, color=GREY, linewidth=0.8)
    return entries + _draw_places(ax, result, regions, heights, names)


def _draw_on_a_plane(
    ax: Axes, result: MeResult, samples: list[Floats] | None, places: list[int], names: tuple[str, str]
) -> list[tuple[Any, str]]:
    regions, entries = result.regions[:, places], []
    if samples is not None:
        for rows, name, look in zip(samples, names, LOOKS, strict=False):
            x, y = rows[:, places].T
            ax.scatter(x, y, s=8, c=look.color, marker=look.marker, alpha=0.25, linewidths=0)
            entries.append((_mark(look), short_name(name)))
        grids = [common_grid(*(rows[:, place] for rows in samples)) for place in places]
        ax.set_xlim(min(grids[0][0], regions[:, 0].min()), max(grids[0][-1], regions[:, 0].max()))
        ax.set_ylim(min(grids[1][0], regions[:, 1].min()), max(grids[1][-1], regions[:, 1].max()))
    else:
        # The bumps themselves, whose centres may lie outside of the data.
        ellipse = require("matplotlib.patches").Ellipse
        width, height = 2 * result.widths[places]
        for centre in result.locations[:, places]:
            reach = ellipse(tuple(centre), width, height, facecolor="none", edgecolor=GREY, linewidth=0.8)
            ax.add_patch(reach)
        ax.autoscale_view()
        entries.append((reach, "reach of a bump, one width"))
    return entries + _draw_places(ax, result, regions[:, 0], regions[:, 1], names)


def _draw_places(ax: Axes, result: MeResult, x: Floats, y: Floats, names: tuple[str, str]) -> list[tuple[Any, str]]:
    """Mark the places, by which sample has more rows there and by how much each contributes."""
    shares = np.maximum(result.contributions, 0) / max(float(np.max(result.contributions)), 1e-300)
    sizes, entries = 30 + 170 * shares, []
    kinds = (
        (result.differences > 0, LOOKS[0], f"{short_name(names[0])} has more rows here"),
        (result.differences < 0, LOOKS[1], f"{short_name(names[1])} has more rows here"),
        (result.differences == 0, Look(GREY, "-", "D"), "as many of both"),
    )
    options: dict[str, Any] = {"edgecolors": "black", "linewidths": 1, "zorder": 3, "clip_on": False}
    for chosen, look, label in kinds:
        if chosen.any():
            ax.scatter(x[chosen], y[chosen], s=sizes[chosen], c=look.color, marker=look.marker, **options)
            entries.append((_mark(look, markersize=9, markeredgecolor="black"), label))
    return entries


def _mark(look: Look, **options: Any) -> Any:
    """Return a mark for a legend, in full where those of the picture are faint or of many sizes."""
    line = require("matplotlib.lines").Line2D
    return line([], [], color=look.color, marker=look.marker, **{"linestyle": "none", "markersize": 4} | options)


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
    labels = [short_name(name) for name in columns]
    shown = [rows[:, [comparison.columns.index(name) for name in columns]] for rows in comparison.shown]
    ends = min(rows[:, 0].min() for rows in shown), max(rows[:, 0].max() for rows in shown)
    with canvas(ax) as ax:
        entries = []
        for name, rows, look in zip(comparison.names, shown, LOOKS, strict=False):
            if len(columns) > 1:
                few = rows[:_DRAWN_ROWS]
                (drawn,) = ax.plot(few[:, 0], few[:, 1], ".", color=look.color, markersize=3, alpha=0.5)
            else:
                counts, edges = np.histogram(rows, _N_BINS, ends)
                (drawn,) = ax.step(edges[:-1], counts / len(rows), where="post", color=look.color, linewidth=1.8)
            entries.append((drawn, short_name(name)))
        for place in places:
            middle, width = place.values, place.widths
            if len(columns) > 1:
                ellipse = require("matplotlib.patches").Ellipse
                ax.add_patch(ellipse(middle, 4 * width[0], 4 * width[1], fill=False, linewidth=1.8))
            else:
                ax.axvspan(middle[0] - 2 * width[0], middle[0] + 2 * width[0], color="0.85", zorder=0)
        dress(ax, "Where they differ", labels[0], labels[1] if len(labels) > 1 else "share of rows")
        add_legend(ax, entries, loc="best")
        return ax
