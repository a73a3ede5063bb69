"""A plan of a study: the power against the number of rows, as a picture and as a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uptonoise._util.card import card
from uptonoise._util.drawing import Axis, Drawing
from uptonoise.plots.cards import card_of
from uptonoise.plots.overview import plot
from uptonoise.plots.style import GREY, LOOKS, canvas, documented, dress
from uptonoise.twosample import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = 8


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


plot.register(Plan, plot_plan)


@card_of.register
def _of_plan(result: Plan) -> str:
    lines = zip(result.n.tolist(), result.k.tolist(), result.power.tolist(), strict=True)
    facts = [
        (f"{n:,} {result.units}" if n == k else f"{n:,} and {k:,} {result.units}", f"power {power:.2f}")
        for n, k, power in lines
    ][:_LINES]
    facts.append(("simulated", f"{result.n_draws:,} data sets of each size"))
    if len(result.n) < 2:
        return card(result.sentence, facts)
    x = Axis(float(result.n[0]), float(max(result.n[-1], result.n[0] + 1)))
    drawing = Drawing(x, Axis(0, 1.02), width=270, height=150, left=40)
    drawing.y_axis(3)
    drawing.level(result.target, "second", thin=False)
    drawing.line(result.n, result.power, "first")
    for n, power in zip(result.n.tolist(), result.power.tolist(), strict=True):
        drawing.dot(n, power, "first", radius=3)
    drawing.x_axis(f"{result.units} (dashed: the target)", most=4)
    return card(result.sentence, facts, drawing.svg(f"Power against the number of {result.units}"))
