import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import uptonoise as un
from uptonoise import plots
from uptonoise.inference import (
    DRABC,
    Calibration,
    FourierABC,
    PhaseABC,
    Posterior,
    RejectionABC,
    SemiAutomaticABC,
    SimulationError,
    Simulations,
    SmallSampleWarning,
    UnlikeSimulationsWarning,
    calibration,
    simulate,
)

from .helpers import Counted, conjugate, quick


def test_small_and_unlike_samples_are_told(fitted, observed):
    with pytest.warns(SmallSampleWarning, match="worth only 30.0"):
        fitted.posterior(observed, ess=30)
    with pytest.warns(UnlikeSimulationsWarning, match="outside the range"):
        fitted.posterior(observed + 200)


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


def test_fit_again_gives_the_same(fitted, observed):
    assert quick().fit().posterior(observed).mean() == fitted.posterior(observed).mean()
    assert quick(random_state=np.random.default_rng(1)).fit().seed_ != fitted.seed_
    again = quick(random_state=fitted.seed_).fit()
    assert np.array_equal(again.theta_, fitted.theta_)


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


def test_importing_inference_is_light():
    code = "import sys, json, uptonoise as un; a = 'uptonoise.inference' in sys.modules; un.inference.PhaseABC; "
    code += "print(json.dumps([a, [m for m in ('torch', 'matplotlib', 'sklearn') if m in sys.modules]]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, []]


def test_progress_is_shown_where_asked(capsys):
    quick(progress=True, n_particles=1_500).fit()
    told = capsys.readouterr().err
    assert "simulating training: 100%" in told
    assert "simulating particles: 100%" in told


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
