"""P-values on a log axis, against the significance level: the steps of a comparison, or a single test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from uptonoise.comparison import Comparison
from uptonoise.plots.style import GREY, LOOKS, canvas, documented, dress, rows_of_names, short_name
from uptonoise.twosample import FlipResult, TwoSampleResult, p_is

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SMALLEST = 1e-12  # p-value that has a place of its own
_ALPHA = 0.05


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
    steps = [
        _Step(comparison.at_all_pvalue, [test.pvalue for test in (comparison.mmd, comparison.me) if test is not None]),
        _Step(comparison.beyond_noise_pvalue, [] if comparison.flip is None else [comparison.phase.pvalue]),
        _Step(comparison.beyond_offset_pvalue, []),
    ]
    with canvas(ax, height=3.0) as ax:
        _draw_pvalues(ax, steps, [answer == "yes" for answer in answers], comparison.alpha)
        rows_of_names(ax, [f"{question} {answer}" for question, answer in zip(questions, answers, strict=True)])
        first, second = (short_name(name, 16) for name in comparison.names)
        dress(ax, f"{first} and {second}: {comparison.verdict}", _pvalue_label(comparison.alpha), grid="x")
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
    labels, steps = [_lowered(result.test)], [_Step(result.pvalue, [])]
    if isinstance(result, FlipResult) and len(result.pairing_pvalues) > 1:
        labels.append(f"{len(result.pairing_pvalues)} pairings")
        steps.append(_Step(None, result.pairing_pvalues.tolist()))
    with canvas(ax, height=2.6) as ax:
        _draw_pvalues(ax, steps, [result.pvalue <= _ALPHA] * len(steps), _ALPHA)
        rows_of_names(ax, labels)
        dress(ax, f"{result.test}: {p_is(result.pvalue)}", _pvalue_label(_ALPHA), grid="x")
        return ax


class _Step(NamedTuple):
    """The p-value that decides, if there is one, and those that it comes from."""

    decides: float | None
    others: list[float]


def _draw_pvalues(ax: Axes, steps: Sequence[_Step], differs: Sequence[bool], alpha: float) -> None:
    """Draw p-values from 1 on the left to small ones on the right."""
    pvalues = [p for step in steps for p in ([step.decides] if step.decides is not None else []) + step.others]
    smallest = max(_SMALLEST, min([*pvalues, alpha / 10]))
    ax.set_xscale("log")
    ax.set_xlim(3, smallest / 4)
    ax.axvline(alpha, color="black", linestyle="--", linewidth=1)
    for row, (step, yes) in enumerate(zip(steps, differs, strict=True)):
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


def _pvalue_label(alpha: float) -> str:
    return f"p-value, log scale (dashed: significance level {alpha:g})"


def _lowered(test: str) -> str:
    """Return the name of a test inside of a sentence: acronyms keep their capitals."""
    return test if test[1].isupper() else test[0].lower() + test[1:]
