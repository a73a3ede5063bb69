from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import uptonoise as un
from uptonoise import plots
from uptonoise._util.results import changed

from .helpers import DRAWN, legend_texts, new_axes, rendered


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


def test_equal_constants_have_pictures():
    found = un.compare(np.ones(40), np.ones(40))
    rendered(found.plot())
    ax = rendered(plots.plot_locations(found.me, found.shown))
    assert legend_texts(ax)[-1] == "as many of both"
    rendered(plots.plot_null(found.mmd))
    rendered(plots.plot_characteristic(np.ones(40), np.ones(40)))
    rendered(plots.plot_phase(np.ones(40), np.ones(40)))


@pytest.mark.parametrize("name", ["反応時間", "سرعة", "Δv $\\frac{", "_", "a\nb", "x" * 200, "100 %", "€$$"])
def test_names_in_any_script(name, comparison):
    columns = (name, *comparison.columns[1:])
    found = changed(
        comparison,
        names=(name, "Y"),
        columns=columns,
        phase=replace(comparison.phase, columns=columns),
        by_column=(replace(comparison.by_column[0], column=name, adjusted_beyond_noise=0.0), *comparison.by_column[1:]),
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # where no font has it
        warnings.filterwarnings("ignore", "Matplotlib currently does not support")  # letters that join
        panels = rendered(found.plot(ax=Figure(figsize=(9, 6), dpi=50).subplots(2, 2)))
        rendered(plots.plot_column_shares(found.phase))
        if len(name) > 100:
            rendered(found.plot())  # whose layout must stand the length
    assert len(panels[0].get_title(loc="left")) < 100
    assert panels[3].get_title(loc="left").startswith("Densities of")


def test_matplotlib_is_loaded_late_and_missed_with_advice_and_cards_do_without():
    code = """
import sys
import uptonoise as un
from uptonoise import plots
assert "matplotlib" not in sys.modules
sys.modules["matplotlib"] = sys.modules["jinja2"] = None
result = un.phase_test([0.0, 1.0, 3.0], [0.0, 1.0, 2.0])
assert result._repr_html_().startswith('<div class="uptonoise-card">')
try:
    result.plot()
except ImportError as error:
    assert str(error) == 'plots need matplotlib: pip install "uptonoise[plot]"', error
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)
