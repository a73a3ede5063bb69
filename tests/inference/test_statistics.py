import numpy as np
from scipy import stats

from uptonoise.inference import (
    moments,
    quantile_powers,
)


def test_moments_and_quantiles_agree_with_scipy(rng):
    bag = rng.gamma(2, size=(50, 2))
    expected = np.concatenate([bag.mean(0), bag.std(0), stats.skew(bag, axis=0)])
    assert np.allclose(moments(bag), expected)
    quantiles = np.quantile(bag[:, 0], np.linspace(0.05, 0.95, 19))
    found = quantile_powers(bag)
    assert np.allclose(found[:19], quantiles)
    assert np.allclose(found[38 : 38 + 19], quantiles**2)
    assert moments(np.ones((5, 1)))[2] == 0
