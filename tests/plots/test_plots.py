from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from scipy.stats import ks_2samp

import uptonoise as un
from uptonoise import plots
from uptonoise.plots import style as _style
from uptonoise.plots.curves import curves
from uptonoise.twosample import EffectSize, ExtraNoise, PairwiseResult

BLUE, VERMILLION = (to_rgba(look.color) for look in _style.LOOKS[:2])


@pytest.fixture(autouse=True)
def agg():
    """No test shows a window, leaves a figure open or changes a setting."""
    with mpl.rc_context():
        plt.switch_backend("agg")
        before = dict(mpl.rcParams)
        yield
        assert dict(mpl.rcParams) == before
    plt.close("all")


def new_axes():
    return Figure(figsize=(6, 4), layout="constrained").subplots()


def rendered(ax):
    """Draw all of it, where warnings are errors."""
    np.ravel(ax)[0].figure.canvas.draw()
    return ax


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def point_lines(ax):
    """The places of single marks, in the order in which they were drawn."""
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) == 1]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in lines]


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(7)
    old = rng.gamma(2, size=(600, 3))
    new = rng.gamma(2, size=(500, 3)) + rng.normal(size=(500, 3))
    new[:, 1] = rng.normal(2, 1, size=500)
    names = ["energy", "p_T [$GeV$]", "_time"]
    return pd.DataFrame(old, columns=names), pd.DataFrame(new, columns=names)


@pytest.fixture(scope="module")
def comparison(samples):
    return un.compare(*samples, names=["old", "_new $1$"])


@pytest.fixture(scope="module")
def by_noise():
    rng = np.random.default_rng(0)
    old, new = rng.gamma(2, size=2_000), rng.gamma(2, size=2_000) + rng.normal(size=2_000)
    return un.compare(old, new, names=["old", "new"])


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(1)
    return un.compare_groups({name: rng.normal(shift, size=200) for name, shift in (("a", 0), ("b", 0), ("c$", 3))})


@pytest.fixture(scope="module")
def sketches(samples):
    empty = un.Sketch.for_samples(*samples)
    return tuple(un.Sketch.like(empty).update(sample) for sample in samples)


DRAWN = {
    "ladder": lambda c, ax: plots.plot_ladder(c, ax=ax),
    "effect": lambda c, ax: plots.plot_effect(c, ax=ax),
    "effect of a test": lambda c, ax: plots.plot_effect(c.phase, ax=ax),
    "densities": lambda c, ax: plots.plot_densities(c, ax=ax),
    "phase differences": lambda c, ax: plots.plot_phase_differences(c.phase, ax=ax),
    "column shares": lambda c, ax: plots.plot_column_shares(c.phase, ax=ax),
    "locations": lambda c, ax: plots.plot_locations(c.me, ax=ax),
    "locations with rows": lambda c, ax: plots.plot_locations(c.me, rows=c.shown, ax=ax),
    "null": lambda c, ax: plots.plot_null(c.mmd, ax=ax),
    "extra noise": lambda c, ax: plots.plot_extra_noise(c.extra_noise, ax=ax),
    "p-values": lambda c, ax: plots.plot_pvalues(c.me, ax=ax),
    "characteristic": lambda c, ax: plots.plot_characteristic(*c.shown, ax=ax),
    "phase": lambda c, ax: plots.plot_phase(*c.shown, ax=ax),
    "phase gap": lambda c, ax: plots.plot_phase_gap(*c.shown, ax=ax),
}


@pytest.mark.parametrize("name", DRAWN)
def test_given_axes_are_used_and_no_figure_is_made(name, comparison):
    ax = new_axes()
    assert DRAWN[name](comparison, ax) is ax
    assert ax.has_data()
    assert plt.get_fignums() == []
    rendered(ax)


@pytest.mark.parametrize("name", DRAWN)
def test_without_axes_one_figure_is_made_with_a_title_and_labels(name, comparison):
    ax = rendered(DRAWN[name](comparison, None))
    assert plt.get_fignums() == [ax.figure.number]
    assert ax.get_title(loc="left")
    assert ax.get_xlabel()


@pytest.mark.parametrize("size", [(4, 3), (1.5, 1)])
@pytest.mark.parametrize("name", DRAWN)
def test_small_figures(name, size, comparison):
    ax = Figure(figsize=size).subplots()  # constrained layout says when there is no room at all
    rendered(DRAWN[name](comparison, ax))


