"""The figures of experiments, each drawn from the rows of a table alone: rates, errors, dots and histograms."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec

import numpy as np

from uptonoise._util.files import written_whole
from uptonoise.experiments._looks import (
    SEES_NOISE,
    cell_in_words,
    label_ends,
    log_scale,
    look,
    look_of,
    name_of_test,
    scale_of_rates,
    wilson_interval,
)
from uptonoise.plots import GREY, Look, add_legend, dress, height_of, require, rows_of_names, short_name, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Figure
else:
    Figure = Any  # matplotlib is imported where a figure is drawn


Rows = Sequence[Mapping[str, str]]
Draw = Callable[[str, Rows], Figure]
"""Makes a figure of a title and the rows of a table."""
Options = ParamSpec("Options")
Entries = list[tuple[Any, str]]
"""Lines of a panel, and what they are called."""
STAND_INS = {
    "aerosol-like": "aerosol-like: simulated stand-in of MISR1",
    "misr1-like": "misr1-like: calibrated stand-in of MISR1",
    "dark-matter-like": "dark-matter-like: simulated stand-in of ML1",
}
"""How simulated data are called in titles."""
_NOTE = "Simulated stand-ins, not the paper's data."
_NAMED = 40  # letters of a name beside a dot
_LEVEL = 0.05
_NEAR_LEVEL = 0.2  # panels with all rates below it show no more than that
_BAND: dict[str, Any] = {"color": GREY, "alpha": 0.15, "linewidth": 0}


def with_options(draw: Callable[Concatenate[str, Rows, Options], Figure]) -> Callable[Options, Draw]:
    """Turn what draws a title and rows with options into a function of the options, which returns what draws."""

    @wraps(draw)
    def given(*arguments: Options.args, **options: Options.kwargs) -> Draw:
        return lambda title, rows: draw(title, rows, *arguments, **options)

    return given


def save_figure(figure: Figure, png: Path, svg: Path) -> None:
    """Write a figure in both formats, without the time, so that the same figure gives the same files."""
    with styled(), require().rc_context({"svg.hashsalt": "uptonoise"}):
        with written_whole(png) as file:
            figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
        with written_whole(svg) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})


def titled(title: str, rows: Rows) -> str:
    """Return a title that says so where the bags are simulated."""
    named = {row.get(key) for row in rows for key in ("bags", "problem")}
    return f"{title} {_NOTE}" if named & set(STAND_INS) else title


def grouped(rows: Rows, *keys: str) -> dict[tuple[str, ...], list[Mapping[str, str]]]:
    """Return the rows by their values of some columns, in the order in which these come."""
    groups: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def new_figure(title: str, width: float, height: float) -> Figure:
    """Return an empty figure with a title that is folded to fit."""
    figure: Figure = require("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
    figure.suptitle("\n".join(textwrap.wrap(title, int(11 * width))), fontsize="medium", x=0.01, ha="left")
    return figure


def panels_of(title: str, n_panels: int, size: tuple[float, float] = (4.4, 3.6), most: int = 3) -> tuple[Figure, Any]:
    """Return a figure and its panels, at most so many in a row."""
    across = min(n_panels, most)
    down = -(-n_panels // across)
    figure = new_figure(title, max(6.0, size[0] * across), size[1] * down + 0.4)
    axes = np.atleast_1d(np.asarray(figure.subplots(down, across, squeeze=False), dtype=object).ravel())
    for empty in axes[n_panels:]:
        empty.set_axis_off()
    return figure, axes[:n_panels]


def wald_band(alpha: float, repetitions: int) -> tuple[float, float]:
    """Return the paper's 99 % Wald interval around the level."""
    width = 2.57 * np.sqrt(alpha * (1 - alpha) / repetitions)
    return float(alpha - width), float(alpha + width)


class Panel(NamedTuple):
    """Which rows a panel shows, and which tests, against which column; with `by`, a curve for each of its values.

    Tests of `hollow` reject for other reasons than the one that the panel asks about, and are drawn hollow.
    """

    title: str
    where: Mapping[str, str]
    tests: Sequence[str] | None = None
    by: Sequence[str] = ()
    hollow: Sequence[str] = ()


