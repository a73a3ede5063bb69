"""The parts of the models of bags: trees as arrays, cross-fitted ridge models, weights, conformal quantiles, noise."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

import uptonoise as un
from uptonoise.learning.conformal import Added, Conformal, Known
from uptonoise.learning.forest import Forest
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
    np.testing.assert_allclose(Forest.of(model).predict(X, 1)[:, 0], model.predict(X))
    for n_classes in (2, 3):
        classes = rng.integers(n_classes, size=200)
        classifier = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, classes)
        np.testing.assert_allclose(Forest.of(classifier).predict(X, n_classes), classifier.predict_proba(X))


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


def calibrated(rng, n, estimates):
    """Return bags with and without noise of size 1, of which little is known but an estimate of the noise."""
    sizes = np.repeat([0.0, 1.0], n)
    y = np.where(sizes == 0, 0.3, 1.0) * rng.normal(size=2 * n)
    known = Known.of_sizes(estimates(sizes), np.array([0.0, y.std()]))
    return known, y, Added(sizes, np.zeros(2 * n, dtype=bool))


def test_conformal_intervals_cover_where_errors_depend_on_noise(rng):
    def sample(n):
        sizes = np.exp(rng.uniform(np.log(0.1), np.log(10), n))
        y = rng.normal(size=n)
        predicted = y + 0.3 * sizes * rng.normal(size=n)
        return Known(sizes, np.full(n, 50.0), predicted, np.full(n, 0.1), np.zeros(n)), y

    known, y = sample(3_000)
    added = Added(known.sizes, np.zeros(3_000, dtype=bool))
    conformal = Conformal.learnt(Hats.up_to(10.0), known, y, np.arange(3_000), added, 10.0)
    known, y = sample(3_000)
    covered = np.abs(y - known.predicted) <= conformal.half_widths(known, 0.9)
    for low, high in ((0.1, 0.3), (0.3, 1.0), (1.0, 3.0), (3.0, 10.0)):
        assert 0.86 < covered[(known.sizes > low) & (known.sizes <= high)].mean() < 0.94


def test_intervals_cover_clean_and_noisy_bags_whose_noise_is_estimated_badly(rng):
    n = 3_000

    def estimates(sizes):
        return np.exp(0.7 * rng.normal(size=len(sizes)) + np.where(sizes == 0, -1.5, -0.5))  # most of them overlap

    known, y, added = calibrated(rng, n, estimates)
    conformal = Conformal.learnt(Hats.up_to(10.0), known, y, np.tile(np.arange(n), 2), added, 10.0)
    known, y, added = calibrated(rng, n, estimates)
    for coverage in (0.5, 0.9):
        covered = np.abs(y) <= conformal.half_widths(known, coverage)
        for size in (0.0, 1.0):
            assert abs(covered[added.sizes == size].mean() - coverage) < 0.025
    marginal = np.exp(conformal._design(known) @ conformal.coef) * np.quantile(conformal.scores, 0.9)
    assert np.mean(np.abs(y) <= marginal) == pytest.approx(0.9, abs=0.02)
    assert np.mean((np.abs(y) <= marginal)[added.sizes == 1]) < 0.86  # right on average, and wrong for both


def test_intervals_without_noise_and_of_all_bags(rng):
    known, y, added = calibrated(rng, 50, np.zeros_like)
    bag = np.arange(100)
    conformal = Conformal.learnt(Hats.up_to(0.0), known, y, bag, Added(0 * added.sizes, added.heavy), 0.0)
    half, whole = conformal.half_widths(known, 0.5), conformal.half_widths(known, 1.0)
    assert np.mean(np.abs(y) <= half) == pytest.approx(0.5, abs=0.03)
    assert (whole > half).all()
    assert np.mean(np.abs(y) <= whole) >= 0.99
    exact = Conformal.learnt(Hats.up_to(10.0), known, known.predicted, bag, added, 10.0)
    assert (exact.half_widths(known, 0.9) == 0).all()


@pytest.mark.parametrize(
    ("noise", "largest"), [("unknown", 10.0), ("as in training", 0.0), ("up to 3", 3.0), ("up to .5 SD", 0.5), (2, 2.0)]
)
def test_what_noise_is_expected(noise, largest):
    assert largest_noise(noise) == largest


def test_copies_have_the_noise_that_they_say(rng):
    bags = un.Bags(rng.normal(size=(400, 100, 2)) * [1.0, 50.0])
    plan = NoisePlan(largest_noise("unknown"), bags.values.std(axis=0))
    clean, *noisy = plan.copies(bags, rng)  # each in one run
    assert clean.bags.values.base is not None  # no copy
    assert np.array_equal(clean.bags.values, bags.values)
    assert len(noisy) == 4
    for copy in noisy:
        added = (copy.bags.values - bags.values) / bags.values.std(axis=0)
        per_bag = np.sqrt(np.add.reduceat((added**2).mean(axis=1), bags.offsets[:-1]) / bags.sizes)
        assert 0.8 < np.median(per_bag / copy.sizes) < 1.1
