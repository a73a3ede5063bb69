"""BagRidgeCV and the paper's models: against scikit-learn's Ridge on the same features, and as an estimator."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uptonoise as un


def gamma_bags(n_bags=60, seed=0, d=2, sizes=(5, 40)):
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(1, 6, n_bags)
    bags = un.Bags([generator.gamma(shape, size=(generator.integers(*sizes), d)) for shape in shapes])
    return bags, shapes


def small(first="phase", second=None, **options):
    settings = {"n_frequencies": 15, "n_second": 20, "scale_factors": (0.5, 2.0), "second_scale_factors": (1.0, 3.0)}
    return un.BagRidgeCV(first, second, random_state=0, **(settings | options))


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
            ({"cv": np.zeros((2, 2))}, "cv must be a number of folds"),
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
