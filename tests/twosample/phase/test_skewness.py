"""What skewed rows add to the mean and variance of the phase statistic."""

from dataclasses import replace

import numpy as np
import pytest

import uptonoise as un
from uptonoise.twosample.phase.pair import Block, Pair
from uptonoise.twosample.phase.skewness import NOT_SKEWED, skewness_of_rows
from uptonoise.twosample.phase.statistic import Ridge, decomposed


def standard(rows: np.ndarray) -> np.ndarray:
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def test_one_direction_has_the_moments_of_a_squared_t_statistic():
    rows = standard(np.random.default_rng(0).exponential(size=(4_000, 1)))
    n = 50
    added = skewness_of_rows(rows / np.sqrt(n), np.ones(1), np.asarray(n))
    squared = np.mean(rows**3) ** 2
    assert added.mean == pytest.approx(2 * squared / n, rel=0.05)
    assert added.variance == pytest.approx(24 * squared / n, rel=0.05)


def test_many_directions_have_the_moments_of_hotellings_statistic():
    rng = np.random.default_rng(1)
    n, runs = 200, 20_000
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]

    def draw(size: int) -> np.ndarray:
        return (rng.exponential(size=(size, 2)) - 1) @ turn

    def statistics(sample: np.ndarray) -> np.ndarray:
        means, rows = sample.mean(axis=1), sample - sample.mean(axis=1, keepdims=True)
        covariances = np.einsum("rni,rnj->rij", rows, rows) / (n - 1)
        return n * np.einsum("ri,ri->r", means, np.linalg.solve(covariances, means[..., None])[..., 0])

    skewed = np.concatenate([statistics(draw(n * runs // 20).reshape(-1, n, 2)) for _ in range(20)])
    normal = np.concatenate([statistics(rng.normal(size=(runs // 20, n, 2))) for _ in range(20)])
    added = skewness_of_rows(draw(4_000) / np.sqrt(n), np.ones(2), np.asarray(n))
    assert added.mean == pytest.approx(skewed.mean() - normal.mean(), rel=0.4)
    # Kurtosis takes a part off the variance again, which the statistic knows by other means.
    assert 0.5 * added.variance < skewed.var() - normal.var() < 1.5 * added.variance


def test_symmetric_rows_add_nothing():
    rows = standard(np.random.default_rng(0).normal(size=(2_000, 3)))
    added = skewness_of_rows(rows / np.sqrt(50), np.ones(3), np.asarray(50))
    assert added.mean < 0.01
    assert added.variance < 0.05


def largest_block(X: np.ndarray, Y: np.ndarray) -> Ridge:
    left = un.Sketch.for_samples(X, Y, random_state=0).update(X)
    pair = Pair.of(left, un.Sketch.like(left).update(Y))
    return decomposed(pair.left, pair.right, rows=pair.features, block=Block(pair.blocks.largest)).test()


def mostly_zero(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random((n, 1)) < 0.85, 0.0, rng.exponential(size=(n, 1)))


def test_a_small_noisy_sample_has_the_skewness_of_the_larger_one():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(80):
        X, Y = mostly_zero(rng, 60) + 0.4 * rng.normal(size=(60, 1)), mostly_zero(rng, 600)
        block = largest_block(X, Y)
        ratios.append([block.statistic / null.mean for null in (block.null, replace(block, skewness=NOT_SKEWED).null)])
    with_skewness, without = np.mean(ratios, axis=0)
    assert with_skewness < 0.85 * without
    assert with_skewness < 1.0


def test_skewness_is_for_the_smaller_sample_with_more_noise_alone():
    rng = np.random.default_rng(0)
    X, Y, noise = mostly_zero(rng, 80), mostly_zero(rng, 800), rng.normal(size=(800, 1))
    noisy = X + noise[:80]
    assert largest_block(noisy, Y).skewness.variance > 0
    assert largest_block(X, Y).skewness.variance == 0
    assert largest_block(X, Y + noise).skewness.variance == 0
    assert largest_block(noisy, Y[:80]).skewness.variance == 0


def test_samples_may_change_places():
    rng = np.random.default_rng(0)
    X, Y = mostly_zero(rng, 80) + rng.normal(size=(80, 1)), mostly_zero(rng, 800)
    assert un.phase_test(X, Y).pvalue == pytest.approx(un.phase_test(Y, X).pvalue, rel=1e-6)
