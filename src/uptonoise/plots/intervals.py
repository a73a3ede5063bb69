"""Numbers with intervals, one row each: effects against a margin, and extra noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from uptonoise.comparison import Comparison
from uptonoise.plots.style import GREY, LOOKS, MOST, canvas, documented, dress, height_of, rows_of_names, short_name
from uptonoise.twosample import EffectSize, ExtraNoise, PhaseResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    rows = [_Interval.of("largest" if len(columns) > 1 else "effect", overall)]
    bound, title = math.inf, "Size of the difference beyond noise"
    left_out = 0
    if isinstance(result, Comparison):
        margin = result.margin if margin is None else margin
        bound = result.bound
        if result.differs_beyond_noise and result.up_to_offset is not None:
            rows.append(_Interval.of("without an offset", result.effect_beyond_offset))
        alone = sorted(result.by_column, key=lambda column: -column.effect.low) if len(columns) > 1 else []
        rows += [_Interval.of(short_name(column.column), column.effect) for column in alone[:MOST]]
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
        label = f"as a shift, in standard deviations\n{'; '.join(marks)}"
        dress(ax, title, label + _more(left_out), grid="x")
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
    intervals = result.interval()
    errors = result.standard_errors
    clearness = np.divide(np.abs(result.variances), errors, out=np.zeros(len(errors)), where=errors > 0)
    shown = np.sort(np.argsort(-clearness, kind="stable")[:MOST])
    rows = [
        _Interval(short_name(result.columns[column]), float(result.variances[column]), *map(float, intervals[column]))
        for column in shown
    ]
    with canvas(ax, height=height_of(len(rows))) as ax:
        _draw_intervals(ax, rows, [0.0])
        ax.axvline(0, color=GREY, linewidth=1)
        first, second = (short_name(name, 16) for name in names)
        label = f"noise variance of {first} less that of {second},\nin the data's units squared"
        dress(ax, "Extra noise", label + _more(len(result.columns) - len(shown)), grid="x")
        return ax


def _draw_intervals(ax: Axes, rows: Sequence[_Interval], references: Sequence[float]) -> None:
    """Draw one interval per row, with an arrow at an end that is infinite."""
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


def _more(left_out: int) -> str:
    return f"\n({left_out} more columns are not shown)" if left_out else ""
