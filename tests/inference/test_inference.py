import importlib.util
import json
import subprocess
import sys
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

import uptonoise as un
from uptonoise import plots
from uptonoise.inference import (
    DRABC,
    Calibration,
    FourierABC,
    KernelBagRidge,
    PhaseABC,
    Posterior,
    RejectionABC,
    SemiAutomaticABC,
    SimulationError,
    Simulations,
    SmallSampleWarning,
    UnlikeSimulationsWarning,
    calibration,
    moments,
    padded,
    pyabc_sumstat,
    quantile_powers,
    sbi_embedding,
    simulate,
)
from uptonoise.inference.abc import _for_size, from_line, to_line
from uptonoise.inference.posterior import effective_size
from uptonoise.inference.priors import Prior

PRIOR = stats.uniform(1, 5)


def gamma(theta, rng):
    return rng.gamma(theta, size=(60, 1))


def many_gammas(theta, rng):
    return rng.gamma(theta[:, :, None], size=(len(theta), 60, 1))


def located(theta, rng):
    return rng.normal(theta[0], theta[1], size=(40, 1))


FEATURES = {FourierABC: un.FourierFeatures, PhaseABC: un.PhaseFeatures}


def quick(kind=FourierABC, prior=PRIOR, simulator=many_gammas, **options):
    settings = {"n_particles": 2_000, "ess": 150, "vectorized": True, "random_state": 0} | options
    if kind is not RejectionABC:
        settings.setdefault("n_training", 40 if kind is DRABC else 150)
    if kind in FEATURES:
        settings.setdefault("regressor", make_pipeline(FEATURES[kind](30, random_state=0), Ridge(alpha=1e-3)))
    return kind(prior, simulator, **settings)


@pytest.fixture(scope="module")
def fitted():
    return quick().fit()


@pytest.fixture(scope="module")
def observed():
    return gamma(3.0, np.random.default_rng(5))


class Counted:
    """A simulator that counts its calls, and fails for some parameters while it is broken."""

    def __init__(self, broken=lambda theta: False, what="raise"):
        self.calls, self.broken, self.what = 0, broken, what

    def __call__(self, theta, rng):
        self.calls += 1
        found = gamma(theta, rng)
        if not self.broken(theta):
            return found
        if self.what == "raise":
            raise ArithmeticError("no\nsolution")
        return {
            "NaN": np.where(found > 1, np.nan, found),
            "columns": np.column_stack([found, found]),
            "empty": found[:0],
            "nothing": None,
        }[self.what]


# Priors


def test_priors_of_all_kinds_draw_alike():
    rng = np.random.default_rng
    one = Prior.of(stats.norm(2, 3))
    assert one.names == ("theta",)
    assert np.array_equal(one.draw(4, rng(0))[:, 0], stats.norm(2, 3).rvs(4, random_state=rng(0)))
    several = Prior.of(stats.multivariate_normal([0, 1, 2]))
    assert several.names == ("theta0", "theta1", "theta2")
    assert several.draw(1, rng(0)).shape == (1, 3)
    function = Prior.of(lambda n, generator: {"a": generator.random(n), "b": np.ones(n)})
    assert function.names == ("a", "b")
    assert Prior.of(lambda n, generator: generator.normal(size=(n, 2))).names == ("theta0", "theta1")
    assert np.array_equal(Prior.of({"a": stats.gamma(2), "b": stats.uniform(-1, 3)}).high, [np.inf, 2])


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        (stats.norm, "prior must be a frozen distribution"),
        (3.0, "prior must be a frozen distribution .* got a float"),
        ({}, "at least one named distribution"),
        ({"a": 3.0}, "'a': a float"),
        ({"a": stats.multivariate_normal([0, 0])}, "must be of one number"),
        (stats.gamma(-1), "prior cannot be drawn from"),
        ({"a": stats.gamma(-1)}, r"prior\['a'\] cannot be drawn from"),
        (lambda n, rng: np.full(n, np.nan), "finite numbers within its support.*nan"),
        (lambda n, rng: rng.random(n + 1), "must return 2 draws of 1 parameter"),
    ],
)
def test_bad_priors_are_refused(prior, match):
    with pytest.raises(ValueError, match=match):
        PhaseABC(prior, gamma).fit()


