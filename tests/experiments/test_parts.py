"""Small parts of the frames of experiments."""

from uptonoise.experiments import title
from uptonoise.experiments._directions import make_direction_bags
from uptonoise.experiments._experiment import batches
from uptonoise.experiments._figures import binned, number, quantiles, titled, wald_band
from uptonoise.experiments._seeded import by_model
from uptonoise.experiments._sizes import interpolated


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
    bags, y = make_direction_bags(20, 30, 4, seed=0)
    assert (len(bags), bags.n_columns, y.shape) == (20, 4, (20,))
