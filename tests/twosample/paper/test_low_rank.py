"""MMD by the thin factor of a kernel matrix."""

import numpy as np
import pytest

import uptonoise as un
from uptonoise.twosample.paper import mmd_permutation


@pytest.fixture
def blocks(monkeypatch):
    """Return a list that notes each time that the whole kernel matrix is computed."""
    made, plain = [], mmd_permutation._kernel_blocks
    monkeypatch.setattr(
        mmd_permutation, "_kernel_blocks", lambda *given, **more: made.append(1) or plain(*given, **more)
    )
    return made


@pytest.mark.parametrize("d", [1, 2])
def test_factor_gives_the_kernel(rng, blocks, d):
    X, Y = rng.normal(size=(800, d)), rng.normal(size=(700, d)) + 0.1
    rows = np.concatenate([X, Y])
    signs = np.repeat([1 / 800, -1 / 700], [800, 700])
    kernel = np.exp(-np.sum((rows[:, None] - rows) ** 2, axis=2) / (2 * d**2))
    result = un.mmd_test(X, Y, scale=float(d), n_permutations=1)
    assert result.statistic == pytest.approx(signs @ kernel @ signs, abs=1e-7)
    assert not blocks


@pytest.mark.parametrize(("n", "d", "scale"), [(150, 2, 1.0), (1_500, 3, 1.0), (150, 1, 1e-3)])
def test_no_factor_where_it_would_not_be_thin(rng, blocks, n, d, scale):
    un.mmd_test(*rng.normal(size=(2, n, d)), scale=scale, n_permutations=1)
    assert blocks


def test_rows_that_are_all_equal_have_a_factor(blocks):
    assert un.mmd_test(np.zeros(18), np.zeros(18), scale=1.0, n_permutations=1).statistic == pytest.approx(0)
    assert not blocks


def test_mmd_is_the_same_with_the_factor_and_with_the_whole_kernel(rng, monkeypatch):
    X, Y = rng.gamma(2, size=600), rng.gamma(2, size=500) + rng.normal(size=500)
    thin = un.mmd_test(X, Y)
    monkeypatch.setattr(mmd_permutation, "_MOST_COLUMNS", 0)
    whole = un.mmd_test(X, Y)
    monkeypatch.setattr(mmd_permutation, "_KEPT_ROWS", 0)
    again = un.mmd_test(X, Y)
    assert thin.pvalue == whole.pvalue
    np.testing.assert_allclose(thin.permuted, whole.permuted, rtol=1e-4)
    np.testing.assert_array_equal(whole.permuted, again.permuted)
