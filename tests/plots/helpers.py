"""What the tests of plots share."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from uptonoise import plots
from uptonoise.plots import style as _style

BLUE, VERMILLION = (to_rgba(look.color) for look in _style.LOOKS[:2])


def new_axes():
    return Figure(figsize=(6, 4), layout="constrained").subplots()


def rendered(ax):
    """Draw all of it, where warnings are errors."""
    np.ravel(ax)[0].figure.canvas.draw()
    return ax


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def point_lines(ax):
    """The places of single marks, in the order in which they were drawn."""
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) == 1]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in lines]


DRAWN = {
    "ladder": lambda c, ax: plots.plot_ladder(c, ax=ax),
    "effect": lambda c, ax: plots.plot_effect(c, ax=ax),
    "effect of a test": lambda c, ax: plots.plot_effect(c.phase, ax=ax),
    "densities": lambda c, ax: plots.plot_densities(c, ax=ax),
    "phase differences": lambda c, ax: plots.plot_phase_differences(c.phase, ax=ax),
    "column shares": lambda c, ax: plots.plot_column_shares(c.phase, ax=ax),
    "locations": lambda c, ax: plots.plot_locations(c.me, ax=ax),
    "locations with rows": lambda c, ax: plots.plot_locations(c.me, rows=c.shown, ax=ax),
    "null": lambda c, ax: plots.plot_null(c.mmd, ax=ax),
    "extra noise": lambda c, ax: plots.plot_extra_noise(c.extra_noise, ax=ax),
    "p-values": lambda c, ax: plots.plot_pvalues(c.me, ax=ax),
    "characteristic": lambda c, ax: plots.plot_characteristic(*c.shown, ax=ax),
    "phase": lambda c, ax: plots.plot_phase(*c.shown, ax=ax),
    "phase gap": lambda c, ax: plots.plot_phase_gap(*c.shown, ax=ax),
}
