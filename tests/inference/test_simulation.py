import numpy as np
import pandas as pd
import polars as pl
import pytest

import uptonoise as un
from uptonoise.inference import (
    PhaseABC,
    SimulationError,
    Simulations,
    calibration,
    simulate,
)

from .helpers import FAILURES, PRIOR, Counted, gamma, many_gammas, quick


def test_bags_may_have_any_size_and_come_in_any_form():
    def ragged(theta, rng):
        return rng.gamma(theta, size=rng.integers(1, 30))

    assert len(set(simulate(PRIOR, ragged, 20, random_state=0).bags.sizes)) > 5

    def in_a_list(theta, rng):
        return [rng.gamma(one, size=(int(rng.integers(1, 30)), 1)) for one in theta]

    as_list = simulate(PRIOR, in_a_list, 20, vectorized=True, random_state=0)
    as_bags = simulate(PRIOR, lambda t, rng: un.Bags(in_a_list(t, rng)), 20, vectorized=True, random_state=0)
    assert as_list.bags == as_bags.bags
    abc = quick(simulator=in_a_list, n_particles=1_000)
    assert 1 < abc.fit().posterior(gamma(2.0, np.random.default_rng(0))[:13]).mean() < 6


def test_frames_are_matched_by_name():
    def frame(theta, rng):
        return pd.DataFrame({"a": rng.gamma(theta, size=30), "b": rng.normal(size=30)})

    abc = quick(simulator=frame, vectorized=False, n_training=40, n_particles=150, ess=100).fit()
    seen = frame(3.0, np.random.default_rng(0))
    straight = abc.posterior(seen).mean()
    assert abc.posterior(seen[["b", "a"]]).mean() == straight
    assert abc.posterior(pl.DataFrame({"b": seen["b"].to_numpy(), "a": seen["a"].to_numpy()})).mean() == straight
    with pytest.raises(ValueError, match=r"observed must have the columns of the simulations.*lacks \['b'\]"):
        abc.posterior(seen.rename(columns={"b": "c"}))


@pytest.mark.parametrize("what", FAILURES)
def test_a_simulator_that_fails_says_for_which_theta_and_nothing_is_lost(what):
    simulator = Counted(lambda theta: theta > 5, what)
    abc = quick(simulator=simulator, vectorized=False, n_training=40, n_particles=300, block_size=10)
    with pytest.raises(SimulationError, match=rf"for theta = 5\.\d+: .*{FAILURES[what]}.*skip_failures=True"):
        abc.fit()
    before = simulator.calls
    simulator.broken = lambda theta: False
    abc.fit()
    failed_once = sum(simulate(PRIOR, gamma, 40, block_size=10, random_state=0).theta[:, 0] > 5)
    assert before == 40  # the window was finished
    assert simulator.calls == 40 + failed_once + 300
    whole = quick(vectorized=False, simulator=gamma, n_training=40, n_particles=300, block_size=10).fit()
    assert np.array_equal(abc.summaries_, whole.summaries_)


@pytest.mark.parametrize("what", FAILURES)
def test_failures_are_counted_and_skipped_where_asked(what):
    simulator = Counted(lambda theta: theta > 5, what)
    with pytest.warns(UserWarning, match=r"of 100 simulations failed and are left out"):
        found = simulate(PRIOR, simulator, 100, skip_failures=True, random_state=0)
    assert found.theta.max() < 5
    assert len(found) + found.n_failed == 100
    assert f"{found.n_failed} failed" in repr(found)


def test_where_everything_fails_skipping_does_not_help():
    with pytest.raises(SimulationError, match="all 20 simulations failed"):
        simulate(PRIOR, Counted(lambda theta: True), 20, skip_failures=True, random_state=0)


def test_a_vectorised_simulator_that_fails_is_tried_one_by_one():
    def broken(theta, rng):
        if (theta > 5.9).any():
            raise ArithmeticError("too large")
        return many_gammas(theta, rng)

    with pytest.raises(SimulationError, match=r"theta = 5\.9\d+: ArithmeticError: too large"):
        simulate(PRIOR, broken, 500, vectorized=True, random_state=0)
    with pytest.warns(UserWarning, match="left out"):
        found = simulate(PRIOR, broken, 500, vectorized=True, skip_failures=True, random_state=0)
    assert 450 < len(found) < 500

    def with_nan(theta, rng):
        found = many_gammas(theta, rng)
        found[theta[:, 0] > 5.9, 0] = np.nan
        return found

    with pytest.raises(SimulationError, match=r"theta = 5\.9\d+: it returned NaN"):
        simulate(PRIOR, with_nan, 500, vectorized=True, random_state=0)
    with pytest.raises(SimulationError, match="returned 3 bags for 1 draws"):
        simulate(PRIOR, lambda theta, rng: np.zeros((3, 5, 1)), 500, vectorized=True, random_state=0)

    def only_alone(theta, rng):
        if len(theta) > 1:
            raise MemoryError("too many")
        return many_gammas(theta, rng)

    with pytest.raises(SimulationError, match=r"MemoryError: too many .*each of them alone works"):
        simulate(PRIOR, only_alone, 50, vectorized=True, random_state=0)


def test_simulations_of_your_own(fitted):
    theta = np.random.default_rng(0).uniform(1, 6, 300)
    mine = Simulations(theta, many_gammas(theta[:, None], np.random.default_rng(1)))
    other = simulate(PRIOR, many_gammas, 600, vectorized=True, random_state=7)
    abc = quick(prior=None, simulator=None, n_particles=600).fit(mine, other)
    found = abc.posterior(mine.bags[0])
    assert abs(found.mean() - theta[0]) < 4 * found.sd()
    assert "theta" in repr(abc)
    with pytest.raises(ValueError, match="need a simulator"):
        found.predictive(3)
    with pytest.raises(ValueError, match="has no simulator; give simulations"):
        calibration(abc, 10)
    with pytest.raises(ValueError, match="theta must have a row for each of 300 bags"):
        Simulations(theta[:10], mine.bags)
    with pytest.raises(ValueError, match="names must be 1"):
        Simulations(theta, mine.bags, ("a", "b"))
    with pytest.raises(ValueError, match="training must be Simulations"):
        quick().fit(theta)
    with pytest.raises(ValueError, match="particles must be Simulations"):
        quick().fit(mine, theta)
    assert len(mine[:5]) == 5


def test_kept_rows_serve_another_fit():
    first = quick(keep_rows=True).fit()
    assert len(first.particles_) == 2_000
    again = quick(PhaseABC).fit(first.training_, first.particles_)
    assert np.array_equal(again.theta_, first.theta_)
    assert quick().fit().particles_ is None
