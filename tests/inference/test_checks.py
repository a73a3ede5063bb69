import numpy as np
import pytest
from scipy import stats

from uptonoise.inference import (
    PhaseABC,
    RejectionABC,
    calibration,
    simulate,
)

from .helpers import PRIOR, conjugate, quick


@pytest.mark.slow
def test_conjugate_intervals_cover_as_they_say():
    simulator, _ = conjugate()
    options = {"n_training": 2_000, "n_particles": 40_000, "quantile": 0.01, "random_state": 0, "vectorized": True}
    for adjust in (False, True):
        abc = PhaseABC(stats.norm(), simulator, adjust=adjust, **options).fit()
        assert abs(calibration(abc, 1_000).coverage(0.9)[0] - 0.9) < 0.02


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
