from __future__ import annotations

from dataclasses import replace

import numpy as np

import uptonoise as un
from uptonoise import plots

from .helpers import legend_texts, rendered, row_names


def test_phase_differences_are_those_of_the_result(comparison):
    phase = comparison.phase
    ax = plots.plot_phase_differences(phase, names=comparison.names)
    assert ax.get_title(loc="left") == r"Phase of old ahead of that of _new \$1\$"
    assert legend_texts(ax) == ["energy alone", r"p_T [\$GeV\$] alone", "_time alone", "several columns"]
    drawn = np.concatenate([bar[0].get_ydata() for bar in ax.containers])
    alone = np.count_nonzero(phase.frequencies, axis=1) == 1
    sign = np.where(alone, np.sign(phase.frequencies.sum(axis=1)), 1)
    np.testing.assert_allclose(np.sort(drawn), np.sort(sign * phase.phase_differences))
    reaches = np.concatenate(
        [np.diff(bar[2][0].get_segments(), axis=1)[:, 0, 1] for bar in ax.containers if bar[2][0].get_segments()]
    )
    np.testing.assert_allclose(np.sort(reaches), np.sort(2 * phase.standard_errors))


def test_phase_differences_that_are_noise_are_faint(by_noise):
    ax = plots.plot_phase_differences(by_noise.phase)
    clear, faint = ax.containers
    reliable = by_noise.phase.standard_errors <= 0.5
    assert (len(clear[0].get_xdata()), len(faint[0].get_xdata())) == (reliable.sum(), (~reliable).sum())
    assert clear[0].get_alpha() == 1
    assert faint[0].get_alpha() < 0.5
    np.testing.assert_allclose(clear[0].get_xdata(), np.abs(by_noise.phase.frequencies[reliable, 0]))
    assert ax.get_legend() is None


def test_phase_differences_without_errors(by_noise):
    phase = by_noise.phase
    errors = phase.standard_errors.copy()
    errors[:3] = [np.nan, np.inf, 0]
    rendered(plots.plot_phase_differences(replace(phase, standard_errors=errors)))
    unknown = replace(phase, standard_errors=np.full(len(errors), np.inf))
    assert rendered(plots.plot_phase_differences(unknown)).get_ylim()[1] > 3


def test_column_shares_show_the_largest_twenty(rng):
    result = un.phase_test(rng.normal(size=(100, 25)), rng.normal(size=(100, 25)))
    ax = rendered(plots.plot_column_shares(result))
    widths = [bar.get_width() for bar in ax.patches]
    ordered = np.sort(result.column_shares)[::-1]
    np.testing.assert_allclose(widths, [*ordered[:20], ordered[20:].sum()])
    assert row_names(ax)[0] == result.columns[int(np.argmax(result.column_shares))]
    assert row_names(ax)[-1] == "5 more columns"
    rendered(plots.plot_phase_differences(result))
    rendered(plots.plot_extra_noise(un.extra_noise(rng.normal(size=(100, 25)), rng.normal(size=(100, 25)))))


def test_null_shows_all_permutations_and_the_statistic(by_noise):
    ax = plots.plot_null(by_noise.mmd)
    assert sum(bar.get_height() for bar in ax.patches) == len(by_noise.mmd.permuted)
    assert ax.get_lines()[0].get_xdata() == [by_noise.mmd.statistic] * 2
    assert ax.get_title(loc="left") == f"MMD test: p = {by_noise.mmd.pvalue:.3g}"
