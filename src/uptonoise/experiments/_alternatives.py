"""Pairs of samples that differ beyond noise, at any size: what the power of tests up to noise is measured on."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets import HIGGS_HIGH_LEVEL, make_chi2_samples
from uptonoise.experiments._higgs import draw_processes


class Sized(Protocol):
    """Draws two samples of given sizes."""

    def __call__(self, generator: np.random.Generator, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
        """Return X and Y."""


class Alternative(NamedTuple):
    """How two samples of given sizes are sampled, their number of columns and their noise-to-signal ratios."""

    draw: Sized
    d: int
    noise: tuple[float, float] = (0.0, 0.0)

    @property
    def noises_are_equal(self) -> bool:
        """Whether tests for any difference, and PhD, see the difference in signal alone."""
        return self.noise[0] == self.noise[1]


def _chi2(
    generator: np.random.Generator, sizes: tuple[int, int], d: int, noise: tuple[float, float]
) -> tuple[Floats, Floats]:
    return make_chi2_samples(sizes, d, noise=noise, freedoms=(4, 8), random_state=generator)


def chi2(d: int, noise: tuple[float, float]) -> Alternative:
    """Return the paper's setting: chi2(4)/4 against chi2(8)/8 in every column."""
    return Alternative(partial(_chi2, d=d, noise=noise), d, noise)


def _one_column(generator: np.random.Generator, sizes: tuple[int, int], d: int) -> tuple[Floats, Floats]:
    X, Y = (generator.chisquare(4, (size, d)) / 4 for size in sizes)
    Y[:, generator.integers(d)] = generator.chisquare(30, sizes[1]) / 30
    return X, Y


def _clayton(generator: np.random.Generator, n_rows: int) -> Floats:
    frailty = generator.gamma(1.0, size=(n_rows, 1))
    uniforms: Floats = 1 / (1 + generator.exponential(size=(n_rows, 5)) / frailty)
    return uniforms


def _other_tail(generator: np.random.Generator, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    lower, upper = (_clayton(generator, size) for size in sizes)
    return -np.log1p(-lower), -np.log(upper)


def _independent(generator: np.random.Generator, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    return -np.log1p(-_clayton(generator, sizes[0])), generator.exponential(size=(sizes[1], 5))


def _higgs(generator: np.random.Generator, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    return draw_processes(generator, sizes, HIGGS_HIGH_LEVEL)


OTHER_TAIL = Alternative(_other_tail, 5)
"""Exponential margins that depend in the lower tail in X (a Clayton copula) and in the upper one in Y."""

INDEPENDENT = Alternative(_independent, 5)
"""Exponential margins that depend in the lower tail in X, and not at all in Y."""

ONE_COLUMN = Alternative(partial(_one_column, d=50), 50)
"""chi2(4)/4 in 50 columns, of which one has chi2(30)/30 in Y."""

HIGGS = Alternative(_higgs, 7)
"""The background process against the signal process."""
