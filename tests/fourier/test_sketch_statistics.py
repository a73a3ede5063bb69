import numpy as np
import pytest

import uptonoise as un


def waves(X, W):
    angles = np.asarray(X) @ np.asarray(W).T
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)


@pytest.fixture
def rows(rng):
    return rng.normal(size=(2000, 3)) * [1.0, 2.0, 0.5] + [3.0, -1.0, 0.0]


@pytest.fixture
def W():
    return un.sample_frequencies(9, 3, random_state=0)


def test_mean_and_covariance_are_the_definition(rows, W):
    s = un.Sketch(W, precision="float64").update(rows)
    f = waves(rows, W)
    np.testing.assert_allclose(s.mean, f.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(s.covariance, np.cov(f.T), atol=1e-12)
    np.testing.assert_allclose(s.ecf, un.ecf(rows, W, precision="float64"), atol=1e-12)
    assert (s.n_rows, s.weight, s.weight_squares, s.effective_size) == (2000, 2000.0, 2000.0, 2000.0)


def test_weights_are_repeated_rows_in_the_mean_and_unbiased_in_the_covariance(rows, W, rng):
    weights = rng.exponential(size=len(rows))
    s = un.Sketch(W, precision="float64").update(rows, weights=weights)
    f = waves(rows, W)
    np.testing.assert_allclose(s.mean, np.average(f, axis=0, weights=weights), atol=1e-12)
    np.testing.assert_allclose(s.covariance, np.cov(f.T, aweights=weights), atol=1e-12)
    np.testing.assert_allclose(s.effective_size, weights.sum() ** 2 / (weights**2).sum())
    equal = un.Sketch(W, precision="float64").update(rows, weights=np.full(len(rows), 0.3))
    np.testing.assert_allclose(equal.covariance, np.cov(f.T), atol=1e-12)
    zero = un.Sketch(W, precision="float64").update(rows, weights=np.r_[np.ones(50), np.zeros(len(rows) - 50)])
    np.testing.assert_allclose(zero.covariance, np.cov(f[:50].T), atol=1e-12)


def test_moments_about_a_centre_are_of_rows_minus_it(rows, W):
    centre = [0.3, 2.0, -1.0]
    s = un.Sketch(W, precision="float64").update(rows)
    f = waves(rows - centre, W)
    np.testing.assert_allclose(s.mean_about(centre), f.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(s.covariance_about(centre), np.cov(f.T), atol=1e-12)


def test_covariance_is_symmetric_and_positive(rows, W):
    s = un.Sketch(W).update(rows)
    np.testing.assert_array_equal(s.covariance, s.covariance.T)
    assert np.linalg.eigvalsh(s.covariance).min() > -1e-12


@pytest.mark.parametrize("n_rows", [0, 1])
def test_a_covariance_needs_two_rows(W, n_rows):
    s = un.Sketch(W)
    if n_rows:
        s.update(np.zeros((1, 3)))
    with pytest.raises(ValueError, match=f"at least 2 rows for a covariance; it has {n_rows}"):
        s.covariance  # noqa: B018
    if not n_rows:
        with pytest.raises(ValueError, match="at least 1 row for a mean"):
            s.mean  # noqa: B018
    else:
        s.update(np.ones((4, 3)), weights=[0, 0, 0, 1e-50])
        with pytest.raises(ValueError, match="effective size of 1 row"):
            s.covariance  # noqa: B018