@with_options
def rates(title: str, rows: Rows, panels: Sequence[Panel], tests: Sequence[str]) -> Figure:
    """Draw rejection rates against sizes, with 95 % intervals, and the 99 % band around the level."""
    rows_of_panels = [[row for row in rows if panel.where.items() <= row.items()] for panel in panels]
    shown = [(panel, of_panel) for panel, of_panel in zip(panels, rows_of_panels, strict=True) if of_panel]
    figure, axes = panels_of(title, len(shown), (5.2, 3.8), most=2 if len(shown) == 4 else 3)
    ends = [_rate_panel(ax, *panel, tests) for ax, panel in zip(axes, shown, strict=True)]
    figure.draw_without_rendering()  # names stand where lines end, which is known once the panels have their place
    for ax, ends_of_panel in zip(axes, ends, strict=True):
        label_ends(ax, ends_of_panel)
    return figure


def _rate_panel(ax: Axes, panel: Panel, rows: Rows, tests: Sequence[str]) -> list[tuple[float, str, Any]]:
    """Draw the curves of a panel, and return where each ends, its name and its colour."""
    colors = require("matplotlib.colors")
    groups = grouped(rows, *panel.by)
    ends: list[tuple[float, str, Any]] = []
    for test in panel.tests or tests:
        for place, of_group in enumerate(groups.values()):
            cells = [row for row in of_group if row.get(test)]
            if not cells:
                continue
            style, name = look_of(test, len(ends)), name_of_test(test)
            if panel.by:
                share = 0.5 + 0.5 * (place + 1) / len(groups)  # the lighter the lower the place
                style = style._replace(color=colors.to_hex(1 - share * (1 - np.array(colors.to_rgb(style.color)))))
                name = cell_in_words(cells[0], panel.by).removeprefix("noise ")
            sizes, values = ([float(row[key]) for row in cells] for key in ("N", test))
            intervals = [wilson_interval(float(row[test]), int(row["repetitions"])) for row in cells]
            ax.vlines(sizes, *zip(*intervals, strict=True), color=style.color, linewidth=1)
            line = draw_line(ax, sizes, values, style)
            if test in panel.hollow:
                line.set_markerfacecolor("white")
                line.set_alpha(0.7)
            ends.append((values[-1], name, style.color))
    repetitions = min(int(row["repetitions"]) for row in rows)
    ax.axhspan(*wald_band(_LEVEL, repetitions), **_BAND)
    if max(float(row.get(test) or 0) for row in rows for test in panel.tests or tests) < _NEAR_LEVEL:
        ax.set_ylim(0, _NEAR_LEVEL)
    else:
        scale_of_rates(ax, "y")
    dress(ax, f"{panel.title} ({repetitions:,} runs)", "rows in each sample", "rejects")
    ticks = sorted({float(row["N"]) for row in rows})
    ax.set_xscale("log")
    ax.set_xticks(ticks, [f"{size:,.0f}" for size in ticks])
    ax.minorticks_off()
    return ends


def draw_line(ax: Axes, x: Sequence[Any], y: Sequence[float], style: Look) -> Any:
    """Draw a line with marks, and return it."""
    (line,) = ax.plot(x, y, color=style.color, linestyle=style.line, marker=style.marker, markersize=5)
    return line


@with_options
def strips(title: str, rows: Rows, columns: Sequence[str]) -> Figure:
    """Draw the rates of all cells of a table as one strip of dots for each test."""
    rates_of_tests = {name: [float(row[name]) for row in rows if row.get(name)] for name in columns}
    rates_of_tests = {name: values for name, values in rates_of_tests.items() if values}
    repetitions = min(int(row["repetitions"]) for row in rows)
    figure = new_figure(title, 8.0, height_of(2 * len(rates_of_tests)))
    ax = figure.subplots()
    for place, (name, values) in enumerate(rates_of_tests.items()):
        spread = place + 0.5 * ((np.arange(len(values)) * 0.618) % 1 - 0.5)
        style = look_of(name, place)
        ax.plot(values, spread, style.marker, color=style.color, alpha=0.6, markersize=4)
    rows_of_names(ax, [short_name(name_of_test(name), _NAMED) for name in rates_of_tests])
    ax.axvspan(*wald_band(_LEVEL, repetitions), **_BAND)
    if max(max(values) for values in rates_of_tests.values()) > _NEAR_LEVEL:
        scale_of_rates(ax, "x")
    cells = f"{len(rows)} cells, {repetitions:,} runs each; the band is where 99 % of exact tests lie"
    dress(ax, cells, "rejects", grid="x")
    return figure


