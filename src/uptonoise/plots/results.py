"""What single tests found: phase differences, columns, places, and the null that a statistic was compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.plots.densities import column_place, common_grid, draw_density
from uptonoise.plots.style import (
    FAINT,
    GREY,
    LOOKS,
    MOST,
    Look,
    add_legend,
    canvas,
    dress,
    height_of,
    require,
    rows_of_names,
    said,
)
from uptonoise.rows import some_rows, two_samples
from uptonoise.twosample import MeResult, MmdResult, PhaseResult, PhdResult, p_is

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RELIABLE = 0.5  # radians: the largest standard error of a phase that is shown in full
_MARKED_COLUMNS = 5
_SHOWN_ROWS = 2_000
_BINS = 40


def plot_phase_differences(result: PhaseResult, *, names: tuple[str, str] = ("X", "Y"), ax: Axes | None = None) -> Axes:
    """Plot by how much the phases of two samples differ at each frequency, with standard errors, marked by column.

    Frequencies whose phase is mostly noise (a standard error above 0.5) are faint. With several columns a frequency's
    length is taken in units of each column's own frequencies, as columns may have different units.

    Parameters
    ----------
    result : PhaseResult
        What :func:`~uptonoise.phase_test` returned.
    names : pair of str
        What the samples are called.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise import plots
    >>> rng = np.random.default_rng(0)
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
        for group in _groups_of_frequencies(result):
            for chosen, opacity in ((group.members & reliable, 1.0), (group.members & ~reliable, FAINT)):
                drawn = ax.errorbar(
                    lengths[chosen],
                    differences[chosen],
                    yerr=errors[chosen],
                    fmt=group.look.marker,
                    color=group.look.color,
                    alpha=opacity,
                    markersize=4,
                    elinewidth=0.8,
                    zorder=group.layer,
                )
                if opacity == 1.0:
                    entries.append((drawn, group.label))
        ax.axhline(0, color="black", linewidth=0.8)
        reach = min(float(np.max((np.abs(differences) + errors)[reliable], initial=0.0)) or np.pi, np.pi)
        ax.set_ylim(-1.1 * reach, 1.1 * reach)
        ax.set_xlim(left=0)
        one, other = (said(name, 16) for name in names)
        several = len(result.columns) > 1
        label = (
            "length of frequency, columns in units of their own" if several else "frequency, in 1 / the data's units"
        )
        dress(ax, f"Phase of {one} ahead of that of {other}", label, "phase difference (radians)")
        add_legend(ax, entries if several else [], loc="best")
        return ax


def plot_column_shares(result: PhaseResult, *, ax: Axes | None = None) -> Axes:
    """Plot which columns carry the statistic of a phase test, the largest share first.

    Parameters
    ----------
    result : PhaseResult
        What :func:`~uptonoise.phase_test` returned. Of more than 20 columns the others share the last bar.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise import plots
    >>> rng = np.random.default_rng(0)
    >>> ax = plots.plot_column_shares(un.phase_test(rng.normal(size=(500, 2)), rng.normal([0, 1], size=(500, 2))))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x1', 'x0']
    >>> plt.close()
    """
    order = np.argsort(-result.column_shares, kind="stable")
    shown, others = order[:MOST], order[MOST:]
    shares = result.column_shares[shown]
    labels = [said(result.columns[column]) for column in shown]
    with canvas(ax, height=height_of(len(labels) + bool(len(others)))) as ax:
        ax.barh(range(len(shown)), shares, color=LOOKS[0].color, height=0.7)
        if len(others):
            labels.append(f"{len(others)} more columns")
            shares = np.append(shares, result.column_shares[others].sum())
            ax.barh(len(shown), shares[-1], color="white", edgecolor=GREY, hatch="///", height=0.7)
        for row, share in enumerate(shares):
            ax.annotate(f"{share:.0%}", (share, row), (3, 0), textcoords="offset points", va="center", fontsize="small")
        rows_of_names(ax, labels)
        ax.set_xlim(0, 1.15 * (float(shares.max()) or 1.0))
        dress(ax, f"Columns that carry the statistic ({p_is(result.pvalue)})", "share", grid="x")
        return ax


