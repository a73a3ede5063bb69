"""Numbers with intervals, one row each: effects against a margin, extra noise; and p-values against a level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from uptonoise.comparison import Comparison
from uptonoise.plots.style import GREY, LOOKS, MOST, canvas, dress, height_of, rows_of_names, said
from uptonoise.twosample import EffectSize, ExtraNoise, FlipResult, PhaseResult, TwoSampleResult, p_is

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SMALLEST = 1e-12  # p-value that has a place of its own
_LEVEL = 0.05


class _Interval(NamedTuple):
    label: str
    estimate: float
    low: float
    high: float

    @classmethod
    def of(cls, label: str, effect: EffectSize) -> _Interval:
        return cls(label, effect.estimate, effect.low, effect.high)

    @property
    def is_known(self) -> bool:
        return math.isfinite(self.estimate) and (math.isfinite(self.low) or math.isfinite(self.high))


def plot_effect(
    result: Comparison | PhaseResult | EffectSize, *, margin: float | None = None, ax: Axes | None = None
) -> Axes:
    """Plot how large a difference beyond noise is, with its 95 % interval, against a margin.

    Parameters
    ----------
    result : Comparison, PhaseResult or EffectSize
        A comparison also shows the effect of each column alone, and brings its margin.
    margin : float, optional
        The effect that would still be negligible; drawn where given.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise import plots
    >>> rng = np.random.default_rng(0)
    >>> result = un.phase_test(rng.normal(size=500), rng.normal(0.5, size=500))
    >>> ax = plots.plot_effect(result, margin=0.04)
    >>> ax.get_title(loc="left")
    'Size of the difference beyond noise'
    >>> plt.close()
    """
    overall = result if isinstance(result, EffectSize) else result.effect
    columns = () if isinstance(result, EffectSize) else result.columns
    rows = [_Interval.of(said(columns[0]) if len(columns) == 1 else "all columns", overall)]
    bound, title = math.inf, "Size of the difference beyond noise"
    left_out = 0
    if isinstance(result, Comparison):
        margin = result.margin if margin is None else margin
        bound = overall.upper_bound(result.alpha)
        if overall is not result.phase.effect:
            title += " and an offset"
        alone = sorted(result.by_column, key=lambda one: -one.effect.estimate) if len(columns) > 1 else []
        rows += [_Interval.of(said(one.column), one.effect) for one in alone[:MOST]]
        left_out = max(0, len(alone) - MOST)
    with canvas(ax, height=height_of(len(rows))) as ax:
        _draw_intervals(ax, rows, [0.0] + [value for value in (margin, bound) if value is not None])
        marks = []
        if margin is not None:
            ax.axvline(margin, color=LOOKS[1].color, linestyle=LOOKS[1].line, linewidth=1.2)
            marks.append(f"dashed: margin {margin:g}")
        if isinstance(result, Comparison) and math.isfinite(bound):
            ax.plot(bound, 0, "|", color="black", markersize=14, markeredgewidth=1.5)
            marks.append(f"tick: {1 - result.alpha:.0%} upper bound {bound:.2g}")
        label = f"effect per row (about s² for a shift by s SDs)\n{'; '.join(marks)}"
        dress(ax, title, label + _more(left_out), grid="x")
        ax.set_xlim(left=min(0.0, ax.get_xlim()[0]))
        return ax


def plot_extra_noise(result: ExtraNoise, *, names: tuple[str, str] = ("X", "Y"), ax: Axes | None = None) -> Axes:
    """Plot how much noisier one sample is than the other, column by column, with 95 % intervals.

    Parameters
    ----------
    result : ExtraNoise
        What :func:`~uptonoise.extra_noise` returned. Of more than 20 columns the clearest are shown.
    names : pair of str
        What the samples are called.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise import plots
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 1_000, 3))
    >>> ax = plots.plot_extra_noise(un.extra_noise(2 * X, Y))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x0', 'x1', 'x2']
    >>> plt.close()
    """
    intervals = result.interval()
    errors = result.standard_errors
    clearness = np.divide(np.abs(result.variances), errors, out=np.zeros(len(errors)), where=errors > 0)
    shown = np.sort(np.argsort(-clearness, kind="stable")[:MOST])
    rows = [
        _Interval(said(result.columns[column]), float(result.variances[column]), *map(float, intervals[column]))
        for column in shown
    ]
    with canvas(ax, height=height_of(len(rows))) as ax:
        _draw_intervals(ax, rows, [0.0])
        ax.axvline(0, color=GREY, linewidth=1)
        one, other = (said(name, 16) for name in names)
        label = f"noise variance of {one} less that of {other},\nin the data's units squared"
        dress(ax, "Extra noise", label + _more(len(result.columns) - len(shown)), grid="x")
        return ax


def plot_ladder(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Plot the three questions of a comparison, one step each: the p-values against the level.

    Filled marks decide; hollow ones are the tests that they come from.

    Parameters
    ----------
    comparison : Comparison
        What :func:`~uptonoise.compare` returned.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise import plots
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 200))
    >>> ax = plots.plot_ladder(un.compare(X, Y))
    >>> ax.get_title(loc="left")
    'X and Y: no difference found'
    >>> plt.close()
    """
    questions = ("differ at all?", "differ beyond\nnoise?", "differ beyond noise\nand an offset?")
    answers = [answer for _, answer, _ in comparison.ladder()]
    steps = [
        _Step(comparison.at_all_pvalue, [one.pvalue for one in (comparison.mmd, comparison.me) if one is not None]),
        _Step(comparison.beyond_noise_pvalue, [] if comparison.flip is None else [comparison.phase.pvalue]),
        _Step(comparison.beyond_offset_pvalue, []),
    ]
    with canvas(ax, height=3.0) as ax:
        _draw_pvalues(ax, steps, [answer == "yes" for answer in answers], comparison.alpha)
        rows_of_names(ax, [f"{question} {answer}" for question, answer in zip(questions, answers, strict=True)])
        one, other = (said(name, 16) for name in comparison.names)
        dress(ax, f"{one} and {other}: {comparison.verdict}", _pvalue_label(comparison.alpha), grid="x")
        return ax


