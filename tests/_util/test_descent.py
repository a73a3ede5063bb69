"""The places that steps down a function look at, against those of scipy's L-BFGS-B."""

import numpy as np
import pytest
from scipy.optimize import minimize

from uptonoise._util.descent import descend


def _quadratic(rng, n):
    root, target = rng.normal(size=(n, n)), 3 * rng.normal(size=n)
    matrix = root @ root.T / n + 0.1 * np.eye(n)
    return lambda x: (float(x @ matrix @ x / 2 - target @ x), matrix @ x - target)


def _valley(rng, n):
    depth = rng.uniform(5, 20)

    def loss(x):
        rise = x[1:] - x[:-1] ** 2
        gradient = np.append(-2 * (1 - x[:-1]) - 4 * depth * rise * x[:-1], 0.0)
        gradient[1:] += 2 * depth * rise
        return float(np.sum((1 - x[:-1]) ** 2) + depth * np.sum(rise**2)), gradient

    return loss


def _bump(rng, n):
    """A function that is concave far from its minimum, where the model of the steps before misleads."""
    centre = rng.normal(size=n)

    def loss(x):
        bump = np.exp(-0.5 * np.sum((x - centre) ** 2) / n)
        return float(0.01 * x @ x - 5 * bump), 0.02 * x + 5 * bump * (x - centre) / n

    return loss


@pytest.mark.parametrize("make", [_quadratic, _valley, _bump])
@pytest.mark.parametrize("seed", range(40))
def test_the_places_are_those_of_scipy(make, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 20))
    loss, start = make(rng, n), rng.normal(size=n)
    n_bounded = int(rng.integers(1, n)) if seed % 2 else 1
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    low[-n_bounded:] = start[-n_bounded:] - rng.uniform(0.01, 2, n_bounded)
    high[-n_bounded:] = start[-n_bounded:] + rng.uniform(0.01, 2, n_bounded)
    places, expected = [], []

    def noting(where):
        return lambda x: (where.append(x.copy()), loss(x))[1]

    end = descend(noting(places), start, low, high, 4)
    bounds = list(zip(low, high, strict=True))
    reached = minimize(noting(expected), start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 4})
    assert len(places) == len(expected)
    np.testing.assert_allclose(places, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(end, reached.x, rtol=1e-9, atol=1e-9)
    assert ((low <= end) & (end <= high)).all()


def test_a_start_at_the_minimum_stays():
    low, high = np.array([-1.0, -np.inf]), np.array([1.0, np.inf])
    end = descend(lambda x: (float(x @ x), 2 * x), np.zeros(2), low, high, 5)
    assert (end == 0).all()


def test_a_start_at_a_bound_leaves_it_where_that_is_down():
    low, high = np.array([-1.0, -np.inf]), np.array([1.0, np.inf])
    end = descend(lambda x: (float(x @ x), 2 * x), np.array([1.0, 0.5]), low, high, 10)
    np.testing.assert_allclose(end, 0, atol=1e-6)


def test_without_a_way_down_it_ends():
    low, high = np.array([-1.0, -np.inf]), np.array([1.0, np.inf])
    start = np.array([0.1, 0.2])
    end = descend(lambda x: (np.inf if (x != start).any() else 0.0, np.ones(2)), start, low, high, 3)
    assert (end == start).all()
