"""Figures of prediction errors: over splits, noise sizes and bag sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uptonoise.experiments._figures import (
    _NAMED,
    STAND_INS,
    Entries,
    Figure,
    Rows,
    draw_line,
    grouped,
    number,
    panels_of,
    quantiles,
    with_options,
)
from uptonoise.experiments._looks import log_scale, look_of
from uptonoise.plots import GREY, LOOKS, Look, add_legend, dress, height_of, rows_of_names, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_PHASES = {"plain": "plrr", "shrunk": "shrunk plrr"}
"""The models that have these phases."""


@with_options
def split_errors(title: str, rows: Rows, by: Sequence[str] = ("model",), measure: str = "RMSE") -> Figure:
    """Draw errors of models as dots with 5 % and 95 % quantiles, a panel for each data set."""
    kinds = grouped(rows, "bags")
    power = 2 if measure == "MSE" else 1  # quantiles of a square are squares of quantiles
    figure, axes = panels_of(title, len(kinds), (5.2, height_of(max(map(len, kinds.values())))))
    for ax, ((kind,), chosen) in zip(axes, kinds.items(), strict=True):
        for place, row in enumerate(chosen):
            low, high = (float(row[end]) ** power for end in ("5 %", "95 %"))
            ax.plot([low, high], [place, place], color=LOOKS[0].color, linewidth=1.5)
            ax.plot(float(row[measure]), place, "o", color=LOOKS[0].color, markersize=5)
        rows_of_names(ax, [short_name(", ".join(row[name] for name in by), _NAMED) for row in chosen])
        ax.set_xlim(left=0)
        dress(ax, f"{short_name(STAND_INS.get(kind, kind), 60)} ({_counted(chosen)})", measure, grid="x")
    return figure


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
    kinds = grouped(gaussian, "bags")
    figure, axes = panels_of(title, len(kinds) * len(groups), (4.6, 4.2), most=max(3, len(groups)))
    entries: dict[str, Any] = {}
    for of_kind, ((kind,), chosen) in zip(axes.reshape(-1, len(groups)), kinds.items(), strict=True):
        for ax, (group, names) in zip(of_kind, groups.items(), strict=True):
            here = {name: looks[name] for name in names if name in looks}
            entries |= _noise_panel(ax, ", ".join(filter(None, [kind, group])), chosen, measure, here)
        limits = [ax.get_ylim() for ax in of_kind]
        for ax in of_kind:
            ax.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    ordered = [(entries[name], short_name(name, _NAMED)) for name in ("mean", *shown)]
    add_legend(figure, ordered, loc="outside right upper")
    return figure


def _noise_panel(ax: Axes, kind: str, rows: Rows, measure: str, looks: Mapping[str, Look]) -> dict[str, Any]:
    power = 2 if measure == "MSE" else 1
    baseline = [float(row[measure]) for row in rows if row["model"] == "mean"]
    entries = {"mean": ax.axhline(sum(baseline) / len(baseline), color=GREY, linestyle=":")}
    for model, style in looks.items():
        means, bands = [], []
        by_level = grouped([row for row in rows if row["model"] == model], "level")
        for chosen in by_level.values():
            errors = [float(row[measure]) for row in chosen]
            means.append(sum(errors) / len(errors))
            # The 5 % and 95 % quantiles over draws of noise on one split, or the range of the means of splits.
            of_draws = [float(chosen[0][end]) ** power for end in ("5 %", "95 %")]
            bands.append(of_draws if len(chosen) == 1 else [min(errors), max(errors)])
        levels = [float(level) for (level,) in by_level]
        entries[model] = _banded_line(ax, levels, means, np.transpose(bands), style)
    log_scale(ax, "y", "g")
    name = rows[0]["bags"]
    title = f"{short_name(kind.replace(name, STAND_INS.get(name, name)), 80)} ({_counted(rows)})"
    dress(ax, title, "largest variance of the noise, in units of the column's", measure)
    return entries


@with_options
def size_errors(title: str, rows: Rows) -> Figure:
    """Draw errors of plain and shrunk phases against the rows of test bags, with 5 % and 95 % quantiles.

    There is a panel for each data set and number of rows fitted on; errors are on a scale of logarithms.
    """
    groups = list(grouped(rows, "bags", "rows fitted").values())
    figure, axes = panels_of(title, len(groups))
    entries = [_size_panel(ax, chosen) for ax, chosen in zip(axes, groups, strict=True)]
    # One legend beside all panels where they have the same lines, else one beside each: never over the lines.
    if len({tuple(label for _, label in lines) for lines in entries}) == 1:
        add_legend(figure, entries[0], loc="outside right upper")
    else:
        for ax, lines in zip(axes, entries, strict=True):
            add_legend(ax, lines, loc="upper left", bbox_to_anchor=(1.01, 1.0))
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
    log_scale(ax, "y", "g")
    kind, fitted = rows[0]["bags"], rows[0]["rows fitted"]
    title = f"{short_name(STAND_INS.get(kind, kind), 60)}, fitted on {fitted} rows ({_counted(rows)})"
    dress(ax, title, "rows of a test bag", "RMSE")
    return entries


def _banded_line(ax: Axes, x: Sequence[float], means: Sequence[float], band: Any, style: Look) -> Any:
    """Draw a line with a band about it, from low to high, and return the line."""
    ax.fill_between(x, *band, color=style.color, alpha=0.12, linewidth=0)
    return draw_line(ax, x, means, style)


@with_options
def noise_bands(title: str, rows: Rows, groups: Mapping[str, Sequence[str]], ylabel: str, line: float) -> Figure:
    """Draw columns "noise LEVEL" of means with quantiles: for each problem a row, for each group a panel.

    `groups` names the models of each panel by its title; `line` is the error of no use.
    """
    problems = grouped(rows, "problem")
    columns = [column for column in rows[0] if column.startswith("noise ")]
    places = range(len(columns))  # levels that begin with 0 and grow by factors stand side by side
    figure, axes = panels_of(title, len(problems) * len(groups), (4.7, 4.8), most=len(groups))
    for ((problem,), chosen), across in zip(problems.items(), axes.reshape(len(problems), -1), strict=True):
        for ax, (group, models) in zip(across, groups.items(), strict=True):
            ax.sharey(across[0])
            entries = []
            shown = [row for model in models for row in chosen if row["model"] == model]
            for place, row in enumerate(shown):
                band = np.transpose([quantiles(row[column]) for column in columns])
                means = [number(row[column]) for column in columns]
                drawn = _banded_line(ax, places, means, band, look_of(row["model"], place))
                entries.append((drawn, short_name(row["model"], _NAMED)))
            log_scale(ax, "y", "g")
            heading = f"{short_name(problem)}: {short_name(group, 60)} ({shown[0]['seeds']} seeds)"
            dress(ax, heading, "largest variance of the noise, in units of the column's", ylabel)
            ax.set_xticks(places, [column.removeprefix("noise ") for column in columns])
            add_legend(ax, entries, loc="upper center", bbox_to_anchor=(0.5, -0.2))
            ax.axhline(line, color=GREY, linestyle=":")
    return figure
