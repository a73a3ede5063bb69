"""Densities of samples, whatever their tails: smooth curves over the range where nearly all rows lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uptonoise._util.density import common_grid, density_of
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.comparison import Comparison
from uptonoise.plots.style import LOOKS, Look, add_legend, canvas, documented, dress, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
