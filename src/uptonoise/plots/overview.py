"""The picture that each kind of result has for its ``plot`` method, and the panels of a comparison."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from uptonoise.comparison import Comparison, GroupComparison
from uptonoise.inference import Calibration, Posterior
from uptonoise.learning import RobustnessCurve
from uptonoise.monitor import History
from uptonoise.plots.densities import plot_calibration, plot_densities, plot_posterior
from uptonoise.plots.locations import plot_locations
from uptonoise.plots.named_rows import plot_column_shares, plot_effect, plot_extra_noise, plot_ladder, plot_pvalues
from uptonoise.plots.results import plot_heat_map, plot_null, plot_phase_differences
from uptonoise.plots.style import documented, panels
from uptonoise.plots.trends import plot_plan, plot_robustness, plot_timeline
from uptonoise.twosample import (
    EffectSize,
    ExtraNoise,
    MeResult,
    MmdResult,
    PairedDifferenceResult,
    PairwiseResult,
    PhaseResult,
    PhdResult,
    Plan,
    TwoSampleResult,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@documented
@singledispatch
def plot(result: Any, **options: Any) -> Any:
    """Plot a result in the way that suits its kind; its ``plot`` method does the same.

    Parameters
    ----------
    result : object
        What any test, :func:`~uptonoise.compare`, :func:`~uptonoise.compare_groups` or
        :func:`~uptonoise.extra_noise` returned.
    **options
        `ax`, and further arguments of the function for this kind of result.

    Returns
    -------
    Axes, or an array of four of them for a Comparison

    {example}
    >>> X, Y = rng.normal(size=(2, 200))
    >>> plots.plot(un.phase_test(X, Y)).get_title(loc="left")
    'Phase of X ahead of that of Y'
    >>> plt.close()
    """
    raise ValueError(f"result must be the outcome of a test or of a comparison; got a {type(result).__name__}")


_PICTURES: dict[type[Any], Callable[..., Any]] = {
    TwoSampleResult: plot_pvalues,
    PhaseResult: plot_phase_differences,
    MeResult: plot_locations,
    PhdResult: plot_null,
    PairwiseResult: plot_heat_map,
    GroupComparison: plot_heat_map,
    Plan: plot_plan,
    ExtraNoise: plot_extra_noise,
    EffectSize: plot_effect,
    RobustnessCurve: plot_robustness,
    Posterior: plot_posterior,
    Calibration: plot_calibration,
    History: plot_timeline,
}
for _kind, _picture in _PICTURES.items():
    plot.register(_kind, _picture)


@plot.register
def _(result: MmdResult, **options: Any) -> Any:
    return (plot_null if len(result.permuted) else plot_pvalues)(result, **options)


@plot.register
def _(result: PairedDifferenceResult, **options: Any) -> Any:
    if isinstance(result.inner, MeResult):
        return plot_locations(result.inner, **{"names": ("X − Y", "Y − X")} | options)  # noqa: RUF001
    inner = result.inner
    return plot(inner, **options) if isinstance(inner, TwoSampleResult) else plot_pvalues(result, **options)


@documented
def plot_overview(comparison: Comparison, *, ax: Any = None) -> NDArray[Any]:
    """Plot a comparison in four panels: the ladder, the effect, phase differences, and the column that tells most.

    Without rows the last panel shows which columns carry the statistic.

    Parameters
    ----------
    {comparison}
    ax : array of four Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    array of four Axes

    {example}
    >>> X, Y = rng.normal(size=(2, 200))
    >>> plots.plot_overview(un.compare(X, Y)).shape
    (4,)
    >>> plt.close()
    """
    if ax is None:
        with panels(2, 2, width=11, height=7.5) as axes:
            return plot_overview(comparison, ax=axes)
    axes = np.asarray(ax, dtype=object).ravel()
    if len(axes) != 4:
        raise ValueError(f"ax must be an array of four Axes; got {len(axes)}")
    plot_ladder(comparison, ax=axes[0])
    plot_effect(comparison, ax=axes[1])
    plot_phase_differences(comparison.phase, names=comparison.names, ax=axes[2])
    if comparison.shown is None:
        plot_column_shares(comparison.phase, ax=axes[3])
    else:
        plot_densities(comparison, ax=axes[3])
    return axes


plot.register(Comparison, plot_overview)