def test_ladder_shows_the_pvalues_that_decide(by_noise):
    ax = plots.plot_ladder(by_noise)
    decided = [by_noise.at_all_pvalue, by_noise.beyond_noise_pvalue, by_noise.beyond_offset_pvalue]
    texts = [text.get_text() for text in ax.texts]
    assert [float(text.removeprefix("p = ")) for text in texts] == pytest.approx(decided, rel=0.05)
    assert point_lines(ax) == [(max(p, 1e-12), row) for row, p in enumerate(decided)]
    assert row_names(ax)[0] == "differ at all? yes"
    assert row_names(ax)[1].endswith("no")
    assert ax.get_title(loc="left") == "old and new: differ only by noise"
    left, right = ax.get_xlim()
    assert left > 1 > by_noise.alpha > right
    others = [line for line in ax.get_lines() if line.get_fillstyle() == "none"]
    np.testing.assert_allclose(others[0].get_xdata(), np.maximum([by_noise.mmd.pvalue, by_noise.me.pvalue], 1e-12))


def test_ladder_with_few_rows(rng):
    few = un.compare(rng.normal(size=3), rng.normal(size=3))
    ax = rendered(plots.plot_ladder(replace(few, up_to_offset=None)))
    assert "too few rows" in [text.get_text() for text in ax.texts]


def test_effect_of_a_comparison_has_all_columns_and_the_margin(comparison):
    ax = plots.plot_effect(comparison)
    ordered = sorted(comparison.by_column, key=lambda one: -one.effect.estimate)
    assert row_names(ax) == ["all columns", *(one.column.replace("$", r"\$") for one in ordered)]
    estimates = [comparison.effect.estimate, *(one.effect.estimate for one in ordered)]
    bound = comparison.effect.upper_bound(comparison.alpha)
    assert point_lines(ax) == [*((value, row) for row, value in enumerate(estimates)), (bound, 0.0)]
    assert f"dashed: margin 0.04; tick: 95% upper bound {bound:.2g}" in ax.get_xlabel().replace("\n", " ")
    interval = ax.get_lines()[0]
    assert list(interval.get_xdata()) == [comparison.effect.low, comparison.effect.high]


def test_effect_without_an_upper_end(rng):
    known = un.phase_test(rng.normal(size=300), rng.normal(size=300)).effect
    ax = rendered(replace(known, high=np.inf).plot())
    assert [line.get_marker() for line in ax.get_lines() if len(line.get_xdata()) == 1] == ["o", ">"]
    ax = rendered(replace(known, estimate=np.nan, low=np.nan, high=np.nan).plot(margin=0.1))
    assert [text.get_text() for text in ax.texts] == ["not known"]


def test_effect_up_to_an_offset_says_so(rng):
    X, Y = rng.exponential(size=1_000) + 3, rng.exponential(size=1_000)
    found = un.compare(X, Y)
    assert found.verdict == "differ by noise and an offset"
    assert plots.plot_effect(found).get_title(loc="left") == "Size of the difference beyond noise and an offset"


def test_densities_integrate_to_one_and_mark_the_extra_noise(by_noise):
    ax = plots.plot_densities(by_noise)
    curves_drawn = [line for line in ax.get_lines() if len(line.get_xdata()) == 256]
    assert len(curves_drawn) == 2
    for line in curves_drawn:
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1, abs=0.02)
    assert [to_rgba(line.get_color()) for line in curves_drawn] == [BLUE, VERMILLION]
    assert [line.get_linestyle() for line in curves_drawn] == ["-", "--"]
    deviation = np.sqrt(-by_noise.extra_noise.variances[0])
    assert legend_texts(ax) == ["old, 2,000 rows", "new, 2,000 rows", f"extra noise of new: SD {deviation:.2g}"]
    (bar,) = ax.containers
    segment = bar[2][0].get_segments()[0]
    assert segment[1, 0] - segment[0, 0] == pytest.approx(2 * deviation)


def test_densities_of_a_column_by_name_place_or_interest(comparison):
    assert plots.plot_densities(comparison, "_time", ax=new_axes()).get_title(loc="left") == "Densities of _time"
    assert plots.plot_densities(comparison, -3, ax=new_axes()).get_title(loc="left") == "Densities of energy"
    assert plots.plot_densities(comparison, ax=new_axes()).get_title(loc="left") == r"Densities of p_T [\$GeV\$]"
    assert legend_texts(plots.plot_densities(comparison, ax=new_axes())) == ["old, 600 rows", r"_new \$1\$, 500 rows"]
    for column in ("mass", 3, -4, 1.0, True):
        with pytest.raises(ValueError, match="column must be one of"):
            plots.plot_densities(comparison, column)
    assert plt.get_fignums() == []


