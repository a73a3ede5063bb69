"""Pairs of simulated samples of which the truth is known: one for each verdict of a comparison."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.typing import Floats
from uptonoise.comparison import Verdict

DEMO_COLUMNS = ("energy", "angle", "time")
_SHAPE = 2.0  # of the gamma distributions of the signal
_STORIES = (
    ("one detector, two runs", Verdict.NO_DIFFERENCE, ("run 1", "run 2")),
    ("the new detector is noisier", Verdict.ONLY_NOISE, ("old", "new")),
    ("the new detector is noisier, and its zero has moved", Verdict.OFFSET, ("old", "new")),
    ("the new detector is noisier, and sees another process", Verdict.BEYOND_OFFSET, ("old", "new")),
    ("few rows of a detector that is nearly broken", Verdict.TOO_NOISY, ("old", "broken")),
)
"""Of each pair: what happened, the verdict that is right, and the names of the samples."""


class DemoPair(NamedTuple):
    """Two samples, what happened between them, and the verdict that is right."""

    story: str
    truth: Verdict
    names: tuple[str, str]
    X: Floats
    Y: Floats


def make_demo_pairs(random_state: RandomState = 0) -> list[DemoPair]:
    """Return five pairs of samples of two detectors, one for each verdict of :func:`~uptonoise.compare`.

    Parameters
    ----------
    random_state : None, int, Generator or RandomState
        The seed.

    Returns
    -------
    list of DemoPair

    Examples
    --------
    >>> from uptonoise.datasets import make_demo_pairs
    >>> for pair in make_demo_pairs():
    ...     print(pair.truth)
    no difference found
    differ only by noise
    differ by noise and an offset
    differ beyond noise and an offset
    too noisy to tell
    """
    generator = as_generator(random_state)

    def signal(n_rows: int) -> Floats:
        return generator.gamma(_SHAPE, size=(n_rows, len(DEMO_COLUMNS)))

    def noise(n_rows: int, sd: float) -> Floats:
        return generator.laplace(scale=sd / np.sqrt(2), size=(n_rows, len(DEMO_COLUMNS)))

    n, few = 3_000, 60
    other = 2 * _SHAPE - generator.gamma(_SHAPE, size=(n, len(DEMO_COLUMNS)))  # the mirror image, with the same mean
    samples = [
        (signal(n), signal(n)),
        (signal(n), signal(n) + noise(n, 1.0)),
        (signal(n), signal(n) + noise(n, 1.0) + [0.5, 0.0, 0.0]),
        (signal(n), other + noise(n, 1.0)),
        (signal(few), signal(few) + noise(few, 15.0)),
    ]
    return [DemoPair(*words, X, Y) for words, (X, Y) in zip(_STORIES, samples, strict=True)]
