import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uptonoise as un
from uptonoise.learning import PhaseFeatures
from uptonoise.learning.augmentation import bags_with_copies

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
        with pytest.raises(ValueError, match="transformer must be an estimator"):
            un.NoiseAugmented(StandardScaler()).fit(bags)
        with pytest.raises(NotFittedError):
            un.NoiseAugmented(PhaseFeatures(3)).transform(bags)


class TestNoiseAugmentedModel:
    def test_model_is_fitted_against_noise(self):
        generator = np.random.default_rng(0)
        shapes = generator.uniform(1, 6, 120)
        bags = un.Bags([generator.gamma(shape, size=(40, 1)) for shape in shapes])
        plain = make_pipeline(un.BagSummary(random_state=0), Ridge(10.0))
        noisy = un.add_noise(bags[80:], 4.0, random_state=0)
        augmented = un.NoiseAugmented(plain, level=4.0, random_state=0).fit(bags[:80], shapes[:80])
        assert augmented.score(noisy, shapes[80:]) > plain.fit(bags[:80], shapes[:80]).score(noisy, shapes[80:])
        assert is_regressor(augmented)
        assert cross_val_score(augmented, bags, shapes, cv=2).min() > 0.5

    def test_noise_of_a_bag_does_not_depend_on_the_fold(self):
        bags = un.Bags(np.random.default_rng(0).normal(size=(6, 5, 2)))
        whole = bags_with_copies(bags, 1.0, np.ones(2), seed=3)
        part = bags_with_copies(bags[2:4], 1.0, np.ones(2), seed=3)
        for copy in range(5):
            np.testing.assert_array_equal(whole[6 * copy + 3], part[2 * copy + 1])

    def test_classes(self):
        generator = np.random.default_rng(0)
        classes = np.arange(40) % 2
        bags = un.Bags([generator.gamma(1 + 5 * label, size=(30, 1)) for label in classes])
        model = un.NoiseAugmented(make_pipeline(un.BagSummary(random_state=0), LogisticRegression(max_iter=5_000)))
        assert not hasattr(un.NoiseAugmented(PhaseFeatures(3)), "predict")
        assert is_classifier(model)
        fitted = model.fit(bags, classes)
        assert fitted.predict_proba(bags).shape == (40, 2)
        assert un.robustness_curve(fitted, bags, classes, levels=[0, 1], n_repeats=2).metric == "error rate"
        with pytest.raises(ValueError, match="one target for each"):
            model.fit(bags, classes[:5])
