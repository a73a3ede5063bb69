"""The error of models against the noise size, several on one Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from uptonoise.learning import RobustnessCurve
from uptonoise.plots.style import GREY, LOOKS, add_legend, canvas, documented, dress, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@documented
def plot_robustness(result: RobustnessCurve, *, label: str = "model", ax: Axes | None = None) -> Axes:
    """Plot the mean error at each noise size, with 5 % and 95 % quantiles, and that of predicting the mean.

    Called again with the same Axes it adds a curve with another look.

    Parameters
    ----------
    result : RobustnessCurve
        What :func:`~uptonoise.robustness_curve` returned.
    label : str
        What the model is called.
    {axes}
    >>> from uptonoise.datasets import make_gamma_bags
    >>> from uptonoise.learning import robustness_curve
    >>> bags, _ = make_gamma_bags(100, random_state=0)
    >>> ax = None
    >>> for name, make in {"phase": un.plrr, "Fourier": un.glrr}.items():
    ...     curve = robustness_curve(make(random_state=0).fit(bags[:60]), bags[60:], levels=[0, 1], n_repeats=5)
    ...     ax = plots.plot_robustness(curve, label=name, ax=ax)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['phase', 'Fourier', 'predicting the mean']
    >>> plt.close()
    """
    order = np.argsort(result.levels, kind="stable")
    levels, mean, low, high = (part[order] for part in (result.levels, result.mean, result.low, result.high))
    with canvas(ax) as ax:
        look = LOOKS[len(ax.collections) % len(LOOKS)]  # one band per curve
        ax.fill_between(levels, low, high, color=look.color, alpha=0.15, linewidth=1)
        name = short_name(label)
        ax.plot(levels, mean, color=look.color, linestyle=look.line, marker=look.marker, markersize=5, label=name)
        _draw_baseline(ax, result)
        ax.set_ylim(bottom=0, auto=True)  # the next curve may still raise the top
        about_sizes = "noise size: the largest variance of the noise, in units of the column's own"
        dress(ax, f"Error with {result.kind} noise", about_sizes, f"{result.metric}, with 5 % and 95 % quantiles")
        named = zip(*ax.get_legend_handles_labels(), strict=True)
        add_legend(ax, sorted(named, key=lambda entry: entry[1] == result.baseline_name), loc="best")
        return ax


def _draw_baseline(ax: Axes, result: RobustnessCurve) -> None:
    """Draw the error of the baseline, unless an earlier curve has done so."""
    name, height = result.baseline_name, result.baseline
    if not any(line.get_label() == name and height in np.asarray(line.get_ydata()) for line in ax.get_lines()):
        ax.axhline(height, color=GREY, linestyle=":", linewidth=1.2, label=name)
