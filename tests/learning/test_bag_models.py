"""BagRegressor and BagClassifier: what they predict under noise, and as estimators of scikit-learn's kind."""

import pickle
import warnings
from math import gamma

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, cross_val_score

import uptonoise as un
from uptonoise._util.storage import load_archive, save_archive


def gamma_bags(n_bags=120, seed=0, d=2, sizes=(20, 40)):
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(1, 6, n_bags)
    bags = [generator.gamma(shape, size=(generator.integers(*sizes), d)) for shape in shapes]
    return un.Bags(bags, labels=shapes), shapes


def noisy(bags, size, seed=1):
    generator = np.random.default_rng(seed)
    values = [bag + size * bags.values.std(axis=0) * generator.normal(size=bag.shape) for bag in bags]
    return un.Bags(values, ids=bags.ids)


@pytest.fixture(scope="module")
def fitted():
    bags, y = gamma_bags(160)
    return un.BagRegressor(cv=2, random_state=0).fit(bags[:100], y[:100]), bags[100:], y[100:]


@pytest.fixture(scope="module")
def classifier():
    bags, y = gamma_bags(90)
    names = np.array(["few", "some", "many"], dtype=object)[np.digitize(y, [2.5, 4.5])]
    return un.BagClassifier(cv=2, random_state=0).fit(bags[:60], names[:60]), bags[60:], names[60:]


@pytest.mark.filterwarnings("ignore::uptonoise.UnusualBagsWarning")
def test_noise_raises_the_error_up_to_that_of_the_mean_and_no_further(fitted):
    model, bags, y = fitted
    errors = [np.sqrt(np.mean((model.predict(noisy(bags, size)) - y) ** 2)) / y.std() for size in (0, 1, 10, 100)]
    assert errors[0] < 0.35
    assert errors[0] < errors[1] < errors[2]
    assert max(errors) < 1.1  # the last with ten times the noise that any bag of fit had


@pytest.mark.filterwarnings("ignore::uptonoise.UnusualBagsWarning")
def test_intervals_widen_with_noise_and_cover(fitted):
    model, bags, y = fitted
    widths = []
    for size in (0.0, 1.0, 5.0):
        low, high = model.predict_interval(noisy(bags, size), coverage=0.9).T
        widths.append(np.mean(high - low))
        assert np.mean((low <= y) & (y <= high)) > 0.78  # 60 bags
    assert widths[0] < widths[1] < widths[2]
    narrow = np.diff(model.predict_interval(bags, coverage=0.5), axis=1)
    assert (narrow < np.diff(model.predict_interval(bags, coverage=0.9), axis=1)).all()


@pytest.mark.filterwarnings("ignore::uptonoise.UnusualBagsWarning")
def test_check_estimates_noise_and_flags_bags_unlike_those_of_fit(fitted):
    model, bags, _ = fitted
    clean, loud = model.check(bags), model.check(noisy(bags, 3.0))
    assert clean.noisier.mean() < 0.1
    assert clean.outside.mean() < 0.1
    assert 2 < np.median(loud.noise) < 4.5
    assert loud.noisier.all()
    np.testing.assert_allclose(np.median(model.check(noisy(bags, 100.0)).noise), 100, rtol=0.1)
    moved = un.Bags([bag + 300 for bag in bags])
    assert model.check(moved).outside.all()
    assert set(clean.to_frame().columns) == {"bag", "noise", "noisier", "outside"}
    with pytest.warns(un.UnusualBagsWarning, match="unlike the bags of fit"):
        model.predict(moved)


def test_no_prediction_depends_on_units_or_on_other_bags(fitted):
    model, bags, _ = fitted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.UnusualBagsWarning)
        alone = np.concatenate([model.predict(bags[[place]]) for place in range(5)])
    np.testing.assert_allclose(alone, model.predict(bags)[:5], rtol=1e-6)
    few, y = gamma_bags(40)
    scaled = un.Bags([bag * [1.0, 1000.0] for bag in few])
    models = [un.BagRegressor(random_state=0, cv=2).fit(these, y) for these in (few, scaled)]
    np.testing.assert_allclose(models[0].predict(few), models[1].predict(scaled), rtol=0.05)


def test_classes_and_probabilities(classifier):
    model, bags, names = classifier
    assert model.score(bags, names) > 0.6
    probabilities = model.predict_proba(bags)
    assert model.classes_.tolist() == ["few", "many", "some"]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(bags)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.UnusualBagsWarning)
        lost = model.predict_proba(noisy(bags, 10.0))
    assert lost.max() < 0.85


