"""The covariance of S is what it is over many samples, also where noise leaves hardly anything of phi."""

import numpy as np
import pytest

from uptonoise.fourier import as_complex
from uptonoise.twosample.phase.covariance import CONSTANTS
from uptonoise.twosample.phase.pair import SampleMoments
from uptonoise.twosample.phase.statistic import decomposed

FREQUENCIES = np.array([0.6, 1.0, 1.7, 2.1])


def many_samples(rng: np.random.Generator, noise: float, n_samples: int = 3_000, n_rows: int = 50) -> SampleMoments:
    rows = rng.exponential(size=(n_samples, n_rows)) + noise * rng.normal(size=(n_samples, n_rows))
    angles = rows[:, :, None] * FREQUENCIES
    features = np.concatenate([np.cos(angles), np.sin(angles)], axis=-1)
    covariance = np.stack([np.cov(sample, rowvar=False) for sample in features])
    return SampleMoments(as_complex(features.mean(axis=1)), covariance, np.full(n_samples, float(n_rows)))


@pytest.mark.parametrize(("noise", "error_without"), [(0.0, 0.0), (1.0, 0.5), (3.0, 0.5)])
def test_what_both_errors_make_is_counted_once(rng, noise: float, error_without: float) -> None:
    left, right = many_samples(rng, noise), many_samples(rng, noise)
    derivative = CONSTANTS._replace(own_phase=0.0)
    decomposition = decomposed(left, right, derivative)
    root = decomposition.basis / decomposition.unit[..., None] ** 2
    rotated = decomposition.w[..., None] * np.eye(len(FREQUENCIES))
    plain, once = (
        np.mean(root @ matrix @ np.swapaxes(root, -1, -2), axis=0)
        for matrix in (rotated, rotated - decomposition.twice)
    )
    observed = np.cov(decomposition.S, rowvar=False)
    deviations = np.sqrt(np.diag(observed))
    error, error_of_plain = (
        np.abs((matrix - observed) / np.outer(deviations, deviations)).max() for matrix in (once, plain)
    )
    assert error < 0.15
    assert error_of_plain > error_without


def test_where_all_is_hidden_the_statistic_is_a_third(rng) -> None:
    block = decomposed(many_samples(rng, 30.0), many_samples(rng, 30.0)).test()
    ratio = np.mean(block.shrinkage * block.statistic) / np.mean(block.trace)
    assert ratio == pytest.approx(1 / 3, abs=0.04)