def test_a_draw_outside_the_support_is_named():
    class Wrong:
        def rvs(self, size, random_state):
            return -np.ones(size)

        def support(self):
            return 0.0, np.inf

    with pytest.raises(ValueError, match="support, 0 to inf for theta; got -1"):
        simulate(Wrong(), gamma, 10)


# Simulations


def test_simulations_do_not_depend_on_the_number_of_workers():
    one = simulate(PRIOR, gamma, 40, block_size=8, random_state=3)
    with joblib.parallel_config(backend="threading"):
        two = simulate(PRIOR, gamma, 40, block_size=8, n_jobs=2, random_state=3)
    assert one.bags == two.bags
    assert np.array_equal(one.theta, two.theta)


@pytest.mark.slow
def test_processes_and_a_cluster_simulate_the_same(tmp_path):
    distributed = pytest.importorskip("distributed")
    here = simulate(PRIOR, gamma, 40, block_size=8, random_state=3)
    assert simulate(PRIOR, gamma, 40, block_size=8, n_jobs=2, random_state=3).bags == here.bags
    local = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    with distributed.Client(**local, local_directory=tmp_path), joblib.parallel_config(backend="dask"):
        assert simulate(PRIOR, gamma, 40, block_size=8, random_state=3).bags == here.bags


def test_more_simulations_begin_with_the_same_ones():
    few, many = (simulate(PRIOR, gamma, n, block_size=10, random_state=1) for n in (20, 40))
    assert np.array_equal(few.theta, many.theta[:20])
    assert np.array_equal(few.bags.values, many.bags[:20].values)


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


FAILURES = {
    "raise": "ArithmeticError: no solution",
    "NaN": "NaN",
    "columns": "2 columns, and other simulations 1 column",
    "empty": "no rows",
    "nothing": "None",
}


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


def test_a_cache_keeps_simulations_for_others(tmp_path):
    simulator = Counted()
    settings = {"cache": tmp_path / "sims", "n_training": 60, "n_particles": 200, "vectorized": False, "ess": 100}
    first = quick(simulator=simulator, **settings).fit()
    assert simulator.calls == 260
    phase = quick(PhaseABC, simulator=simulator, **settings).fit()
    more = quick(simulator=simulator, **settings | {"n_particles": 250, "random_state": None}).fit()
    assert simulator.calls == 310
    assert np.array_equal(first.theta_, phase.theta_)
    assert np.array_equal(more.theta_[:200], first.theta_)
    plain = quick(simulator=gamma, **settings | {"cache": None}).fit()
    assert np.array_equal(plain.summaries_, first.summaries_)


def test_an_interrupted_run_goes_on(tmp_path):
    class Interrupted(Counted):
        def __call__(self, theta, rng):
            if self.calls == 130:
                self.calls += 1
                raise KeyboardInterrupt
            return super().__call__(theta, rng)

    for cache in (None, tmp_path / "sims"):
        simulator = Interrupted()
        abc = quick(simulator=simulator, vectorized=False, cache=cache, n_training=50, n_particles=200, block_size=10)
        with pytest.raises(KeyboardInterrupt):
            abc.fit()
        abc.fit()
        assert simulator.calls == 251  # the block that was under way had nothing yet
        whole = quick(simulator=gamma, vectorized=False, n_training=50, n_particles=200, block_size=10).fit()
        assert np.array_equal(abc.summaries_, whole.summaries_)


