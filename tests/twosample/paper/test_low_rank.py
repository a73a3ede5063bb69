"""The thin factor of a kernel matrix, and MMD by it."""

import numpy as np
import pytest

import uptonoise as un
from uptonoise.twosample.paper import mmd_permutation
from uptonoise.twosample.paper.mmd_permutation import kernel_factor


@pytest.mark.parametrize("d", [1, 2])
def test_factor_gives_the_kernel(rng, d):
    rows = rng.normal(size=(1_500, d)) / d
    factor = kernel_factor(rows)
    squares = np.sum((rows[:, None] - rows) ** 2, axis=2)
    np.testing.assert_allclose(factor @ factor.T, np.exp(-squares / 2), atol=2e-8)


def test_no_factor_where_it_would_not_be_thin(rng):
    assert kernel_factor(rng.normal(size=(300, 2))) is None
    assert kernel_factor(rng.normal(size=(3_000, 3))) is None
    assert kernel_factor(1e3 * rng.normal(size=(300, 1))) is None
    assert kernel_factor(np.zeros((36, 1))).shape == (36, 1)


def test_mmd_is_the_same_with_the_factor_and_with_the_whole_kernel(rng, monkeypatch):
    X, Y = rng.gamma(2, size=600), rng.gamma(2, size=500) + rng.normal(size=500)
    thin = un.mmd_test(X, Y)
    monkeypatch.setattr(mmd_permutation, "kernel_factor", lambda rows: None)
    whole = un.mmd_test(X, Y)
    monkeypatch.setattr(mmd_permutation, "_KEPT_ROWS", 0)
    again = un.mmd_test(X, Y)
    assert thin.pvalue == whole.pvalue
    np.testing.assert_allclose(thin.permuted, whole.permuted, rtol=1e-4)
    np.testing.assert_array_equal(whole.permuted, again.permuted)
