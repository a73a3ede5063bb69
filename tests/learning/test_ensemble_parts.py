"""The parts of the models of bags: trees as arrays, cross-fitted ridge models, weights, conformal quantiles, noise."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

import uptonoise as un
from uptonoise.learning.conformal import Conformal, Known
from uptonoise.learning.forest import Forest, class_probabilities
from uptonoise.learning.linear_learners import fitted_kernel, fitted_ridge
from uptonoise.learning.noisy_copies import NoisePlan, largest_noise
from uptonoise.learning.solver import Split
from uptonoise.learning.stack import Hats, Stack


def splits(n, k=3):
    return [
        Split(np.flatnonzero(np.arange(n) % k != part), np.flatnonzero(np.arange(n) % k == part)) for part in range(k)
    ]


def test_trees_as_arrays_predict_as_scikit_learn(rng):
    X, y = rng.normal(size=(200, 5)), rng.normal(size=200)
    model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
    np.testing.assert_allclose(Forest.of(model).sums(X)[:, 0], model.predict(X))
    for n_classes in (2, 3):
        classes = rng.integers(n_classes, size=200)
        classifier = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, classes)
        np.testing.assert_allclose(class_probabilities(Forest.of(classifier).sums(X)), classifier.predict_proba(X))


def test_ridge_is_that_of_scikit_learn(rng):
    X, y = rng.normal(size=(60, 4)), rng.normal(size=(60, 1))
    model, out_of_fold, penalty = fitted_ridge(X, y, splits(60))
    np.testing.assert_allclose(model.predict(X), Ridge(penalty).fit(X, y).predict(X).reshape(-1, 1), atol=1e-6)
    train, test = splits(60)[1]
    left_out = Ridge(penalty).fit(X[train], y[train]).predict(X[test]).reshape(-1, 1)
    np.testing.assert_allclose(out_of_fold[test], left_out, atol=1e-6)


def test_kernel_ridge_is_near_that_of_scikit_learn(rng):
    X = rng.normal(size=(60, 4))
    y = np.sin(X[:, :1])
    model, _, penalty = fitted_kernel(X, y, splits(60), rng)
    exact = KernelRidge(kernel="precomputed", alpha=penalty)
    kernel = rbf_kernel(X, gamma=0.1 / 4)
    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    expected = exact.fit(centred, y - y.mean()).predict(centred) + y.mean()
    assert np.abs(model.predict(X) - expected).max() < 0.2


def test_weights_depend_on_noise(rng):
    sizes = np.repeat([0.1, 10.0], 400)
    y = rng.normal(size=(800, 1))
    good = np.where(sizes[:, None] < 1, y, rng.normal(size=y.shape))
    stack = Stack.learnt(Hats.up_to(10.0), sizes, [good, rng.normal(size=y.shape)], y)
    assert stack.weights[0, 0] > 0.9
    assert stack.weights[-1].max() < 0.2
    np.testing.assert_allclose(Hats.up_to(3.0)(np.array([0.0, 0.5, 100.0])).sum(axis=1), 1)


def test_conformal_intervals_cover_where_errors_depend_on_noise(rng):
    def sample(n):
        sizes = np.exp(rng.uniform(np.log(0.1), np.log(10), n))
        y = rng.normal(size=n)
        known = Known(sizes, np.full(n, 50.0), y + 0.3 * sizes * rng.normal(size=n), np.full(n, 0.1))
        return known, y

    conformal = Conformal.learnt(Hats.up_to(10.0), *sample(3_000), np.arange(3_000), np.zeros(3_000, dtype=int))
    known, y = sample(3_000)
    half = conformal.half_widths(known, 0.9)
    covered = np.abs(y - known.predicted) <= half
    for low, high in ((0.1, 0.3), (0.3, 1.0), (1.0, 3.0), (3.0, 10.0)):
        assert 0.86 < covered[(known.sizes > low) & (known.sizes <= high)].mean() < 0.94


def test_intervals_cover_noisy_copies_that_look_like_clean_ones(rng):
    n = 2_000
    copies = np.repeat([0, 1], n)
    known = Known(np.full(2 * n, 0.3), np.full(2 * n, 50.0), np.zeros(2 * n), np.full(2 * n, 0.1))
    y = np.where(copies == 0, 0.3, 1.0) * rng.normal(size=2 * n)
    conformal = Conformal.learnt(Hats.up_to(10.0), known, y, np.tile(np.arange(n), 2), copies)
    covered = np.abs(y) <= conformal.half_widths(known, 0.9)
    assert 0.86 < covered[copies == 1].mean() < 0.9
    assert covered[copies == 0].mean() > 0.97


@pytest.mark.parametrize(
    ("noise", "largest"), [("unknown", 10.0), ("as in training", 0.0), ("up to 3", 3.0), ("up to .5 SD", 0.5), (2, 2.0)]
)
def test_what_noise_is_expected(noise, largest):
    assert largest_noise(noise) == largest


def test_copies_have_the_noise_that_they_say(rng):
    bags = un.Bags(rng.normal(size=(400, 100, 2)) * [1.0, 50.0])
    plan = NoisePlan.of("unknown", bags)
    (clean,), *noisy = map(list, plan.copies(bags, rng))
    assert clean.bags.values.base is not None  # no copy
    assert np.array_equal(clean.bags.values, bags.values)
    assert len(noisy) == 4
    for (copy,) in noisy:
        added = (copy.bags.values - bags.values) / bags.values.std(axis=0)
        per_bag = np.sqrt(np.add.reduceat((added**2).mean(axis=1), bags.offsets[:-1]) / bags.sizes)
        assert 0.8 < np.median(per_bag / copy.sizes) < 1.1
