"""The block of skewness: what it sees, and what it does not."""

import numpy as np
import pytest

import uptonoise as un
from uptonoise.fourier import SKEWNESS
from uptonoise.twosample.phase.contrasts import skewness_contrasts
from uptonoise.twosample.phase.pair import Pair
from uptonoise.twosample.phase.statistic import decomposed

W = np.array([[0.2, 0.0], [0.4, 0.0], [0.0, 0.3], [0.6, 0.0], [0.0, 0.9], [0.5, 0.5]])


def test_a_shift_moves_no_contrast_and_a_third_cumulant_moves_its_own():
    a = np.exp(-np.sum(W**2, axis=1))
    weights = skewness_contrasts(W, a)
    assert weights.shape == (6, 2)
    shift = a * np.sin(W @ [1e-4, -2e-4])
    np.testing.assert_allclose(weights.T @ shift, 0, atol=1e-12)
    in_the_first = weights.T @ (a * W[:, 0] ** 3)
    assert in_the_first[0] > 0
    assert in_the_first[1] == 0
    assert np.all(weights[-1] == 0)  # of both columns together


def test_contrasts_do_not_depend_on_units():
    a = np.array([0.9, 0.7, 0.8, 0.5, 0.2, 0.4])
    np.testing.assert_allclose(skewness_contrasts(1e-3 * W, a), skewness_contrasts(W, a))
    np.testing.assert_allclose(skewness_contrasts(W, 1e-9 * a), skewness_contrasts(W, a))


def test_many_pairs_have_the_contrasts_of_each():
    a = np.random.default_rng(0).random((3, 6))
    together = skewness_contrasts(W, a)
    for some, one in zip(together, a, strict=True):
        np.testing.assert_allclose(some, skewness_contrasts(W, one))


def test_a_column_with_one_frequency_has_no_contrast():
    assert skewness_contrasts(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]), np.ones(3)).shape == (3, 1)


def pvalues(X: np.ndarray, Y: np.ndarray) -> dict[str, float]:
    left = un.Sketch.for_samples(X, Y, random_state=0).update(X)
    pair = Pair.of(left, un.Sketch.like(left).update(Y))
    return {
        name: float(decomposed(pair.left, pair.right, rows=pair.features, block=block).test().pvalue())
        for name, block in pair.blocks.tested.items()
    }


def test_the_block_of_skewness_sees_skewness_and_not_a_shift():
    rng = np.random.default_rng(0)
    symmetric, skewed = rng.normal(size=(200, 2)), (rng.gamma(2.0, size=(200, 2)) - 2) / np.sqrt(2)
    assert pvalues(symmetric, skewed)[SKEWNESS] < 1e-3
    moved = pvalues(symmetric, rng.normal(size=(200, 2)) + 0.7)
    assert moved[SKEWNESS] > 0.05
    assert min(pvalue for name, pvalue in moved.items() if name != SKEWNESS) < 1e-3


def test_few_rows_do_not_tell_skewness():
    rng = np.random.default_rng(0)
    assert pvalues(rng.normal(size=(14, 2)), rng.exponential(size=(200, 2)))[SKEWNESS] == 1
    assert pvalues(rng.normal(size=(15, 2)), rng.exponential(size=(200, 2)))[SKEWNESS] < 1


@pytest.mark.parametrize("column", [0, 1])
def test_the_block_of_skewness_sees_any_column(column: int):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(300, 2)), rng.normal(size=(300, 2))
    Y[:, column] = rng.exponential(size=300)
    assert pvalues(X, Y)[SKEWNESS] < 1e-3
