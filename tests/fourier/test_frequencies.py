import copy
import pickle

import numpy as np
import pandas as pd
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


@pytest.mark.parametrize("method", ["iid", "orthogonal", "sobol"])
def test_each_frequency_has_the_law_by_itself(method):
    first = np.array([un.sample_frequencies(3, 3, method=method, random_state=seed)[2, 1] for seed in range(2000)])
    assert stats.kstest(first, "norm").pvalue > 1e-3
    cauchy = [un.sample_frequencies(3, 2, law="laplace", method=method, random_state=s)[1, 0] for s in range(2000)]
    assert stats.kstest(cauchy, "cauchy").pvalue > 1e-3


def test_seed_makes_the_same_frequencies_and_is_remembered():
    W = un.sample_frequencies(7, 3, scale=[1.0, 2.0, 3.0], random_state=5)
    np.testing.assert_array_equal(W, un.sample_frequencies(7, 3, scale=[1.0, 2.0, 3.0], random_state=5))
    assert W.provenance == {"law": "gaussian", "scale": [1.0, 2.0, 3.0], "method": "iid", "seed": 5}
    sampled = un.sample_frequencies(7, 3)
    np.testing.assert_array_equal(sampled, un.sample_frequencies(7, 3, random_state=sampled.provenance["seed"]))
    assert un.sample_frequencies(7, 3, random_state=np.random.default_rng(0)).provenance["seed"] is None


def test_frequencies_remember_through_pickle_and_forget_through_arithmetic():
    W = un.sample_frequencies(7, 3, random_state=5)
    again = pickle.loads(pickle.dumps(W))
    assert again.provenance == W.provenance
    np.testing.assert_array_equal(again, W)
    assert copy.deepcopy(W).provenance == W.provenance
    assert type(W * 2) is np.ndarray
    assert isinstance(W.mean(), float)
    assert W[:3].provenance is None
    W[0] = 0
    assert W.provenance is None


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


def test_median_scale_of_normal_data_is_its_closed_form(rng):
    X = 3.0 * rng.normal(size=(20_000, 4))
    # Squared distances are 2 * 9 * chi2(4).
    expected = 3.0 * np.sqrt(stats.chi2(4).median())
    assert un.median_scale(X) == pytest.approx(expected, rel=0.05)
    assert un.median_scale(X, max_rows=3000) == pytest.approx(expected, rel=0.03)


def test_median_scale_equals_the_definition_on_few_rows(rng):
    X = rng.normal(size=(30, 2))
    squares = [((a - b) ** 2).sum() for i, a in enumerate(X) for b in X[:i]]
    assert un.median_scale(X) == pytest.approx(np.sqrt(np.median(squares) / 2), rel=1e-12)


def test_median_scale_per_column(rng):
    X = rng.normal(size=(900, 3)) * [1.0, 100.0, 0.0] + [0.0, 0.0, 7.0]
    lengths = un.median_scale(X, per_column=True)
    assert lengths[1] / lengths[0] == pytest.approx(100, rel=0.1)
    assert lengths[2] == 1.0
    assert lengths[0] == pytest.approx(un.median_scale(X[:, 0]), rel=1e-12)


def test_median_scale_of_several_samples_and_bags(rng):
    X, Y = rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 5
    together = un.median_scale(np.concatenate([X, Y]))
    assert un.median_scale(X, Y) == together
    assert un.median_scale(un.Bags([X, Y])) == together
    assert un.median_scale([X, Y]) == together
    assert together > un.median_scale(X)


def test_median_scale_is_seeded(rng):
    X = rng.normal(size=(5000, 2))
    assert un.median_scale(X, random_state=1) == un.median_scale(X, random_state=1)
    assert un.median_scale(X, random_state=1) != un.median_scale(X, random_state=2)


def test_median_scale_where_most_rows_are_equal(rng):
    X = np.zeros((1000, 1))
    X[:100, 0] = rng.normal(size=100)
    assert 0.3 < un.median_scale(X) < 2


def test_median_scale_where_all_sampled_rows_are_equal():
    rare = np.r_[np.zeros(200_000), np.arange(20.0)]
    assert 1 < un.median_scale(rare) < 10
    columns = np.column_stack([rare, np.arange(len(rare)), np.ones(len(rare))])
    assert un.median_scale(columns, per_column=True)[0] == un.median_scale(rare)


def test_median_scale_sees_a_bad_value_that_it_did_not_draw():
    X = np.arange(4000.0)
    X[3504] = np.nan
    for sample in (X, pd.DataFrame(X), iter([X])):
        with pytest.raises(ValueError, match="row 3504"):
            un.median_scale(sample)


def test_median_scale_at_the_limits_of_float64():
    assert un.median_scale([0, 5e-324, 0]) == 5e-324
    assert np.isfinite(un.median_scale(np.array([[-1.7e308, 0], [1.7e308, 1], [0, 2]]), per_column=True)).all()


def test_median_scale_of_heavy_tails_huge_and_tiny_numbers(rng):
    X = rng.standard_cauchy(size=(2000, 1))
    assert 0.5 < un.median_scale(X) < 4
    assert un.median_scale(1e300 * X[:500]) == pytest.approx(1e300 * un.median_scale(X[:500]))
    assert un.median_scale(1e-300 * X[:500]) == pytest.approx(1e-300 * un.median_scale(X[:500]))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: un.median_scale(), "at least one sample"),
        (lambda: un.median_scale([1.0]), "at least 2 rows"),
        (lambda: un.median_scale([1.0, 1.0, 1.0]), "equal"),
        (lambda: un.median_scale([1.0, 2.0], max_rows=1), "max_rows"),
        (lambda: un.median_scale(np.zeros((3, 1)), np.zeros((3, 2))), "columns"),
    ],
)
def test_bad_median_scale(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_frequencies_of_every_kind():
    expected = np.array([[1.0], [2.0]])
    for given in ([1, 2], [[1], [2]], np.array([1.0, 2.0]), torch.tensor([[1.0], [2.0]])):
        np.testing.assert_array_equal(as_frequencies(given, 1), expected)
