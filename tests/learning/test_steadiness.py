"""Sampling errors of predictions, and predictions shrunk by them, against plain numpy and resampling."""

import pickle

import numpy as np
import pytest

import uptonoise as un
from uptonoise.fourier import characteristic_function
from uptonoise.learning.noise import add_noise
from uptonoise.learning.steadiness import Influences, Predicted, Steadiness
from uptonoise.rows import as_rows


def gamma_bags(n_bags=120, sizes=(30, 80), seed=0, d=2):
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(1, 6, n_bags)
    return un.Bags(
        [generator.gamma(shape, 1 / shape, size=(generator.integers(*sizes), d)) for shape in shapes]
    ), shapes


def fitted(second=None, y=None, **options):
    bags, shapes = gamma_bags()
    settings = {"n_frequencies": 20, "n_second": 20, "random_state": 0, "precision": "float64"}
    return un.BagRidgeCV("phase", second, **(settings | options)).fit(bags, shapes if y is None else y)


def predicted(model, bags):
    coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    return Predicted.of(bags, model.first_, model.second_, coef, intercept)


def linear(model, bags):
    """Return predictions before anything is shrunk towards the mean."""
    return model.transform(bags) @ np.atleast_2d(model.coef_).T + model.intercept_


def test_influences_are_those_of_plain_numpy(rng):
    bags, _ = gamma_bags(5)
    W, gradients = rng.normal(size=(4, 2)), rng.normal(size=(3, 5, 4))
    found = characteristic_function(bags, W, precision="float64")
    influences = Influences.of(as_rows(bags), found, W, gradients, "float64")
    for number, bag in enumerate(bags):
        phi = np.exp(1j * bag @ W.T).mean(axis=0)
        moved = np.sin(bag @ W.T - np.angle(phi)) / np.abs(phi) @ gradients[:, number].T
        np.testing.assert_allclose(influences.squares[:, number], (moved**2).sum(axis=0), rtol=1e-9)
    of_one_row = influences.of_one_row()
    expected = (influences.squares + of_one_row[:, None]) / bags.sizes**2
    np.testing.assert_allclose(influences.errors(of_one_row), expected, rtol=1e-9)


def test_weights_count_as_copies_of_rows(rng):
    bags = rng.gamma(2, size=(3, 20, 1))
    W, gradients = np.array([[0.7], [1.3]]), rng.normal(size=(1, 3, 2))
    counts = rng.integers(1, 4, size=60)
    of_weights = as_rows(bags, weights=counts.astype(float))
    found = characteristic_function(of_weights, W)
    influences = Influences.of(of_weights, found, W, gradients)
    for number in range(3):
        moved = np.sin(bags[number] @ W.T - np.angle(found.phi[number])) / np.abs(found.phi[number])
        weight = counts[20 * number : 20 * number + 20]
        squares = (weight * (moved @ gradients[0, number])) ** 2
        assert influences.squares[0, number] == pytest.approx(squares.sum(), rel=1e-4)


@pytest.mark.parametrize("second", [None, pytest.param("fourier", marks=pytest.mark.slow)])
def test_errors_are_those_of_resampled_rows(second):
    """A bootstrap of the rows has the same variance where each phase counts in full, whatever its amplitude."""
    model = fitted(second, scale_factors=(4.0,))
    model.first_.reliability_ = model.first_.reliability_._replace(largest=np.zeros(20))
    bags, _ = gamma_bags(4, sizes=(1_000, 1_001), seed=1)
    found = predicted(model, bags)
    errors = found.influences.errors(np.zeros(1))[0]
    generator = np.random.default_rng(2)
    again = [linear(model, un.Bags(bag[generator.integers(1_000, size=(300, 1_000))])).var() for bag in bags]
    np.testing.assert_allclose(again, errors, rtol=0.35)  # four standard errors of a variance of 300 numbers
    assert np.mean(again / errors) == pytest.approx(1, abs=0.12)
    np.testing.assert_allclose(found.values.T, linear(model, bags), atol=1e-9)


def test_bags_like_those_of_fit_are_predicted_as_without():
    model = fitted()
    bags, _ = gamma_bags()
    errors = predicted(model, bags).influences.errors(model.steadiness_.of_one_row)[0]
    known = errors <= model.steadiness_.known[0]
    assert known.mean() == pytest.approx(0.9, abs=0.02)
    np.testing.assert_allclose(model.predict(bags)[known], linear(model, bags)[known, 0], rtol=1e-12)
    centre = model.steadiness_.centre[0]
    assert (np.abs(model.predict(bags) - centre) <= np.abs(linear(model, bags)[:, 0] - centre) + 1e-12).all()