def test_a_cache_of_something_else_is_refused(tmp_path):
    simulate(PRIOR, gamma, 20, cache=tmp_path, random_state=0)
    with pytest.raises(ValueError, match=r"other simulations .seed '0' there and '1' here"):
        simulate(PRIOR, gamma, 20, cache=tmp_path, random_state=1)
    with pytest.raises(ValueError, match="another prior"):
        simulate(stats.norm(), gamma, 20, cache=tmp_path, random_state=0)
    (tmp_path / "training-000000-20.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="is not a block of simulations, or it is truncated"):
        simulate(PRIOR, gamma, 20, cache=tmp_path, random_state=0)
    (tmp_path / "simulations.json").write_text("{}")
    with pytest.raises(ValueError, match="damaged"):
        simulate(PRIOR, gamma, 20, cache=tmp_path, random_state=0)
    with pytest.raises(NotADirectoryError, match="cache must be a folder"):
        simulate(PRIOR, gamma, 20, cache=tmp_path / "simulations.json", random_state=0)


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


# Weights


def by_hand(summaries, at, epsilon):
    weights = np.exp(-np.sum((summaries - at) ** 2, axis=1) / epsilon)
    return weights / weights.sum()


def test_weights_are_those_of_the_algorithm(observed):
    fitted = quick(regressor=None).fit()
    found = fitted.posterior(observed, epsilon=0.01)
    model = fitted.regressor_
    theta = fitted.training_.theta[:, 0]
    spread = np.diff(np.quantile(theta, [0.25, 0.75]))[0] / 1.349
    again = un.BagRidgeCV("fourier", random_state=model.random_state)
    again.fit(fitted.training_.bags, (theta - np.median(theta)) / spread)
    weights = by_hand(fitted.summaries_, again.predict([observed]), 0.01)
    assert np.allclose(found.weights, weights)
    assert found.mean() == pytest.approx(weights @ fitted.theta_[:, 0])
    assert found.sd() == pytest.approx(np.sqrt(weights @ (fitted.theta_[:, 0] - found.mean()) ** 2))
    apart = np.abs(fitted.summaries_ - again.predict([observed]))[:, 0]
    assert np.allclose(found.distances, apart)


def test_epsilon_by_quantile_and_by_effective_size(fitted, observed):
    by_quantile = fitted.posterior(observed, quantile=0.1)
    assert np.mean(by_quantile.distances**2 <= by_quantile.epsilon) == pytest.approx(0.1, abs=0.001)
    by_size = fitted.posterior(observed, ess=321.0)
    assert by_size.ess == pytest.approx(321, rel=0.01)
    assert fitted.posterior(observed).ess == pytest.approx(150, rel=0.01)
    assert fitted.posterior(observed, epsilon=0.02).epsilon == 0.02


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"epsilon": 0.1, "ess": 5}, "one of epsilon, quantile and ess; got epsilon and ess"),
        ({"epsilon": 0}, "epsilon must be a number above 0"),
        ({"epsilon": "small"}, "epsilon must be a number above 0"),
        ({"epsilon": np.nan}, "epsilon must be a number above 0"),
        ({"quantile": 1.5}, "quantile must be a number above 0 and at most 1; got 1.5"),
        ({"ess": 3_000}, "ess must be a number above 0 and at most 2000"),
        ({"ess": True}, "ess must be a number"),
    ],
)
def test_bad_tolerances(fitted, observed, options, match):
    with pytest.raises(ValueError, match=match):
        fitted.posterior(observed, **options)
    with pytest.raises(ValueError, match=match):
        quick(**{"ess": None} | options).fit()


def test_an_epsilon_that_leaves_no_weight_says_the_smallest_useful_one(fitted, observed):
    with pytest.raises(ValueError, match="epsilon=1e-30 leaves no particle any weight") as error:
        fitted.posterior(observed, epsilon=1e-30)
    useful = float(str(error.value).split("epsilon here is about ")[1].split(",")[0])
    with pytest.warns(SmallSampleWarning):
        assert fitted.posterior(observed, epsilon=useful).ess == pytest.approx(20, rel=0.05)
    rejection = quick(RejectionABC).fit()
    with pytest.raises(ValueError, match="smallest useful epsilon"):
        rejection.posterior(observed, epsilon=1e-30)


def test_small_and_unlike_samples_are_told(fitted, observed):
    with pytest.warns(SmallSampleWarning, match="worth only 30.0"):
        fitted.posterior(observed, ess=30)
    with pytest.warns(UnlikeSimulationsWarning, match="outside the range"):
        fitted.posterior(observed + 200)


