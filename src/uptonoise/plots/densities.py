"""Densities of samples and of posteriors, over the range where nearly all rows lie, and ranks that must be uniform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from uptonoise._util.density import common_grid, density_of
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.comparison import Comparison
from uptonoise.inference import Calibration, Posterior
from uptonoise.plots.style import GREY, LOOKS, Look, add_legend, canvas, documented, dress, panels, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_DRAWS = 2_000
_BAND = 0.99
_PRIOR = Look(GREY, ":", "")


@documented
def plot_densities(comparison: Comparison, column: int | str | None = None, *, ax: Axes | None = None) -> Axes:
    """Plot the densities of both samples in one column, with how much noisier one of them is.

    Parameters
    ----------
    comparison : Comparison
        A comparison that holds rows of both samples: not of sketches, and without weights.
    column : int or str, optional
        The column, by its place or its name; by default the one that differs most clearly beyond noise.
    {axes}
    >>> old, new = rng.gamma(2, size=2_000), rng.gamma(2, size=2_000) + rng.normal(size=2_000)
    >>> ax = plots.plot_densities(un.compare(old, new, names=["old", "new"]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['old, 2,000 rows', 'new, 2,000 rows', 'noise added in new: SD 0.99']
    >>> plt.close()
    """
    if comparison.shown is None:
        raise ValueError(
            "comparison must hold rows of both samples to show their densities; it was made from sketches, with "
            "weights, or from rows that could be read only once"
        )
    if column is not None:
        place = column_place(column, comparison.columns)
    elif comparison.by_column:
        best = min(comparison.by_column, key=lambda column: (column.adjusted_beyond_noise, column.beyond_noise))
        place = comparison.columns.index(best.column)
    else:
        place = int(np.argmax(comparison.phase.column_shares))
    values = [rows[:, place] for rows in comparison.shown]
    name = comparison.columns[place]
    noises = [noise for noise in comparison.noise if noise.column == name and noise.sample is not None]
    with canvas(ax) as ax:
        grid = common_grid(*values)
        entries = []
        for column_values, sample, size, look in zip(values, comparison.names, comparison.sizes, LOOKS, strict=False):
            drawn = draw_density(ax, column_values, grid, look)
            entries.append((drawn, f"{short_name(sample)}, {counted(size, 'row')}"))
        ax.set_ylim(bottom=0)
        for noise in noises[:1]:  # one standard deviation to both sides
            top = ax.get_ylim()[1]
            ax.set_ylim(top=1.3 * top)  # with room for the legend
            middle = float(np.median(np.concatenate(values)))
            bar = ax.errorbar(middle, 1.05 * top, xerr=noise.sd, color="black", capsize=4, linewidth=1.5)
            entries.append((bar, f"noise added in {short_name(noise.sample)}: SD {noise.sd:.2g}"))
        beyond = np.mean([np.mean((sample < grid[0]) | (sample > grid[-1])) for sample in values])
        note = f"\n({beyond:.1%} of the rows lie beyond)" if beyond > 0.01 else ""
        label = short_name(name)
        dress(ax, f"Densities of {label}", f"{label}, in the data's units{note}", "density")
        add_legend(ax, entries, loc="best")
        return ax


def column_place(column: Any, columns: tuple[str, ...]) -> int:
    """Return where a column is that was given by its name or its place."""
    if isinstance(column, str) and column in columns:
        return columns.index(column)
    is_place = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if is_place and -len(columns) <= column < len(columns):
        return int(column) % len(columns)
    raise ValueError(f"column must be one of {list(columns)[:20]} or its place; got {column!r}")


def draw_density(ax: Axes, values: Floats, grid: Floats, look: Look) -> Any:
    """Draw the density of one column, as a line at its value where it is constant, and return the line."""
    curve = density_of(values, grid)
    if curve is None:
        return ax.axvline(float(np.median(values)), color=look.color, linestyle=look.line, linewidth=1.8)
    ax.fill_between(curve.x, curve.y, color=look.color, alpha=0.12, linewidth=0)
    (line,) = ax.plot(curve.x, curve.y, color=look.color, linestyle=look.line, linewidth=1.8)
    return line


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
    prior = result.prior_draws[:: max(1, len(result.prior_draws) // _DRAWS), place]
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
    bars = ax.bar((np.arange(bins) + 0.5) / bins, counts, width=0.9 / bins, color=LOOKS[0].color, alpha=0.8)
    name = short_name(result.names[place])
    dress(ax, f"Ranks of {name}", "rank of the truth among draws, as a share", "data sets", "y")
    add_legend(ax, [(bars, "observed"), (band, "99 % of right posteriors")], loc="lower center")
    return ax
