import numpy as np
import pytest

from uptonoise.inference.transforms import from_line, to_line


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
