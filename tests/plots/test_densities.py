from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba

import uptonoise as un
from uptonoise import plots
from uptonoise._util.density import common_grid, density_of

from .helpers import BLUE, VERMILLION, legend_texts, new_axes, rendered


def test_densities_integrate_to_one_and_mark_the_extra_noise(by_noise):
    ax = plots.plot_densities(by_noise)
    curves_drawn = [line for line in ax.get_lines() if len(line.get_xdata()) > 100]
    assert len(curves_drawn) == 2
    for line in curves_drawn:
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1, abs=0.02)
    assert [to_rgba(line.get_color()) for line in curves_drawn] == [BLUE, VERMILLION]
    assert [line.get_linestyle() for line in curves_drawn] == ["-", "--"]
    deviation = by_noise.noise[0].sd
    assert legend_texts(ax) == ["old, 2,000 rows", "new, 2,000 rows", f"noise added in new: SD {deviation:.2g}"]
    (bar,) = ax.containers
    segment = bar[2][0].get_segments()[0]
    assert segment[1, 0] - segment[0, 0] == pytest.approx(2 * deviation)


def test_densities_stop_at_the_range_of_the_data(rng):
    values = rng.exponential(size=2_000)
    for noise in (0.0, 1.0):
        density = density_of(values, common_grid(values), noise)
        assert density.x[0] >= values.min() >= 0
    assert density_of(values, common_grid(values)).y[0] > 0.8  # no mass is lost beyond the end
    assert density_of(np.ones(10), common_grid(np.ones(10))) is None


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
