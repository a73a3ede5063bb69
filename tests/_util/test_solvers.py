"""Roots and non-negative least squares against scipy's."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, nnls

from uptonoise._util.solvers import nonnegative_least_squares, root

FUNCTIONS = {
    "line": lambda x: 3 * x - 1,
    "cubic": lambda x: x**3 - 0.2,
    "steep": lambda x: math.tanh(40 * (x - 0.37)),
    "wave": lambda x: math.cos(7 * x) + 0.1,
    "exponential": lambda x: math.exp(-5 * x) - 0.4,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("ends", [(0.0, 1.0), (1.0, 0.0), (-0.3, 0.9)])
@pytest.mark.parametrize("absolute", [2e-12, 1e-6])
def test_a_root_is_that_of_scipy_to_the_last_bit(name, ends, absolute):
    function = FUNCTIONS[name]
    if function(ends[0]) * function(ends[1]) > 0:
        with pytest.raises(ValueError, match="change its sign"):
            root(function, *ends)
    else:
        assert root(function, *ends, absolute=absolute) == brentq(function, *ends, xtol=absolute)


def test_a_root_at_an_end_is_returned():
    assert root(lambda x: x, 0.0, 1.0) == 0.0
    assert root(lambda x: x - 1, 0.0, 1.0) == 1.0


def test_no_sign_no_root():
    with pytest.raises(ValueError, match="change its sign"):
        root(lambda x: math.nan, 0.0, 1.0)


def test_a_root_that_is_not_found_is_an_error():
    with pytest.raises(RuntimeError, match="within 100 steps"):
        root(lambda x: (x - 0.6) ** 9, -0.3, 0.9)


@pytest.mark.parametrize("seed", range(100))
def test_nonnegative_least_squares_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 60)), int(rng.integers(1, 20))
    matrix, target = rng.normal(size=(n, k)) ** 2, rng.normal(rng.normal(), size=n)
    expected = nnls(matrix, target)[0]
    x = nonnegative_least_squares(matrix, target)
    assert (x >= 0).all()
    np.testing.assert_allclose(matrix @ x, matrix @ expected, rtol=1e-9, atol=1e-11)
    if n >= k:
        np.testing.assert_allclose(x, expected, rtol=1e-8, atol=1e-11)


def test_equal_columns_share_what_they_explain():
    x = nonnegative_least_squares(np.ones((3, 2)), np.array([1.0, 2.0, 3.0]))
    assert (x >= 0).all()
    assert x.sum() == pytest.approx(2)
