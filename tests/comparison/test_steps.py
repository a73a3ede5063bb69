"""Steps from sketches: symmetry of one sample, and rows that belong together."""

import numpy as np
import pytest

import uptonoise as un
from uptonoise.comparison.pairs import swap_test
from uptonoise.comparison.steps import is_symmetric


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 1_000])
def test_a_symmetric_sample_is_called_skewed_at_most_at_alpha(n):
    skewed = []
    for seed in range(300):
        rows = np.random.default_rng(seed).normal(size=n)
        skewed.append(not is_symmetric(un.Sketch.for_samples(rows).update(rows), 0.05))
    assert np.mean(skewed) < 0.09


def test_too_few_rows_are_not_called_symmetric():
    assert not is_symmetric(un.Sketch.for_samples([1.0, 2.0]).update([1.0, 2.0]), 0.05)


def test_swaps_see_noise_and_keep_their_level(rng):
    objects = rng.gamma(2, size=(150, 1))
    same = [swap_test(objects + rng.normal(size=(150, 1)), objects + rng.normal(size=(150, 1))) for _ in range(40)]
    assert np.mean([result.pvalue <= 0.05 for result in same]) < 0.2
    assert swap_test(objects + rng.normal(size=(150, 1)), objects + 4 * rng.normal(size=(150, 1))).pvalue < 0.01
    assert swap_test(np.ones((5, 1)), np.ones((5, 1))).pvalue == 1
