"""Where the phase test and the flip test do not keep their significance level although the signals are equal.

Each cell breaks one assumption, or is a corner in which the approximations of the phase test are known to be poor. The
flip test is exact for any symmetric noise, so it fails only where noise is not symmetric or rows are dependent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

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
Sampler = Callable[[np.random.Generator, int, int], Floats]
"""Samples rows: of a generator, the number of rows, and 0 for X or 1 for Y."""


def _gamma(generator: np.random.Generator, n: int) -> Floats:
    return generator.gamma(2, size=(n, 1))


def _plain(generator: np.random.Generator, n: int, of_y: int) -> Floats:
    return _gamma(generator, n) + of_y * generator.normal(scale=np.sqrt(2), size=(n, 1))


def _uniform(generator: np.random.Generator, n: int, of_y: int, half_width: float) -> Floats:
    return _gamma(generator, n) + of_y * generator.uniform(-half_width, half_width, (n, 1))


def _rounded(generator: np.random.Generator, n: int, of_y: int, step: float) -> Floats:
    rows = _gamma(generator, n)
    return np.asarray(np.round(rows / step) * step if of_y else rows)


def _relative(generator: np.random.Generator, n: int, of_y: int) -> Floats:
    return _gamma(generator, n) * np.exp(0.3 * of_y * generator.normal(size=(n, 1)))


def _skewed(generator: np.random.Generator, n: int, of_y: int) -> Floats:
    return _gamma(generator, n) + of_y * (generator.exponential(size=(n, 1)) - 1)


def _in_time(generator: np.random.Generator, n: int, of_y: int) -> Floats:
    steps = generator.exponential(size=(n + 50, 1)) - 1
    kept = np.array([0.9**lag for lag in range(50)])
    return np.convolve(steps[:, 0], kept, mode="valid")[:n, None]


def _heavy(generator: np.random.Generator, n: int, of_y: int) -> Floats:
    return generator.pareto(0.5, size=(n, 3)) + of_y * generator.standard_cauchy((n, 3))


def _rare(generator: np.random.Generator, n: int, of_y: int) -> Floats:
    return (generator.random((n, 1)) < 0.02).astype(float)


SETTINGS: Sequence[tuple[str, str, Sampler, tuple[int, int]]] = (
    ("none: Gaussian noise of 1 SD in Y", "as it should be", _plain, (500, 500)),
    ("uniform noise, half-width 0.7 SD", "noise is not SPD", partial(_uniform, half_width=1.0), (500, 500)),
    ("uniform noise, half-width 4 SD", "noise is not SPD", partial(_uniform, half_width=6.0), (500, 500)),
    ("rounded to steps of 0.7 SD", "lattice", partial(_rounded, step=1.0), (500, 500)),
    ("rounded to steps of 2 SD", "lattice", partial(_rounded, step=3.0), (500, 500)),
    ("noise of 30 % of the value", "noise depends on the signal", _relative, (500, 500)),
    ("exponential noise, centred", "noise is not symmetric", _skewed, (500, 500)),
    ("neighbours in time correlated by 0.9", "rows are dependent", _in_time, (500, 500)),
    ("Pareto tails of index 0.5, Cauchy noise, 3 columns", "very heavy tails", _heavy, (200, 200)),
    ("two values, one with probability 0.02", "rare values, unequal sizes", _rare, (100, 5_000)),
)


def _pair(sampler: Sampler, sizes: tuple[int, int], generator: np.random.Generator) -> tuple[Floats, Floats]:
    return sampler(generator, sizes[0], 0), sampler(generator, sizes[1], 1)


def cells() -> Sequence[Cell]:
    """Return one cell for each broken assumption."""
    return [
        Cell(
            {"what is broken": name, "assumption": why, "n": sizes[0], "k": sizes[1]},
            partial(_pair, sampler, sizes),
            TESTS,
        )
        for name, why, sampler, sizes in SETTINGS
    ]


EXPERIMENT = RejectionExperiment(
    "known-failures",
    __doc__.splitlines()[0],
    cells,
    repetitions=400,
    draw=cells_of_tests(("what is broken", "n", "k"), [tuple(TESTS)]),
)
