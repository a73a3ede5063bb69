import numpy as np
import pytest

import uptonoise as un
from uptonoise.twosample.paper.gradient_ascent import _ascended, _first, ascend_bumps
from uptonoise.twosample.paper.locations import noncentrality


@pytest.fixture(scope="module")
def samples():
    generator = np.random.default_rng(0)
    return generator.normal(size=(100, 2)), generator.normal(size=(100, 2)) * [1, 2] + [10, 0]


def test_locations_start_half_from_each_sample(samples):
    rows = np.concatenate(samples)
    V = _first(rows, 100, 9, np.random.default_rng(1))[:-1].reshape(9, 2)
    assert (V[:4, 0] < 5).all()
    assert (V[4:, 0] > 5).all()


def test_the_first_width_is_one_of_forty_about_the_median_distance(samples):
    rows = np.concatenate(samples)
    start = _first(rows, 100, 2, np.random.default_rng(1))
    apart = np.linalg.norm(rows[:, None] - rows, axis=2)
    ratio = np.log2(np.exp(start[-1]) / np.median(apart[np.triu_indices(200, 1)]))
    assert np.min(np.abs(ratio - np.linspace(-2.5, 2.5, 40))) < 1e-9


def test_gradient_ascent_raises_the_noncentrality():
    generator = np.random.default_rng(2)
    rows = np.concatenate([generator.normal(size=(60, 3)), generator.normal(size=(60, 3)) * 1.5])
    start = _first(rows, 60, 5, generator)
    end = _ascended(start, rows, 60, 5)
    assert noncentrality(end, rows, 60, 5, 1e-5)[0] > 1.2 * noncentrality(start, rows, 60, 5, 1e-5)[0]


def test_bumps_have_one_width_and_move_with_the_data(samples):
    X, Y = samples
    bumps = ascend_bumps(X, Y, 4, np.random.default_rng(3))
    moved = ascend_bumps(X + 100, Y + 100, 4, np.random.default_rng(3))
    assert np.ptp(bumps.widths) == 0
    np.testing.assert_allclose(moved.locations, bumps.locations + 100, rtol=1e-4)


def test_both_tests_take_the_optimizer(samples):
    X, Y = samples
    assert un.me_test(X, Y, optimizer="gradient", n_locations=3).pvalue < 1e-6
    assert un.sme_test(X, X[::-1], optimizer="gradient", n_locations=3).inner.locations.shape == (3, 2)
    with pytest.raises(ValueError, match="optimizer must be one of penalised, gradient"):
        un.me_test(X, Y, optimizer="adam")
