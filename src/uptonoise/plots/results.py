"""Results of single tests: phase differences, and the null distribution of a statistic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.plots.style import FAINT, GREY, LOOKS, Look, add_legend, canvas, documented, dress, short_name
from uptonoise.twosample import MmdResult, PhaseResult, PhdResult, p_is

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RELIABLE = 0.5  # radians: the largest standard error of a phase that is shown in full
_MARKED_COLUMNS = 5
_BINS = 40


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
    order = np.argsort(-result.column_shares, kind="stable")
    marked = np.sort(order[:_MARKED_COLUMNS])
    groups = [
        (f"{short_name(result.columns[column])} alone", alone & W[:, column], look, 3)
        for column, look in zip(marked, LOOKS, strict=False)
    ]
    groups.append(("another column alone", alone & ~W[:, marked].any(axis=1), Look(GREY, "-", "x"), 2))
    groups.append(("several columns", ~alone, Look("0.7", "-", "."), 2))
    return [group for group in groups if group[1].any()]
