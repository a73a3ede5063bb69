from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PathCollection

import uptonoise as un
from uptonoise import plots

from .helpers import legend_texts


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
    assert len([line for line in ax.get_lines() if len(line.get_xdata()) > 100]) == 2  # densities end with the data
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


def test_a_comparison_without_an_me_test_is_told_so(rng):
    X, Y = rng.normal(size=(2, 15, 2))
    assert un.compare(X, Y).me is None
    with pytest.raises(ValueError, match="result must be that of an ME test; got None: the comparison has no ME test"):
        plots.plot_locations(un.compare(X, Y).me)
