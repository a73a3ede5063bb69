import numpy as np
import pytest

import uptonoise as un
from uptonoise.inference import (
    RejectionABC,
    SmallSampleWarning,
)
from uptonoise.inference.posterior import effective_size
from uptonoise.inference.tolerance import epsilon_for_size

from .helpers import by_hand, quick


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


def test_epsilon_for_a_size_where_particles_coincide():
    assert epsilon_for_size(np.zeros(10), 5) > 0
    squares = np.r_[np.zeros(50), np.ones(50)]
    assert effective_size(np.exp(-squares / epsilon_for_size(squares, 10))) == pytest.approx(50)
