import numpy as np
import pytest

from uptonoise.datasets import (
    make_aerosol_like,
    make_dark_matter_like,
    make_gamma_bags,
    make_misr1_like,
)

SIMULATORS = {
    "gamma": lambda seed: make_gamma_bags(20, (2, 30), 2, random_state=seed),
    "misr1": lambda seed: make_misr1_like(20, 7, random_state=seed),
    "aerosol": lambda seed: make_aerosol_like(20, 7, random_state=seed),
    "dark matter": lambda seed: make_dark_matter_like(10, 2, random_state=seed),
}


@pytest.mark.parametrize("name", SIMULATORS)
def test_the_seed_decides_and_labels_go_along(name):
    bags, y, *groups = SIMULATORS[name](3)
    again, y_again, *groups_again = SIMULATORS[name](3)
    assert bags == again
    np.testing.assert_array_equal(y, y_again)
    np.testing.assert_array_equal(groups, groups_again)
    other, y_other, *_ = SIMULATORS[name](4)
    assert bags != other
    assert (y != y_other).all()
    assert len(bags) == len(y) == 20
    np.testing.assert_array_equal(bags.ids, np.arange(20))
    np.testing.assert_array_equal(bags[[5, 2]].labels, y[[5, 2]])


@pytest.mark.parametrize(
    ("make", "change", "match"),
    [
        (make_gamma_bags, {"n_bags": 0}, "n_bags"),
        (make_gamma_bags, {"n_columns": 1.5}, "n_columns"),
        (make_gamma_bags, {"n_rows": 0}, "n_rows must be a positive integer"),
        (make_gamma_bags, {"n_rows": "9"}, "n_rows must be a positive integer"),
        (make_gamma_bags, {"n_rows": (9, 5)}, "in this order"),
        (make_gamma_bags, {"n_rows": (1, 2, 3)}, "smallest and a largest"),
        (make_gamma_bags, {"n_rows": [5, 6], "n_bags": 3}, "each of the 3 bags; got 2"),
        (make_gamma_bags, {"n_rows": [5, -6], "n_bags": 2}, "n_rows must be a positive integer; got -6"),
        (make_gamma_bags, {"prior": (0.0, 1.0)}, "prior"),
        (make_gamma_bags, {"prior": (1.0,)}, "prior"),
        (make_gamma_bags, {"noise": -0.1}, "noise"),
        (make_gamma_bags, {"noise": np.nan}, "noise"),
        (make_aerosol_like, {"n_bags": -1}, "n_bags"),
        (make_aerosol_like, {"n_rows": True}, "n_rows"),
        (make_dark_matter_like, {"n_clusters": 0}, "n_clusters"),
        (make_dark_matter_like, {"n_lines_of_sight": 0}, "n_lines_of_sight"),
        (make_dark_matter_like, {"interlopers": 0.6}, "interlopers"),
        (make_dark_matter_like, {"random_state": -1}, "random_state"),
    ],
)
def test_bad_arguments(make, change, match):
    with pytest.raises(ValueError, match=match):
        make(**change)
