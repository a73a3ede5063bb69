"""One way from what users give as ``random_state`` to a numpy Generator."""

from __future__ import annotations

import numbers

import numpy as np

RandomState = int | np.random.Generator | np.random.RandomState | None
"""What every ``random_state`` argument takes."""


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Return the Generator that `random_state` stands for.

    None draws fresh entropy; an int is a seed; a Generator is used as it is, so that it moves on; a RandomState seeds a
    new Generator, and moves on too.
    """
    return seeded_generator(random_state)[0]


def seeded_generator(random_state: RandomState) -> tuple[np.random.Generator, int | None]:
    """Return a Generator and the integer seed that makes it again.

    The seed is the entropy drawn where `random_state` is None, and None where a Generator was given, since
    nobody knows how far that one has moved.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state, None
    if isinstance(random_state, np.random.RandomState):
        words = random_state.randint(0, 2**32, size=4, dtype=np.uint32)
        seed = sum(int(word) << (32 * position) for position, word in enumerate(words))
    elif random_state is None:
        seed = int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    elif isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool) and random_state >= 0:
        seed = int(random_state)
    else:
        raise ValueError(
            "random_state must be None, an int that is not negative, a numpy Generator or a RandomState; "
            f"got {random_state!r}"
        )
    return np.random.default_rng(seed), seed
