import numpy as np
import pytest

from uptonoise._util.random import as_generator, seeded_generator


def test_same_int_same_stream():
    assert as_generator(5).random() == as_generator(np.int64(5)).random()


def test_generator_is_used_and_moves_on():
    generator = np.random.default_rng(0)
    assert as_generator(generator) is generator


def test_random_state_gives_the_same_stream_for_the_same_seed_and_moves_on():
    first, second = np.random.RandomState(3), np.random.RandomState(3)
    assert as_generator(first).random() == as_generator(second).random()
    assert as_generator(first).random() != np.random.default_rng(3).random()
    assert as_generator(first).random() != as_generator(first).random()


@pytest.mark.parametrize("random_state", [None, 7, np.random.RandomState(0)])
def test_seed_makes_the_stream_again(random_state):
    generator, seed = seeded_generator(random_state)
    assert generator.random() == np.random.default_rng(seed).random()


def test_none_draws_fresh_entropy():
    assert seeded_generator(None)[1] != seeded_generator(None)[1]


def test_seed_of_a_generator_is_unknown():
    assert seeded_generator(np.random.default_rng(0))[1] is None


@pytest.mark.parametrize("bad", [-1, 1.5, "0", True, [1]])
def test_bad_random_state(bad):
    with pytest.raises(ValueError, match="random_state"):
        as_generator(bad)
