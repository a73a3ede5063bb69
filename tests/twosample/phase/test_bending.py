"""The mean and variance of T are what they are over many samples, also where noise leaves hardly anything of phi."""

from dataclasses import replace

import numpy as np
import pytest

from uptonoise.fourier import as_complex
from uptonoise.twosample.phase.bending import Bending
from uptonoise.twosample.phase.pair import SampleMoments
from uptonoise.twosample.phase.statistic import Ridge, decomposed

FREQUENCIES = np.array([0.6, 1.0, 1.7, 2.1])


def many_samples(rng: np.random.Generator, noise: float, n_samples: int = 3_000, n_rows: int = 50) -> SampleMoments:
    rows = rng.exponential(size=(n_samples, n_rows)) + noise * rng.normal(size=(n_samples, n_rows))
    angles = rows[:, :, None] * FREQUENCIES
    features = np.concatenate([np.cos(angles), np.sin(angles)], axis=-1)
    covariance = np.stack([np.cov(sample, rowvar=False) for sample in features])
    return SampleMoments(as_complex(features.mean(axis=1)), covariance, np.full(n_samples, float(n_rows)))


def bent_and_straight(rng: np.random.Generator, noise: float) -> tuple[Ridge, Ridge]:
    """Return the statistics of many pairs, and the same as if phases never bent."""
    block = decomposed(many_samples(rng, noise), many_samples(rng, noise)).test()
    nothing = np.zeros_like(block.bending.of_mean)
    return block, replace(block, bending=Bending(nothing, nothing))


@pytest.mark.parametrize("noise", [0.0, 1.0, 2.0, 3.0])
def test_the_statistic_has_the_mean_and_variance_that_its_null_distribution_says(rng, noise: float) -> None:
    block, _ = bent_and_straight(rng, noise)
    ratios = block.statistic / block.null.mean
    assert ratios.mean() == pytest.approx(1, abs=0.08)
    assert ratios.var() == pytest.approx(np.mean(block.null.variance / block.null.mean**2), rel=0.2)
    assert 0.03 < np.mean(block.pvalue() <= 0.05) < 0.07


@pytest.mark.parametrize(("noise", "at_most"), [(1.0, 0.75), (2.0, 0.55), (3.0, 0.45)])
def test_the_statistic_is_too_small_where_phases_are_taken_for_straight(rng, noise: float, at_most: float) -> None:
    _, straight = bent_and_straight(rng, noise)
    assert np.mean(straight.statistic / straight.null.mean) < at_most
    assert np.mean(straight.pvalue() <= 0.05) < 0.02


def test_where_all_is_hidden_the_statistic_is_a_third(rng) -> None:
    block, _ = bent_and_straight(rng, 30.0)
    ratio = np.mean(block.shrinkage * block.statistic) / np.mean(block.trace)
    assert ratio == pytest.approx(1 / 3, abs=0.04)


def test_phases_without_errors_do_not_bend() -> None:
    phi = np.array([0.5 + 0.2j, 0.3 - 0.6j])
    exact = SampleMoments(phi, np.zeros((4, 4)), np.asarray(100.0))
    noisy = SampleMoments(phi, np.eye(4), np.asarray(100.0))
    for pair in ((exact, noisy), (noisy, exact), (exact, exact)):
        assert np.all(Bending.of(*pair).of_mean == 0)
    bending = Bending.of(noisy, noisy)
    v = 2 / (100 * np.abs(phi) ** 2)  # twice the variance of either phase, and rows vary as much along as across
    np.testing.assert_allclose(bending.of_mean, v)
    np.testing.assert_allclose(bending.of_variance, 3 * v)
