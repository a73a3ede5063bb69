"""Numbers on rows with names: p-values against the significance level, effects and noise with intervals, and shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uptonoise.comparison import Comparison
from uptonoise.plots.style import GREY, LOOKS, MOST, canvas, documented, dress, height_of, rows_of_names, short_name
from uptonoise.twosample import EffectSize, ExtraNoise, FlipResult, Noncentrality, PhaseResult, TwoSampleResult, p_is

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SMALLEST = 1e-12  # p-value that has a place of its own
_ALPHA = 0.05

Step = tuple[float | None, list[float]]
"""The p-value that decides, if there is one, and those that it comes from."""

Row = tuple[str, float, float, float]
"""A name, a number, and the interval around it."""


@documented
def plot_ladder(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Plot the three questions of a comparison, one step each: the p-values against the significance level.

    Filled marks decide; hollow ones are the tests that they come from.

    Parameters
    ----------
    {comparison}
    {axes}
    >>> X, Y = rng.normal(size=(2, 300))
    >>> ax = plots.plot_ladder(un.compare(X, Y))
    >>> ax.get_title(loc="left")
    'X and Y: no difference found'
    >>> plt.close()
    """
    questions = ("differ at all?", "differ beyond\nnoise?", "differ beyond noise\nand an offset?")
    answers = [answer for _, answer, _ in comparison.ladder()]
    steps: list[Step] = [
        (comparison.at_all_pvalue, [test.pvalue for test in (comparison.mmd, comparison.me) if test is not None]),
        (comparison.beyond_noise_pvalue, [] if comparison.flip is None else [comparison.phase.pvalue]),
        (comparison.beyond_offset_pvalue, []),
    ]
    with canvas(ax, height=3.0) as ax:
        first, second = (short_name(name, 16) for name in comparison.names)
        labels = [f"{question} {answer}" for question, answer in zip(questions, answers, strict=True)]
        differs = [answer == "yes" for answer in answers]
        _draw_pvalues(ax, labels, steps, differs, comparison.alpha, f"{first} and {second}: {comparison.verdict}")
        return ax


@documented
def plot_pvalues(result: TwoSampleResult, *, ax: Axes | None = None) -> Axes:
    """Plot the p-value of a test on a log axis; of a flip test also those of its pairings.

    Parameters
    ----------
    result : TwoSampleResult
        The outcome of any test.
    {axes}
    >>> X, Y = rng.normal(size=(2, 200))
    >>> ax = plots.plot_pvalues(un.flip_test(X, Y, n_pairings=5, random_state=0))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['flip test', '5 pairings']
    >>> plt.close()
    """
    name = result.test if result.test[1].isupper() else result.test[0].lower() + result.test[1:]
    labels, steps = [name], list[Step]([(result.pvalue, [])])
    if isinstance(result, FlipResult) and len(result.pairing_pvalues) > 1:
        labels.append(f"{len(result.pairing_pvalues)} pairings")
        steps.append((None, result.pairing_pvalues.tolist()))
    with canvas(ax, height=2.6) as ax:
        differs = [result.pvalue <= _ALPHA] * len(steps)
        _draw_pvalues(ax, labels, steps, differs, _ALPHA, f"{result.test}: {p_is(result.pvalue)}")
        return ax