def plot_null(result: MmdResult | PhdResult, *, ax: Axes | None = None) -> Axes:
    """Plot the statistics of the permutations with that of the samples as they are.

    Parameters
    ----------
    result : MmdResult or PhdResult
        One with permutations; sketches have none.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise import plots
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 100))
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


def plot_locations(
    result: MeResult,
    rows: tuple[Any, Any] | None = None,
    *,
    columns: tuple[int | str, ...] | None = None,
    names: tuple[str, str] = ("X", "Y"),
    ax: Axes | None = None,
) -> Axes:
    """Plot where two samples differ by the ME test: the places in the data, the larger the more they contribute.

    Parameters
    ----------
    result : MeResult
        What :func:`~uptonoise.me_test` returned.
    rows : pair of samples, optional
        Rows of both, to draw behind; a few thousand are enough. Without them the places alone are drawn.
    columns : one or two of int or str, optional
        The columns to show; by default the two along which the places lie furthest apart.
    names : pair of str
        What the samples are called.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise import plots
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(500, 3)), rng.normal([0, 2, 0], size=(500, 3))
    >>> ax = plots.plot_locations(un.me_test(X, Y, random_state=0), (X, Y), columns=("x0", "x1"))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ("x0, in the data's units", "x1, in the data's units")
    >>> plt.close()
    """
    places = _columns_to_show(result, columns)
    samples = None if rows is None else _rows_to_show(rows, result.columns)
    with canvas(ax) as ax:
        if len(places) == 1:
            entries = _draw_on_a_line(ax, result, samples, places[0], names)
            ylabel = "contribution to the statistic" if samples is None else "density"
        else:
            entries = _draw_on_a_plane(ax, result, samples, places, names)
            ylabel = f"{said(result.columns[places[1]])}, in the data's units"
        title = f"Where they differ (ME test, {p_is(result.pvalue)})"
        dress(ax, title, f"{said(result.columns[places[0]])}, in the data's units", ylabel)
        add_legend(ax, entries, loc="best")
        return ax


class _Group(NamedTuple):
    """Frequencies that are marked alike."""

    label: str
    members: NDArray[np.bool_]
    look: Look
    layer: int


def _along_axes(result: PhaseResult) -> tuple[Floats, Floats]:
    """Return the lengths of frequencies, and the differences of phases in the direction of positive frequencies."""
    W = result.frequencies
    if W.shape[1] > 1:
        units = np.sqrt(np.mean(W**2, axis=0))
        W = np.divide(W, units, out=np.zeros_like(W), where=units > 0)
    alone = np.count_nonzero(W, axis=1) == 1
    return np.linalg.norm(W, axis=1), np.where(alone, np.sign(W.sum(axis=1)), 1.0) * result.phase_differences


def _groups_of_frequencies(result: PhaseResult) -> list[_Group]:
    W = result.frequencies != 0
    alone = W.sum(axis=1) == 1
    order = np.argsort(-result.column_shares, kind="stable")
    marked = np.sort(order[:_MARKED_COLUMNS])
    groups = [
        _Group(f"{said(result.columns[column])} alone", alone & W[:, column], look, 3)
        for column, look in zip(marked, LOOKS, strict=False)
    ]
    groups.append(_Group("another column alone", alone & ~W[:, marked].any(axis=1), Look(GREY, "-", "x"), 2))
    groups.append(_Group("several columns", ~alone, Look("0.7", "-", "."), 2))
    return [group for group in groups if group.members.any()]


def _columns_to_show(result: MeResult, columns: tuple[int | str, ...] | None) -> list[int]:
    if columns is not None:
        if isinstance(columns, str) or len(columns) not in (1, 2):
            raise ValueError(f"columns must be one or two columns; got {columns!r}")
        return [column_place(column, result.columns) for column in columns]
    if len(result.columns) == 1:
        return [0]
    weights = np.maximum(result.contributions, 0) + 1e-12
    means = np.average(result.regions, axis=0, weights=weights)
    spreads = np.sqrt(np.average((result.regions - means) ** 2, axis=0, weights=weights)) / result.widths
    return sorted(np.argsort(-np.nan_to_num(spreads), kind="stable")[:2].tolist())


def _rows_to_show(rows: tuple[Any, Any], columns: tuple[str, ...]) -> list[Floats]:
    if not isinstance(rows, tuple | list) or len(rows) != 2:
        raise ValueError("rows must be a pair, the rows of X and those of Y")
    sources = two_samples(*rows)
    if len(sources[0].columns) != len(columns):
        raise ValueError(f"rows must have the {len(columns)} columns of the result; got {len(sources[0].columns)}")
    return [some_rows(source, _SHOWN_ROWS, np.random.default_rng(0)) for source in sources]


def _draw_on_a_line(
    ax: Axes, result: MeResult, samples: list[Floats] | None, place: int, names: tuple[str, str]
) -> list[tuple[Any, str]]:
    regions, entries = result.regions[:, place], []
    heights = result.contributions
    if samples is not None:
        values = [rows[:, place] for rows in samples]
        grid = common_grid(*values)
        drawn = [draw_density(ax, one, grid, look) for one, look in zip(values, LOOKS, strict=False)]
        entries = [(line, said(name)) for line, name in zip(drawn, names, strict=True)]
        top = ax.get_ylim()[1]
        ax.set_ylim(-0.12 * top, top)  # with room for the places below the densities
        heights = np.full(len(regions), -0.06 * top)
        ax.set_xlim(min(grid[0], regions.min()), max(grid[-1], regions.max()))
    else:
        ax.vlines(regions, 0, heights, color=GREY, linewidth=1)
        ax.axhline(0, color=GREY, linewidth=0.8)
    return entries + _draw_places(ax, result, regions, heights, names)


def _draw_on_a_plane(
    ax: Axes, result: MeResult, samples: list[Floats] | None, places: list[int], names: tuple[str, str]
) -> list[tuple[Any, str]]:
    regions, entries = result.regions[:, places], []
    if samples is not None:
        for rows, name, look in zip(samples, names, LOOKS, strict=False):
            x, y = rows[:, places].T
            ax.scatter(x, y, s=8, c=look.color, marker=look.marker, alpha=0.25, linewidths=0)
            entries.append((_mark(look), said(name)))
        grids = [common_grid(*(rows[:, place] for rows in samples)) for place in places]
        ax.set_xlim(min(grids[0][0], regions[:, 0].min()), max(grids[0][-1], regions[:, 0].max()))
        ax.set_ylim(min(grids[1][0], regions[:, 1].min()), max(grids[1][-1], regions[:, 1].max()))
    else:
        entries.append((_draw_reaches(ax, result, places), "reach of a bump, one width"))
    return entries + _draw_places(ax, result, regions[:, 0], regions[:, 1], names)


def _draw_reaches(ax: Axes, result: MeResult, places: list[int]) -> Any:
    """Draw the bumps themselves, whose centres may lie outside of the data, and return one."""
    ellipse = require("matplotlib.patches").Ellipse
    width, height = 2 * result.widths[places]
    for centre in result.locations[:, places]:
        drawn = ax.add_patch(ellipse(tuple(centre), width, height, facecolor="none", edgecolor=GREY, linewidth=0.8))
    ax.autoscale_view()
    return drawn


def _draw_places(ax: Axes, result: MeResult, x: Floats, y: Floats, names: tuple[str, str]) -> list[tuple[Any, str]]:
    """Mark the places, by which sample has more rows there and by how much each contributes."""
    shares = np.maximum(result.contributions, 0) / max(float(np.max(result.contributions)), 1e-300)
    entries = []
    kinds = (
        (result.differences > 0, LOOKS[0], f"{said(names[0])} has more rows here"),
        (result.differences < 0, LOOKS[1], f"{said(names[1])} has more rows here"),
        (result.differences == 0, Look(GREY, "-", "D"), "as many of both"),
    )
    for chosen, look, label in kinds:
        if chosen.any():
            ax.scatter(
                x[chosen],
                y[chosen],
                s=30 + 170 * shares[chosen],
                c=look.color,
                marker=look.marker,
                edgecolors="black",
                linewidths=1,
                zorder=3,
                clip_on=False,
            )
            entries.append((_mark(look, markersize=9, markeredgecolor="black"), label))
    return entries


def _mark(look: Look, **options: Any) -> Any:
    """Return a mark for a legend, in full where those of the picture are faint or of many sizes."""
    line = require("matplotlib.lines").Line2D
    return line([], [], color=look.color, marker=look.marker, **{"linestyle": "none", "markersize": 4} | options)