def test_epsilon_for_a_size_where_particles_coincide():
    assert _for_size(np.zeros(10), 5) > 0
    squares = np.r_[np.zeros(50), np.ones(50)]
    assert effective_size(np.exp(-squares / _for_size(squares, 10))) == pytest.approx(50)


@pytest.mark.parametrize(
    "bad", [np.ones((5, 2)), [[np.nan]], np.empty((0, 1)), [np.ones((3, 1)), np.ones((3, 1))], "x"]
)
def test_bad_observed_samples(fitted, bad):
    with pytest.raises(ValueError, match="observed"):
        fitted.posterior(bad)


@pytest.mark.parametrize("kind", [PhaseABC, FourierABC, DRABC, SemiAutomaticABC, RejectionABC])
def test_before_fit(kind):
    with pytest.raises(ValueError, match=r"call fit\(\) before posterior"):
        quick(kind).posterior(np.ones(3))
    with pytest.raises(ValueError, match=r"call fit\(\)"):
        quick(kind).summary([np.ones(3)])
    with pytest.raises(ValueError, match="abc must be fitted"):
        calibration(quick(kind), 5)


@pytest.mark.parametrize("kind", [PhaseABC, FourierABC, DRABC, SemiAutomaticABC, RejectionABC])
def test_all_kinds_find_a_shape_and_are_calibrated(kind):
    abc = quick(kind).fit()
    found = calibration(abc, 150)
    assert found.rmse[0] < 0.9  # the prior has a standard deviation of 1.44
    assert abs(found.coverage(0.9)[0] - 0.9) < 0.1
    larger = gamma(3.0, np.random.default_rng(0))[:17]
    assert 1 < abc.posterior(larger).mean() < 6


def test_fit_again_gives_the_same(fitted, observed):
    assert quick().fit().posterior(observed).mean() == fitted.posterior(observed).mean()
    assert quick(random_state=np.random.default_rng(1)).fit().seed_ != fitted.seed_
    again = quick(random_state=fitted.seed_).fit()
    assert np.array_equal(again.theta_, fitted.theta_)


# Several parameters


def test_several_parameters_are_scaled_alike():
    wide = {"location": stats.norm(0, 2_000), "spread": stats.uniform(0.5, 1)}

    def simulator(theta, rng):
        return np.column_stack([rng.normal(theta[0], 200, 50), rng.gamma(4, theta[1], 50)])

    abc = FourierABC(
        wide, simulator, regressor=make_pipeline(un.MeanFeatures(), Ridge()), n_training=300, n_particles=3_000, ess=150
    )
    abc.random_state = 0
    found = abc.fit().posterior(simulator([500.0, 1.2], np.random.default_rng(0)))
    assert found.names == ("location", "spread")
    assert np.abs((found.mean() - [500, 1.2]) / found.sd()).max() < 3
    assert (found.sd() / [2_000, 0.29] < 0.6).all()
    assert found.covariance().shape == (2, 2)
    low, high = found.interval()
    assert low.shape == high.shape == (2,)
    assert found.quantile([0.1, 0.5]).shape == (2, 2)
    assert np.abs(abc.summaries_).max() < 10


def test_a_regressor_of_one_target_is_fitted_for_each_parameter():
    prior = {"location": stats.norm(), "spread": stats.uniform(0.5, 1)}
    features = make_pipeline(un.FourierFeatures(20, random_state=0), SVR())
    abc = FourierABC(prior, located, regressor=features, n_training=80, n_particles=400, ess=120, random_state=0).fit()
    assert len(abc.regressor_) == 2
    assert abc.summaries_.shape == (400, 2)
    model = un.glrr(scale_factors=[1.0], alphas=[0.01])
    ridge = FourierABC(prior, located, regressor=model, n_training=80, n_particles=400, ess=120, random_state=0).fit()
    assert ridge.summaries_.shape == (400, 2)
    assert ridge.regressor_.coef_.shape[0] == 2


