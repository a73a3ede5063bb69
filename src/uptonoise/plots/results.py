"""Results of tests: phase differences, the null distribution of a statistic, and all pairs of groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.comparison import GroupComparison
from uptonoise.plots.style import (
    FAINT,
    GREY,
    LOOKS,
    Look,
    add_legend,
    canvas,
    documented,
    dress,
    inches_of,
    name_fonts,
    require,
    short_name,
)
from uptonoise.twosample import MmdResult, PairwiseResult, PhaseResult, PhdResult, p_is

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Shown = Literal["pvalues", "noncentralities"]

_RELIABLE = 0.5  # radians: the largest standard error of a phase that is shown in full
_MARKED_COLUMNS = 5
_BINS = 40
_SMALLEST = 1e-6  # p-value that has a colour of its own
_NAME_LENGTH = 16
_SMALLEST_LETTERS, _LARGEST_LETTERS = 6.0, 9.0  # points
_LETTERS = 3.4  # how wide the longest number is, in units of its height


@documented
def plot_phase_differences(result: PhaseResult, *, names: tuple[str, str] = ("X", "Y"), ax: Axes | None = None) -> Axes:
    """Plot by how much the phases of two samples differ at each frequency, with standard errors, marked by column.

    Frequencies whose phase is mostly noise (a standard error above 0.5) are faint. With several columns a frequency's
    length is taken in units of each column's own frequencies, as columns may have different units.

    Parameters
    ----------
    result : PhaseResult
        What :func:`~uptonoise.phase_test` returned.
    {names}
    {axes}
    >>> result = un.phase_test(rng.exponential(size=(500, 2)), rng.normal(1, size=(500, 2)))
    >>> ax = plots.plot_phase_differences(result)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['x0 alone', 'x1 alone', 'several columns']
    >>> plt.close()
    """
    lengths, differences = _along_axes(result)
    errors = np.where(np.isfinite(result.standard_errors), result.standard_errors, np.pi)
    reliable = errors <= _RELIABLE
    with canvas(ax) as ax:
        entries = []
        for group, members, look, layer in _groups_of_frequencies(result):
            options: dict[str, Any] = {"fmt": look.marker, "color": look.color, "zorder": layer}
            for chosen, opacity in ((members & reliable, 1.0), (members & ~reliable, FAINT)):
                points = lengths[chosen], differences[chosen], errors[chosen]
                marks = ax.errorbar(*points, alpha=opacity, markersize=4, elinewidth=0.8, **options)
                if opacity == 1.0:
                    entries.append((marks, group))
        ax.axhline(0, color="black", linewidth=0.8)
        reach = min(float(np.max((np.abs(differences) + errors)[reliable], initial=0.0)) or np.pi, np.pi)
        ax.set_ylim(-1.1 * reach, 1.1 * reach)
        ax.set_xlim(left=0)
        first, second = (short_name(name, 16) for name in names)
        several = len(result.columns) > 1
        label = "frequency, in 1 / the data's units"
        if several:
            label = "length of frequency, columns in units of their own"
        dress(ax, f"Phase of {first} ahead of that of {second}", label, "phase difference (radians)")
        add_legend(ax, entries if several else [], loc="best")
        return ax


@documented
def plot_null(result: MmdResult | PhdResult, *, ax: Axes | None = None) -> Axes:
    """Plot the statistics of the permutations with that of the samples as they are.

    Parameters
    ----------
    result : MmdResult or PhdResult
        A result with permutations; tests on sketches have none.
    {axes}
    >>> X, Y = rng.normal(size=(2, 100))
    >>> ax = plots.plot_null(un.mmd_test(X, Y + 1, random_state=0))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1,000 permutations', 'the samples as they are']
    >>> plt.close()
    """
    permuted = np.asarray(getattr(result, "permuted", ()))
    if len(permuted) == 0:
        null = getattr(result, "null", "unknown")
        raise ValueError(f"result must hold the statistics of permutations; its null is another one: {null}")
    with canvas(ax) as ax:
        *_, bars = ax.hist(
            permuted, bins=_BINS, color=LOOKS[0].color, alpha=0.45, edgecolor=LOOKS[0].color, linewidth=0.5
        )
        line = ax.axvline(result.statistic, color=LOOKS[1].color, linestyle=LOOKS[1].line, linewidth=2)
        dress(ax, f"{result.test}: {p_is(result.pvalue)}", "statistic", "permutations")
        add_legend(ax, [(bars, f"{len(permuted):,} permutations"), (line, "the samples as they are")], loc="best")
        return ax


def _along_axes(result: PhaseResult) -> tuple[Floats, Floats]:
    """Return the lengths of frequencies, and the differences of phases in the direction of positive frequencies."""
    W = result.frequencies
    if W.shape[1] > 1:
        units = np.sqrt(np.mean(W**2, axis=0))
        W = np.divide(W, units, out=np.zeros_like(W), where=units > 0)
    alone = np.count_nonzero(W, axis=1) == 1
    return np.linalg.norm(W, axis=1), np.where(alone, np.sign(W.sum(axis=1)), 1.0) * result.phase_differences


def _groups_of_frequencies(result: PhaseResult) -> list[tuple[str, NDArray[np.bool_], Look, int]]:
    """Return frequencies that are marked alike: a label, which they are, their look, and their layer."""
    W = result.frequencies != 0
    alone = W.sum(axis=1) == 1
    marked = np.sort(np.argsort(-result.column_shares, kind="stable")[:_MARKED_COLUMNS])
    groups = [
        (f"{short_name(result.columns[column])} alone", alone & W[:, column], look, 3)
        for column, look in zip(marked, LOOKS, strict=False)
    ]
    groups.append(("another column alone", alone & ~W[:, marked].any(axis=1), Look(GREY, "-", "x"), 2))
    groups.append(("several columns", ~alone, Look("0.7", "-", "."), 2))
    return [group for group in groups if group[1].any()]


@documented
def plot_heat_map(result: PairwiseResult | GroupComparison, show: Shown = "pvalues", *, ax: Axes | None = None) -> Axes:
    """Plot all pairs of groups: adjusted p-values on a log scale, or noncentralities. Dark pairs differ.

    Parameters
    ----------
    result : PairwiseResult or GroupComparison
        The outcome of :func:`~uptonoise.pairwise_phase_test` or :func:`~uptonoise.compare_groups`.
    show : {"pvalues", "noncentralities"}
        What the colours mean.
    {axes}
    >>> groups = un.compare_groups({name: rng.normal(shift, size=300) for name, shift in zip("abc", [0, 0, 1])})
    >>> ax = plots.plot_heat_map(groups)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['a', 'b', 'c']
    >>> plt.close()
    """
    if show not in get_args(Shown):
        raise ValueError(f"show must be one of {', '.join(get_args(Shown))}; got {show!r}")
    pairs = result.pairs if isinstance(result, GroupComparison) else result
    alpha = result.alpha if isinstance(result, GroupComparison) else 0.05
    values = (pairs.adjusted if show == "pvalues" else pairs.noncentralities).copy()
    np.fill_diagonal(values, np.nan)
    side = 4.0 + min(5.0, 0.08 * len(pairs.names))
    with canvas(ax, side + 1.2, side) as ax:
        # Dark colours for pairs that differ.
        colors, colormaps = require("matplotlib.colors"), require("matplotlib").colormaps
        if show == "pvalues":
            norm = colors.LogNorm(max(_SMALLEST, min(1e-3, float(np.nanmin(values)))), 1.0)
            adjusted = f"Adjusted p-values ({pairs.adjust.title()}"
            title = "p-values (not adjusted" if pairs.adjust == "none" else adjusted
            title += f"; line: {alpha:g})"
        else:  # a noncentrality is about the square of a shift
            norm = colors.PowerNorm(0.5, 0.0, float(np.nanmax(values)) or 1.0)
            title = "Noncentralities per row, beyond noise"
        colours = colormaps["Blues_r" if show == "pvalues" else "Blues"]
        image = ax.imshow(np.maximum(values, norm.vmin), norm=norm, cmap=colours, interpolation="nearest")
        ax.set_facecolor("0.75")  # the diagonal
        # About how many points a cell has, with room for the names and the scale of colours.
        width, height = inches_of(ax)
        names_size = 0.08 * min(_NAME_LENGTH, max(map(len, pairs.names)))
        cell = 72 * max(1.0, min(width - names_size - 0.6, height - names_size)) / len(pairs.names)
        bar = ax.figure.colorbar(image, ax=ax, extend="min" if np.nanmin(values) < norm.vmin else "neither")
        bar.ax.tick_params(labelsize="small")
        if show == "pvalues":
            bar.ax.axhline(alpha, color="black", linewidth=1.5)
        dress(ax, title, "", grid="none")
        _name_groups(ax, pairs.names, cell)
        _write_numbers(ax, values, image, cell)
        return ax


def _name_groups(ax: Axes, names: tuple[str, ...], cell: float) -> None:
    """Name as many groups as there is room for, in points, the first one always."""
    size = min(_LARGEST_LETTERS, max(cell, _SMALLEST_LETTERS))
    step = math.ceil(size / cell)
    places, labels = range(0, len(names), step), [short_name(name, _NAME_LENGTH) for name in names[::step]]
    short = 0.6 * size * max(map(len, labels)) <= cell * step
    ax.set_yticks(places, labels, fontsize=size, **name_fonts())
    ax.set_xticks(places, labels, fontsize=size, rotation=0 if short else 90, **name_fonts())
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _write_numbers(ax: Axes, values: Floats, image: Any, cell: float) -> None:
    """Write the numbers into cells that are large enough."""
    size = min(_LARGEST_LETTERS, cell / _LETTERS)
    if size < _SMALLEST_LETTERS:
        return
    for (row, column), value in np.ndenumerate(values):
        if row != column:
            light = np.dot(image.to_rgba(np.maximum(value, image.norm.vmin))[:3], [0.3, 0.6, 0.1]) > 0.5
            text = _cell_text(value) if value >= image.norm.vmin else f"<{_cell_text(image.norm.vmin)}"
            ax.text(column, row, text, ha="center", va="center", size=size, color="black" if light else "white")


def _cell_text(value: float) -> str:
    return f"{value:.2g}" if value >= 1e-3 or value == 0 else f"{value:.0e}".replace("e-0", "e-")