def _draw_pvalues(
    ax: Axes, labels: list[str], steps: Sequence[Step], differs: Sequence[bool], alpha: float, title: str
) -> None:
    """Draw p-values from 1 on the left to small ones on the right."""
    pvalues = [p for decides, others in steps for p in ([] if decides is None else [decides]) + others]
    smallest = max(_SMALLEST, min([*pvalues, alpha / 10]))
    ax.set_xscale("log")
    ax.set_xlim(3, smallest / 4)
    ax.axvline(alpha, color="black", linestyle="--", linewidth=1)
    for row, ((decides, from_), yes) in enumerate(zip(steps, differs, strict=True)):
        look = LOOKS[0] if yes else LOOKS[1]._replace(color=GREY)
        others = np.maximum(from_, smallest)
        ax.plot(others, np.full(len(others), row), look.marker, color=look.color, fillstyle="none", markersize=6)
        if decides is not None:
            place = max(decides, smallest)
            ax.hlines(row, place, 1, color=look.color, linewidth=2)
            ax.plot(place, row, look.marker if place == decides else ">", color=look.color, markersize=8)
            near = "left" if place > math.sqrt(smallest) else "right"
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
            above: dict[str, Any] = {"textcoords": "offset points", "ha": near, "fontsize": "small", "bbox": box}
            ax.annotate(p_is(decides), (place, row), (0, 6), **above)
        elif not from_:
            ax.annotate("too few rows", (1, row), va="center", fontsize="small")
    rows_of_names(ax, labels)
    dress(ax, title, f"p-value, log scale (dashed: significance level {alpha:g})", grid="x")


@documented
def plot_effect(
    result: Comparison | PhaseResult | EffectSize, *, margin: float | None = None, ax: Axes | None = None
) -> Axes:
    """Plot how large a difference beyond noise is, with its 95 % interval, against a margin.

    Parameters
    ----------
    result : Comparison, PhaseResult or EffectSize
        A comparison also shows the effect of each column alone, and brings its margin.
    margin : float, optional
        The largest effect that is negligible, in standard deviations; drawn where given.
    {axes}
    >>> result = un.phase_test(rng.normal(size=500), rng.normal(0.5, size=500))
    >>> ax = plots.plot_effect(result, margin=0.2)
    >>> ax.get_title(loc="left")
    'Size of the difference beyond noise'
    >>> plt.close()
    """
    overall = result if isinstance(result, EffectSize) else result.effect
    columns = () if isinstance(result, EffectSize) else result.columns
    rows = [row_of("largest" if len(columns) > 1 else "effect", overall)]
    bound, left_out = math.inf, 0
    if isinstance(result, Comparison):
        margin = result.margin if margin is None else margin
        bound = result.bound
        if result.differs_beyond_noise and result.up_to_offset is not None:
            rows.append(row_of("without an offset", result.effect_beyond_offset))
        alone = sorted(result.by_column, key=lambda column: -column.effect.low) if len(columns) > 1 else []
        rows += [row_of(short_name(column.column), column.effect) for column in alone[:MOST]]
        left_out = max(0, len(alone) - MOST)
    marks = [] if margin is None else [f"dashed: margin {margin:g}"]
    if isinstance(result, Comparison) and math.isfinite(bound):
        marks.append(f"tick: {1 - result.alpha:.0%} upper bound {bound:.2g}")
    label = f"as a shift, in standard deviations\n{'; '.join(marks)}"
    with canvas(ax, height=height_of(len(rows))) as ax:
        references = [0.0, bound] if margin is None else [0.0, margin, bound]
        _draw_intervals(ax, rows, references, "Size of the difference beyond noise", label, left_out)
        if margin is not None:
            ax.axvline(margin, color=LOOKS[1].color, linestyle=LOOKS[1].line, linewidth=1.2)
        if math.isfinite(bound):
            ax.plot(bound, 0, "|", color="black", markersize=14, markeredgewidth=1.5)
        ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
        return ax