def test_networks_are_regressors_too():
    pytest.importorskip("torch")
    net = un.nets.PhaseNetRegressor(10, n_epochs=3, device="cpu")
    abc = quick(PhaseABC, regressor=net, n_particles=300).fit()
    assert abc.regressor_.random_state is not None
    assert net.random_state is None
    assert np.std(abc.summaries_) > 0
    assert isinstance(quick(PhaseABC, regressor="network")._model(0), un.nets.PhaseNetRegressor)
    assert isinstance(quick(FourierABC, regressor="network")._model(0), un.nets.FourierNetRegressor)


@pytest.mark.parametrize("regressor", ["forest", 3, Ridge])
def test_bad_regressors(regressor):
    with pytest.raises((ValueError, TypeError), match="regressor"):
        quick(regressor=regressor).fit()


def test_a_constant_parameter_is_refused():
    with pytest.raises(ValueError, match="theta is constant"):
        quick(prior=lambda n, rng: np.ones(n)).fit()


# Adjustment


def test_adjustment_is_a_weighted_regression(fitted, observed):
    plain, adjusted = (fitted.posterior(observed, ess=500, adjust=adjust) for adjust in (False, True))
    logit = np.log((fitted.theta_[:, 0] - 1) / (6 - fitted.theta_[:, 0]))
    differences = fitted.summaries_[:, 0] - fitted.summary([observed])[0, 0]
    slope = np.polyfit(differences, logit, 1, w=np.sqrt(plain.weights))[0]
    by_hand = 1 + 5 / (1 + np.exp(-(logit - slope * differences)))
    assert np.allclose(adjusted.theta[:, 0], by_hand)
    assert adjusted.sd() < plain.sd()
    assert ((adjusted.theta > 1) & (adjusted.theta < 6)).all()
    assert np.array_equal(adjusted.prior_draws, fitted.theta_)
    with pytest.raises(ValueError, match="adjust=True needs particles worth at least 3"):
        fitted.posterior(observed, ess=1.5, adjust=True)


def test_bounds_are_kept_by_the_scales():
    low, high = np.array([0.0, -np.inf, 1.0, -np.inf]), np.array([np.inf, 0.0, 2.0, np.inf])
    theta = np.array([[0.0, -2.0, 2.0, 5.0], [3.0, -0.5, 1.2, -7.0]])
    back = from_line(to_line(theta, low, high), low, high)
    assert np.allclose(back, theta)
    far = from_line(np.full((1, 4), 1e4), low, high)
    assert np.isfinite(far).all()
    assert (far <= np.minimum(high, 1e308 * 2)).all()


def conjugate(n_rows=20):
    """The mean of normal rows with a standard normal prior: the posterior is N(n mean / (n + 1), 1 / (n + 1))."""

    def simulator(theta, rng):
        return rng.normal(theta[:, :, None], size=(len(theta), n_rows, 1))

    def truth(bag):
        n = len(bag)
        return bag.sum() / (n + 1), np.sqrt(1 / (n + 1))

    return simulator, truth


def test_the_conjugate_posterior_is_approached():
    simulator, truth = conjugate()
    bags = simulate(stats.norm(), simulator, 100, vectorized=True, random_state=9).bags
    exact = np.array([truth(bag) for bag in bags])
    errors = []
    means = make_pipeline(un.MeanFeatures(), Ridge(alpha=1e-6))
    for n_particles, quantile in ((1_000, 0.3), (4_000, 0.1), (20_000, 0.02)):
        options = {"n_training": 500, "n_particles": n_particles, "quantile": quantile, "random_state": 0}
        abc = FourierABC(stats.norm(), simulator, regressor=means, vectorized=True, **options).fit()
        found = calibration(abc, simulations=Simulations(exact[:, :1], bags))
        # The median, since the prior draws too few particles where a data set is far out in its tail.
        errors.append(np.median(np.abs(found.means[:, 0] - exact[:, 0])))
        ratio = found.sds[:, 0].mean() / exact[:, 1].mean()
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.1 * exact[0, 1]
    assert ratio == pytest.approx(1, abs=0.05)


