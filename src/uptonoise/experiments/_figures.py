"""The figures of experiments, each drawn from the rows of a table alone: rates, errors, dots and histograms."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec

import numpy as np

from uptonoise._util.files import written_whole
from uptonoise.plots import GREY, LOOKS, Look, add_legend, dress, height_of, require, rows_of_names, short_name, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Rows = Sequence[Mapping[str, str]]
Draw = Callable[[str, Rows], "Figure"]
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


def look(place: int) -> Look:
    """Return a look for the line at a place; beyond the sixth, colours come again with another line and mark."""
    again = LOOKS[(place + place // len(LOOKS)) % len(LOOKS)]
    return Look(LOOKS[place % len(LOOKS)].color, again.line, again.marker)


def wald_band(alpha: float, repetitions: int) -> tuple[float, float]:
    """Return the paper's 99 % Wald interval around the level."""
    width = 2.57 * np.sqrt(alpha * (1 - alpha) / repetitions)
    return float(alpha - width), float(alpha + width)


class Panel(NamedTuple):
    """Which rows a panel shows, and which tests, against which column; with `by`, a curve for each of its values."""

    title: str
    where: Mapping[str, str]
    tests: Sequence[str] | None = None
    by: Sequence[str] = ()
    x: str = "N"

    def chosen(self, rows: Rows) -> Rows:
        """Return the rows of this panel."""
        return [row for row in rows if all(row[key] == value for key, value in self.where.items())]


@with_options
def rates(title: str, rows: Rows, panels: Sequence[Panel], tests: Sequence[str]) -> Figure:
    """Draw rejection rates against sizes, with the 99 % band around the level."""
    shown = [panel for panel in panels if panel.chosen(rows)]
    width = 5.4 if any(panel.by for panel in shown) else 4.4
    figure, axes = panels_of(title, len(shown), (width, 3.6), most=2 if len(shown) == 4 else 3)
    entries = [
        _rate_panel(ax, panel, panel.chosen(rows), panel.tests or tests) for ax, panel in zip(axes, shown, strict=True)
    ]
    _add_legends(figure, axes, entries)
    return figure


def _add_legends(figure: Figure, axes: Sequence[Axes], entries: Sequence[Entries]) -> None:
    """Add one legend beside all panels where they have the same lines, else one beside each: never over the lines."""
    if len({tuple(label for _, label in lines) for lines in entries}) == 1:
        add_legend(figure, entries[0], loc="outside right upper")
        return
    for ax, lines in zip(axes, entries, strict=True):
        add_legend(ax, lines, loc="upper left", bbox_to_anchor=(1.01, 1.0))


def _rate_panel(ax: Axes, panel: Panel, rows: Rows, tests: Sequence[str]) -> Entries:
    groups = list(dict.fromkeys(tuple(row[key] for key in panel.by) for row in rows))
    entries: Entries = []
    highest = 0.0
    for test in tests:
        for group in groups:
            cells = [row for row in rows if tuple(row[key] for key in panel.by) == group and row.get(test)]
            if not cells:
                continue
            rates_of_test = [float(row[test]) for row in cells]
            highest = max(highest, *rates_of_test)
            line = draw_line(ax, [float(row[panel.x]) for row in cells], rates_of_test, look(len(entries)))
            named = ", ".join(f"{key} {value}" for key, value in zip(panel.by, group, strict=True))
            entries.append((line, short_name(" ".join(filter(None, [test if len(tests) > 1 else "", named])))))
    repetitions = min(int(row["repetitions"]) for row in rows)
    for edge in wald_band(_LEVEL, repetitions):
        ax.axhline(max(edge, 0.0), color=GREY, linestyle="--", linewidth=0.8)
    ax.set_ylim((0, _NEAR_LEVEL) if highest < _NEAR_LEVEL else (-0.03, 1.03))
    dress(ax, f"{panel.title} ({repetitions:,} runs)", short_name(panel.x), "rejection rate")
    return entries


def draw_line(ax: Axes, x: Sequence[Any], y: Sequence[float], style: Look) -> Any:
    """Draw a line with marks, and return it."""
    (line,) = ax.plot(x, y, color=style.color, linestyle=style.line, marker=style.marker, markersize=4)
    return line


