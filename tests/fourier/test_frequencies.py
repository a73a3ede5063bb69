import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import gamma, hyp1f1, kv

import uptonoise as un
from uptonoise.fourier.frequencies import as_frequencies

SCALE = 1.7


def gaussian_kernel(x, nu):
    return np.exp(-np.sum(x**2, axis=-1) / 2)


def laplace_kernel(x, nu):
    return np.exp(-np.abs(x).sum(axis=-1))


def matern_kernel(x, nu):
    r = np.sqrt(2 * nu) * np.linalg.norm(x, axis=-1)
    return 2 ** (1 - nu) / gamma(nu) * r**nu * kv(nu, r)


def radial_kernel(x, nu):
    return hyp1f1(0.5, x.shape[-1] / 2, -np.sum(x**2, axis=-1) / 2)


KERNELS = {"gaussian": gaussian_kernel, "laplace": laplace_kernel, "matern": matern_kernel, "radial": radial_kernel}


@pytest.mark.parametrize("law", KERNELS)
@pytest.mark.parametrize("method", ["iid", "orthogonal", "sobol"])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_mean_cosine_converges_to_the_kernel(law, method, d, rng):
    m, nu = 2**16, 1.5
    W = un.sample_frequencies(m, d, law=law, scale=SCALE, method=method, nu=nu, random_state=1)
    x = rng.normal(size=(12, d)) * rng.uniform(0.2, 2.0, size=(12, 1))
    found = np.cos(x @ W.T).mean(axis=1)
    # 5 standard errors of a mean of m cosines; orthogonal and Sobol draws are no worse than independent ones.
    np.testing.assert_allclose(found, KERNELS[law](x / SCALE, nu), atol=5 * np.sqrt(0.5 / m))


@pytest.mark.parametrize("nu", [0.5, 2.5, 10.0])
def test_matern_smoothness(nu, rng):
    m = 2**16
    W = un.sample_frequencies(m, 2, law="matern", nu=nu, method="sobol", random_state=0)
    x = rng.normal(size=(10, 2))
    np.testing.assert_allclose(np.cos(x @ W.T).mean(axis=1), matern_kernel(x, nu), atol=5 * np.sqrt(0.5 / m))
    assert W.provenance["nu"] == nu


@pytest.mark.parametrize("law", KERNELS)
def test_vector_of_lengths_and_covariance(law, rng):
    m = 2**16
    lengths = np.array([0.5, 1.0, 3.0])
    x = rng.normal(size=(10, 3)) * lengths
    W = un.sample_frequencies(m, 3, law=law, scale=lengths, random_state=2)
    np.testing.assert_allclose(np.cos(x @ W.T).mean(axis=1), KERNELS[law](x / lengths, 1.5), atol=5 * np.sqrt(0.5 / m))
    root = rng.normal(size=(3, 3))
    covariance = root @ root.T + np.eye(3)
    variances, axes = np.linalg.eigh(covariance)
    whitened = x @ (axes / np.sqrt(variances)) @ axes.T
    W = un.sample_frequencies(m, 3, law=law, scale=covariance, random_state=3)
    np.testing.assert_allclose(np.cos(x @ W.T).mean(axis=1), KERNELS[law](whitened, 1.5), atol=5 * np.sqrt(0.5 / m))


def test_diagonal_covariance_is_squared_lengths():
    lengths = np.array([0.5, 2.0])
    by_length = un.sample_frequencies(10, 2, scale=lengths, random_state=0)
    by_covariance = un.sample_frequencies(10, 2, scale=np.diag(lengths**2), random_state=0)
    np.testing.assert_allclose(by_length, by_covariance, rtol=1e-12)


def test_covariances_of_very_different_units():
    lengths = np.array([1e-8, 1.0])
    by_covariance = un.sample_frequencies(5, 2, scale=np.diag(lengths**2), random_state=0)
    np.testing.assert_allclose(by_covariance, un.sample_frequencies(5, 2, scale=lengths, random_state=0), rtol=1e-12)
    un.sample_frequencies(2, 2, scale=np.array([[1, 1e-17], [3e-17, 1.0]]))


def test_orthogonal_frequencies_are_orthogonal_in_groups():
    W = un.sample_frequencies(10, 4, method="orthogonal", random_state=0)
    gram = W[:4] @ W[:4].T
    np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=1e-12)


@pytest.mark.parametrize("method", ["orthogonal", "sobol"])
def test_better_draws_have_less_variance_than_independent_ones(method):
    x = np.array([0.8, -0.5, 0.3, 0.6])
    found = {
        name: np.var([np.cos(un.sample_frequencies(64, 4, method=name, random_state=s) @ x).mean() for s in range(200)])
        for name in ("iid", method)
    }
    assert found[method] < 0.7 * found["iid"]


@pytest.mark.parametrize("n_seeds", [200, pytest.param(2_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", ["iid", "orthogonal", "sobol"])
def test_each_frequency_has_the_distribution_by_itself(method, n_seeds):
    first = np.array([un.sample_frequencies(3, 3, method=method, random_state=seed)[2, 1] for seed in range(n_seeds)])
    assert stats.kstest(first, "norm").pvalue > 1e-3
    cauchy = [un.sample_frequencies(3, 2, law="laplace", method=method, random_state=s)[1, 0] for s in range(n_seeds)]
    assert stats.kstest(cauchy, "cauchy").pvalue > 1e-3


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"n_frequencies": 0}, "n_frequencies"),
        ({"n_frequencies": 2.5}, "n_frequencies"),
        ({"n_columns": 0}, "n_columns"),
        ({"law": "cauchy"}, "law must be one of gaussian"),
        ({"method": "halton"}, "method must be one of iid"),
        ({"scale": 0}, "scale"),
        ({"scale": -1.0}, "scale"),
        ({"scale": np.nan}, "scale"),
        ({"scale": [1.0, 2.0]}, r"scale.*\(2,\)"),
        ({"scale": np.zeros((3, 3))}, "positive definite"),
        ({"scale": np.arange(1.0, 10.0).reshape(3, 3)}, "symmetric"),
        ({"scale": 1e-309}, "scale=1e-309"),
        ({"law": "matern", "nu": 1e-4, "n_frequencies": 100, "random_state": 0}, "too large for float64"),
        ({"law": np.array(["gaussian", "x"])}, "law"),
        ({"scale": "median"}, "scale"),
        ({"law": "matern", "nu": 0}, "nu"),
        ({"random_state": -1}, "random_state"),
        ({"method": "sobol", "n_columns": 30_000}, "sobol"),
    ],
)
def test_bad_arguments(change, match):
    with pytest.raises(ValueError, match=match):
        un.sample_frequencies(**({"n_frequencies": 5, "n_columns": 3} | change))


def test_frequencies_of_every_kind():
    expected = np.array([[1.0], [2.0]])
    for given in ([1, 2], [[1], [2]], np.array([1.0, 2.0]), torch.tensor([[1.0], [2.0]])):
        np.testing.assert_array_equal(as_frequencies(given, 1), expected)
