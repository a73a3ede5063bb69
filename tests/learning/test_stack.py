"""Weights of learners that depend on the noise of a bag."""

import numpy as np

from uptonoise.learning.noisy_copies import BEYOND
from uptonoise.learning.stack import Hats, Stack


def test_beyond_the_noise_of_fit_predictions_go_to_the_mean():
    stack = Stack(Hats.up_to(10.0), np.ones((5, 1)), np.array([2.0]))
    sizes = np.array([0.0, 1.0, 10.0 * BEYOND, 20.0 * BEYOND, 1e4])
    combined = stack.combined(sizes, [np.full((5, 1), 3.0)])[:, 0]
    np.testing.assert_allclose(combined, [3, 3, 3, 2.25, 2], atol=1e-5)
    plain = Stack(Hats.up_to(0.0), np.ones((1, 1)), np.array([2.0]))
    np.testing.assert_allclose(plain.combined(sizes, [np.full((5, 1), 3.0)]), 3)


def test_what_sees_noise_must_be_worth_it(rng):
    """Of two learners that predict alike the blind one counts; one that is much better counts, though it sees noise."""
    y = rng.normal(size=(2_000, 1))
    similar = [y + 0.2 * rng.normal(size=y.shape) for _ in range(2)]
    sizes, hats = np.full(2_000, 0.1), Hats.up_to(0.0)
    sighted, blind = Stack.learnt(hats, sizes, similar, y, n_blind=1).weights[0]
    assert blind > sighted + 0.1
    better = [y + 0.02 * rng.normal(size=y.shape), y + 0.5 * rng.normal(size=y.shape)]
    sighted, blind = Stack.learnt(hats, sizes, better, y, n_blind=1).weights[0]
    assert sighted > 0.7 > 0.3 > blind