def plot_pvalues(result: TwoSampleResult, *, ax: Axes | None = None) -> Axes:
    """Plot the p-value of a test on a log axis; of a flip test also those of its pairings.

    Parameters
    ----------
    result : TwoSampleResult
        The outcome of any test.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise import plots
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 200))
    >>> ax = plots.plot_pvalues(un.flip_test(X, Y, n_pairings=5, random_state=0))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['flip test', '5 pairings']
    >>> plt.close()
    """
    labels, steps = [_lowered(result.test)], [_Step(result.pvalue, [])]
    if isinstance(result, FlipResult) and len(result.pairing_pvalues) > 1:
        labels.append(f"{len(result.pairing_pvalues)} pairings")
        steps.append(_Step(None, result.pairing_pvalues.tolist()))
    with canvas(ax, height=2.6) as ax:
        _draw_pvalues(ax, steps, [result.pvalue <= _LEVEL] * len(steps), _LEVEL)
        rows_of_names(ax, labels)
        dress(ax, f"{result.test}: {p_is(result.pvalue)}", _pvalue_label(_LEVEL), grid="x")
        return ax


class _Step(NamedTuple):
    """The p-value that decides, None where there is none, and those that it comes from."""

    decides: float | None
    others: list[float]


def _draw_pvalues(ax: Axes, steps: Sequence[_Step], found: Sequence[bool], alpha: float) -> None:
    """Draw p-values from 1 on the left to small ones on the right."""
    of_all = [p for step in steps for p in ([step.decides] if step.decides is not None else []) + step.others]
    smallest = max(_SMALLEST, min([*of_all, alpha / 10]))
    ax.set_xscale("log")
    ax.set_xlim(3, smallest / 4)
    ax.axvline(alpha, color="black", linestyle="--", linewidth=1)
    for row, (step, yes) in enumerate(zip(steps, found, strict=True)):
        look = LOOKS[0] if yes else LOOKS[1]._replace(color=GREY)
        others = np.maximum(step.others, smallest)
        ax.plot(others, np.full(len(others), row), look.marker, color=look.color, fillstyle="none", markersize=6)
        if step.decides is not None:
            place = max(step.decides, smallest)
            ax.hlines(row, place, 1, color=look.color, linewidth=2)
            ax.plot(place, row, look.marker if place == step.decides else ">", color=look.color, markersize=8)
            near, text = "left" if place > math.sqrt(smallest) else "right", f"{p_is(step.decides)}"
            ax.annotate(
                text,
                (place, row),
                (0, 6),
                textcoords="offset points",
                ha=near,
                fontsize="small",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            )
        elif not step.others:
            ax.annotate("too few rows", (1, row), va="center", fontsize="small")


def _draw_intervals(ax: Axes, rows: Sequence[_Interval], references: Sequence[float]) -> None:
    """Draw one interval a row, with an arrow at an end that is infinite."""
    known = [row for row in rows if row.is_known]
    ends = [value for row in known for value in (row.estimate, row.low, row.high)] + list(references)
    finite = [value for value in ends if math.isfinite(value)]
    reach = (max(finite) - min(finite)) or 1.0
    left, right = min(finite) - 0.06 * reach, max(finite) + 0.06 * reach
    look = LOOKS[0]
    for place, row in enumerate(rows):
        if not row.is_known:
            ax.annotate("not known", ((left + right) / 2, place), ha="center", va="center", fontsize="small")
            continue
        low, high = max(row.low, left), min(row.high, right)
        ax.plot([low, high], [place, place], color=look.color, linewidth=2)
        ax.plot(row.estimate, place, look.marker, color=look.color, markersize=6)
        for end, shown, arrow in ((row.low, low, "<"), (row.high, high, ">")):
            if math.isinf(end):
                ax.plot(shown, place, arrow, color=look.color, markersize=8, clip_on=False)
    ax.set_xlim(left, right)
    rows_of_names(ax, [row.label for row in rows])


def _pvalue_label(alpha: float) -> str:
    return f"p-value, log scale (dashed: level {alpha:g})"


def _more(left_out: int) -> str:
    return f"\n({left_out} more columns are not shown)" if left_out else ""


def _lowered(test: str) -> str:
    """Return the name of a test inside of a sentence: acronyms keep their capitals."""
    return test if test[1].isupper() else test[0].lower() + test[1:]
