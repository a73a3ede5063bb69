import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

import uptonoise as un
from uptonoise.inference import (
    DRABC,
    FourierABC,
    PhaseABC,
    RejectionABC,
    SemiAutomaticABC,
    calibration,
)

from .helpers import gamma, located, quick


@pytest.mark.parametrize("kind", [PhaseABC, FourierABC, DRABC, SemiAutomaticABC, RejectionABC])
def test_all_kinds_find_a_shape_and_are_calibrated(kind):
    abc = quick(kind).fit()
    found = calibration(abc, 150)
    assert found.rmse[0] < 0.9  # the prior has a standard deviation of 1.44
    assert abs(found.coverage(0.9)[0] - 0.9) < 0.1
    larger = gamma(3.0, np.random.default_rng(0))[:17]
    assert 1 < abc.posterior(larger).mean() < 6


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


def test_own_summaries(observed):
    abc = quick(RejectionABC, summaries=lambda bag: bag.mean()).fit()
    assert abc.summaries_.shape == (2_000, 1)
    assert abs(abc.posterior(observed).mean() - 3) < 1
    semi = quick(SemiAutomaticABC, summaries=lambda bag: [bag.mean(), bag.var()]).fit()
    assert abs(semi.posterior(observed).mean() - 3) < 1
    with pytest.raises(ValueError, match="summaries must return finite numbers"):
        quick(RejectionABC, summaries=lambda bag: np.nan).fit()
    with pytest.raises(ValueError, match="the same number of values"):
        quick(RejectionABC, summaries=lambda bag: np.ones(int(bag[0, 0]))).fit()
    with pytest.raises(ValueError, match="summaries must be a function"):
        quick(RejectionABC, summaries=3).fit()


def test_rejection_keeps_the_nearest(observed):
    abc = quick(RejectionABC, ess=100).fit()
    found = abc.posterior(observed)
    kept = found.weights > 0
    assert kept.sum() == 100
    assert found.distances[kept].max() <= found.distances[~kept].min()
