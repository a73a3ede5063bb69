"""Plans: the power at several sizes, and the size that reaches a target."""

import numpy as np
import pytest

import uptonoise as un


@pytest.fixture(scope="module")
def pilot():
    generator = np.random.default_rng(0)
    return generator.gamma(2, size=600), generator.gamma(4, size=600) / 2**0.5


def made(power, n=(100, 200, 400), **options):
    n = np.array(n)
    settings = {"k": n, "target": 0.9, "alpha": 0.05, "n_draws": 100} | options
    return un.Plan(n=n, power=np.array(power), **settings)


def test_the_powers_are_those_of_phase_test_power(pilot):
    plan = un.plan(*pilot, [20, 60], n_draws=20, target=0.5)
    assert np.array_equal(plan.power, un.phase_test_power(*pilot, [20, 60], n_draws=20))
    assert plan.to_frame()["n"].tolist() == [20, 60]
    assert plan.to_dict()["n_needed"] == plan.n_needed
    assert plan == un.plan(*pilot, [20, 60], n_draws=20, target=0.5)


def test_the_needed_number_lies_between_two_sizes():
    plan = made([0.2, 0.8, 1.0])
    assert 200 < plan.n_needed < 400
    assert (
        plan.sentence == f"For power 0.9 at the significance level 0.05 plan about {plan.n_needed} rows in each sample."
    )
    assert "200 and 200 rows: power 0.80" in repr(plan)


@pytest.mark.parametrize(
    ("plan", "needed", "sentence"),
    [
        (made([0.95, 1.0, 1.0]), 100, "plan at most 100 rows in each sample."),
        (made([0.1, 0.2, 0.3]), None, "No planned size reaches power 0.9 at the significance level 0.05: 400 rows"),
        (made([0.1, 0.9, 1.0], k=np.array([50, 60, 70])), 200, "plan about 200 rows of the first sample."),
        (made([0.1, 0.9, 1.0], units="clusters"), 200, "plan about 200 clusters in each sample."),
    ],
)
def test_sentences(plan, needed, sentence):
    assert plan.n_needed == needed
    assert sentence in plan.sentence


def test_clusters_are_counted(pilot):
    ids = np.repeat(np.arange(60), 10)
    assert un.plan(*pilot, [10, 20], clusters=(ids, ids + 60), n_draws=5).units == "clusters"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": 0}, "target must be a number above 0"),
        ({"target": 1.5}, "target must be"),
        ({"n": [200, 100]}, "n must be in ascending order"),
        ({"n": [1, 100]}, "n must be an integer of at least 2"),
        ({"alpha": 2}, "alpha must be"),
    ],
)
def test_bad_input(pilot, options, message):
    with pytest.raises(ValueError, match=message):
        un.plan(*pilot, **{"n": [50, 100], "n_draws": 2} | options)


def test_an_unknown_option_is_an_error_of_plan(rng):
    with pytest.raises(TypeError, match=r"^plan\(\) got an unexpected keyword argument 'alfa'"):
        un.plan(rng.normal(size=50), rng.normal(size=50), alfa=0.1)