@pytest.mark.slow
def test_conjugate_intervals_cover_as_they_say():
    simulator, _ = conjugate()
    options = {"n_training": 2_000, "n_particles": 40_000, "quantile": 0.01, "random_state": 0, "vectorized": True}
    for adjust in (False, True):
        abc = PhaseABC(stats.norm(), simulator, adjust=adjust, **options).fit()
        assert abs(calibration(abc, 1_000).coverage(0.9)[0] - 0.9) < 0.02


# Posterior


@pytest.fixture
def normal():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(50_000, 1))
    return Posterior.of(theta, stats.norm(1, 0.5).pdf(theta[:, 0]), ["location"])


def test_posterior_moments_and_quantiles(normal):
    # The product of N(0, 1) and N(1, 0.25) is N(0.8, 0.2).
    truth = stats.norm(0.8, np.sqrt(0.2))
    assert normal.mean() == pytest.approx(0.8, abs=0.01)
    assert normal.sd() == pytest.approx(truth.std(), abs=0.01)
    assert normal.quantile([0.1, 0.5, 0.9]) == pytest.approx(truth.ppf([0.1, 0.5, 0.9]), abs=0.02)
    assert normal.interval(0.9) == pytest.approx(truth.interval(0.9), abs=0.03)
    low, high = normal.interval(0.9, "highest")
    assert high - low < np.subtract(*normal.interval(0.9)[::-1]) + 1e-9
    assert normal.cdf(0.8) == pytest.approx(0.5, abs=0.01)
    assert "location" in repr(normal)
    skewed = Posterior.of(np.random.default_rng(0).exponential(size=50_000), np.ones(50_000))
    assert skewed.interval(0.9, "highest")[0] < 0.01
    assert skewed.quantile(0.5) == pytest.approx(np.log(2), abs=0.02)


def test_posterior_draws(normal):
    drawn = normal.resample(5_000, random_state=0)
    assert drawn.shape == (5_000, 1)
    assert drawn.mean() == pytest.approx(normal.mean(), abs=0.01)
    assert abs(np.corrcoef(np.arange(5_000), drawn[:, 0])[0, 1]) < 0.05
    assert np.array_equal(drawn, normal.resample(5_000, random_state=0))
    frame = normal.to_frame()
    assert list(frame.columns) == ["location", "weight"]
    assert frame["weight"].sum() == pytest.approx(1)
    assert isinstance(normal.to_frame("polars"), pl.DataFrame)


def test_posterior_predictive(fitted, observed):
    bags = fitted.posterior(observed).predictive(30, random_state=0)
    assert len(bags) == 30
    assert bags.values.mean() == pytest.approx(3, abs=0.5)
    one_at_a_time = quick(simulator=gamma, vectorized=False, n_particles=300, ess=100).fit().posterior(observed)
    assert len(one_at_a_time.predictive(5, 0)) == 5


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda one: one.quantile(1.1), "q must be between 0 and 1"),
        (lambda one: one.interval(90), "level must be between 0 and 1; got 90"),
        (lambda one: one.interval(0.9, "shortest"), "kind must be one of"),
        (lambda one: one.resample(0), "n must be a positive integer"),
        (lambda one: Posterior.of([1.0, 2.0], [0.0, 0.0]), "not all 0"),
        (lambda one: Posterior.of([1.0, 2.0], [1.0]), "weights must be one for each particle"),
        (lambda one: Posterior.of([1.0], [1.0], ["a", "b"]), "names must be 1"),
        (lambda one: one.predictive(), "need a simulator"),
    ],
)
def test_bad_questions_to_a_posterior(normal, call, match):
    with pytest.raises(ValueError, match=match):
        call(normal)


@pytest.mark.skipif(importlib.util.find_spec("arviz") is not None, reason="ArviZ is installed")
def test_arviz_is_named_where_it_is_missing(normal):
    with pytest.raises(ImportError, match="pip install arviz"):
        normal.to_arviz()


# Calibration


