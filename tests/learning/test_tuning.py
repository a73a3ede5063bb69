import warnings

import numpy as np
import pytest

import uptonoise as un
from uptonoise.learning.solver import Split, cross_validated, error_size
from uptonoise.learning.tuning import smoothest_within, warn_at_edges


def results(errors, **params):
    return {"mean_test_score": -np.array(errors)} | {
        f"param_{name}": np.array(values) for name, values in params.items()
    }


def test_of_settings_within_the_limit_the_largest_penalty_then_the_largest_scale_is_chosen():
    tried = results([1.0, 1.01, 1.02, 2.0], alpha=[0.1, 1.0, 1.0, 10.0], scale_factor=[4.0, 1.0, 2.0, 1.0])
    assert [smoothest_within(tried, limit) for limit in (1.0, 1.015, 1.05, 3.0)] == [0, 1, 2, 3]


def test_a_tolerance_is_a_share_or_a_standard_error():
    generator = np.random.default_rng(0)
    shapes = generator.uniform(1, 6, 60)
    bags = [generator.gamma(shape, size=(20, 1)) for shape in shapes]

    def chosen(tolerance):
        model = un.plrr(n_frequencies=10, scale_factors=(2.0,), tolerance=tolerance, random_state=0).fit(bags, shapes)
        return -model.best_score_, -model.cv_results_["mean_test_score"]

    best, errors = chosen(0.0)
    assert best == errors.min()
    for tolerance in (0.1, 1.0):  # penalties are in increasing order
        assert chosen(tolerance)[0] == errors[errors <= (1 + tolerance) * best][-1]
    assert best <= chosen("standard error")[0] < 2 * best
    with pytest.raises(ValueError, match="tolerance must"):
        un.plrr(tolerance="much").fit(np.random.default_rng(0).normal(size=(9, 5, 1)), np.arange(9.0))


def test_a_choice_at_an_edge_is_told_and_one_inside_is_not():
    tried = results([3.0, 1.0, 2.0], alpha=[0.1, 1.0, 10.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_at_edges(tried, 1)
        warn_at_edges(results([1.0, 2.0], alpha=[0.1, 1.0]), 0)  # two values have no inside
    with pytest.warns(un.GridEdgeWarning, match="alpha, 0.1, is the smallest .* add smaller values to alphas"):
        warn_at_edges(tried, 0)
    with pytest.warns(un.GridEdgeWarning, match="the largest of those tried"):
        warn_at_edges(tried, 2)


def test_targets_that_nothing_predicts_give_no_warning():
    generator = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        un.plrr(n_frequencies=10, random_state=0).fit(generator.normal(size=(60, 20, 2)), generator.normal(size=60))


def test_the_size_of_an_error_is_its_standard_error_over_bags():
    generator = np.random.default_rng(1)
    F, y = generator.normal(size=(1, 90, 3)), generator.normal(size=(90, 1))
    weights = np.ones(90)
    splits = [Split(np.setdiff1d(np.arange(90), test), test) for test in np.array_split(np.arange(90), 3)]
    size = error_size(F, F, y, weights, splits, 0.5, True)
    errors = []
    for train, test in splits:
        centre, mean = F[0, train].mean(axis=0), y[train].mean()
        left = F[0, train] - centre
        coef = np.linalg.solve(left.T @ left + 0.5 * np.eye(3), left.T @ (y[train] - mean))
        errors.append((y[test] - mean - (F[0, test] - centre) @ coef).ravel() ** 2)
    expected = np.sqrt(sum(np.var(part) / len(part) for part in errors)) / 3
    assert size.standard_error == pytest.approx(expected)
    assert cross_validated(F, F, y, weights, splits, np.array([0.5]), True).mean() == pytest.approx(np.mean(errors))
