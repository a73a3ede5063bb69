from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import uptonoise as un
from uptonoise import plots

from .helpers import point_lines, rendered, row_names


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


def test_pvalues_of_pairings(rng):
    result = un.flip_test(rng.normal(size=40), rng.normal(size=40), n_pairings=4, random_state=0)
    ax = rendered(result.plot())
    assert point_lines(ax)[0] == (result.pvalue, 0.0)
    pairings = [line for line in ax.get_lines() if len(line.get_xdata()) == 4]
    np.testing.assert_allclose(pairings[0].get_xdata(), result.pairing_pvalues)
