"""Planned power: against simulation, with noise that the pilot does not have, and from sketches."""

import numpy as np
import pytest

import uptonoise as un
from uptonoise.datasets import make_chi2_samples
from uptonoise.twosample.phase.pair import SampleMoments
from uptonoise.twosample.phase.power import with_noise


@pytest.fixture(scope="module")
def pilot():
    return make_chi2_samples(5_000, 1, freedoms=(4, 8), random_state=0)


@pytest.mark.slow
def test_planned_power_is_that_of_simulation():
    X, Y = make_chi2_samples(20_000, 1, freedoms=(4, 8), random_state=1)
    planned = un.phase_test_power(X, Y, 150, n_draws=500)
    drawn = [make_chi2_samples(150, 1, freedoms=(4, 8), random_state=seed) for seed in range(500)]
    simulated = np.mean([un.phase_test(*samples).pvalue <= 0.05 for samples in drawn])
    assert planned == pytest.approx(simulated, abs=0.09)  # three standard errors of a difference


def test_noise_to_come(pilot):
    clean, noisy = (un.phase_test_power(*pilot, 200, noise=noise, n_draws=150) for noise in (0.0, (1.0, 0.5)))
    assert noisy < clean - 0.1
    there = [
        rows + sd * np.random.default_rng(0).normal(size=rows.shape) for rows, sd in zip(pilot, (1.0, 0.5), strict=True)
    ]
    assert un.phase_test_power(*there, 200, n_draws=150) == pytest.approx(noisy, abs=0.2)


def test_waves_of_noise_are_those_of_noisy_rows(rng):
    X, W, sd = rng.exponential(size=(200_000, 2)), rng.normal(size=(6, 2)), np.array([0.5, 1.0])
    expected = with_noise(SampleMoments.of(un.Sketch(W).update(X), np.zeros(2)), W, sd)
    found = SampleMoments.of(un.Sketch(W).update(X + sd * rng.normal(size=X.shape)), np.zeros(2))
    for one, other in zip(expected[:3], found[:3], strict=True):
        np.testing.assert_allclose(one, other, atol=0.01)


def test_sketches_and_many_rows(pilot):
    empty = un.Sketch.for_samples(*pilot)
    sketches = [un.Sketch.like(empty).update(rows) for rows in pilot]
    curve = un.phase_test_power(*sketches, [50, 200, 800], n_draws=100)
    assert (np.diff(curve) > 0).all()
    assert curve[1] == pytest.approx(un.phase_test_power(*pilot, 200, n_draws=100), abs=0.2)
    assert un.phase_test_power(*pilot, 50_000, n_draws=30) == 1


def test_positivity_is_planned_for(rng):
    coin = rng.choice([-1.0, 1.0], 500)
    assert un.phase_test_power(coin, np.zeros(500), 300, n_draws=20) == 1
    assert un.phase_test_power(coin, np.zeros(500), 300, n_draws=20, positivity=False) < 0.5
    empty = un.Sketch.for_samples(coin, np.zeros(500))
    sketches = [un.Sketch.like(empty).update(rows) for rows in (coin, np.zeros(500))]
    assert un.phase_test_power(*sketches, 300, n_draws=20) > 0.9


def test_equal_laws_have_the_level_for_power():
    X, Y = make_chi2_samples(5_000, 2, freedoms=(4, 4), random_state=3)
    assert un.phase_test_power(X, Y, 200, n_draws=100) < 0.2


def test_same_seed_same_power(pilot):
    assert un.phase_test_power(*pilot, 60, n_draws=50) == un.phase_test_power(*pilot, 60, n_draws=50)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1}, "n must be an integer of at least 2"),
        ({"n": 10.5}, "n must be an integer of at least 2"),
        ({"n": []}, "n must be an integer of at least 2"),
        ({"n": [10, [20, 30]]}, "n must be an integer of at least 2"),
        ({"n": [10, 20], "k": [10, 20, 30]}, "n and k must have the same length"),
        ({"n": 10, "noise": -1}, "noise must be a standard deviation"),
        ({"n": 10, "noise": "much"}, "noise must be a standard deviation"),
        ({"n": 10, "alpha": 1.5}, "alpha must be a number above 0 and below 1"),
        ({"n": 10, "n_draws": 0}, "n_draws must"),
    ],
)
def test_bad_input(pilot, arguments, message):
    with pytest.raises(ValueError, match=message):
        un.phase_test_power(*pilot, **arguments)


def test_a_pilot_of_a_few_rows(rng):
    with pytest.raises(ValueError, match="pilot_Y must have at least 20 rows to plan from; got 5"):
        un.phase_test_power(rng.normal(size=50), rng.normal(size=5), 100)


def test_sketches_of_clusters_plan_for_clusters_like_those(rng):
    ids = np.repeat(np.arange(60), 10)
    X, Y = (rng.gamma(shape, size=60)[ids] + rng.normal(size=600) for shape in (2, 4))
    empty = un.Sketch.for_samples(X, Y)
    pilots = [un.Sketch.like(empty).update(rows, clusters=ids) for rows in (X, Y)]
    sizes = [6, 30]
    from_sketches = un.phase_test_power(*pilots, sizes, n_draws=80)
    from_rows = un.phase_test_power(X, Y, sizes, clusters=(ids, ids + 60), n_draws=80)
    np.testing.assert_allclose(from_sketches, from_rows, atol=0.2)  # three standard errors of 80 draws
    assert from_sketches[0] < from_sketches[1]
    for options in ({"cluster_size": 5}, {"noise": 1.0}):
        with pytest.raises(ValueError, match="must be rows, not sketches"):
            un.phase_test_power(*pilots, 20, **options)