def test_calibration_finds_posteriors_that_are_too_wide(fitted):
    right = calibration(fitted, 200)
    assert (right.pvalues > 1e-3).all()
    wide = calibration(quick(ess=None, quantile=0.5).fit(), 200)
    assert wide.pvalues[0] < 1e-3  # too wide a tolerance: ranks pile up in the middle
    assert right.histogram().sum() == 200
    frame = right.to_frame()
    assert list(frame.columns) == ["parameter", "truth", "mean", "sd", "probability", "rank", "ess"]
    assert right.coverage_error(0.9) == pytest.approx(np.sqrt(0.09 / 200))
    assert "Calibration on 200 data sets" in repr(right)
    assert "below 100" in repr(calibration(quick(ess=50).fit(), 10))


def test_calibration_with_other_noise_shows_who_sees_it():
    def noisy(theta, rng):
        found = rng.gamma(theta[:, :, None], size=(len(theta), 300, 1))
        return found + rng.normal(scale=1.5, size=found.shape)

    def clean(theta, rng):
        return rng.gamma(theta[:, :, None], size=(len(theta), 300, 1))

    others = simulate(PRIOR, noisy, 60, vectorized=True, random_state=1)
    options = {"simulator": clean, "n_particles": 1_000}
    spread = quick(RejectionABC, summaries=np.std, **options).fit()  # which noise makes larger
    assert calibration(spread, simulations=others).coverage(0.9)[0] < 0.5
    phases = quick(PhaseABC, **options).fit()
    assert calibration(phases, simulations=others).coverage(0.9)[0] > 0.7


def test_bad_questions_to_calibration(fitted):
    with pytest.raises(ValueError, match="abc must be a PhaseABC"):
        calibration("abc", 3)
    with pytest.raises(ValueError, match="n must be a positive integer"):
        calibration(fitted, 0)
    with pytest.raises(ValueError, match="simulations must be Simulations with the parameters"):
        calibration(fitted, simulations=np.ones(3))
    with pytest.raises(ValueError, match="level"):
        calibration(fitted, 5).coverage(2)


# Summaries


def test_moments_and_quantiles_agree_with_scipy(rng):
    bag = rng.gamma(2, size=(50, 2))
    expected = np.concatenate([bag.mean(0), bag.std(0), stats.skew(bag, axis=0)])
    assert np.allclose(moments(bag), expected)
    quantiles = np.quantile(bag[:, 0], np.linspace(0.05, 0.95, 19))
    found = quantile_powers(bag)
    assert np.allclose(found[:19], quantiles)
    assert np.allclose(found[38 : 38 + 19], quantiles**2)
    assert moments(np.ones((5, 1)))[2] == 0


def test_own_summaries(observed):
    abc = quick(RejectionABC, summaries=lambda bag: bag.mean()).fit()
    assert abc.summaries_.shape == (2_000, 1)
    assert abs(abc.posterior(observed).mean() - 3) < 1
    semi = quick(SemiAutomaticABC, summaries=lambda bag: [bag.mean(), bag.var()]).fit()
    assert abs(semi.posterior(observed).mean() - 3) < 1
    with pytest.raises(ValueError, match="summaries must return finite numbers"):
        quick(RejectionABC, summaries=lambda bag: np.nan).fit()
    with pytest.raises(ValueError, match="equally many numbers"):
        quick(RejectionABC, summaries=lambda bag: np.ones(int(bag[0, 0]))).fit()
    with pytest.raises(ValueError, match="summaries must be a function"):
        quick(RejectionABC, summaries=3).fit()


def test_rejection_keeps_the_nearest(observed):
    abc = quick(RejectionABC, ess=100).fit()
    found = abc.posterior(observed)
    kept = found.weights > 0
    assert kept.sum() == 100
    assert found.distances[kept].max() <= found.distances[~kept].min()