@pytest.mark.parametrize("name", ["fitted", "classifier"])
def test_saved_models_predict_the_same(name, request, tmp_path):
    model, bags, _ = request.getfixturevalue(name)
    model.save(tmp_path / "model.npz")
    again = type(model).load(tmp_path / "model.npz")
    assert (again.predict(bags) == model.predict(bags)).all()
    assert again.get_params()["noise"] == "unknown"
    if name == "fitted":
        np.testing.assert_array_equal(again.predict_interval(bags), model.predict_interval(bags))
    with pytest.raises(ValueError, match="is not a"):
        un.BagRidgeCV.load(tmp_path / "model.npz")


def test_models_of_the_first_format_are_read(fitted, tmp_path):
    model, bags, y = fitted
    model.save(tmp_path / "model.npz")
    header, arrays = load_archive(tmp_path / "model.npz", "bag regressor", 2)
    arrays["conformal.sizes"] = arrays["conformal.known.sizes"]
    later = ("conformal.known.", "conformal.added.", "conformal.largest")
    arrays = {name: array for name, array in arrays.items() if not name.startswith(later)}
    header = {name: value for name, value in header.items() if name not in ("format", "version", "arrays")}
    save_archive(tmp_path / "old.npz", "bag regressor", 1, header, arrays)
    again = un.BagRegressor.load(tmp_path / "old.npz")
    np.testing.assert_array_equal(again.predict(bags), model.predict(bags))
    low, high = again.predict_interval(bags).T
    assert np.mean((low <= y) & (y <= high)) > 0.78  # 60 bags
    again.save(tmp_path / "new.npz")
    np.testing.assert_array_equal(un.BagRegressor.load(tmp_path / "new.npz").predict_interval(bags)[:, 0], low)


def test_pickles_clones_and_seeds(fitted):
    model, bags, _ = fitted
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(bags), model.predict(bags))
    fresh = clone(model)
    with pytest.raises(NotFittedError):
        fresh.predict(bags)
    few, y = gamma_bags(30)
    both = [un.BagRegressor(random_state=3, cv=2).fit(few, y).predict(few) for _ in range(2)]
    np.testing.assert_array_equal(*both)


def test_targets_come_as_labels_by_id_or_in_order():
    bags, y = gamma_bags(40)
    bags = un.Bags(bags, ids=[f"bag {number}" for number in range(40)])
    options = {"random_state": 0, "cv": 2}
    plain = un.BagRegressor(**options).fit(bags, y).predict(bags)
    shuffled = pd.Series(y, index=bags.ids).sample(frac=1, random_state=0)
    model = un.BagRegressor(**options).fit(bags, shuffled)
    np.testing.assert_array_equal(model.predict(bags), plain)
    assert model.score(bags, shuffled) == model.score(bags, y) == model.score(bags)
    with pytest.raises(ValueError, match="index of y"):
        un.BagRegressor(**options).fit(bags, pd.Series(y))


def test_scikit_learn_searches_take_bags():
    bags, y = gamma_bags(60)
    scores = cross_val_score(un.BagRegressor(cv=2, random_state=0), bags, y, cv=2)
    assert scores.min() > 0.5
    groups = np.arange(60) // 10
    model = un.BagRegressor(cv=GroupKFold(2), noise="as in training", random_state=0).fit(bags, y, groups=groups)
    assert model.predict(bags).shape == (60,)


def test_columns_are_matched_by_name():
    bags, y = gamma_bags(40)
    named = un.Bags(bags, columns=["a", "b"])
    model = un.BagRegressor(cv=2, random_state=0).fit(named, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    swapped = un.Bags([bag[:, ::-1] for bag in named], columns=["b", "a"])
    np.testing.assert_allclose(model.predict(swapped), model.predict(named))
    with pytest.raises(ValueError, match="features"):
        model.predict(un.Bags([bag[:, :1] for bag in named]))


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        ({"noise": "some"}, {}, "noise must be"),
        ({"noise": -1.0}, {}, "noise must be"),
        ({"noise": 1e9}, {}, "noise must be"),
        ({"invariant": "yes"}, {}, "invariant must be True or False"),
        ({"cv": 200}, {}, "cv must be"),
        ({}, {"y": np.ones(40)}, "y must vary"),
        ({}, {"y": np.full(40, np.nan)}, "y must be finite"),
        ({}, {"y": np.ones((40, 2)) * np.arange(40)[:, None]}, "one number for each"),
        ({}, {"X": np.ones((40, 2))}, "X must be bags"),
        ({}, {"X": pd.DataFrame({"a": [1.0, 2.0]})}, "X must be bags"),
        ({}, {"X": [np.ones((3, 2))]}, "at least 3 bags"),
    ],
)
def test_bad_input_is_named(options, data, message):
    bags, y = gamma_bags(40)
    with pytest.raises(ValueError, match=message):
        un.BagRegressor(**options).fit(data.get("X", bags), data.get("y", y))


