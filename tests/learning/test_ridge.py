"""BagRidgeCV and the paper's models: against scikit-learn's Ridge on the same features, and as an estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, ShuffleSplit, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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


@pytest.mark.parametrize(
    ("first", "second"), [("phase", None), ("fourier", None), ("mean", "fourier"), ("phase", "fourier")]
)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_model_is_scikit_learns_ridge_on_the_same_features(first, second, intercept):
    bags, y = gamma_bags()
    model = small(first, second, steady=False, fit_intercept=intercept).fit(bags, y)
    reference = Ridge(alpha=model.best_params_["alpha"], fit_intercept=intercept, solver="svd")
    reference.fit(model.transform(bags), y)
    others, _ = gamma_bags(seed=1)
    np.testing.assert_allclose(model.predict(others), reference.predict(model.transform(others)), rtol=1e-6)


def test_features_and_predictions_agree_with_plain_numpy():
    bags, y = gamma_bags()
    model = small(precision="float64", amplitude="plain", scale_factors=(1.0,), alphas=(0.1,)).fit(bags, y)
    W = model.first_.frequencies_
    phi = np.array([np.exp(1j * bag @ W.T).mean(axis=0) for bag in bags])
    phases = phi / np.abs(phi)
    F = np.stack([phases.real, phases.imag], axis=-1).reshape(len(bags), -1) / np.sqrt(len(W))
    np.testing.assert_allclose(model.transform(bags), F, atol=1e-6)
    centred = F - F.mean(axis=0)
    coef = np.linalg.solve(centred.T @ centred + 0.1 * np.eye(F.shape[1]), centred.T @ (y - y.mean()))
    np.testing.assert_allclose(model.predict(bags), centred @ coef + y.mean(), atol=1e-6)


@pytest.mark.parametrize("cv", [KFold(4), ShuffleSplit(3, random_state=0), PredefinedSplit([-1] * 40 + [0] * 20)])
def test_errors_of_folds_are_those_of_fits_one_by_one(cv):
    bags, y = gamma_bags()
    weights = np.random.default_rng(0).uniform(0.5, 2, len(bags))
    model = small(cv=cv, scale_factors=(1.5,), alphas=(1e-3, 1.0)).fit(bags, y, sample_weight=weights)
    F = model.transform(bags)
    for place, alpha in enumerate((1e-3, 1.0)):
        for number, (train, test) in enumerate(cv.split(np.arange(len(bags)))):
            fitted = Ridge(alpha=alpha, solver="svd").fit(F[train], y[train], sample_weight=weights[train])
            error = np.average((y[test] - fitted.predict(F[test])) ** 2, weights=weights[test])
            assert -model.cv_results_[f"split{number}_test_score"][place] == pytest.approx(error, rel=1e-6)


def test_the_best_candidate_is_chosen_and_results_are_scikit_learns():
    bags, y = gamma_bags()
    model = small("phase", "fourier").fit(bags, y)
    results = model.cv_results_
    best = int(np.argmax(results["mean_test_score"]))
    assert model.best_params_ == results["params"][best]
    assert results["rank_test_score"][best] == 1
    assert model.best_score_ == pytest.approx(results["mean_test_score"][best])
    assert len(results["params"]) == 2 * 2 * len(model.alphas)
    assert {"param_alpha", "param_scale_factor", "param_second_scale_factor", "split2_test_score"} <= set(results)
    frame = pd.DataFrame(results)
    assert len(frame) == len(results["params"])


def test_several_targets_are_fitted_at_once():
    bags, y = gamma_bags()
    both = np.c_[y, -2 * y + 1]
    model = small(alphas=(0.01,), scale_factors=(1.0,)).fit(bags, both)
    alone = small(alphas=(0.01,), scale_factors=(1.0,)).fit(bags, y)
    assert model.coef_.shape == (2, 30)
    np.testing.assert_allclose(model.predict(bags)[:, 0], alone.predict(bags), rtol=1e-8)
    np.testing.assert_allclose(model.predict(bags)[:, 1], 1 - 2 * alone.predict(bags), rtol=1e-6)


def test_weights_count_as_repeated_bags():
    bags, y = gamma_bags()
    weights = np.ones(len(bags))
    weights[:10] = 2
    repeated = np.r_[np.arange(len(bags)), np.arange(10)]
    options = {"alphas": (0.1,), "scale_factors": (1.0,), "first": "mean"}
    weighted = small(**options).fit(bags, y, sample_weight=weights)
    again = small(**options).fit(bags[repeated], y[repeated])
    np.testing.assert_allclose(weighted.predict(bags), again.predict(bags), rtol=1e-8)


def test_a_prediction_does_not_depend_on_the_other_bags():
    bags, y = gamma_bags()
    for model in (small().fit(bags, y), small("fourier", "fourier").fit(bags, y)):
        np.testing.assert_allclose(model.predict(bags[[7]]), model.predict(bags)[[7]], rtol=1e-9)


def test_the_same_seed_gives_the_same_model_and_models_share_frequencies():
    bags, y = gamma_bags()
    one, two = small().fit(bags, y), small().fit(bags, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    other = small("fourier").fit(bags, y)
    directions = [model.first_.frequencies_ / model.first_.frequencies_[0, 0] for model in (one, other)]
    np.testing.assert_allclose(*directions)


@pytest.mark.parametrize("make", [un.plrr, un.glrr, un.lgrr, un.pgrr, un.ggrr])
def test_the_papers_models_learn(make):
    bags, y = gamma_bags(150)
    model = make(random_state=0, scale_factors=(1.0, 4.0), second_scale_factors=(1.0, 4.0)).fit(bags[:100], y[:100])
    assert model.n_frequencies == model.n_second == 75
    assert model.score(bags[100:], y[100:]) > 0.6


def test_it_is_a_scikit_learn_estimator():
    bags, y = gamma_bags()
    model = small()
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        model.predict(bags)
    fitted = pickle.loads(pickle.dumps(clone(model).fit(bags, y)))
    np.testing.assert_array_equal(fitted.predict(bags), model.fit(bags, y).predict(bags))
    assert cross_val_score(small(), bags, y, cv=3).mean() > 0.3
    pipeline = make_pipeline(un.RowTransformer(StandardScaler()), small()).fit(bags, y)
    assert pipeline.predict(bags).shape == (60,)
    assert cross_val_predict(pipeline, bags, y, cv=2).shape == (60,)


def test_labels_of_bags_are_targets():
    bags, y = gamma_bags()
    labelled = un.Bags(list(bags), labels=y)
    np.testing.assert_array_equal(small().fit(labelled).coef_, small().fit(bags, y).coef_)


def test_a_transformer_of_ones_own_is_a_level():
    bags, y = gamma_bags()
    given = un.PhaseFeatures(n_frequencies=10, random_state=3)
    model = small(given, StandardScaler()).fit(bags, y)
    assert set(model.best_params_) == {"alpha", "scale_factor"}
    assert not hasattr(given, "frequencies_")
    with pytest.raises(ValueError, match="save is for models whose features were named"):
        model.save("nowhere.npz")


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


class TestFiles:
    @pytest.mark.parametrize(
        ("first", "second", "options"),
        [
            ("phase", None, {}),
            ("phase", None, {"amplitude": "shrunk", "noise_augmentation": 1.0}),
            ("mean", "fourier", {}),
            ("fourier", "fourier", {}),
        ],
    )
    def test_a_saved_model_predicts_the_same(self, tmp_path, first, second, options):
        bags, y = gamma_bags()
        model = small(first, second, **options).fit(bags, y)
        model.save(tmp_path / "m.npz")
        again = un.BagRidgeCV.load(tmp_path / "m.npz")
        np.testing.assert_array_equal(again.predict(bags), model.predict(bags))
        assert again.best_params_ == model.best_params_
        assert again.first == first
        assert again.noise_range_ == model.noise_range_

    def test_columns_are_remembered(self, tmp_path):
        generator = np.random.default_rng(0)
        frame = pd.DataFrame({"p": np.repeat(np.arange(30), 10), "a": generator.gamma(2, size=300), "b": 1.0})
        bags = un.Bags.from_long(frame, by="p")
        model = small().fit(bags, np.arange(30.0))
        model.save(tmp_path / "m.npz")
        again = un.BagRidgeCV.load(tmp_path / "m.npz")
        turned = un.Bags.from_long(frame[["b", "p", "a"]], by="p")
        np.testing.assert_array_equal(again.predict(turned), model.predict(bags))
        with pytest.raises(ValueError, match="'a'"):
            again.predict(un.Bags.from_long(frame.rename(columns={"a": "c"}), by="p"))

    def test_other_files_are_refused(self, tmp_path):
        un.Sketch([[1.0]]).update([1.0, 2.0]).save(tmp_path / "s.npz")
        with pytest.raises(ValueError, match="not a model"):
            un.BagRidgeCV.load(tmp_path / "s.npz")
        (tmp_path / "t.npz").write_bytes(b"PK")
        with pytest.raises(ValueError, match="not a model"):
            un.BagRidgeCV.load(tmp_path / "t.npz")


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"first": "wave"}, "first must be one of"),
            ({"second": "phase"}, "second must be"),
            ({"first": 3}, "first must be"),
            ({"alphas": ()}, "alphas must be"),
            ({"alphas": (-1.0,)}, "alphas must be"),
            ({"scale_factors": (0.0,)}, "scale_factors must be"),
            ({"cv": 1}, "cv must be at least 2"),
            ({"cv": 100}, "at most the number of bags, 60"),
            ({"n_frequencies": 0}, "n_frequencies"),
        ],
    )
    def test_parameters(self, options, said):
        bags, y = gamma_bags()
        with pytest.raises(ValueError, match=said):
            small(**options).fit(bags, y)

    def test_targets(self):
        bags, y = gamma_bags()
        with pytest.raises(ValueError, match=r"60 bags; got shape \(59,\)"):
            small().fit(bags, y[:-1])
        with pytest.raises(ValueError, match="y must be finite; got nan for bag 3"):
            small().fit(bags, np.where(np.arange(60) == 3, np.nan, y))
        with pytest.raises(ValueError, match="y must vary"):
            small().fit(bags, np.ones(60))
        with pytest.raises(ValueError, match="at least 2 bags"):
            small().fit(bags[[0]], y[:1])
        with pytest.raises(ValueError, match="y must be given"):
            small().fit(bags)
        with pytest.raises(ValueError, match="sample_weight"):
            small().fit(bags, y, sample_weight=np.ones(3))
        with pytest.raises(ValueError, match="groups"):
            small().fit(bags, y, groups=np.ones(3))

    def test_bags_of_another_dimension(self):
        bags, y = gamma_bags()
        model = small().fit(bags, y)
        with pytest.raises(ValueError, match="3"):
            model.predict(gamma_bags(d=3)[0])


class TestClassifier:
    def test_bags_are_classified(self):
        bags, y = gamma_bags(90)
        labels = np.where(y > 3.5, "large", "small")
        model = un.make_bag_classifier(n_frequencies=20, random_state=0).fit(bags[:60], labels[:60])
        assert model.score(bags[60:], labels[60:]) > 0.8
        assert model.predict_proba(bags[60:]).shape == (30, 2)
        assert list(model.best_estimator_.named_steps) == ["first", "classifier"]

    def test_it_has_a_second_level_and_means(self):
        bags, y = gamma_bags(60)
        model = un.make_bag_classifier("mean", "fourier", n_second=20, random_state=0).fit(bags, y > 3.5)
        assert list(model.best_estimator_.named_steps) == ["first", "second", "classifier"]
        assert set(model.param_grid) == {"classifier__C"}


def test_phases_of_a_classifier_are_not_bounded():
    assert not un.make_bag_classifier("phase").estimator.named_steps["first"].bounded
    assert small().fit(*gamma_bags()).first_.bounded
