import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import uptonoise as un
from uptonoise.learning import PhaseFeatures

SIZES = [30, 1, 57, 8, 200, 3]


@pytest.fixture
def arrays(rng):
    return [rng.gamma(2.0, size=(size, 3)) + number for number, size in enumerate(SIZES)]


@pytest.fixture
def bags(arrays):
    return un.Bags(arrays, ids=list("abcdef"), labels=range(6), columns=["u", "v", "w"])


class TestNoiseAugmented:
    def test_features_are_noisy_in_fitting_only(self):
        bags = np.random.default_rng(0).gamma(2.0, size=(50, 40, 2))
        features = un.NoiseAugmented(PhaseFeatures(10, amplitude="plain", random_state=0), level=2.0, random_state=0)
        noisy = features.fit_transform(bags)
        plain = PhaseFeatures(10, amplitude="plain", random_state=0).fit(bags).transform(bags)
        np.testing.assert_array_equal(features.transform(bags), plain)
        assert np.abs(noisy - plain).max() > 0.01
        none = un.NoiseAugmented(PhaseFeatures(10, amplitude="plain", random_state=0), level=0.0, random_state=0)
        np.testing.assert_allclose(none.fit_transform(bags), plain, atol=1e-12)
        assert list(features.get_feature_names_out()) == list(PhaseFeatures(10).fit(bags).get_feature_names_out())

    def test_bad_input(self):
        bags = np.random.default_rng(0).gamma(2.0, size=(5, 4, 2))
        with pytest.raises(ValueError, match="level must be"):
            un.NoiseAugmented(PhaseFeatures(3), level=-1.0).fit_transform(bags)
        with pytest.raises(ValueError, match="transformer must be PhaseFeatures"):
            un.NoiseAugmented(StandardScaler()).fit(bags)
        with pytest.raises(NotFittedError):
            un.NoiseAugmented(PhaseFeatures(3)).transform(bags)
