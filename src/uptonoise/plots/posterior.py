"""Posteriors: densities of each parameter with the prior behind them, and whether they are calibrated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from uptonoise._util.density import common_grid
from uptonoise.inference import Calibration, Posterior
from uptonoise.plots.densities import draw_density
from uptonoise.plots.style import GREY, LOOKS, Look, add_legend, canvas, documented, dress, panels, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_DRAWS = 2_000
_BAND = 0.99
_PRIOR = Look(GREY, ":", "")


@documented
def plot_posterior(
    result: Posterior, *, parameter: int | str | None = None, truth: ArrayLike | None = None, ax: Axes | None = None
) -> Any:
    """Plot the posterior density of one parameter, or of each, with the prior's behind it and a 90 % interval.

    Parameters
    ----------
    result : Posterior
        What ``posterior`` returned.
    parameter : int or str, optional
        The parameter; by default all of them, one Axes each.
    truth : float or array of shape (p,), optional
        Values to mark, one for each parameter of the posterior.
    ax : Axes, optional
        Where to draw one parameter; by default a new figure.

    Returns
    -------
    Axes, or an array of them where there are several parameters and none is named

    {example}
    >>> theta = rng.normal(size=2_000)
    >>> posterior = un.inference.Posterior.of(theta, np.exp(-((theta - 1) ** 2)), ["location"])
    >>> ax = plots.plot_posterior(posterior, truth=0.7)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['posterior', 'prior', 'given']
    >>> plt.close()
    """
    p = len(result.names)
    marks = None if truth is None else np.broadcast_to(np.asarray(truth, dtype=np.float64), (p,))
    if parameter is not None or p == 1:
        place = 0 if parameter is None else _place(parameter, result.names)
        with canvas(ax) as ax:
            return _draw(ax, result, place, None if marks is None else float(marks[place]))
    if ax is not None:
        raise ValueError(f"ax is for one of the {p} parameters; name it with parameter")
    with panels(p, width=4.2 * p, height=3.6) as axes:
        for place, panel in enumerate(axes):
            _draw(panel, result, place, None if marks is None else float(marks[place]))
        return axes


def _place(parameter: int | str, names: tuple[str, ...]) -> int:
    if isinstance(parameter, str) and parameter in names:
        return names.index(parameter)
    if isinstance(parameter, int) and not isinstance(parameter, bool) and 0 <= parameter < len(names):
        return parameter
    raise ValueError(f"parameter must be one of {list(names)}, or its number; got {parameter!r}")


def _draw(ax: Axes, result: Posterior, place: int, mark: float | None) -> Axes:
    values = result.resample(_DRAWS, 0)[:, place]
    step = max(1, len(result.prior_draws) // _DRAWS)
    prior = result.prior_draws[::step, place]
    grid = common_grid(values, prior)
    entries = [
        (draw_density(ax, values, grid, LOOKS[0]), "posterior"),
        (draw_density(ax, prior, grid, _PRIOR), "prior"),
    ]
    low, high = (np.atleast_1d(bound)[place] for bound in result.interval(0.9))
    ax.plot([low, high], [0, 0], color=LOOKS[0].color, linewidth=5, solid_capstyle="butt", clip_on=False)
    if mark is not None:
        entries.append((ax.axvline(mark, color="black", linestyle="--", linewidth=1.2), "given"))
    ax.set_ylim(bottom=0)
    name = short_name(result.names[place])
    dress(ax, f"{name}: 90 % from {low:.3g} to {high:.3g}", name, "density")
    add_legend(ax, entries, loc="best")
    return ax


@documented
def plot_calibration(
    result: Calibration, *, parameter: int | str | None = None, ax: Axes | None = None
) -> NDArray[Any] | Axes:
    """Plot the histogram of ranks with a 99 % band, and how often intervals hold the truth against how often they must.

    Parameters
    ----------
    result : Calibration
        What :func:`~uptonoise.inference.calibration` returned.
    parameter : int or str, optional
        The parameter; by default the first.
    ax : Axes, optional
        Where to draw the histogram alone; by default both on a new figure.

    Returns
    -------
    array of two Axes, or the one that was given

    {example}
    >>> below = rng.random((200, 1))
    >>> result = un.inference.Calibration(
    ...     names=("theta",), truth=below, means=below, sds=below, probabilities=below, ranks=np.floor(100 * below),
    ...     n_draws=99, sizes=np.full(200, 300.0),
    ... )
    >>> ranks, coverage = plots.plot_calibration(result)
    >>> coverage.get_xlabel()
    'probability of the interval'
    >>> plt.close()
    """
    place = 0 if parameter is None else _place(parameter, result.names)
    if ax is not None:
        with canvas(ax) as ax:
            return _draw_ranks(ax, result, place)
    with panels(2, width=9, height=3.8) as axes:
        _draw_ranks(axes[0], result, place)
        levels, n = np.linspace(0.02, 0.98, 49), len(result.truth)
        covered = np.array([result.coverage(float(level))[place] for level in levels])
        low, high = binom.interval(_BAND, n, levels)
        band = axes[1].fill_between(levels, low / n, high / n, color=GREY, alpha=0.2, linewidth=0)
        (line,) = axes[1].plot(levels, covered, color=LOOKS[0].color, linewidth=1.8)
        axes[1].plot([0, 1], [0, 1], color="black", linewidth=0.8)
        title = f"Coverage for {short_name(result.names[place])}"
        dress(axes[1], title, "probability of the interval", "share that holds the truth")
        add_legend(axes[1], [(line, "observed"), (band, "99 % of right posteriors")], loc="upper left")
        return np.asarray(axes)


def _draw_ranks(ax: Axes, result: Calibration, place: int) -> Axes:
    counts = result.histogram(place)
    n, bins = len(result.truth), len(counts)
    low, high = binom.interval(_BAND, n, 1 / bins)
    band = ax.axhspan(low, high, color=GREY, alpha=0.2, linewidth=0)
    centres = (np.arange(bins) + 0.5) / bins
    bars = ax.bar(centres, counts, width=0.9 / bins, color=LOOKS[0].color, alpha=0.8)
    name = short_name(result.names[place])
    dress(ax, f"Ranks of {name}", "rank of the truth among draws, as a share", "data sets", "y")
    add_legend(ax, [(bars, "observed"), (band, "99 % of right posteriors")], loc="lower center")
    return ax
