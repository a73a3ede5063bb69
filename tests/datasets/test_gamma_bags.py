import numpy as np
import pytest
from scipy import stats

from uptonoise.datasets import (
    make_gamma_bags,
)


def of_bags(bags, statistic):
    return np.array([statistic(bag) for bag in bags])


def test_gamma_bags_have_the_moments_of_the_model():
    bags, theta = make_gamma_bags(60, 20_000, 2, noise=0.0, random_state=0)
    np.testing.assert_allclose(of_bags(bags, np.mean), 0.5, atol=0.02)
    np.testing.assert_allclose(of_bags(bags, np.var) * 2 * theta, 1, atol=0.08)
    skewness = of_bags(bags, lambda bag: stats.skew(bag.ravel()))
    np.testing.assert_allclose(skewness / np.sqrt(8 / theta), 1, atol=0.25)
    first = bags[0].ravel()
    assert stats.kstest(first, stats.gamma(theta[0] / 2, scale=1 / theta[0]).cdf).pvalue > 1e-3


def test_theta_has_its_prior():
    _, theta = make_gamma_bags(5_000, 1, prior=(3.0, 0.5), random_state=0)
    assert stats.kstest(theta, stats.gamma(3.0, scale=2.0).cdf).pvalue > 1e-3


def test_the_noise_of_a_bag_has_one_uniform_variance_and_leaves_the_signal():
    noisy, theta = make_gamma_bags(400, 500, 3, noise=2.0, random_state=1)
    clean, same_theta = make_gamma_bags(400, 500, 3, noise=0.0, random_state=1)
    np.testing.assert_array_equal(theta, same_theta)
    noise = noisy.values - clean.values
    by_column = (noise**2).reshape(400, 500, 3).mean(axis=1)
    variance = by_column.mean(axis=1)
    np.testing.assert_allclose(by_column / variance[:, None], 1, atol=0.25)
    assert stats.kstest(variance, stats.uniform(0, 2).cdf).pvalue > 1e-3
    assert stats.kstest((noise / np.sqrt(np.repeat(variance, 500))[:, None]).ravel()[::50], "norm").pvalue > 1e-3


def test_sizes_of_gamma_bags():
    assert set(make_gamma_bags(5, 7, random_state=0)[0].sizes) == {7}
    np.testing.assert_array_equal(make_gamma_bags(3, [5, 1, 9], random_state=0)[0].sizes, [5, 1, 9])
    np.testing.assert_array_equal(make_gamma_bags(2, np.array([4, 6]), random_state=0)[0].sizes, [4, 6])
    assert set(make_gamma_bags(4, (6, 6), random_state=0)[0].sizes) == {6}
    sizes = make_gamma_bags(1_000, (5, 5_000), random_state=0)[0].sizes
    assert sizes.min() >= 5
    assert sizes.max() <= 5_000
    assert np.median(sizes) == pytest.approx(np.sqrt(5 * 5_000), rel=0.3)
