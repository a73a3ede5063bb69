"""Small parts of the frames of experiments."""

from importlib import import_module

import numpy as np
import pytest
from matplotlib.figure import Figure

from uptonoise.experiments import title
from uptonoise.experiments._experiment import batches
from uptonoise.experiments._figures import binned, number, quantiles, titled, wald_band
from uptonoise.experiments._looks import label_ends, look_of
from uptonoise.experiments._peers import classifier_test, ks_test, stability_rule
from uptonoise.experiments._seeded import by_model
from uptonoise.experiments.noise_sizes import interpolated


def test_a_title_is_the_first_line_of_the_module():
    assert title("noise-power").startswith("Power of the phase test and the flip test against the paper's tests")
    text = titled("Errors: the paper's Figure 3.", [{"bags": "aerosol-like"}])
    assert text == "Errors: the paper's Figure 3. Simulated stand-ins, not the paper's data."


def test_numbers_are_read_from_cells_of_tables():
    assert (number("over 6,400"), number("0.7 (0.6 to 0.8)")) == (6400.0, 0.7)
    assert quantiles("0.7 (0.6 to 0.8)") == (0.6, 0.8)


def test_bands_bins_and_batches():
    assert [round(edge, 4) for edge in wald_band(0.05, 1_000)] == [0.0323, 0.0677]
    low, high = binned([0.1, 0.2, 0.9], 2, (0.0, 1.0))
    assert low == {"low": "0", "high": "0.5", "share": "0.66667"}
    assert high == {"low": "0.5", "high": "1", "share": "0.33333"}
    assert list(batches(range(5), 2)) == [range(0, 2), range(2, 4), range(4, 5)]


def test_sizes_between_two_powers():
    assert round(interpolated((100, 0.8), (200, 1.0)), 1) == 141.4


def test_values_by_model():
    row = {"problem": "a", "seed": "0", "model": "b", "measure": "c", "value": "2"}
    assert by_model([row])[("a", "b")]["c"] == [2.0]


def test_bags_that_differ_in_a_direction():
    pytest.importorskip("torch")
    networks = import_module("uptonoise.experiments.networks")
    bags, y = networks.make_direction_bags(20, 30, 4, seed=0)
    assert (len(bags), bags.n_columns, y.shape) == (20, 4, (20,))


def test_outside_yardsticks_see_what_differs_and_not_what_does_not():
    rng = np.random.default_rng(0)
    X, same, other = rng.gamma(2, size=(400, 1)), rng.gamma(2, size=(400, 1)), 4 - rng.gamma(2, size=(400, 1))
    for test in (ks_test, classifier_test, stability_rule):
        assert test(X, same, random_state=rng).pvalue > 0.01
        assert test(X, other, random_state=rng).pvalue < 0.01


def test_a_test_has_one_look_whatever_a_table_calls_it():
    assert look_of("sme") == look_of("SME")
    assert look_of("pted") == look_of("energy distance")
    assert look_of("PLRR") == look_of("plrr")
    looks = [look_of(name) for name in ("phase", "flip", "sme", "phd", "me", "mmd", "pted", "ks", "epps-singleton")]
    assert len({(look.color, look.marker) for look in looks}) == len(looks)


def test_names_of_lines_do_not_overlap():
    figure = Figure(figsize=(4, 3))
    ax = figure.subplots()
    ax.set_ylim(0, 1)
    label_ends(ax, [(1.0, "a", "k"), (1.0, "b", "k"), (0.99, "c", "k"), (0.0, "d", "k")])
    heights = sorted(text.xy[1] for text in ax.texts)
    assert min(np.diff(heights)) > 0.03
    assert heights[-1] <= 1
