"""Pairs of samples that differ at most by noise, of distributions and noises that chose no constant.

Those of `pairs` were written down when the present statistic was final, before any of them was run; those of
`second_pairs` judged its predecessor, and were seen with it. None of their distributions and kinds of noise occurs in
the grid of `noise-level`, nor among those that chose a constant. Sizes are equal, 3 to 1, 20 to 1 and 100 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._noisy_distributions import SampledPair

Sampler = Callable[[np.random.Generator, tuple[int, int]], Floats]


_SECOND: dict[str, Sampler] = {
    "Maxwell": lambda generator, shape: np.sqrt(generator.chisquare(3, shape)),
    "Poisson(1.5)": lambda generator, shape: generator.poisson(1.5, shape).astype(float),
    "fourth power": lambda generator, shape: generator.random(shape) ** 4,
    "logarithmic series": lambda generator, shape: generator.logseries(0.8, shape).astype(float),
    "noncentral chi-squared": lambda generator, shape: generator.noncentral_chisquare(1, 4, shape),
    "logarithm of times": lambda generator, shape: np.log(generator.exponential(size=shape)),
    "Lomax(3)": lambda generator, shape: generator.random(shape) ** (-1 / 3) - 1,
    "two clusters": lambda generator, shape: (
        np.where(generator.random(shape) < 0.9, 0.0, 3.0) + 0.5 * generator.normal(size=shape)
    ),
    "censored times": lambda generator, shape: np.minimum(generator.exponential(size=shape), 2.0),  # known up to 2
}
_FRESH: dict[str, Sampler] = {
    "inverse Gaussian": lambda generator, shape: generator.wald(1.0, 2.0, shape),
    "geometric(0.35)": lambda generator, shape: generator.geometric(0.35, shape).astype(float),
    "Kumaraswamy(2, 5)": lambda generator, shape: np.sqrt(1 - generator.random(shape) ** 0.2),
    "negative binomial": lambda generator, shape: generator.negative_binomial(1.2, 0.3, shape).astype(float),
    "log-logistic(4)": lambda generator, shape: (1 / generator.random(shape) - 1) ** -0.25,
    "two gammas": lambda generator, shape: np.where(
        generator.random(shape) < 0.7, generator.gamma(3, 0.3, shape), generator.gamma(8, 0.5, shape)
    ),
    "skewed triangle": lambda generator, shape: generator.triangular(0, 0, 1, shape),
    "60 % zeros, or Poisson(4)": lambda generator, shape: (
        (generator.random(shape) > 0.6) * generator.poisson(4, shape).astype(float)
    ),
    "Frechet(3)": lambda generator, shape: generator.exponential(size=shape) ** (-1 / 3),
}
DISTRIBUTIONS = _SECOND | _FRESH


def _linnik(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Sample a Linnik distribution with the index 1.2: a mixture of symmetric stable ones."""
    stable = _stable(generator, shape, 1.2)
    return np.asarray(generator.exponential(size=shape) ** (1 / 1.2) * stable)


def _stable(generator: np.random.Generator, shape: tuple[int, int], index: float = 1.5) -> Floats:
    """Sample a symmetric stable distribution (Chambers, Mallows and Stuck 1976)."""
    angle, exponential = generator.uniform(-np.pi / 2, np.pi / 2, shape), generator.exponential(size=shape)
    ratio = np.cos((1 - index) * angle) / exponential
    return np.asarray(np.sin(index * angle) / np.cos(angle) ** (1 / index) * ratio ** ((1 - index) / index))


_SECOND_NOISES: dict[str, Sampler] = {
    "Linnik(1.2)": _linnik,
    "Laplace plus normal": lambda generator, shape: (generator.laplace(size=shape) + generator.normal(size=shape)) / 2,
    "a tenth Cauchy": lambda generator, shape: np.where(
        generator.random(shape) < 0.1, generator.standard_cauchy(shape), generator.normal(size=shape)
    ),
    "gamma(0.3) variance": lambda generator, shape: (
        np.sqrt(generator.gamma(0.3, size=shape) / 0.3) * generator.normal(size=shape)
    ),
}
_FRESH_NOISES: dict[str, Sampler] = {
    "hyperbolic secant": lambda generator, shape: (
        2 / np.pi * np.log(np.tan(np.pi / 2 * np.maximum(generator.random(shape), 1e-12)))
    ),
    "stable(1.5)": _stable,
    "inverse Gaussian variance": lambda generator, shape: (
        np.sqrt(generator.wald(1.0, 0.7, shape)) * generator.normal(size=shape)
    ),
    "difference of lognormals": lambda generator, shape: (
        (generator.lognormal(size=shape) - generator.lognormal(size=shape)) / 3
    ),
}
NOISES = _SECOND_NOISES | _FRESH_NOISES
N_CELLS = 66


class Design(NamedTuple):
    """What a sparse design goes through: all of each, and pairs with very many columns. By default that of fresh pairs.

    `equal` are sizes of both samples; `many_columns` has numbers of columns, each with the size of both samples.
    """

    samplers: Mapping[str, Sampler] = _FRESH
    noises: Mapping[str, Sampler] = _FRESH_NOISES
    equal: Sequence[int] = (40, 75, 130, 320, 900, 1_200)
    unequal: Sequence[tuple[int, int]] = ((600, 200), (1_600, 80), (60, 900), (55, 5_500))
    columns: Sequence[int] = (1, 2, 4, 9, 25, 60)
    ratios: Sequence[tuple[float, float]] = ((0.0, 0.0), (0.6, 0.0), (1.0, 1.0), (3.0, 0.0), (0.0, 2.0))
    many_columns: Sequence[tuple[int, int]] = ((150, 150), (100, 600), (300, 120), (250, 500))


FRESH = Design()
SECOND = Design(
    samplers=_SECOND,
    noises=_SECOND_NOISES,
    equal=(45, 70, 110, 280, 700, 1_500),
    unequal=((750, 250), (1_800, 90), (70, 1_400), (50, 5_000)),
    columns=(1, 3, 6, 12, 30, 50),
    ratios=((0.0, 0.0), (0.4, 0.0), (0.8, 0.8), (2.5, 0.0), (0.0, 1.5)),
    many_columns=((100, 120), (100, 450), (200, 100), (200, 600)),
)


class FreshPair(SampledPair):
    """Two samples of a distribution with noise of their own, in units of half the distance of its deciles."""

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


def pairs(design: Design = FRESH) -> Sequence[FreshPair]:
    """Return a sparse design of all settings, and pairs with very many columns."""
    distributions, kinds, columns, ratios = list(design.samplers), list(design.noises), design.columns, design.ratios
    sizes = [*((n, n) for n in design.equal), *design.unequal]
    sparse = [
        FreshPair(
            distributions[i % 9],
            sizes[(i // 10 + i) % 10],
            columns[(i // 7 + i) % 6],
            ratios[(i // 6 + 2 * i) % 5],
            kinds[(i // 5 + i) % 4],
        )
        for i in range(N_CELLS)
    ]
    many = [
        FreshPair(distributions[2 * i], (n, n), d, ratios[i % 2], kinds[i % 4])
        for i, (d, n) in enumerate(design.many_columns)
    ]
    return [*sparse, *many]


def second_pairs() -> Sequence[FreshPair]:
    """Return those that judged the statistic before this one."""
    return pairs(SECOND)