def test_densities_with_heavy_tails_constants_and_few_values(rng):
    X = np.stack([rng.standard_cauchy(500), np.full(500, 5.0), rng.integers(0, 2, 500), np.zeros(500)], axis=1)
    Y = np.stack([rng.standard_cauchy(400), np.full(400, 5.0), rng.integers(0, 3, 400), rng.normal(size=400)], axis=1)
    found = un.compare(X, Y)
    ax = rendered(plots.plot_densities(found, 0))
    assert ax.get_xlim()[1] - ax.get_xlim()[0] < 40
    assert "of the rows lie beyond" in ax.get_xlabel()
    ax = rendered(plots.plot_densities(found, 1))
    assert [list(line.get_xdata()) for line in ax.get_lines()] == [[5.0, 5.0]] * 2
    for column in (2, 3):
        rendered(plots.plot_densities(found, column))


def test_what_is_missing_is_told(sketches, by_noise):
    found = un.compare(*sketches)
    with pytest.raises(ValueError, match="comparison must hold rows of both samples"):
        plots.plot_densities(found)
    with pytest.raises(ValueError, match="its null is another one: weighted sum of chi-squared variables"):
        plots.plot_null(found.mmd)
    with pytest.raises(ValueError, match="result must be the outcome of a test"):
        plots.plot("phase")
    with pytest.raises(ValueError, match="four Axes; got 1"):
        by_noise.plot(ax=new_axes())
    assert plt.get_fignums() == []


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
    result = un.phase_test(rng.normal(size=(200, 50)), rng.normal(size=(200, 50)))
    ax = rendered(plots.plot_column_shares(result))
    widths = [bar.get_width() for bar in ax.patches]
    ordered = np.sort(result.column_shares)[::-1]
    np.testing.assert_allclose(widths, [*ordered[:20], ordered[20:].sum()])
    assert row_names(ax)[0] == result.columns[int(np.argmax(result.column_shares))]
    assert row_names(ax)[-1] == "30 more columns"
    rendered(plots.plot_phase_differences(result))
    rendered(plots.plot_extra_noise(un.extra_noise(rng.normal(size=(200, 50)), rng.normal(size=(200, 50)))))


def test_null_shows_all_permutations_and_the_statistic(by_noise):
    ax = plots.plot_null(by_noise.mmd)
    assert sum(bar.get_height() for bar in ax.patches) == len(by_noise.mmd.permuted)
    assert ax.get_lines()[0].get_xdata() == [by_noise.mmd.statistic] * 2
    assert ax.get_title(loc="left") == f"MMD test: p = {by_noise.mmd.pvalue:.3g}"


def test_locations_are_marked_by_who_has_more_rows(comparison):
    me = comparison.me
    ax = plots.plot_locations(me, columns=("energy", "_time"), names=comparison.names)
    marks = [points for points in ax.collections if isinstance(points, PathCollection)]
    more = me.differences > 0
    expected = [regions for regions in (me.regions[more], me.regions[~more]) if len(regions)]
    for points, regions in zip(marks, expected, strict=True):
        np.testing.assert_allclose(points.get_offsets(), regions[:, [0, 2]])
    sizes = np.concatenate([points.get_sizes() for points in marks])
    assert sizes.max() == pytest.approx(200)
    assert len(ax.patches) == len(me.locations)
    assert ax.patches[0].width == pytest.approx(2 * me.widths[0])
    assert ax.get_xlabel() == "energy, in the data's units"


def test_locations_on_the_rows_and_on_one_column(comparison, by_noise):
    ax = plots.plot_locations(comparison.me, comparison.shown, names=comparison.names)
    assert [len(points.get_offsets()) for points in ax.collections[:2]] == [600, 500]
    assert legend_texts(ax)[:2] == ["old", r"_new \$1\$"]
    ax = plots.plot_locations(by_noise.me, by_noise.shown)
    assert len([line for line in ax.get_lines() if len(line.get_xdata()) == 256]) == 2
    ax = plots.plot_locations(by_noise.me)
    offsets = np.concatenate([p.get_offsets() for p in ax.collections if isinstance(p, PathCollection)])
    expected = np.stack([by_noise.me.regions[:, 0], by_noise.me.contributions], axis=1)
    np.testing.assert_allclose(offsets[np.argsort(offsets[:, 0])], expected[np.argsort(expected[:, 0])])


