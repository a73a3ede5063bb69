"""Tests of other libraries as outside yardsticks, with the arguments and results of ours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import epps_singleton_2samp

from uptonoise._util.typing import Floats


class Outcome(NamedTuple):
    """What an experiment asks of a test's result."""

    pvalue: float


def pted_test(X: Floats, Y: Floats, *, random_state: np.random.Generator) -> Outcome:
    """Run pted's permutation test of the energy distance, with 199 permutations."""
    from pted import pted

    return Outcome(float(pted(X, Y, permutations=199, two_tailed=False, rng=random_state)))


def epps_singleton_test(X: Floats, Y: Floats, *, random_state: np.random.Generator) -> Outcome:
    """Run scipy's Epps-Singleton test, for one column; it draws nothing."""
    return Outcome(float(epps_singleton_2samp(X.ravel(), Y.ravel()).pvalue))
