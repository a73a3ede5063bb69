"""Where the phase test and the flip test do not keep their significance level although the signals are equal.

Each cell breaks one assumption, or is a corner in which the approximations of the phase test are known to be poor. The
flip test is exact for any symmetric noise, so it fails only where noise is not symmetric or rows are dependent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._figures import cells_of_tests
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.twosample import flip_test, phase_test

TESTS: Tests = {
    "phase test": phase_test,
    "phase test, up to an offset": partial(phase_test, invariant_to="noise+shift"),
    "flip test": flip_test,
}


def _rows(generator: np.random.Generator, n: int, of_y: bool, kind: str, size: float = 0.0) -> Floats:
    """Sample rows of X, or of Y with the noise or the rounding that breaks the assumption."""
    if kind == "in time":
        steps = generator.exponential(size=(n + 50, 1)) - 1
        return np.convolve(steps[:, 0], [0.9**lag for lag in range(50)], mode="valid")[:n, None]
    if kind == "heavy":
        return generator.pareto(0.5, size=(n, 3)) + of_y * generator.standard_cauchy((n, 3))
    if kind == "rare":
        return (generator.random((n, 1)) < 0.02).astype(float)
    rows = generator.gamma(2, size=(n, 1))
    if kind == "Gaussian":
        rows += of_y * generator.normal(scale=size, size=(n, 1))
    elif kind == "uniform":
        rows += of_y * generator.uniform(-size, size, (n, 1))
    elif kind == "relative":
        rows *= np.exp(size * of_y * generator.normal(size=(n, 1)))
    elif kind == "exponential":
        rows += of_y * (generator.exponential(size=(n, 1)) - 1)
    elif of_y:
        rows = np.round(rows / size) * size
    return rows


SETTINGS: Sequence[tuple[str, str, tuple[Any, ...], tuple[int, int]]] = (
    ("none: Gaussian noise of 1 SD in Y", "as it should be", ("Gaussian", np.sqrt(2)), (500, 500)),
    ("uniform noise, half-width 0.7 SD", "noise is not SPD", ("uniform", 1.0), (500, 500)),
    ("uniform noise, half-width 4 SD", "noise is not SPD", ("uniform", 6.0), (500, 500)),
    ("rounded to steps of 0.7 SD", "lattice", ("rounded", 1.0), (500, 500)),
    ("rounded to steps of 2 SD", "lattice", ("rounded", 3.0), (500, 500)),
    ("noise of 30 % of the value", "noise depends on the signal", ("relative", 0.3), (500, 500)),
    ("exponential noise, centred", "noise is not symmetric", ("exponential",), (500, 500)),
    ("neighbours in time correlated by 0.9", "rows are dependent", ("in time",), (500, 500)),
    ("Pareto tails of index 0.5, Cauchy noise, 3 columns", "very heavy tails", ("heavy",), (200, 200)),
    ("two values, one with probability 0.02", "rare values, unequal sizes", ("rare",), (100, 5_000)),
)


def _cell(name: str, why: str, kind: tuple[Any, ...], sizes: tuple[int, int]) -> Cell:
    settings = {"what is broken": name, "assumption": why, "n": sizes[0], "k": sizes[1]}
    return Cell(settings, lambda rng: (_rows(rng, sizes[0], False, *kind), _rows(rng, sizes[1], True, *kind)), TESTS)


EXPERIMENT = RejectionExperiment(
    "known-failures",
    __doc__.splitlines()[0],
    [_cell(*setting) for setting in SETTINGS],
    repetitions=400,
    draw=cells_of_tests(("what is broken", "n", "k"), [tuple(TESTS)]),
)
