"""The timeline of a monitor: its wealth against the batches, and the wealth that raises the alarm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uptonoise.monitor import History
from uptonoise.plots.style import GREY, LOOKS, add_legend, canvas, documented, dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOG10 = np.log(10)
_ALARM = LOOKS[1]


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
    batches, wealth = history.floats("batch"), history.floats("log_wealth") / _LOG10
    alarms = batches[np.array(history.column("alarm"))]
    entries: list[tuple[Any, str]] = []
    with canvas(ax, 7.0, 3.4) as ax:
        look = LOOKS[0]
        (line,) = ax.plot(batches, wealth, color=look.color, marker=look.marker if len(history) < 60 else None, ms=3)
        entries.append((line, "wealth"))
        limit = ax.axhline(np.log10(history.threshold), color=_ALARM.color, linestyle=_ALARM.line, linewidth=1.2)
        entries.append((limit, f"alarm at {history.threshold:,.6g}"))
        if len(alarms):
            raised = ax.axvline(alarms[0], color=_ALARM.color, linewidth=1.2)
            entries.append((raised, f"alarm raised, batch {alarms[0]:,.0f}"))
        if history.since is not None:
            begun = ax.axvline(history.since, color=GREY, linestyle=":", linewidth=1.2)
            entries.append((begun, f"change, probably since batch {history.since:,}"))
        title = "The signal differs beyond noise" if len(alarms) else "No difference beyond noise"
        dress(ax, title, "batch", "wealth, as a power of 10")
        add_legend(ax, entries, loc="best")
        return ax
