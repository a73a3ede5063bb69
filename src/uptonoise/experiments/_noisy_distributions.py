"""Cells in which two samples differ at most by noise: many distributions, noises, sizes and numbers of columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets import symmetric_noise
from uptonoise.experiments._rejections import Cell, Tests


class Distribution(NamedTuple):
    """How a signal is sampled, and its standard deviation, which noise is measured by."""

    draw: Callable[[np.random.Generator, tuple[int, int]], Floats]
    sd: float


DISTRIBUTIONS = {
    "chi-squared": Distribution(lambda generator, shape: generator.chisquare(4, shape) / 4, np.sqrt(0.5)),
    "gamma(0.5)": Distribution(lambda generator, shape: generator.gamma(0.5, size=shape), np.sqrt(0.5)),
    "lognormal": Distribution(lambda generator, shape: generator.lognormal(size=shape), np.sqrt((math.e - 1) * math.e)),
    "mixture": Distribution(
        lambda generator, shape: (
            np.where(generator.random(shape) < 0.25, 3.0, 0.0) + generator.normal(scale=0.5, size=shape)
        ),
        np.sqrt(9 * 0.25 * 0.75 + 0.25),
    ),
    "counts": Distribution(lambda generator, shape: generator.poisson(2.0, shape).astype(float), np.sqrt(2)),
    "mostly 0": Distribution(
        lambda generator, shape: np.where(generator.random(shape) < 0.9, 0.0, generator.exponential(size=shape)),
        np.sqrt(0.1 * 2 - 0.01),
    ),
}
# Distributions at the limits of the tests. Pareto with the tail index 0.5 has no variance: noise is in units of 1.
EXTREME = {
    "rare events": Distribution(
        lambda generator, shape: (generator.random(shape) < 0.02).astype(float), np.sqrt(0.02 * 0.98)
    ),
    "Pareto(0.5)": Distribution(lambda generator, shape: 1 + generator.pareto(0.5, shape), 1.0),
}


@dataclass(frozen=True)
class SampledPair:
    """Two samples of a distribution with noise of their own: the settings, without what samples them."""

    distribution: str
    sizes: tuple[int, int]
    d: int
    noise: tuple[float, float]
    kind: str

    @property
    def settings(self) -> dict[str, Any]:
        """The settings for a table."""
        noise = {"d": self.d, "noise": self.kind, "n1": self.noise[0], "n2": self.noise[1]}
        return {"law": self.distribution, "n": self.sizes[0], "k": self.sizes[1], **noise}


@dataclass(frozen=True)
class NoisyPair(SampledPair):
    """Two samples whose noise is in units of the distribution's variance; X is moved by a shift in SDs."""

    shift: float = 0.0

    def draw(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw both samples."""
        distribution = (DISTRIBUTIONS | EXTREME)[self.distribution]
        samples = []
        for size, ratio in zip(self.sizes, self.noise, strict=True):
            signal = distribution.draw(generator, (size, self.d))
            noise_sd = distribution.sd * np.sqrt(ratio)
            samples.append(signal + symmetric_noise(size, self.d, noise_sd, self.kind, generator) if ratio else signal)
        return samples[0] + float(self.shift * distribution.sd), samples[1]


def cell(tests: Tests, pair: NoisyPair, exact: frozenset[str]) -> Cell:
    """Return the cell of one setting; the tests in `exact` should reject at the level, the others at most at it."""
    return Cell(pair.settings, pair.draw, tests, exact & set(tests), frozenset(set(tests) - exact))
