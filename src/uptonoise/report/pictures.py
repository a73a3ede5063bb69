"""Which pictures a page has, with a caption for those who see them and a description for those who do not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from uptonoise import plots
from uptonoise._util.wording import counted
from uptonoise.comparison import ColumnComparison, Comparison, GroupComparison
from uptonoise.report.svg import SIZE, Picture, picture
from uptonoise.twosample import MmdResult, PhaseResult, p_is

_DRAWN_COLUMNS = 6
_SHARES_IN_TEXT = 5
_MOST_ROWS = 21  # of plots with a row for each column
_MARKED_COLUMNS = 7  # of plot_phase_differences, each with a line in the legend
_LADDER = (4.0, 2.2)
_LARGEST_MAP = 8.0  # inches


class Pictures(NamedTuple):
    """The pictures of one comparison."""

    verdict: Picture
    effect: Picture
    densities: list[Picture]
    others: list[Picture]


def pictures_of(comparison: Comparison, columns: list[ColumnComparison]) -> Pictures:
    """Draw a comparison; `columns` are its columns, the most telling one first."""
    others = [_phase_differences(comparison)]
    if len(comparison.columns) > 1 and comparison.differs_beyond_noise:  # else chance has the shares
        others.append(_column_shares(comparison.phase))
    if comparison.places:
        others.append(_places(comparison))
    if len(comparison.mmd.permuted):
        others.append(_null(comparison.mmd))
    names = [column.column for column in columns] or list(comparison.columns)
    has_rows = comparison.shown is not None
    return Pictures(
        verdict=_ladder(comparison),
        effect=effect_picture(comparison, "effect"),
        densities=[_density(comparison, name) for name in names[:_DRAWN_COLUMNS]] if has_rows else [],
        others=others,
    )


def effect_picture(comparison: Comparison, key: str) -> Picture:
    """Draw the effect with its interval and the margin."""
    effect = comparison.effect
    interval = f"95 % interval {effect.low:.2g} to {effect.high:.2g}"

    def plot(ax: Axes) -> None:
        plots.plot_effect(comparison, ax=ax)
        ax.set_xlabel("as a shift, in standard deviations")
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()

    several = len(comparison.by_column) > 1
    whose = ": the largest, and that of each column" if several else ""
    bound = f"Upright mark: what it is below, with {1 - comparison.alpha:.3g} confidence."
    return picture(
        key,
        plot,
        caption=f"The effect with its 95 % interval{whose}. Dashed: the margin. {bound}",
        description=f"Effect {effect.estimate:.2g} SD, {interval}; margin {comparison.margin:g} SD.",
        size=_height_for(1 + len(comparison.by_column)),
    )


def _height_for(n_rows: int) -> tuple[float, float]:
    """Return the size of a picture with this many named rows."""
    return SIZE[0], 1.4 + 0.22 * min(n_rows, _MOST_ROWS)


def heat_map(groups: GroupComparison) -> Picture:
    """Draw all pairs of groups."""
    n_groups, n_differ = len(groups.names), len(groups.differing)
    side = min(_LARGEST_MAP, 3.4 + 0.16 * n_groups)
    return picture(
        "heat-map",
        lambda ax: plots.plot_heat_map(groups, ax=ax),
        caption="Every pair of groups: the bluer, the clearer the difference beyond noise.",
        description=(
            f"Heat map of {n_groups} by {n_groups} groups. {counted(n_differ, 'pair')} differ; "
            "the table of pairs below has the numbers."
        ),
        size=(side, 0.85 * side),
        black_is_ink=False,
    )


def _ladder(comparison: Comparison) -> Picture:
    steps = "; ".join(f"{question}: {answer}, {why}" for question, answer, why in comparison.ladder())

    def plot(ax: Axes) -> None:
        plots.plot_ladder(comparison, ax=ax)
        ax.set_xlabel("p-value, log scale")

    return picture(
        "ladder",
        plot,
        caption=f"The p-value of each step. Dashed: the significance level, {comparison.alpha:g}.",
        description=f"The steps of the ladder. {steps}.",
        size=_LADDER,
    )


def _density(comparison: Comparison, column: str) -> Picture:
    first, second = comparison.names
    assert comparison.shown is not None
    at = comparison.columns.index(column)
    medians = [np.median(rows[:, at]) for rows in comparison.shown]
    return picture(
        f"density-{at}",
        lambda ax: plots.plot_densities(comparison, column=column, ax=ax),
        caption=f"{column}: how the rows of {first} and of {second} spread.",
        description=(
            f"Densities of {column}: the median is {medians[0]:.3g} in {first} and {medians[1]:.3g} in {second}."
        ),
    )


def _phase_differences(comparison: Comparison) -> Picture:
    result = comparison.phase
    far = int(np.count_nonzero(np.abs(result.phase_differences) > 2 * result.standard_errors))
    return picture(
        "phases",
        lambda ax: plots.plot_phase_differences(result, names=comparison.names, ax=ax),
        caption="By how much the phases of the characteristic functions differ; noise would leave them all at 0.",
        description=(
            f"Phase differences at {len(result.phase_differences):,} frequencies: {far:,} lie more than two standard "
            "errors from 0."
        ),
        size=(SIZE[0], 3.0 + 0.2 * min(len(result.columns), _MARKED_COLUMNS)),
    )


def _column_shares(result: PhaseResult) -> Picture:
    most = np.argsort(-result.column_shares)[:_SHARES_IN_TEXT]
    shares = ", ".join(f"{result.columns[at]} {result.column_shares[at]:.0%}" for at in most)
    return picture(
        "shares",
        lambda ax: plots.plot_column_shares(result, ax=ax),
        caption="The share of each column in the statistic of the phase test.",
        description=f"Shares of the columns in the statistic, the largest first: {shares}.",
        size=_height_for(len(result.columns)),
    )


def _places(comparison: Comparison) -> Picture:
    where = "; ".join(text for label, text in comparison.findings() if label == "where they differ")
    return picture(
        "places",
        lambda ax: plots.plot_places(comparison, ax=ax),
        caption="Where one sample has more rows than the other, noise included.",
        description=f"Places where the samples differ: {where}.",
    )


def _null(result: MmdResult) -> Picture:
    return picture(
        "null",
        lambda ax: plots.plot_null(result, ax=ax),
        caption="MMD of the samples, and of the same rows dealt out at random.",
        description=(
            f"MMD is {result.statistic:.3g}; {counted(len(result.permuted), 'permutation')} lie between "
            f"{result.permuted.min():.3g} and {result.permuted.max():.3g}. {p_is(result.pvalue)}."
        ),
    )
