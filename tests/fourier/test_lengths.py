"""The middle of all distances in one column, against all distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from uptonoise.fourier.lengths import middle_distances

_COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: np.exp(20 * rng.normal(size=n)),
    "whole numbers": lambda rng, n: rng.integers(0, 20, n).astype(float),
    "rounded": lambda rng, n: rng.normal(size=n).round(2),
    "far from 0": lambda rng, n: rng.normal(size=n) + 1e15,
    "mostly equal": lambda rng, n: (rng.random(n) < 0.01).astype(float),
    "two clusters": lambda rng, n: np.where(rng.random(n) < 0.5, -1e8, 1e8) + rng.normal(size=n),
    "tiny": lambda rng, n: rng.integers(0, 900, n) * np.finfo(float).smallest_subnormal,
}


@pytest.mark.parametrize("n", [2, 3, 60, 201, 400, 1_000])
@pytest.mark.parametrize("kind", _COLUMNS)
def test_the_middle_is_that_of_all_distances_to_the_last_bit(kind, n):
    values = _COLUMNS[kind](np.random.default_rng(n), n)
    middle = middle_distances(values)
    assert np.mean(middle) == np.median(pdist(values[:, None], "cityblock"))
    assert np.mean(middle**2) == np.median(pdist(values[:, None], "sqeuclidean"))


@pytest.mark.parametrize("too_far", [1, 20, -20])
def test_rounding_that_misleads_the_bisection_is_noticed(too_far, monkeypatch):
    values = np.random.default_rng(0).normal(size=500)
    expected = middle_distances(values)
    search = np.searchsorted
    monkeypatch.setattr(
        np, "searchsorted", lambda *args, **options: np.clip(search(*args, **options) + too_far, 0, len(values))
    )
    np.testing.assert_array_equal(middle_distances(values), expected)
