"""Pairs of samples that differ at most by noise, of distributions and noises that chose no constant.

They were written down before the phase statistic was final: none of their distributions and kinds of noise occurs in
the grid of `noise-level`, nor among those that chose a constant. They were looked at once with an earlier
version. Sizes are equal, 3 to 1, 20 to 1 and 100 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats

Sampler = Callable[[np.random.Generator, tuple[int, int]], Floats]


def _left_skewed(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.asarray(generator.random(shape) ** (1 / 3))


def _asymmetric_laplace(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.asarray(2 * generator.exponential(size=shape) - generator.exponential(size=shape) / 2)


def _many_zeros(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.where(generator.random(shape) < 0.7, 0.0, generator.geometric(0.4, shape))


DISTRIBUTIONS: dict[str, Sampler] = {
    "Rayleigh": lambda generator, shape: generator.rayleigh(size=shape),
    "Gumbel": lambda generator, shape: generator.gumbel(size=shape),
    "inverse Gaussian": lambda generator, shape: generator.wald(1.0, 1.0, shape),
    "Frechet(2.5)": lambda generator, shape: generator.weibull(2.5, shape) ** -1.0,
    "geometric": lambda generator, shape: generator.geometric(0.3, shape).astype(float),
    "negative binomial": lambda generator, shape: generator.negative_binomial(3, 0.2, shape).astype(float),
    "left-skewed": _left_skewed,
    "asymmetric Laplace": _asymmetric_laplace,
    "many zeros": _many_zeros,
}


def _stable(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Sample a symmetric stable distribution with the index 1.5 (Chambers, Mallows and Stuck 1976)."""
    angle, exponential = generator.uniform(-np.pi / 2, np.pi / 2, shape), generator.exponential(size=shape)
    ratio = np.cos(0.5 * angle) / exponential
    return np.asarray(np.sin(1.5 * angle) / np.cos(angle) ** (2 / 3) * ratio ** (-1 / 3))


NOISES: dict[str, Sampler] = {
    "difference of gammas": lambda generator, shape: (
        generator.gamma(0.5, size=shape) - generator.gamma(0.5, size=shape)
    ),
    "hyperbolic secant": lambda generator, shape: 2 / np.pi * np.log(np.tan(np.pi / 2 * generator.random(shape))),
    "stable(1.5)": _stable,
    "lognormal scale": lambda generator, shape: generator.lognormal(-0.25, 0.5, shape) * generator.normal(size=shape),
}
SIZES = (
    *((40, 40), (75, 75), (120, 120), (250, 250), (600, 600), (1_200, 1_200)),
    *((900, 300), (2_000, 100), (80, 1_600), (60, 6_000)),
)
COLUMNS = (1, 2, 4, 10, 25, 60)
RATIOS = ((0.0, 0.0), (0.3, 0.0), (1.0, 1.0), (3.0, 0.0), (0.0, 2.0))
MANY_COLUMNS = ((100, (100, 100)), (100, (400, 400)), (200, (100, 100)), (200, (500, 500)))
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
