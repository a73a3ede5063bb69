import numpy as np
import pytest

from uptonoise.learning import MeanFeatures

SIZES = [30, 1, 57, 8, 200, 3]


@pytest.fixture
def arrays(rng):
    return [rng.gamma(2.0, size=(size, 3)) + number for number, size in enumerate(SIZES)]


def test_means(arrays):
    expected = [bag.mean(axis=0) for bag in arrays]
    np.testing.assert_allclose(MeanFeatures().fit_transform(arrays), expected, rtol=1e-13)
    np.testing.assert_allclose(MeanFeatures().fit(arrays).transform(arrays), expected, rtol=1e-13)


def test_means_over_many_blocks(rng, monkeypatch):
    monkeypatch.setattr("uptonoise.learning.mean_features.TotalsByBag.block_rows", 16)
    ragged = [rng.normal(size=(size, 2)) for size in rng.integers(1, 60, size=40)]
    np.testing.assert_allclose(MeanFeatures().fit_transform(ragged), [bag.mean(axis=0) for bag in ragged], rtol=1e-10)
