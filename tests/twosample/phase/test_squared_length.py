"""Bounds of a squared length: against brute force, and against distributions in closed form."""

import numpy as np
import pytest
from scipy import stats

from uptonoise.twosample.phase.squared_length import Part, quadratic_form_cdf


def largest_square(scores: np.ndarray, variances: np.ndarray, radius: float) -> float:
    """Return the upper bound whose one-sided probability is that of so many standard errors."""
    return Part("x", scores, variances, 1.0, 0.0, 1e12).upper(stats.norm.sf(radius)) ** 2


def test_the_largest_square_is_the_largest_on_the_ellipsoid(rng):
    for _ in range(5):
        scores, variances = rng.normal(size=3), rng.exponential(size=3) ** 3
        directions = rng.normal(size=(20_000, 3))
        points = scores + 1.7 * np.sqrt(variances) * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        brute = np.sum(points**2, axis=1).max()
        assert brute <= largest_square(scores, variances, 1.7) <= brute * 1.01
    assert largest_square(np.zeros(2), np.array([4.0, 1.0]), 1.5) == pytest.approx(9.0)


def test_the_quadratic_form_is_chi_squared_where_it_must_be():
    assert quadratic_form_cdf(3.0, np.ones(2), np.array([1.0, 0.5])) == pytest.approx(
        stats.ncx2(2, 1.5).cdf(3.0), abs=1e-6
    )
    assert quadratic_form_cdf(3.0, np.ones(1), np.zeros(1)) == pytest.approx(stats.chi2(1).cdf(3.0), abs=1e-6)


def test_bounds_of_one_score_are_those_of_a_normal():
    part = Part("x", np.array([5.0]), np.array([1.0]), 1.0, 0.0, 1e9)
    assert part.upper(0.05) == pytest.approx(5 + 1.645, abs=1e-3)
    assert part.lower(0.05) == pytest.approx(5 - 1.645, abs=0.02)
