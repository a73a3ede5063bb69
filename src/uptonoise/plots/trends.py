"""One number against another: the wealth of a monitor after each batch, errors against noise, power against rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uptonoise.learning import RobustnessCurve
from uptonoise.monitor import History
from uptonoise.plots.style import GREY, LOOKS, add_legend, canvas, documented, dress, short_name
from uptonoise.twosample import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@documented
def plot_timeline(history: History, *, ax: Axes | None = None) -> Axes:
    """Plot the wealth of a monitor after each batch, with the alarm and the estimate of when the change began.

    Parameters
    ----------
    history : History
        The ``history`` of a :class:`~uptonoise.Monitor`.
    {axes}
    >>> monitor = un.Monitor(rng.exponential(size=2_000), random_state=0)
    >>> for night in range(10):
    ...     state = monitor.update(rng.exponential(size=100) if night < 5 else 2 - rng.exponential(size=100))
    >>> ax = plots.plot_timeline(monitor.history)
    >>> ax.get_xlabel(), ax.get_yscale()
    ('batch', 'linear')
    >>> plt.close()
    """
    if not len(history):
        raise ValueError("history must have at least one batch; got none")
    batches, wealth = history.floats("batch"), history.floats("log_wealth") / np.log(10)
    alarms = batches[np.array(history.column("alarm"))]
    entries: list[tuple[Any, str]] = []
    with canvas(ax, 7.0, 3.4) as ax:
        look, alarm = LOOKS[:2]
        (line,) = ax.plot(batches, wealth, color=look.color, marker=look.marker if len(history) < 60 else None, ms=3)
        entries.append((line, "wealth"))
        limit = ax.axhline(np.log10(history.threshold), color=alarm.color, linestyle=alarm.line, linewidth=1.2)
        entries.append((limit, f"alarm at {history.threshold:,.6g}"))
        if len(alarms):
            raised = ax.axvline(alarms[0], color=alarm.color, linewidth=1.2)
            entries.append((raised, f"alarm raised, batch {alarms[0]:,.0f}"))
        if history.since is not None:
            begun = ax.axvline(history.since, color=GREY, linestyle=":", linewidth=1.2)
            entries.append((begun, f"change, probably since batch {history.since:,}"))
        title = "The signal differs beyond noise" if len(alarms) else "No difference beyond noise"
        dress(ax, title, "batch", "wealth, as a power of 10")
        add_legend(ax, entries, loc="best")
        return ax


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
        # The baseline, unless an earlier curve has drawn it.
        base, height = result.baseline_name, result.baseline
        if not any(line.get_label() == base and height in np.asarray(line.get_ydata()) for line in ax.get_lines()):
            ax.axhline(height, color=GREY, linestyle=":", linewidth=1.2, label=base)
        ax.set_ylim(bottom=0, auto=True)  # the next curve may still raise the top
        about_sizes = "noise size: the largest variance of the noise, in units of the column's own"
        dress(ax, f"Error with {result.kind} noise", about_sizes, f"{result.metric}, with 5 % and 95 % quantiles")
        named = zip(*ax.get_legend_handles_labels(), strict=True)
        add_legend(ax, sorted(named, key=lambda entry: entry[1] == base), loc="best")
        return ax


@documented
def plot_plan(result: Plan, *, ax: Axes | None = None) -> Axes:
    """Plot the planned power against the number of rows, and the power that is wanted.

    Parameters
    ----------
    result : Plan
        What :func:`~uptonoise.plan` returned.
    {axes}
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.gamma(2, size=500), rng.gamma(3, size=500)
    >>> ax = plots.plot_plan(un.plan(X, Y, [20, 40, 80], n_draws=20))
    >>> ax.get_ylabel()
    'power'
    >>> plt.close()
    """
    with canvas(ax) as ax:
        look = LOOKS[0]
        errors = 1.96 * result.standard_errors
        ax.fill_between(result.n, result.power - errors, result.power + errors, color=look.color, alpha=0.15)
        ax.plot(result.n, result.power, color=look.color, linestyle=look.line, marker=look.marker, markersize=5)
        ax.axhline(result.target, color=GREY, linestyle=":", linewidth=1.2)
        ax.set_xscale("log")
        ax.set_ylim(0, 1.02)
        dress(ax, result.sentence, f"{result.units} of the first sample", "power")
        return ax