@with_options
def cells_of_tests(title: str, rows: Rows, names: Sequence[str], groups: Sequence[Sequence[str]]) -> Figure:
    """Draw one row of marks for each cell of a table of rates, with 95 % intervals, a panel for each group of tests.

    Marks of tests that see noise are hollow where the noises of a cell differ.
    """
    there = [[test for test in group if any(row.get(test) for row in rows)] for group in groups]
    there = [group for group in there if group]
    labels = [cell_in_words(row, names) for row in rows]
    figure = new_figure(title, 4.4 * len(there) + 0.075 * max(map(len, labels)), 1.6 + 0.34 * len(rows))
    axes = np.atleast_1d(figure.subplots(1, len(there), sharey=True))
    for ax, tests in zip(axes, there, strict=True):
        entries = []
        for place, test in enumerate(tests):
            style = look_of(test, place)
            off = 0.5 * ((place + 0.5) / len(tests) - 0.5)  # a little apart from the marks of the others
            for y, row in enumerate(rows):
                if row.get(test):
                    rate = float(row[test])
                    ax.hlines(y + off, *wilson_interval(rate, int(row["repetitions"])), color=style.color, linewidth=1)
                    face = "white" if name_of_test(test) in SEES_NOISE and _noises_differ(row) else style.color
                    ax.plot(rate, y + off, style.marker, color=style.color, markersize=5, markerfacecolor=face)
            entries.append((ax.plot([], [], style.marker, color=style.color, markersize=5)[0], name_of_test(test)))
        ax.axvspan(*wald_band(_LEVEL, min(int(row["repetitions"]) for row in rows)), **_BAND)
        rows_of_names(ax, [short_name(label, 80) for label in labels])
        scale_of_rates(ax, "x")
        dress(ax, "", "rejects, share of runs", grid="x")
        add_legend(ax, entries, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False)
    return figure


def _noises_differ(row: Mapping[str, str]) -> bool:
    if "n1" in row:
        return row["n1"] != row["n2"]
    first, _, second = row.get("noise", "").removesuffix(" SD").rpartition(", ")[2].partition(" and ")
    return first != second and bool(second)


@with_options
def dots(
    title: str,
    rows: Rows,
    names: Sequence[str],
    columns: Sequence[str] | None,
    xlabel: str,
    line: float | None = None,
    logarithmic: bool = False,
    counts: str = "",
    ends: tuple[str, str] | None = None,
) -> Figure:
    """Draw one named row of dots for each row of a table, a mark for each column; `line` is the target.

    By default the columns are all between the names and the last one, which counts. Where values are shares of as many
    runs as the column `counts` says, they have 95 % intervals. `ends` names the columns between which a bar is drawn.
    """
    shown = list(rows[0])[len(names) : -1] if columns is None else columns
    labels = [cell_in_words(row, names) for row in rows]
    figure = new_figure(title, 6.4 + 0.07 * min(max(map(len, labels)), 80), height_of(max(len(rows), len(shown))))
    ax = figure.subplots()
    entries = []
    for place, column in enumerate(shown):
        style = look_of(column, place)
        off = 0.4 * ((place + 0.5) / len(shown) - 0.5) if counts else 0.0
        for y, row in enumerate(rows):
            if row.get(column):
                value, beyond = number(row[column]), row[column].startswith("over ")
                if counts:
                    ax.hlines(y + off, *wilson_interval(value, int(row[counts])), color=style.color, linewidth=1)
                face = "white" if beyond else style.color  # hollow: more than were tried
                ax.plot(value, y + off, style.marker, color=style.color, markerfacecolor=face, markersize=5)
        entries.append((ax.plot([], [], style.marker, color=style.color)[0], short_name(name_of_test(column), _NAMED)))
    for y, row in enumerate(rows):
        if ends is not None:
            low, high = (number(row[end]) for end in ends)
            ax.hlines(y, low, high, color=look_of(shown[0]).color, linewidth=1)
    if line is not None:
        ax.axvline(line, color=GREY, linestyle="--", linewidth=0.8)
    rows_of_names(ax, [short_name(label, 80) for label in labels])
    if logarithmic:
        log_scale(ax, "x", ",.0f")
    dress(ax, "", xlabel, grid="x")
    add_legend(ax, entries if len(entries) > 1 else [], loc="upper left", bbox_to_anchor=(1.01, 1.0))
    return figure


