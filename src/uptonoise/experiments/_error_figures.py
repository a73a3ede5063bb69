"""Figures of prediction errors: over splits, noise sizes and bag sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uptonoise.experiments._figures import (
    _NAMED,
    STAND_INS,
    Entries,
    Rows,
    _add_legends,
    _grouped,
    draw_line,
    number,
    panels_of,
    quantiles,
    with_options,
)
from uptonoise.experiments._looks import look_of
from uptonoise.plots import GREY, LOOKS, Look, add_legend, dress, height_of, require, rows_of_names, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_PHASES = {"plain": "plrr", "shrunk": "shrunk plrr"}
"""The models that have these phases."""


@with_options
def split_errors(title: str, rows: Rows, by: Sequence[str] = ("model",), measure: str = "RMSE") -> Figure:
    """Draw errors of models as dots with 5 % and 95 % quantiles, a panel for each data set."""
    kinds = list(dict.fromkeys(row["bags"] for row in rows))
    longest = max(sum(row["bags"] == kind for row in rows) for kind in kinds)
    figure, axes = panels_of(title, len(kinds), (5.2, height_of(longest)))
    for ax, kind in zip(axes, kinds, strict=True):
        chosen = [row for row in rows if row["bags"] == kind]
        _error_panel(ax, kind, chosen, by, measure)
    return figure


def _error_panel(ax: Axes, kind: str, rows: Rows, by: Sequence[str], measure: str) -> None:
    power = 2 if measure == "MSE" else 1  # quantiles of a square are squares of quantiles
    for place, row in enumerate(rows):
        low, high = (float(row[end]) ** power for end in ("5 %", "95 %"))
        ax.plot([low, high], [place, place], color=LOOKS[0].color, linewidth=1.5)
        ax.plot(float(row[measure]), place, "o", color=LOOKS[0].color, markersize=5)
    rows_of_names(ax, [short_name(", ".join(row[name] for name in by), _NAMED) for row in rows])
    ax.set_xlim(left=0)
    dress(ax, f"{short_name(STAND_INS.get(kind, kind), 60)} ({_counted(rows)})", measure, grid="x")


def _counted(rows: Rows) -> str:
    """Return how many splits there are, where some models have fewer from which number on; or draws of noise."""
    if "draws" in rows[0]:
        splits = len({row.get("split") for row in rows})
        draws = f"{max(int(row['draws']) for row in rows):,} draws"
        return draws if splits == 1 else f"{splits} splits, {draws} of noise each"
    counts = [int(row["splits"]) for row in rows]
    return " to ".join(f"{count:,}" for count in sorted({min(counts), max(counts)})) + " splits"


@with_options
def noise_errors(
    title: str, rows: Rows, measure: str = "RMSE", models: Mapping[str, Sequence[str]] | None = None
) -> Figure:
    """Draw errors against the level of Gaussian noise on test bags, with quantiles over draws or the range of splits.

    `models` names what is drawn in the panels of a data set, by the panel's title; by default all in one. Errors are on
    a scale of logarithms, which is the same in all panels of a data set.
    """
    gaussian = [row for row in rows if row.get("noise", "gaussian") == "gaussian"]
    there = list(dict.fromkeys(row["model"] for row in gaussian if row["model"] != "mean"))
    groups = models or {"": there}
    shown = [name for name in dict.fromkeys(name for group in groups.values() for name in group) if name in there]
    looks = {name: look_of(name, place) for place, name in enumerate(shown)}
    kinds = list(dict.fromkeys(row["bags"] for row in gaussian))
    figure, axes = panels_of(title, len(kinds) * len(groups), (4.6, 4.2), most=max(3, len(groups)))
    entries: dict[str, Any] = {}
    for place, kind in enumerate(kinds):
        of_kind = axes[place * len(groups) : (place + 1) * len(groups)]
        chosen = [row for row in gaussian if row["bags"] == kind]
        for ax, (group, names) in zip(of_kind, groups.items(), strict=True):
            here = {name: looks[name] for name in names if name in looks}
            entries |= _noise_panel(ax, ", ".join(filter(None, [kind, group])), chosen, measure, here)
        _share_heights(of_kind)
    ordered = [(entries[name], short_name(name, _NAMED)) for name in ("mean", *shown)]
    add_legend(figure, ordered, loc="outside right upper")
    return figure


def _noise_panel(ax: Axes, kind: str, rows: Rows, measure: str, looks: Mapping[str, Look]) -> dict[str, Any]:
    power = 2 if measure == "MSE" else 1
    baseline = _mean([row for row in rows if row["model"] == "mean"], measure)
    entries = {"mean": ax.axhline(baseline, color=GREY, linestyle=":")}
    for model, style in looks.items():
        by_level: dict[float, list[Mapping[str, str]]] = {}
        for row in rows:
            if row["model"] == model:
                by_level.setdefault(float(row["level"]), []).append(row)
        means = [_mean(chosen, measure) for chosen in by_level.values()]
        bands = [_band(chosen, measure, power) for chosen in by_level.values()]
        low, high = ([band[end] for band in bands] for end in (0, 1))
        entries[model] = _banded_line(ax, list(by_level), means, (low, high), style)
    _log_heights(ax)
    name = rows[0]["bags"]
    title = f"{short_name(kind.replace(name, STAND_INS.get(name, name)), 80)} ({_counted(rows)})"
    dress(ax, title, "largest variance of the noise, in units of the column's", measure)
    return entries


def _mean(rows: Rows, measure: str) -> float:
    return sum(float(row[measure]) for row in rows) / len(rows)


def _band(rows: Rows, measure: str, power: int) -> tuple[float, float]:
    """Return the 5 % and 95 % quantiles over draws of noise on one split, or the range of the means of splits."""
    if len(rows) == 1:
        return float(rows[0]["5 %"]) ** power, float(rows[0]["95 %"]) ** power
    means = [float(row[measure]) for row in rows]
    return min(means), max(means)


def _log_heights(ax: Axes) -> None:
    """Give the y axis a scale of logarithms with plain numbers."""
    ticker = require("matplotlib.ticker")
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(ticker.NullFormatter())


def _share_heights(axes: Sequence[Axes]) -> None:
    limits = [ax.get_ylim() for ax in axes]
    for ax in axes:
        ax.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


@with_options
def size_errors(title: str, rows: Rows) -> Figure:
    """Draw errors of plain and shrunk phases against the rows of test bags, with 5 % and 95 % quantiles.

    There is a panel for each data set and number of rows fitted on; errors are on a scale of logarithms.
    """
    groups = [chosen for _, chosen in _grouped(rows, ("bags", "rows fitted"))]
    figure, axes = panels_of(title, len(groups))
    entries = [_size_panel(ax, chosen) for ax, chosen in zip(axes, groups, strict=True)]
    _add_legends(figure, axes, entries)
    return figure


def _size_panel(ax: Axes, rows: Rows) -> Entries:
    sizes = list(dict.fromkeys(row["rows tested"] for row in rows))
    baseline = next(float(row["RMSE"]) for row in rows if row["phases"] == "mean")
    entries: Entries = [(ax.axhline(baseline, color=GREY, linestyle=":"), "mean")]
    lines = sorted({(row["phases"], float(row["level"])) for row in rows if row["phases"] != "mean"})
    levels = sorted({level for _, level in lines})
    for place, (phases, level) in enumerate(lines):
        chosen = [row for row in rows if (row["phases"], float(row["level"])) == (phases, level)]
        style = LOOKS[levels.index(level)]._replace(color=look_of(_PHASES.get(phases, phases)).color)
        at = [sizes.index(row["rows tested"]) + 0.03 * (place - (len(lines) - 1) / 2) for row in chosen]
        low, high = ([float(row[end]) for row in chosen] for end in ("5 %", "95 %"))
        ax.vlines(at, low, high, color=style.color, linewidth=1)
        line = draw_line(ax, at, [float(row["RMSE"]) for row in chosen], style)
        entries.append((line, short_name(f"{phases}, noise of level {level:g}", _NAMED)))
    ax.set_xticks(range(len(sizes)), sizes)
    _log_heights(ax)
    kind, fitted = rows[0]["bags"], rows[0]["rows fitted"]
    title = f"{short_name(STAND_INS.get(kind, kind), 60)}, fitted on {fitted} rows ({_counted(rows)})"
    dress(ax, title, "rows of a test bag", "RMSE")
    return entries


def _banded_line(
    ax: Axes, x: Sequence[float], means: Sequence[float], band: tuple[Sequence[float], Sequence[float]], style: Look
) -> Any:
    """Draw a line with a band about it, and return the line."""
    ax.fill_between(x, *band, color=style.color, alpha=0.12, linewidth=0)
    return draw_line(ax, x, means, style)


@with_options
def noise_bands(title: str, rows: Rows, groups: Mapping[str, Sequence[str]], ylabel: str, line: float) -> Figure:
    """Draw columns "noise LEVEL" of means with quantiles: for each problem a row, for each group a panel.

    `groups` names the models of each panel by its title; `line` is the error of no use.
    """
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    figure, axes = panels_of(title, len(problems) * len(groups), (4.7, 4.8), most=len(groups))
    for problem, across in zip(problems, axes.reshape(len(problems), -1), strict=True):
        chosen = [row for row in rows if row["problem"] == problem]
        for ax, (group, models) in zip(across, groups.items(), strict=True):
            ax.sharey(across[0])
            shown = [row for model in models for row in chosen if row["model"] == model]
            _level_panel(
                ax, f"{short_name(problem)}: {short_name(group, 60)} ({shown[0]['seeds']} seeds)", shown, ylabel
            )
            ax.axhline(line, color=GREY, linestyle=":")
    return figure


def _level_panel(ax: Axes, title: str, rows: Rows, ylabel: str) -> None:
    columns = [column for column in rows[0] if column.startswith("noise ")]
    places = range(len(columns))  # levels that begin with 0 and grow by factors stand side by side
    entries = []
    for place, row in enumerate(rows):
        low, high = zip(*(quantiles(row[column]) for column in columns), strict=True)
        means = [number(row[column]) for column in columns]
        entries.append(
            (
                _banded_line(ax, places, means, (low, high), look_of(row["model"], place)),
                short_name(row["model"], _NAMED),
            )
        )
    _log_heights(ax)
    dress(ax, title, "largest variance of the noise, in units of the column's", ylabel)
    ax.set_xticks(places, [column.removeprefix("noise ") for column in columns])
    add_legend(ax, entries, loc="upper center", bbox_to_anchor=(0.5, -0.2))