@with_options
def strips(title: str, rows: Rows, columns: Sequence[str]) -> Figure:
    """Draw the rates of all cells of a table as one strip of dots for each test."""
    rates_of_tests = {name: [float(row[name]) for row in rows if row.get(name)] for name in columns}
    rates_of_tests = {name: values for name, values in rates_of_tests.items() if values}
    repetitions = min(int(row["repetitions"]) for row in rows)
    figure = new_figure(title, 7.0, height_of(2 * len(rates_of_tests)))
    ax = figure.subplots()
    for place, values in enumerate(rates_of_tests.values()):
        spread = place + 0.5 * ((np.arange(len(values)) * 0.618) % 1 - 0.5)
        ax.plot(values, spread, "o", color=look(place).color, alpha=0.6, markersize=4)
    rows_of_names(ax, [short_name(name, _NAMED) for name in rates_of_tests])
    for edge in wald_band(_LEVEL, repetitions):
        ax.axvline(max(edge, 0.0), color=GREY, linestyle="--", linewidth=0.8)
    dress(ax, f"{len(rows)} cells, {repetitions:,} runs each", "rejection rate at 0.05", grid="x")
    return figure


@with_options
def dots(
    title: str, rows: Rows, names: Sequence[str], columns: Sequence[str] | None, xlabel: str, line: float | None = None
) -> Figure:
    """Draw one named row of dots for each row of a table, a mark for each column; `line` is the target.

    By default the columns are all between the names and the last one, which counts.
    """
    shown = list(rows[0])[len(names) : -1] if columns is None else columns
    figure = new_figure(title, 9.0, height_of(max(len(rows), len(shown))))
    ax = figure.subplots()
    entries = []
    for place, column in enumerate(shown):
        at = [(number(row[column]), y) for y, row in enumerate(rows) if row.get(column)]
        style = look(place)
        (marks,) = ax.plot(*zip(*at, strict=True), color=style.color, marker=style.marker, linestyle="none")
        entries.append((marks, short_name(column, _NAMED)))
    if line is not None:
        ax.axvline(line, color=GREY, linestyle="--", linewidth=0.8)
    rows_of_names(ax, [short_name(", ".join(row[name] for name in names if row.get(name)), 60) for row in rows])
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
    title: str, rows: Rows, panel: str, groups: Sequence[str], xlabel: str, mark: Callable[[Rows], float]
) -> Figure:
    """Draw histograms from bins in a table (`low`, `high`, `share`), a panel for each value of `panel`.

    `groups` names the columns whose values have a histogram each in a panel; `mark` gives where a red line stands.
    """
    kinds = list(dict.fromkeys(row[panel] for row in rows))
    figure, axes = panels_of(title, len(kinds), (4.4, 3.4))
    for ax, kind in zip(axes, kinds, strict=True):
        chosen = [row for row in rows if row[panel] == kind]
        entries = [
            (_histogram(ax, bins, place), short_name(name, _NAMED))
            for place, (name, bins) in enumerate(_grouped(chosen, groups))
        ]
        ax.axvline(mark(chosen), color="#C00000", linewidth=1.5)
        dress(ax, f"{short_name(panel)}: {short_name(kind, 60)}", xlabel, "share", grid="y")
        add_legend(ax, entries if len(entries) > 1 else [], loc="best")
    return figure


def _grouped(rows: Rows, keys: Sequence[str]) -> Iterator[tuple[str, Rows]]:
    groups = list(dict.fromkeys(tuple(row[key] for key in keys) for row in rows))
    for group in groups:
        yield ", ".join(group), [row for row in rows if tuple(row[key] for key in keys) == group]


def _histogram(ax: Axes, bins: Rows, place: int) -> Any:
    edges = [float(row["low"]) for row in bins] + [float(bins[-1]["high"])]
    return ax.stairs([float(row["share"]) for row in bins], edges, fill=True, alpha=0.45, color=look(place).color)


def binned(values: Any, n_bins: int, limits: tuple[float, float] | None = None) -> list[dict[str, str]]:
    """Return the histogram of numbers as rows of a table: what `histograms` draws."""
    counts, edges = np.histogram(values, bins=n_bins, range=limits)
    shares = counts / max(counts.sum(), 1)
    return [
        {"low": f"{low:.6g}", "high": f"{high:.6g}", "share": f"{share:.5g}"}
        for low, high, share in zip(edges[:-1], edges[1:], shares, strict=True)
    ]