def number(text: str) -> float:
    """Return a number of a table: of "over 6,400" the limit, of "0.7 (0.6 to 0.8)" the mean."""
    return float(text.removeprefix("over ").replace(",", "").split(" ")[0])


def quantiles(text: str) -> tuple[float, float]:
    """Return the quantiles of a mean in a table."""
    low, high = text.rstrip(")").split(" (")[1].split(" to ")
    return float(low), float(high)


@with_options
def histograms(
    title: str, rows: Rows, panel: str, groups: Sequence[str], xlabel: str, mark: Callable[[Rows], float], label: str
) -> Figure:
    """Draw histograms from bins in a table (`low`, `high`, `share`), a panel for each value of `panel`.

    `groups` names the columns whose values have a histogram each in a panel; `mark` gives where a red line stands,
    and `label` what it is. Above each histogram are its median, and a bar from its 5 % to its 95 % quantile.
    """
    kinds = grouped(rows, panel)
    figure, axes = panels_of(title, len(kinds), (4.4, 3.4))
    for ax, ((kind,), chosen) in zip(axes, kinds.items(), strict=True):
        entries = []
        for place, (names, bins) in enumerate(grouped(chosen, *groups).items()):
            edges = [float(row["low"]) for row in bins] + [float(bins[-1]["high"])]
            shares, style = [float(row["share"]) for row in bins], look(place)
            low, median, high = np.interp([0.05, 0.5, 0.95], np.concatenate([[0.0], np.cumsum(shares)]), edges)
            height = 1.04 + 0.05 * place  # in units of the panel
            above = {"color": style.color, "transform": ax.get_xaxis_transform(), "clip_on": False}
            ax.hlines(height, low, high, linewidth=2, **above)
            ax.plot(median, height, style.marker, markersize=5, **above)
            bars = ax.stairs(shares, edges, fill=True, alpha=0.45, color=style.color)
            entries.append((bars, short_name(", ".join(names), _NAMED)))
        ax.axvline(mark(chosen), color="#C00000", linewidth=1.5)
        on_the_left = mark(chosen) > 0.8 * ax.get_xlim()[1]
        ax.annotate(
            label,
            (mark(chosen), 0.97),
            xytext=(-4 if on_the_left else 4, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            color="#C00000",
            fontsize="small",
            ha="right" if on_the_left else "left",
            va="top",
        )
        dress(ax, "", xlabel, "share", grid="y")
        heading = f"{short_name(panel)}: {short_name(kind, 60)}"
        ax.set_title(heading, loc="left", fontsize="medium", pad=14 + 12 * len(entries))
        add_legend(ax, entries if len(entries) > 1 else [], loc="center left")
    return figure


def binned(values: Any, n_bins: int, limits: tuple[float, float] | None = None) -> list[dict[str, str]]:
    """Return the histogram of numbers as rows of a table: what `histograms` draws."""
    counts, edges = np.histogram(values, bins=n_bins, range=limits)
    shares = counts / max(counts.sum(), 1)
    return [
        {"low": f"{low:.6g}", "high": f"{high:.6g}", "share": f"{share:.5g}"}
        for low, high, share in zip(edges[:-1], edges[1:], shares, strict=True)
    ]