@documented
def plot_extra_noise(result: ExtraNoise, *, names: tuple[str, str] = ("X", "Y"), ax: Axes | None = None) -> Axes:
    """Plot how much noisier one sample is than the other, column by column, with 95 % intervals.

    Parameters
    ----------
    result : ExtraNoise
        What :func:`~uptonoise.extra_noise` returned. With more than 20 columns, the clearest are shown.
    {names}
    {axes}
    >>> X, Y = rng.normal(size=(2, 1_000, 3))
    >>> ax = plots.plot_extra_noise(un.extra_noise(2 * X, Y))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x0', 'x1', 'x2']
    >>> plt.close()
    """
    intervals, errors = result.interval(), result.standard_errors
    clearness = np.divide(np.abs(result.variances), errors, out=np.zeros(len(errors)), where=errors > 0)
    shown = np.sort(np.argsort(-clearness, kind="stable")[:MOST])
    rows = [
        (short_name(result.columns[column]), float(result.variances[column]), *intervals[column].tolist())
        for column in shown
    ]
    with canvas(ax, height=height_of(len(rows))) as ax:
        first, second = (short_name(name, 16) for name in names)
        label = f"noise variance of {first} less that of {second},\nin the data's units squared"
        _draw_intervals(ax, rows, [0.0], "Extra noise", label, len(result.columns) - len(shown))
        ax.axvline(0, color=GREY, linewidth=1)
        return ax


@documented
def plot_column_shares(result: PhaseResult, *, ax: Axes | None = None) -> Axes:
    """Plot which columns carry the statistic of a phase test, the largest share first.

    Parameters
    ----------
    result : PhaseResult
        What :func:`~uptonoise.phase_test` returned. With more than 20 columns, the others share the last bar.
    {axes}
    >>> ax = plots.plot_column_shares(un.phase_test(rng.normal(size=(500, 2)), rng.normal([0, 1], size=(500, 2))))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x1', 'x0']
    >>> plt.close()
    """
    order = np.argsort(-result.column_shares, kind="stable")
    shown, others = order[:MOST], order[MOST:]
    shares = result.column_shares[shown]
    labels = [short_name(result.columns[column]) for column in shown]
    with canvas(ax, height=height_of(len(labels) + bool(len(others)))) as ax:
        ax.barh(range(len(shown)), shares, color=LOOKS[0].color, height=0.7)
        if len(others):
            labels.append(f"{len(others)} more columns")
            shares = np.append(shares, result.column_shares[others].sum())
            ax.barh(len(shown), shares[-1], color="white", edgecolor=GREY, hatch="///", height=0.7)
        for row, share in enumerate(shares):
            ax.annotate(f"{share:.0%}", (share, row), (3, 0), textcoords="offset points", va="center", fontsize="small")
        rows_of_names(ax, labels)
        ax.set_xlim(0, 1.15 * (float(shares.max()) or 1.0))
        dress(ax, f"Columns that carry the statistic ({p_is(result.pvalue)})", "share", grid="x")
        return ax


def row_of(name: str, estimate: EffectSize | Noncentrality) -> Row:
    """Return an estimate with its interval as a row."""
    return name, estimate.estimate, estimate.low, estimate.high


def _draw_intervals(
    ax: Axes, rows: Sequence[Row], references: Sequence[float], title: str, label: str, left_out: int
) -> None:
    """Draw one interval per row, with an arrow at an end that is infinite."""
    known = [row for row in rows if math.isfinite(row[1]) and (math.isfinite(row[2]) or math.isfinite(row[3]))]
    ends = [*references, *(value for _, *values in known for value in values)]
    finite = [value for value in ends if math.isfinite(value)]
    reach = (max(finite) - min(finite)) or 1.0
    left, right = min(finite) - 0.06 * reach, max(finite) + 0.06 * reach
    look = LOOKS[0]
    for place, row in enumerate(rows):
        if row not in known:
            ax.annotate("not known", ((left + right) / 2, place), ha="center", va="center", fontsize="small")
            continue
        _, estimate, least, most = row
        low, high = max(least, left), min(most, right)
        ax.plot([low, high], [place, place], color=look.color, linewidth=2)
        ax.plot(estimate, place, look.marker, color=look.color, markersize=6)
        for end, shown, arrow in ((least, low, "<"), (most, high, ">")):
            if math.isinf(end):
                ax.plot(shown, place, arrow, color=look.color, markersize=8, clip_on=False)
    ax.set_xlim(left, right)
    rows_of_names(ax, [name for name, *_ in rows])
    dress(ax, title, label + (f"\n({left_out} more columns are not shown)" if left_out else ""), grid="x")