def test_locations_refuse_what_does_not_fit(comparison, by_noise):
    for columns in ((), ("energy",) * 3, "energy"):
        with pytest.raises(ValueError, match="columns must be one or two columns"):
            plots.plot_locations(comparison.me, columns=columns)
    with pytest.raises(ValueError, match="rows must have the 3 columns"):
        plots.plot_locations(comparison.me, by_noise.shown)
    with pytest.raises(ValueError, match="rows must be a pair"):
        plots.plot_locations(comparison.me, comparison.shown[0])


def test_equal_constants_have_pictures():
    found = un.compare(np.ones(40), np.ones(40))
    rendered(found.plot())
    ax = rendered(plots.plot_locations(found.me, found.shown))
    assert legend_texts(ax)[-1] == "as many of both"
    rendered(plots.plot_null(found.mmd))
    rendered(plots.plot_characteristic(np.ones(40), np.ones(40)))
    rendered(plots.plot_phase(np.ones(40), np.ones(40)))


def test_heat_map_of_pvalues_and_effects(groups):
    ax = rendered(plots.plot_heat_map(groups))
    shown = ax.images[0].get_array()
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(shown[off], np.maximum(groups.pairs.adjusted[off], 1e-6))
    assert np.ma.getmaskarray(np.ma.masked_invalid(shown))[~off].all()
    assert row_names(ax) == ["a", "b", r"c\$"]
    assert len(ax.texts) == 6
    ax = rendered(plots.plot_heat_map(groups.pairs, "effects"))
    np.testing.assert_allclose(ax.images[0].get_array()[off], groups.pairs.effects[off])
    with pytest.raises(ValueError, match="show must be one of pvalues, effects"):
        plots.plot_heat_map(groups, "sizes")


@pytest.mark.parametrize("n_groups", [2, 12, 40, 100])
def test_heat_map_of_many_groups(n_groups, rng):
    pvalues = rng.uniform(size=(n_groups, n_groups)) ** 8
    names = tuple(f"a hospital with number {number}" for number in range(n_groups))
    found = PairwiseResult(
        names=names, sizes=(9,) * n_groups, pvalues=pvalues, adjusted=pvalues, effects=0 * pvalues, adjust="none"
    )
    for ax in (None, new_axes()):
        drawn = rendered(plots.plot_heat_map(found, ax=ax))
        assert drawn.images[0].get_array().shape == (n_groups, n_groups)
        assert row_names(drawn)[0] == "a hospital with…"
        boxes = [label.get_window_extent() for label in drawn.get_yticklabels()]
        assert all(one.y0 >= other.y1 - 1 for one, other in pairwise(boxes))
    rendered(plots.plot_heat_map(found, "effects"))


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


def test_pvalues_of_pairings(rng):
    result = un.flip_test(rng.normal(size=40), rng.normal(size=40), n_pairings=4, random_state=0)
    ax = rendered(result.plot())
    assert point_lines(ax)[0] == (result.pvalue, 0.0)
    pairings = [line for line in ax.get_lines() if len(line.get_xdata()) == 4]
    np.testing.assert_allclose(pairings[0].get_xdata(), result.pairing_pvalues)


def test_each_result_has_its_plot(samples, comparison, groups, sketches):
    X, Y = (sample.to_numpy() for sample in samples)
    titles = {
        "Where": [comparison.me, un.sme_test(X, Y, random_state=0)],
        "Phase of X": [comparison.phase],
        "MMD test": [comparison.mmd, un.mmd_test(*sketches)],
        "PhD test": [un.phd_test(X[:500], X[100:], random_state=0)],
        "Flip test": [un.flip_test(X, Y, random_state=0)],
        "Paired-difference": [un.paired_difference_test(X[:, 0], Y[:, 0], test=ks_2samp, random_state=0)],
        "Phase of X ahead": [un.paired_difference_test(X, Y, test=un.phase_test, random_state=0)],
        "Adjusted p-values": [groups, groups.pairs],
        "Extra noise": [comparison.extra_noise],
        "Size": [comparison.effect],
    }
    for title, results in titles.items():
        for result in results:
            ax = new_axes()
            assert rendered(result.plot(ax=ax)) is ax
            assert ax.get_title(loc="left").startswith(title)
    assert isinstance(comparison.effect, EffectSize)
    assert plt.get_fignums() == []


