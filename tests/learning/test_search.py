import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import GroupKFold, KFold

import uptonoise as un
from uptonoise.datasets import make_gamma_bags


def gamma_bags(n_bags=60, seed=0, d=2, sizes=(5, 40)):
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(1, 6, n_bags)
    bags = un.Bags([generator.gamma(shape, size=(generator.integers(*sizes), d)) for shape in shapes])
    return bags, shapes


def small(first="phase", second=None, **options):
    settings = {"n_frequencies": 15, "n_second": 20, "scale_factors": (0.5, 2.0), "second_scale_factors": (1.0, 3.0)}
    return un.BagRidgeCV(first, second, random_state=0, **(settings | options))


def test_the_best_candidate_is_chosen_and_results_are_scikit_learns():
    bags, y = gamma_bags()
    model = small("phase", "fourier").fit(bags, y)
    results = model.cv_results_
    best = model.best_index_
    assert model.best_params_ == results["params"][best]
    assert results["rank_test_score"].min() == 1
    assert model.best_score_ == pytest.approx(results["mean_test_score"][best])
    assert len(results["params"]) == 2 * 2 * len(model.alphas)
    assert {"param_alpha", "param_scale_factor", "param_second_scale_factor", "split2_test_score"} <= set(results)
    frame = pd.DataFrame(results)
    assert len(frame) == len(results["params"])


def test_groups_stay_together():
    bags, y = gamma_bags()
    groups = np.repeat(np.arange(20), 3)
    model = small(cv=4).fit(bags, y, groups=groups)
    assert np.isfinite(model.best_score_)
    small(cv=GroupKFold(3)).fit(bags, y, groups=groups)
    with pytest.raises(ValueError, match="keep each group in one part"):
        small(cv=KFold(3, shuffle=True, random_state=0)).fit(bags, y, groups=groups)


class TestNoiseAugmentation:
    def errors(self, model, level=2.0):
        bags, y = make_gamma_bags(150, 60, noise=0.0, random_state=1)
        variances = make_gamma_bags(150, 60, noise=0.0, random_state=0)[0].values.var(axis=0)
        noisy = un.add_noise(bags, level, variances=variances, random_state=0)
        return np.sqrt(np.mean((model.predict(noisy) - y) ** 2))

    @pytest.mark.parametrize(("first", "second"), [("phase", None), ("fourier", None), ("mean", "fourier")])
    def test_it_predicts_better_under_noise(self, first, second):
        bags, y = make_gamma_bags(150, 60, noise=0.0, random_state=0)
        plain = small(first, second, amplitude="plain").fit(bags, y)
        augmented = small(first, second, amplitude="plain", noise_augmentation=3.0).fit(bags, y)
        if first != "mean":  # which noise hardly moves
            assert self.errors(augmented) < self.errors(plain)
        assert augmented.noise_range_ == (0.0, 3.0)
        assert plain.noise_range_ is None

    def test_the_level_is_chosen_for_the_target(self):
        bags, y = gamma_bags(120)
        options = {"amplitude": "plain", "noise_augmentation": (0.0, 5.0)}
        clean = small(noise_target=(0.0, 0.0), **options).fit(bags, y)
        noisy = small(noise_target=(3.0, 5.0), **options).fit(bags, y)
        assert clean.best_params_["noise_level"] == 0.0
        assert noisy.best_params_["noise_level"] == 5.0
        assert noisy.best_score_ < clean.best_score_

    def test_no_noise_is_the_plain_model(self):
        bags, y = gamma_bags()
        none = small(noise_augmentation=0.0, noise_target=(0.0, 0.0)).fit(bags, y)
        np.testing.assert_allclose(none.coef_, small().fit(bags, y).coef_, rtol=1e-6, atol=1e-9)

    def test_it_is_what_noise_in_the_rows_would_be(self):
        generator = np.random.default_rng(0)
        rows = generator.gamma(2.0, size=(400, 50, 1))
        features = un.FourierFeatures(frequencies=[[0.7], [0.8]]).fit(rows)
        found = features.characteristic(rows)
        from uptonoise.learning.augmentation import with_noise

        levels = np.full(400, 2.0)
        made = np.concatenate(
            [
                with_noise(found, features.frequencies_, rows.reshape(-1, 1), np.ones(1), levels, generator).phi
                for _ in range(20)
            ]
        )
        real = []
        for _ in range(20):
            sds = np.sqrt(2.0 * generator.random((400, 1, 1)))
            real.append(features.characteristic(rows + sds * generator.normal(size=rows.shape)).phi)
        real = np.concatenate(real)
        assert abs(made.mean() - real.mean()) < 0.01
        np.testing.assert_allclose(np.cov(made.T), np.cov(real.T), rtol=0.07)
        clean = np.tile(found.phi, (20, 1))
        errors = [one - one.mean(axis=0) for one in (made - clean, real - clean)]
        alike = [abs(np.vdot(one[:, 0], one[:, 1])) / np.linalg.norm(one, axis=0).prod() for one in errors]
        assert alike[0] == pytest.approx(alike[1], abs=0.02)

    def test_the_largest_penalty_within_the_tolerance_is_chosen(self):
        bags, y = gamma_bags(120)
        best, tolerant = small(tolerance=0.0).fit(bags, y), small(tolerance=0.1).fit(bags, y)
        assert best.best_score_ == best.cv_results_["mean_test_score"].max()
        assert tolerant.best_score_ >= 1.1 * best.best_score_
        assert tolerant.best_params_["alpha"] > best.best_params_["alpha"]
        assert tolerant.cv_results_["params"][tolerant.best_index_] == tolerant.best_params_
        close = tolerant.cv_results_["mean_test_score"] >= 1.1 * best.best_score_
        assert tolerant.best_params_["alpha"] == tolerant.cv_results_["param_alpha"][close].max()
        with pytest.raises(ValueError, match="tolerance must"):
            small(tolerance=-0.1).fit(bags, y)

    def test_bad_levels_are_refused(self):
        bags, y = gamma_bags()
        for options, said in (
            ({"noise_augmentation": -1.0}, "noise_augmentation must be"),
            ({"noise_augmentation": ()}, "noise_augmentation must be"),
            ({"noise_augmentation": "much"}, "noise_augmentation must be"),
            ({"noise_augmentation": 1.0, "noise_target": (2.0, 1.0)}, "noise_target must be"),
            ({"noise_target": (0.0, 1.0)}, "noise_target has no meaning"),
            ({"first": StandardBags(), "noise_augmentation": 1.0}, "noise_augmentation needs"),
        ):
            with pytest.raises(ValueError, match=said):
                small(**options).fit(bags, y)


class StandardBags(TransformerMixin, BaseEstimator):
    """Features that know no characteristic function."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.array([bag.std(axis=0) for bag in X])
