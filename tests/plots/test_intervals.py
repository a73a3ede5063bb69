from __future__ import annotations

import numpy as np

import uptonoise as un
from uptonoise import plots
from uptonoise._util.results import changed
from uptonoise.twosample import ExtraNoise

from .helpers import point_lines, rendered, row_names


def test_effect_of_a_comparison_has_all_columns_and_the_margin(comparison):
    ax = plots.plot_effect(comparison)
    ordered = sorted(comparison.by_column, key=lambda column: -column.effect.low)
    names = ["largest", "without an offset", *(column.column.replace("$", r"\$") for column in ordered)]
    assert row_names(ax) == names
    effects = [comparison.effect, comparison.effect_beyond_offset, *(column.effect for column in ordered)]
    estimates = [effect.estimate for effect in effects]
    bound = comparison.effect.upper_bound(comparison.alpha)
    assert point_lines(ax) == [*((value, row) for row, value in enumerate(estimates)), (bound, 0.0)]
    assert f"dashed: margin 0.2; tick: 95% upper bound {bound:.2g}" in ax.get_xlabel().replace("\n", " ")
    interval = ax.get_lines()[0]
    assert list(interval.get_xdata()) == [comparison.effect.low, comparison.effect.high]


def test_effect_without_an_upper_end(rng):
    known = un.phase_test(rng.normal(size=300), rng.normal(size=300)).effect
    ax = rendered(changed(known, high=np.inf).plot())
    assert [line.get_marker() for line in ax.get_lines() if len(line.get_xdata()) == 1] == ["o", ">"]
    ax = rendered(changed(known, estimate=np.nan, low=np.nan, high=np.nan).plot(margin=0.1))
    assert [text.get_text() for text in ax.texts] == ["not known"]


def test_effect_up_to_an_offset_says_so(rng):
    X, Y = rng.exponential(size=1_000) + 3, rng.exponential(size=1_000)
    found = un.compare(X, Y)
    assert found.verdict == "differ by noise and an offset"
    assert row_names(plots.plot_effect(found)) == ["effect", "without an offset"]


def test_extra_noise_intervals():
    found = ExtraNoise(
        variances=np.array([1.0, 0.0, 0.0]),
        standard_errors=np.array([0.1, np.inf, 0.0]),
        columns=("a", "b", "c"),
        sizes=(10, 10),
        phase_pvalue=None,
    )
    ax = rendered(found.plot(names=("old", "new")))
    np.testing.assert_allclose(ax.get_lines()[0].get_xdata(), found.interval()[0])
    assert [text.get_text() for text in ax.texts] == ["not known"]
    assert point_lines(ax) == [(1.0, 0.0), (0.0, 2.0)]
    assert "old less that of new" in ax.get_xlabel()
