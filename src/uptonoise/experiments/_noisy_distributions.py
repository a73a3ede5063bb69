"""Cells in which two samples differ at most by noise: many distributions, noises, sizes and numbers of columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets import symmetric_noise
from uptonoise.experiments._rejections import Cell, Tests


class Law(NamedTuple):
    """How a signal is drawn, and its standard deviation, which noise is measured by."""

    draw: Callable[[np.random.Generator, tuple[int, int]], Floats]
    sd: float


def _mixture(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.where(generator.random(shape) < 0.25, 3.0, 0.0) + generator.normal(scale=0.5, size=shape)


def _mostly_zero(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.where(generator.random(shape) < 0.9, 0.0, generator.exponential(size=shape))


DISTRIBUTIONS = {
    "chi-squared": Law(lambda generator, shape: generator.chisquare(4, shape) / 4, np.sqrt(0.5)),
    "gamma(0.5)": Law(lambda generator, shape: generator.gamma(0.5, size=shape), np.sqrt(0.5)),
    "lognormal": Law(lambda generator, shape: generator.lognormal(size=shape), np.sqrt((math.e - 1) * math.e)),
    "mixture": Law(_mixture, np.sqrt(9 * 0.25 * 0.75 + 0.25)),
    "counts": Law(lambda generator, shape: generator.poisson(2.0, shape).astype(float), np.sqrt(2)),
    "mostly 0": Law(_mostly_zero, np.sqrt(0.1 * 2 - 0.01)),
}


def cell(
    tests: Tests,
    distribution: str,
    sizes: tuple[int, int],
    d: int,
    noise: tuple[float, float],
    kind: str,
    exact: frozenset[str],
) -> Cell:
    """Return the cell of one setting; the tests in `exact` should reject at the level, the others at most at it."""
    settings = {
        "law": distribution,
        "n": sizes[0],
        "k": sizes[1],
        "d": d,
        "noise": kind,
        "n1": noise[0],
        "n2": noise[1],
    }
    sampler = partial(draw, distribution=distribution, sizes=sizes, d=d, noise=noise, kind=kind)
    return Cell(settings, sampler, tests, exact & set(tests), frozenset(set(tests) - exact))


def draw(
    generator: np.random.Generator,
    distribution: str,
    sizes: tuple[int, int],
    d: int,
    noise: tuple[float, float],
    kind: str,
) -> tuple[Floats, Floats]:
    """Draw two samples of one distribution with noise of its own in each."""
    samples = []
    for size, ratio in zip(sizes, noise, strict=True):
        signal = DISTRIBUTIONS[distribution].draw(generator, (size, d))
        sd = DISTRIBUTIONS[distribution].sd * np.sqrt(ratio)
        samples.append(signal + symmetric_noise(size, d, sd, kind, generator) if ratio else signal)
    return samples[0], samples[1]