def test_differences_keep_their_names(samples):
    result = un.sme_test(*(sample.to_numpy() for sample in samples), random_state=0)
    assert any(text.startswith("X − Y") for text in legend_texts(result.plot()))  # noqa: RUF001


def test_overview_has_four_panels(comparison, sketches):
    axes = rendered(comparison.plot())
    assert axes.shape == (4,)
    assert axes[3].get_title(loc="left").startswith("Densities")
    given = Figure(figsize=(9, 7)).subplots(2, 2)
    found = plots.plot_overview(un.compare(*sketches), ax=given)
    assert found[3] is given[1, 1]
    assert found[3].get_title(loc="left").startswith("Columns that carry")


def test_characteristic_function_has_its_values_and_bands(rng, plain_ecf):
    X = rng.normal(1, size=(400, 2))
    t = np.linspace(0, 3, 7)
    ax = plots.plot_characteristic(X, frequencies=t, column="x1", law=lambda t: np.exp(1j * t - t**2 / 2))
    phi = plain_ecf(X[:, 1], t[:, None])
    real, imaginary = (line for line in ax.get_lines() if len(line.get_xdata()) == 7)
    np.testing.assert_allclose(real.get_ydata(), phi.real, atol=1e-6)
    np.testing.assert_allclose(imaginary.get_ydata(), phi.imag, atol=1e-6)
    errors = np.cos(np.outer(X[:, 1], t)).std(axis=0, ddof=1) / 20
    band = ax.collections[0].get_paths()[0].get_extents()
    assert band.y0 == pytest.approx((phi.real - 1.96 * errors).min(), abs=1e-3)
    assert legend_texts(ax) == ["X", "exact", "real part", "imaginary part", "95% band"]
    law = [line for line in ax.get_lines() if len(line.get_xdata()) == 500]
    assert law[0].get_ydata()[-1] == pytest.approx((np.exp(3j - 4.5)).real)


def test_errors_of_amplitude_and_angle_are_those_of_repeated_samples():
    rng = np.random.default_rng(5)
    t = np.array([0.0, 0.5, 1.0, 1.5])
    found = [curves([rng.exponential(size=400)], t, 0, None, 0.0)[0] for _ in range(600)]
    for value, error in (("amplitude", "amplitude_error"), ("angle", "angle_error")):
        spread = np.std([getattr(one, value) for one in found], axis=0)
        told = np.mean([getattr(one, error) for one in found], axis=0)
        np.testing.assert_allclose(told[1:], spread[1:], rtol=0.12)
        assert told[0] == pytest.approx(0, abs=1e-6)
    assert found[0].is_reliable.all()


def test_phase_does_not_see_noise_and_fades_where_it_is_noise():
    rng = np.random.default_rng(4)
    X = rng.exponential(size=4_000)
    noisy = rng.exponential(size=4_000) + rng.normal(scale=0.7, size=4_000)
    ax = plots.plot_phase(X, noisy, names=["X", "noisy"], centre=0, law=lambda t: 1 / (1 - 1j * t))
    of_X, of_noisy, faint = (line for line in ax.get_lines() if len(line.get_xdata()) == 200)
    low = of_X.get_xdata() < 2
    np.testing.assert_allclose(of_X.get_ydata()[low], np.arctan(of_X.get_xdata()[low]), atol=0.1)
    np.testing.assert_allclose(of_noisy.get_ydata()[low], np.arctan(of_X.get_xdata()[low]), atol=0.3)
    assert np.isnan(of_noisy.get_ydata()[-1])
    assert not np.isnan(faint.get_ydata()[-1])
    assert faint.get_alpha() < 0.5


def test_phase_of_columns_far_from_zero(rng):
    X = rng.exponential(size=500)
    far, near = (plots.plot_phase(one, part="angle", centre=c) for one, c in ((X + 1e6, 1e6), (X, 0)))
    np.testing.assert_allclose(far.get_lines()[0].get_ydata(), near.get_lines()[0].get_ydata(), atol=1e-4)
    assert far.get_title(loc="left") == "Phase of x0 − 1e+06"  # noqa: RUF001
    assert "−" in plots.plot_phase(X + 50).get_title(loc="left")  # noqa: RUF001


