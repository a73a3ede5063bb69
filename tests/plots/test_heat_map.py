from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from uptonoise import plots
from uptonoise.twosample import PairwiseResult

from .helpers import new_axes, rendered, row_names


def test_heat_map_of_pvalues_and_noncentralities(groups):
    ax = rendered(plots.plot_heat_map(groups))
    shown = ax.images[0].get_array()
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(shown[off], np.maximum(groups.pairs.adjusted[off], 1e-6))
    assert np.ma.getmaskarray(np.ma.masked_invalid(shown))[~off].all()
    assert row_names(ax) == ["a", "b", r"c\$"]
    assert len(ax.texts) == 6
    ax = rendered(plots.plot_heat_map(groups.pairs, "noncentralities"))
    np.testing.assert_allclose(ax.images[0].get_array()[off], groups.pairs.noncentralities[off])
    with pytest.raises(ValueError, match="show must be one of pvalues, noncentralities"):
        plots.plot_heat_map(groups, "sizes")


@pytest.mark.parametrize("n_groups", [2, 12, pytest.param(40, marks=pytest.mark.slow), 100])
def test_heat_map_of_many_groups(n_groups, rng):
    pvalues = rng.uniform(size=(n_groups, n_groups)) ** 8
    names = tuple(f"a hospital with number {number}" for number in range(n_groups))
    found = PairwiseResult(
        names=names,
        sizes=(9,) * n_groups,
        pvalues=pvalues,
        adjusted=pvalues,
        noncentralities=0 * pvalues,
        adjust="none",
    )
    for given in (None, new_axes()):
        ax = rendered(plots.plot_heat_map(found, ax=given))
        assert ax.images[0].get_array().shape == (n_groups, n_groups)
        assert row_names(ax)[0] == "a hospital with…"
        boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
        assert all(above.y0 >= below.y1 - 1 for above, below in pairwise(boxes))