@pytest.mark.parametrize("second", [None, "fourier"])
@pytest.mark.parametrize("kind", ["gaussian", "cauchy"])
def test_hardly_worse_than_the_mean_where_noise_hides_all(second, kind):
    model = fitted(second)
    bags, y = gamma_bags(300, seed=1)
    noisy = add_noise(bags, 30.0, kind, random_state=0)
    of_mean = np.sqrt(np.mean((y - y.mean()) ** 2))
    assert np.sqrt(np.mean((y - model.predict(noisy)) ** 2)) < 1.05 * of_mean
    assert np.sqrt(np.mean((y - model.predict(bags)) ** 2)) < 0.6 * of_mean


def test_smaller_bags_go_to_the_mean():
    model = fitted()
    bags, _ = gamma_bags(200, sizes=(400, 401), seed=3)
    centre = model.steadiness_.centre[0]
    kept = []
    for size in (1, 3, 10, 40):
        few = un.Bags([bag[:size] for bag in bags])
        kept.append(np.median(np.abs(model.predict(few) - centre) / np.abs(linear(model, few)[:, 0] - centre)))
    assert kept == sorted(kept)
    assert kept[0] < 0.3 < 0.95 < kept[-1]


def test_a_prediction_does_not_depend_on_the_others(monkeypatch):
    monkeypatch.setattr("uptonoise.learning.ridge._BAGS_AT_ONCE", 7)
    model = fitted()
    bags = add_noise(gamma_bags(20, seed=4)[0], 3.0, random_state=0)
    together = model.predict(bags)
    np.testing.assert_allclose(together, [model.predict(bags[[number]])[0] for number in range(20)], rtol=1e-12)
    np.testing.assert_allclose(model.predict(list(bags)), together, rtol=1e-12)


def test_several_targets_are_shrunk_one_by_one():
    _, shapes = gamma_bags()
    both = fitted(y=np.column_stack([shapes, np.sin(3 * shapes)]))
    assert both.steadiness_.known.shape == (2,)
    few, _ = gamma_bags(30, sizes=(3, 6), seed=5)
    steady, plain = both.predict(few), linear(both, few)
    centre = both.steadiness_.centre
    assert steady.shape == (30, 2)
    kept = (steady - centre) / (plain - centre)
    assert ((kept >= 0) & (kept <= 1 + 1e-12)).all()
    assert not np.allclose(kept[:, 0], kept[:, 1])


def test_rows_anywhere_in_a_file_give_the_same(tmp_path):
    pytest.importorskip("pyarrow")
    model = fitted()
    bags = add_noise(gamma_bags(12, seed=6)[0], 2.0, random_state=0)
    order = np.random.default_rng(0).permutation(len(bags.values))
    numbers = np.repeat(np.arange(12), bags.sizes)[order]
    path = tmp_path / "rows.csv"
    rows = (f"b{number},{x!r},{y!r}" for number, (x, y) in zip(numbers, bags.values[order].tolist(), strict=True))
    path.write_text("\n".join(["bag,x0,x1", *rows]))
    source = un.scan_csv(path, by="bag")
    found = dict(zip([f"b{one}" for one in range(12)], model.predict(bags), strict=True))
    streamed = model.predict(source)
    np.testing.assert_allclose(streamed, [found[one] for one in source.bag_ids], rtol=1e-7)


def test_steadiness_is_learnt_from_bags_in_a_file_too(tmp_path):
    pytest.importorskip("pyarrow")
    bags, shapes = gamma_bags(40)
    path = tmp_path / "rows.csv"
    numbers = np.repeat(np.arange(40), bags.sizes)
    rows = (f"{number},{x!r},{y!r}" for number, (x, y) in zip(numbers, bags.values.tolist(), strict=True))
    path.write_text("\n".join(["bag,x0,x1", *rows]))
    options = {"n_frequencies": 10, "scale_factors": (1.0, 4.0), "random_state": 0}
    streamed = un.BagRidgeCV(**options).fit(un.scan_csv(path, by="bag"), shapes)
    in_memory = un.BagRidgeCV(**options).fit(bags, shapes)
    np.testing.assert_allclose(streamed.steadiness_.known, in_memory.steadiness_.known, rtol=0.2)


