"""Noise on bags against closed forms, and the error of fitted models against it."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import kstest, norm, t

import uptonoise as un
from uptonoise.learning import add_noise
from uptonoise.learning.noise import KINDS

# The median absolute value of noise of variance 1; of Cauchy noise, by definition, that of the Gaussian.
MEDIANS = {
    "gaussian": norm.ppf(0.75),
    "laplace": np.log(2) / np.sqrt(2),
    "cauchy": norm.ppf(0.75),
    "t": t.ppf(0.75, 3) / np.sqrt(3),
    "mixture": brentq(lambda x: 0.8 * norm.cdf(2 * x) + 0.2 * norm.cdf(x / 2) - 0.75, 0, 5),
    "uniform": np.sqrt(3) / 2,
}


@pytest.fixture(scope="module")
def bags():
    """Two columns of very different scales, in bags of 20 to 60 rows."""
    rng = np.random.default_rng(0)
    samples = [rng.exponential(size=(size, 2)) * [1.0, 100.0] for size in rng.integers(20, 60, size=50)]
    ids = [f"bag {number}" for number in range(50)]
    return un.Bags(samples, ids=ids, labels=rng.normal(size=50).tolist(), columns=["length", "width"])


def added(bags, level, kind="gaussian", **options):
    return add_noise(bags, level, kind, **options).values - bags.values


@pytest.mark.parametrize("kind", KINDS)
def test_medians_of_bags_are_those_of_uniform_variances(kind):
    zeros = un.Bags(np.zeros((300, 4_000, 2)))
    noise = added(zeros, 3.0, kind, variances=[1.0, 25.0], random_state=1).reshape(300, 4_000, 2)
    variances = (np.median(np.abs(noise), axis=1) / MEDIANS[kind]) ** 2 / [3.0, 75.0]
    for of_column in variances.T:
        assert kstest(of_column, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(variances.T)[0, 1]) < 0.2  # each column has a draw of its own
    assert np.abs(np.median(noise, axis=1) / noise.std(axis=1)).max() < 0.1


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"cauchy", "t"}))
def test_variance_of_noise_is_half_the_level(kind, bags):
    pooled = bags.values.var(axis=0)
    noise = np.stack([added(bags, 2.0, kind, random_state=seed) for seed in range(100)])
    np.testing.assert_allclose(noise.var(axis=(0, 1)), pooled, rtol=0.05)


def test_rows_of_uniform_noise_are_bounded():
    noise = added(un.Bags(np.zeros((10, 1_000, 1))), 4.0, "uniform", variances=[1.0], random_state=0)
    assert np.abs(noise).max() <= np.sqrt(12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_noise_at_every_level(kind, bags):
    one = added(bags, 1.0, kind, random_state=3)
    np.testing.assert_allclose(added(bags, 9.0, kind, random_state=3), 3 * one, atol=1e-9 * np.abs(one).max())
    assert add_noise(bags, 0.0, kind, random_state=3) == bags
    assert add_noise(bags, 1.0, kind, random_state=3) == add_noise(bags, 1.0, kind, random_state=3)
    assert add_noise(bags, 1.0, kind, random_state=3) != add_noise(bags, 1.0, kind, random_state=4)


def test_all_but_the_values_is_kept(bags):
    before = bags.values.copy()
    noisy = add_noise(bags, 1.0, random_state=0)
    assert noisy.ids.tolist() == bags.ids.tolist()
    assert noisy.labels.tolist() == bags.labels.tolist()
    assert noisy.columns == ("length", "width")
    assert noisy.named
    assert noisy.sizes.tolist() == bags.sizes.tolist()
    np.testing.assert_array_equal(bags.values, before)
    assert not noisy.values.flags.writeable


def test_bags_without_labels_and_lists_of_arrays(rng):
    samples = [rng.normal(size=(5, 1)), rng.normal(size=(8, 1))]
    noisy = add_noise(samples, 1.0, random_state=0)
    assert noisy == add_noise(un.Bags(samples), 1.0, random_state=0)
    assert noisy.labels is None


def test_float32_stays(rng):
    bags = un.Bags(rng.normal(size=(5, 20, 2)).astype(np.float32))
    assert add_noise(bags, 1.0, random_state=0).values.dtype == np.float32


def test_given_variances_replace_those_of_the_bags(bags):
    noise = added(bags, 1.0, variances=[4.0, 0.0], random_state=0)
    own = added(bags, 1.0, random_state=0)
    np.testing.assert_allclose(noise[:, 0], own[:, 0] * 2 / bags.values[:, 0].std(), atol=1e-12)
    assert (noise[:, 1] == 0).all()


def test_constant_columns_get_no_noise(rng):
    values = rng.normal(size=(20, 30, 3))
    values[..., 1] = 0.1  # whose computed variance is not 0
    assert values.reshape(-1, 3).var(axis=0)[1] > 0
    noise = added(un.Bags(values), 1.0, random_state=0)
    assert (noise[:, 1] == 0).all()
    assert (noise[:, [0, 2]] != 0).all()


def test_phases_stay_where_noise_is_positive_definite():
    bags = un.Bags(np.random.default_rng(0).exponential(size=(1, 400_000, 1)))
    W = np.array([[2.5]])
    clean = np.angle(un.ecf(bags, W))
    # Uniform noise on (-a, a) turns the sign where pi < a w < 2 pi, which most variances give here.
    for kind, turned in (("gaussian", False), ("laplace", False), ("cauchy", False), ("t", False), ("uniform", True)):
        noisy = np.angle(un.ecf(add_noise(bags, 1.0, kind, variances=[1.6], random_state=0), W))
        gap = np.abs(np.angle(np.exp(1j * (noisy - clean)))).item()
        assert gap == pytest.approx(np.pi if turned else 0.0, abs=0.25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": -1.0}, "level must be a number at least 0 and below inf; got -1.0"),
        ({"level": np.nan}, "level must be"),
        ({"level": np.inf}, "level must be"),
        ({"level": "much"}, "level must be"),
        ({"level": [1.0]}, "level must be"),
        ({"level": 1.0, "kind": "pink"}, "kind must be one of gaussian, .*uniform; got 'pink'"),
        ({"level": 1.0, "kind": None}, "kind must be"),
        ({"level": 1.0, "variances": [1.0]}, "variances must be .* each of 2 columns"),
        ({"level": 1.0, "variances": [1.0, -1.0]}, "variances must be"),
        ({"level": 1.0, "variances": [1.0, np.nan]}, "variances must be"),
        ({"level": 1.0, "variances": ["a", "b"]}, "variances must hold real numbers"),
        ({"level": 1e308, "variances": [1e308, 1.0]}, "level=1e\\+308 makes noise too large"),
        ({"level": 1.0, "random_state": -1}, "random_state must be"),
    ],
)
def test_bad_noise(bags, options, message):
    with pytest.raises(ValueError, match=message):
        add_noise(bags, **{"random_state": 0} | options)


def test_values_without_a_variance():
    with pytest.raises(ValueError, match="bags must have columns of finite variance"):
        add_noise([np.array([[-1e200], [1e200]])], 1.0)
    with pytest.raises(ValueError, match="bags"):
        add_noise(np.zeros((3, 2)), 1.0)
