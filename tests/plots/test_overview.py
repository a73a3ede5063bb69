from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from scipy.stats import ks_2samp

import uptonoise as un
from uptonoise import plots
from uptonoise.twosample import EffectSize

from .helpers import legend_texts, new_axes, rendered


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