def test_models_against_noise_know_that_noise():
    clean, against = fitted(), fitted(noise_augmentation=3.0)
    few, _ = gamma_bags(100, sizes=(10, 11), seed=7)

    def share_shrunk(model):
        return np.mean(~np.isclose(model.predict(few), linear(model, few)[:, 0], rtol=1e-9))

    assert share_shrunk(against) < 0.8 * share_shrunk(clean)


def test_it_is_kept_in_files_and_pickles(tmp_path):
    model = fitted()
    noisy = add_noise(gamma_bags(10, seed=8)[0], 3.0, random_state=0)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(un.BagRidgeCV.load(tmp_path / "model.npz").predict(noisy), model.predict(noisy))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(noisy), model.predict(noisy))


@pytest.mark.parametrize(
    "options", [{"steady": False}, {"amplitude": "plain"}, {"first": "fourier"}, {"first": "mean"}]
)
def test_models_without_it(options):
    bags, y = gamma_bags(40)
    model = un.BagRidgeCV(**({"first": "phase"} | options), n_frequencies=10, random_state=0).fit(bags, y)
    assert model.steadiness_ is None
    np.testing.assert_allclose(model.predict(bags), linear(model, bags)[:, 0])


def test_vectors_are_bags_of_one_row(rng):
    X = rng.normal(size=(50, 3))
    bags = un.Bags(X[:, None])
    model = un.BagRidgeCV(n_frequencies=20, random_state=0).fit(bags, X[:, 0])
    assert np.isfinite(model.predict(bags)).all()


def test_bad_input():
    bags, y = gamma_bags(20)
    with pytest.raises(ValueError, match="steady must be True or False; got 'yes'"):
        un.BagRidgeCV(steady="yes").fit(bags, y)
    with pytest.raises(ValueError, match="bounded must be True or False; got 1"):
        un.PhaseFeatures(bounded=1).fit(bags)
    with pytest.raises(ValueError, match="read it into Bags, or fit with steady=False"):
        fitted().predict(iter([np.zeros((3, 2))]))


def test_predictions_beyond_those_of_fit_return_to_the_mean():
    """Noise can take a prediction far beyond all of those of fit, with a small error to first order."""
    values = np.array([[-1.0, 0.0, 1.0, 2.0]])
    none = Influences(np.zeros((1, 4)), np.ones(4), np.ones(4))
    weights = np.array([1.0, 1.0, 1.0, 0.0])
    steadiness = Steadiness.learnt(Predicted(values, none, np.ones((1, 4))), values.T, weights)
    assert steadiness.reach.tolist() == [1.0]
    shrunk = steadiness.shrunk(Predicted(np.array([[1.0, -1.0, 2.0, -100.0]]), none, np.ones((1, 4))))[0]
    np.testing.assert_allclose(shrunk[:2], [1.0, -1.0])
    assert 0 < shrunk[2] < 1
    assert -0.01 < shrunk[3] < 0


def test_predictions_of_bags_of_which_nothing_is_seen_are_the_mean():
    values, seen = np.array([[-1.0, 0.0, 1.0]]), np.array([[0.8, 0.8, 0.8]])
    none = Influences(np.zeros((1, 3)), np.ones(3), np.ones(3))
    steadiness = Steadiness.learnt(Predicted(values, none, seen), values.T, np.ones(3))
    shrunk = steadiness.shrunk(Predicted(np.array([[1.0, 1.0, 1.0]]), none, np.array([[0.4, 0.2, 0.0]])))
    np.testing.assert_allclose(shrunk, [[1.0, 0.5, 0.0]], atol=1e-12)


def test_what_is_seen_falls_with_noise():
    model = fitted()
    bags, _ = gamma_bags(50, seed=9)
    seen = [predicted(model, add_noise(bags, size, random_state=0)).seen.mean() for size in (0.0, 3.0, 1e4)]
    assert seen[0] > seen[1] > seen[2]
    assert seen[0] > 0.5
    assert seen[2] < 0.05


def test_one_wild_prediction_of_fit_does_not_count_as_reach():
    values, y = np.array([[-1.0, 0.0, 1.0, 50.0]]), np.array([[-2.0], [0.0], [1.0], [1.0]])
    none = Influences(np.zeros((1, 4)), np.ones(4), np.ones(4))
    steadiness = Steadiness.learnt(Predicted(values, none, np.ones((1, 4))), y, np.array([1.0, 1.0, 1.0, 1e-6]))
    assert steadiness.reach[0] == pytest.approx(3, abs=0.1)
    assert steadiness.spread[0] == pytest.approx(2 / 3, abs=0.1)