def test_phase_gap_is_that_of_the_phase_test(rng):
    X, Y = rng.exponential(size=500), rng.normal(1, size=400)
    result = un.phase_test(X, Y)
    order = np.argsort(np.abs(result.frequencies[:, 0]))
    known = order[result.standard_errors[order] < 0.1]
    t = np.abs(result.frequencies[known, 0])
    ax = plots.plot_phase_gap(X, Y, frequencies=t)
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), result.phase_differences[known], atol=1e-5)


def test_curves_of_sketches(sketches, samples):
    ax = rendered(plots.plot_characteristic(*sketches, column="energy", part="amplitude"))
    line = ax.get_lines()[0]
    W = np.stack([line.get_xdata(), *np.zeros((2, len(line.get_xdata())))], axis=1)
    np.testing.assert_allclose(line.get_ydata(), np.abs(un.ecf(samples[0], W)), atol=1e-5)
    rendered(plots.plot_phase(*sketches, column=1, part="both"))
    rendered(plots.plot_phase_gap(*sketches, column=1, band=None))
    with pytest.raises(ValueError, match="frequencies must be left out for sketches"):
        plots.plot_phase(*sketches, frequencies=[1.0])
    with pytest.raises(ValueError, match="all be rows or all be sketches"):
        plots.plot_phase(sketches[0], samples[1])
    other = un.Sketch([[0.1, 0, 0], [0.2, 0, 0]]).update(samples[1])
    with pytest.raises(ValueError, match="must have the same frequencies"):
        plots.plot_phase_gap(sketches[0], other)


def test_curves_refuse_bad_arguments(rng):
    X = rng.normal(size=50)
    cases = [
        ({"part": "phase"}, "part must be one of"),
        ({"band": 95}, "band must lie between 0 and 1"),
        ({"names": ["a", "b"]}, "names must have one name per sample, 1 in all"),
        ({"law": lambda t: 1.0}, "law must return one number for each frequency"),
        ({"column": "y"}, "column must be one of"),
        ({"frequencies": [np.nan]}, "frequencies must be finite"),
    ]
    for options, message in cases:
        with pytest.raises(ValueError, match=message):
            plots.plot_characteristic(X, **options)
        with pytest.raises(ValueError, match=message):
            plots.plot_phase(X, **options)
    with pytest.raises(ValueError, match="samples must be at least one"):
        plots.plot_phase()
    assert plt.get_fignums() == []


def test_rows_that_can_be_read_once(rng):
    X = rng.normal(size=(300, 2))
    once = plots.plot_characteristic(iter([X[:100], X[100:]]), part="real", frequencies=[0.5, 1.0])
    again = plots.plot_characteristic(X, part="real", frequencies=[0.5, 1.0])
    np.testing.assert_allclose(once.get_lines()[0].get_ydata(), again.get_lines()[0].get_ydata(), atol=1e-6)


@pytest.mark.parametrize("name", ["反応時間", "سرعة", "Δv $\\frac{", "_", "a\nb", "x" * 200, "100 %", "€$$"])
def test_names_in_any_script(name, comparison):
    columns = (name, *comparison.columns[1:])
    found = replace(
        comparison,
        names=(name, "Y"),
        columns=columns,
        phase=replace(comparison.phase, columns=columns),
        by_column=(replace(comparison.by_column[0], column=name, adjusted_beyond_noise=0.0), *comparison.by_column[1:]),
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # where no font has it
        warnings.filterwarnings("ignore", "Matplotlib currently does not support")  # letters that join
        for axes in (None, Figure(figsize=(9, 6)).subplots(2, 2)):
            drawn = rendered(found.plot(ax=axes))
        rendered(plots.plot_column_shares(found.phase))
    assert len(drawn[0].get_title(loc="left")) < 100
    assert drawn[3].get_title(loc="left").startswith("Densities of")


def test_matplotlib_is_loaded_late_and_missed_with_advice():
    code = """
import sys
import uptonoise as un
from uptonoise import plots
assert "matplotlib" not in sys.modules
sys.modules["matplotlib"] = None
try:
    un.phase_test([0.0, 1.0, 3.0], [0.0, 1.0, 2.0]).plot()
except ImportError as error:
    assert str(error) == 'plots need matplotlib: pip install "uptonoise[plot]"', error
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)