def test_kernel_ridge_leaves_one_out_exactly(rng):
    shapes = rng.uniform(1, 6, size=25)
    bags = un.Bags(list(rng.gamma(shapes[:, None, None], size=(25, 15, 1))))
    model = KernelBagRidge(scale_factors=[1.0], alphas=[0.1]).fit(bags, shapes)
    kernel = un.embedding_kernel(bags, scale=model.scale_, second="gaussian", second_scale=model.second_scale_)
    centred, errors = shapes - shapes.mean(), []
    for left_out in range(25):
        rest = np.delete(np.arange(25), left_out)
        inner = kernel[np.ix_(rest, rest)] + 0.1 * np.eye(24)
        errors.append(centred[left_out] - kernel[left_out, rest] @ np.linalg.solve(inner, centred[rest]))
    assert -model.best_score_ == pytest.approx(np.mean(np.square(errors)), rel=1e-6)
    weights = np.linalg.solve(kernel + 0.1 * np.eye(25), centred)
    assert np.allclose(model.predict(bags), kernel @ weights + shapes.mean(), atol=1e-6)
    both = KernelBagRidge().fit(bags, np.column_stack([shapes, -shapes])).predict(bags)
    assert np.allclose(both[:, 0] - shapes.mean(), -(both[:, 1] + shapes.mean()))
    with pytest.raises(ValueError, match="y must have finite targets"):
        model.fit(bags, shapes[:3])


# Pictures, adapters, imports


def test_pictures(fitted, observed, normal):
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = fitted.posterior(observed).plot(truth=3.0)
    assert "90 %" in ax.get_title(loc="left")
    two = Posterior.of(np.random.default_rng(0).normal(size=(500, 2)), np.ones(500))
    assert len(two.plot()) == 2
    assert two.plot(parameter="theta1").get_xlabel() == "theta1"
    with pytest.raises(ValueError, match="parameter must be one of"):
        plots.plot_posterior(two, parameter="theta2")
    with pytest.raises(ValueError, match="ax is for one of the 2 parameters"):
        two.plot(ax=ax)
    found = calibration(fitted, 40)
    assert len(found.plot()) == 2
    assert found.plot(ax=ax) is ax
    plt.close("all")


def test_padding_does_not_count():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    bags = [rng.normal(size=(n, 2)) for n in (3, 7, 5)]
    batch = padded(bags, 9)
    assert batch.shape == (3, 9, 3)
    assert batch[..., 2].sum() == 15
    for kind in ("phase", "fourier"):
        embedding = sbi_embedding(2, 6, kind=kind, random_state=0)
        alone = torch.cat([embedding(torch.tensor(bag[None], dtype=torch.float32)) for bag in bags])
        assert torch.allclose(embedding(batch), alone, atol=1e-6)
    assert embedding(batch).shape == (3, 12)
    with pytest.raises(ValueError, match="n_rows must be at least"):
        padded(bags, 4)
    with pytest.raises(ValueError, match="kind must be one of phase, fourier"):
        sbi_embedding(2, 6, kind="mean")
    with pytest.raises(ValueError, match="x must be of shape"):
        embedding(batch[0])


@pytest.mark.skipif(importlib.util.find_spec("pyabc") is not None, reason="pyABC is installed")
def test_pyabc_is_named_where_it_is_missing(fitted):
    with pytest.raises(ValueError, match=r"after train\(\) or fit\(\)"):
        pyabc_sumstat(quick())
    with pytest.raises(ImportError, match="pip install pyabc"):
        pyabc_sumstat(fitted)


def test_importing_inference_is_light():
    code = "import sys, json, uptonoise as un; a = 'uptonoise.inference' in sys.modules; un.inference.PhaseABC; "
    code += "print(json.dumps([a, [m for m in ('torch', 'matplotlib', 'sklearn') if m in sys.modules]]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, []]


def test_progress_is_shown_where_asked(capsys):
    quick(progress=True, n_particles=1_500).fit()
    told = capsys.readouterr().err
    assert "simulating training: 100%" in told
    assert "1500/1500" in told


def test_an_unfitted_and_a_fitted_one_say_so(fitted):
    assert repr(quick()) == "FourierABC(many_gammas, not fitted)"
    assert repr(fitted) == "FourierABC(many_gammas, 2,000 particles of theta)"
    assert isinstance(calibration(fitted, 5), Calibration)


def test_a_fit_that_fails_leaves_no_old_posterior(observed):
    abc = quick().fit()
    abc.simulator = Counted(lambda theta: True)
    abc.random_state = 1
    with warnings.catch_warnings(), pytest.raises(SimulationError):
        abc.fit()
    with pytest.raises(ValueError, match="no particles yet"):
        abc.posterior(observed)