def test_bad_classes_are_named():
    bags, _ = gamma_bags(20)
    with pytest.raises(ValueError, match="at least 2 classes"):
        un.BagClassifier().fit(bags, ["a"] * 20)
    with pytest.raises(ValueError, match="at least 2 bags of each class; class 'b' has 1"):
        un.BagClassifier().fit(bags, ["a"] * 19 + ["b"])
    with pytest.raises(ValueError, match="as many bags of each class as folds, 4"):
        un.BagClassifier(cv=4).fit(bags, ["a"] * 17 + ["b"] * 3)
    model = un.BagClassifier(cv=2, random_state=0, noise="as in training").fit(bags, ["a", "b"] * 10)
    with pytest.raises(ValueError, match="X must be bags"):
        model.predict(np.ones((4, 2)))


def test_small_and_constant_bags_are_no_trouble():
    generator = np.random.default_rng(0)
    y = generator.uniform(1, 3, 40)
    bags = un.Bags(
        [
            np.column_stack([generator.gamma(shape, size=n), np.ones(n)])
            for n, shape in zip([1, 2, 3, 30] * 10, y, strict=True)
        ]
    )
    model = un.BagRegressor(cv=2, noise="up to 3", random_state=0).fit(bags, y)
    assert np.isfinite(model.predict(bags)).all()
    assert np.isfinite(model.predict_interval(bags)).all()


@pytest.mark.filterwarnings("ignore::uptonoise.UnusualBagsWarning")
def test_few_bags_need_no_cv_and_messages_do_not_name_it():
    bags, y = gamma_bags(8)
    options = {"noise": "as in training", "random_state": 0}
    assert np.isfinite(un.BagRegressor(**options).fit(bags[:3], y[:3]).predict(bags)).all()
    assert np.isfinite(un.BagRegressor(**options).fit(bags, y, groups=[0, 0, 0, 0, 1, 1, 1, 1]).predict(bags)).all()
    assert len(un.BagClassifier(**options).fit(bags, list("aaaaaabb")).predict(bags)) == 8
    for call, expected in (
        (lambda: un.BagRegressor().fit(bags[:2], y[:2]), "X must have at least 3 bags; got n_samples=2"),
        (lambda: un.BagRegressor().fit(bags, y, groups=[1] * 8), "groups must be at least 2"),
        (lambda: un.BagClassifier().fit(bags, list("aaaaaaab")), "at least 2 bags of each class"),
    ):
        with pytest.raises(ValueError, match=expected) as raised:
            call()
        assert "cv" not in str(raised.value)


def test_classes_are_no_measured_numbers():
    bags, y = gamma_bags(20)
    with pytest.raises(ValueError, match="Unknown label type"):
        un.BagClassifier().fit(bags, y)
    with pytest.raises(NotFittedError):
        un.BagClassifier().predict(bags)


@pytest.mark.filterwarnings("ignore::uptonoise.UnusualBagsWarning")
def test_the_default_does_not_read_noise_where_it_need_not(rng):
    """Noise that grows with the target in training and falls with it in use: Weibull shapes of one variance."""

    def measured(shapes, noise):
        spreads = [np.sqrt(gamma(1 + 2 / shape) - gamma(1 + 1 / shape) ** 2) for shape in shapes]
        rows = [rng.weibull(shape, size=(80, 2)) / spread for shape, spread in zip(shapes, spreads, strict=True)]
        return un.Bags([part + size * rng.normal(size=(80, 2)) for part, size in zip(rows, noise, strict=True)])

    shapes, new = rng.uniform(1, 3, (2, 150))
    train, use = measured(shapes, (shapes - 1) / 2), [measured(new, noise) for noise in ((new - 1) / 2, (3 - new) / 2)]

    def ratio(noise):
        model = un.BagRegressor(noise, n_frequencies=5, cv=3, random_state=0).fit(train, shapes)
        as_in_training, reversed_noise = (np.mean((model.predict(bags) - new) ** 2) for bags in use)
        return np.sqrt(reversed_noise / as_in_training)

    assert ratio("unknown") < 1.2
    assert ratio("as in training") > 1.2
