"""Posteriors of the observed number of rows, and warnings where simulations are not like what was observed."""

import warnings

import numpy as np
import pytest

import uptonoise as un
from uptonoise.inference import PhaseABC, UnlikeSimulationsWarning
from uptonoise.inference.observed import takes_rows, with_fewer_rows

from .helpers import many_gammas, quick


def sized(theta, rng, n_rows=60):
    return rng.gamma(theta[:, :, None], size=(len(theta), n_rows, 1))


@pytest.fixture(scope="module")
def fitted():
    return quick(PhaseABC).fit()


def test_rows_are_sampled_from_each_bag_without_replacement(rng):
    bags = un.Bags([np.arange(start, start + n)[:, None] for start, n in ((0.0, 9), (100.0, 3), (200.0, 7))])
    fewer = with_fewer_rows(bags, 4, rng)
    assert fewer.sizes.tolist() == [4, 3, 4]
    for bag, sample in zip(bags, fewer, strict=True):
        assert len(set(sample.ravel()) & set(bag.ravel())) == len(sample)


def test_fewer_rows_make_wider_posteriors(fitted, rng):
    observed = rng.gamma(3.0, size=(60, 1))
    spreads = [fitted.posterior(observed[:n]).sd() for n in (5, 20, 60)]
    assert spreads[0] > spreads[1] > spreads[2]
    assert fitted.posterior(observed[:5]).sd() == spreads[0]


def test_rows_that_are_kept_are_enough(rng):
    observed = rng.gamma(3.0, size=(60, 1))
    simulations = [
        un.inference.simulate(quick().prior, many_gammas, n, vectorized=True, random_state=n) for n in (150, 2_000)
    ]
    abc = quick(PhaseABC, simulator=None).fit(*simulations)
    assert abc.posterior(observed[:10]).sd() > abc.posterior(observed).sd()


def test_simulators_that_take_the_number_of_rows(rng):
    assert takes_rows(sized)
    assert not takes_rows(many_gammas)
    abc = quick(PhaseABC, simulator=sized).fit()
    observed = rng.gamma(3.0, size=(600, 1))
    assert abc.posterior(observed).sd() < 0.8 * abc.posterior(observed[:60]).sd()


@pytest.mark.parametrize("change", [lambda x: x + 20, lambda x: x + 12 * np.random.default_rng(0).normal(size=x.shape)])
def test_bags_that_were_not_simulated_are_told(fitted, rng, change):
    with pytest.warns(UnlikeSimulationsWarning, match="outside the range"):
        fitted.posterior(change(rng.gamma(3.0, size=(60, 1))))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::uptonoise.inference.SmallSampleWarning")
@pytest.mark.parametrize("n_rows", [5, 60, 500])
def test_coverage_and_false_warnings(n_rows):
    abc = quick(PhaseABC, simulator=sized).fit()
    generator = np.random.default_rng(n_rows)
    covered = warned = 0
    for truth in generator.uniform(1, 6, 500):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            low, high = abc.posterior(generator.gamma(truth, size=(n_rows, 1))).interval(0.9)
        covered += low <= truth <= high
        warned += any(issubclass(warning.category, UnlikeSimulationsWarning) for warning in caught)
    assert 0.85 < covered / 500 < 0.97
    assert warned / 500 < 0.07
