"""Pairs of samples that differ at most by noise, of distributions and noises that chose no constant.

They were written down when the phase statistic was final, before any of them was run: none of their distributions and
kinds of noise occurs in the grid of `noise-level`, nor among those that chose a constant. Sizes are equal, 3 to 1, 20
to 1 and 100 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats

Sampler = Callable[[np.random.Generator, tuple[int, int]], Floats]


def _two_clusters(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.where(generator.random(shape) < 0.9, 0.0, 3.0) + 0.5 * generator.normal(size=shape)


def _censored(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Sample times that are known up to 2 only."""
    return np.minimum(generator.exponential(size=shape), 2.0)


DISTRIBUTIONS: dict[str, Sampler] = {
    "Maxwell": lambda generator, shape: np.sqrt(generator.chisquare(3, shape)),
    "Poisson(1.5)": lambda generator, shape: generator.poisson(1.5, shape).astype(float),
    "fourth power": lambda generator, shape: generator.random(shape) ** 4,
    "logarithmic series": lambda generator, shape: generator.logseries(0.8, shape).astype(float),
    "noncentral chi-squared": lambda generator, shape: generator.noncentral_chisquare(1, 4, shape),
    "logarithm of times": lambda generator, shape: np.log(generator.exponential(size=shape)),
    "Lomax(3)": lambda generator, shape: generator.random(shape) ** (-1 / 3) - 1,
    "two clusters": _two_clusters,
    "censored times": _censored,
}


def _linnik(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Sample a Linnik distribution with the index 1.2: symmetric stable (Chambers, Mallows and Stuck 1976), mixed."""
    index = 1.2
    angle, exponential = generator.uniform(-np.pi / 2, np.pi / 2, shape), generator.exponential(size=shape)
    ratio = np.cos((1 - index) * angle) / exponential
    stable = np.sin(index * angle) / np.cos(angle) ** (1 / index) * ratio ** ((1 - index) / index)
    return np.asarray(generator.exponential(size=shape) ** (1 / index) * stable)


NOISES: dict[str, Sampler] = {
    "Linnik(1.2)": _linnik,
    "Laplace plus normal": lambda generator, shape: (generator.laplace(size=shape) + generator.normal(size=shape)) / 2,
    "a tenth Cauchy": lambda generator, shape: np.where(
        generator.random(shape) < 0.1, generator.standard_cauchy(shape), generator.normal(size=shape)
    ),
    "gamma(0.3) variance": lambda generator, shape: (
        np.sqrt(generator.gamma(0.3, size=shape) / 0.3) * generator.normal(size=shape)
    ),
}
SIZES = (
    *((45, 45), (70, 70), (110, 110), (280, 280), (700, 700), (1_500, 1_500)),
    *((750, 250), (1_800, 90), (70, 1_400), (50, 5_000)),
)
COLUMNS = (1, 3, 6, 12, 30, 50)
RATIOS = ((0.0, 0.0), (0.4, 0.0), (0.8, 0.8), (2.5, 0.0), (0.0, 1.5))
MANY_COLUMNS = ((100, (120, 120)), (100, (450, 450)), (200, (100, 100)), (200, (600, 600)))
N_CELLS = 66


@dataclass(frozen=True)
class FreshPair:
    """Two samples of a distribution with noise of their own, in units of half the distance of its deciles."""

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

    def draw(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw both samples."""
        signal, noise = DISTRIBUTIONS[self.distribution], NOISES[self.kind]
        unit = np.subtract(*np.quantile(signal(np.random.default_rng(0), (10_000, 1)), (0.9, 0.1))) / 2
        X, Y = (
            signal(generator, (size, self.d))
            + (np.sqrt(ratio) * unit * noise(generator, (size, self.d)) if ratio else 0.0)
            for size, ratio in zip(self.sizes, self.noise, strict=True)
        )
        return X, Y


def pairs() -> Sequence[FreshPair]:
    """Return a sparse design of all settings, and pairs with very many columns."""
    distributions, kinds = list(DISTRIBUTIONS), list(NOISES)
    design = [
        FreshPair(
            distributions[i % 9],
            SIZES[(i // 10 + i) % 10],
            COLUMNS[(i // 7 + i) % 6],
            RATIOS[(i // 6 + 2 * i) % 5],
            kinds[(i // 5 + i) % 4],
        )
        for i in range(N_CELLS)
    ]
    many = [
        FreshPair(distributions[2 * i], sizes, d, RATIOS[i % 2], kinds[i % 4])
        for i, (d, sizes) in enumerate(MANY_COLUMNS)
    ]
    return [*design, *many]
