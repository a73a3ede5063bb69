"""Pairs of samples that differ at most by noise, of distributions and noises that chose no constant.

Those of `pairs` were written down when the present statistic was final, before any of them was run; those of
`second_pairs` judged its predecessors, and were seen with them. None of their distributions and kinds of noise occurs
in the grid of `noise-level`, nor among those that chose a constant. Sizes are equal, 3 to 1, 20 to 1 and 100 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._noisy_distributions import SampledPair

Sampler = Callable[[np.random.Generator, tuple[int, int]], Floats]


_SECOND: dict[str, Sampler] = {
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
_FRESH: dict[str, Sampler] = {
    "Gumbel": lambda generator, shape: generator.gumbel(size=shape),
    "Burr(2, 1.5)": lambda generator, shape: np.sqrt(generator.random(shape) ** (-1 / 1.5) - 1),
    "hypergeometric(10, 30, 8)": lambda generator, shape: generator.hypergeometric(10, 30, 8, shape).astype(float),
    "log-uniform": lambda generator, shape: 10 ** generator.uniform(0, 2, shape),
    "half-logistic": lambda generator, shape: np.abs(generator.logistic(size=shape)),
    "zeta(3)": lambda generator, shape: generator.zipf(3.0, shape).astype(float),
    "Birnbaum-Saunders": lambda generator, shape: np.exp(2 * np.arcsinh(generator.normal(size=shape) / 2)),
    "Gompertz(0.5)": lambda generator, shape: np.log(1 - 2 * np.log1p(-generator.random(shape))),
    "70 % zeros, or lognormal": lambda generator, shape: (
        (generator.random(shape) > 0.7) * generator.lognormal(sigma=0.7, size=shape)
    ),
}
DISTRIBUTIONS = _SECOND | _FRESH


def _stable(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Sample a symmetric stable distribution with the index 1.5 (Chambers, Mallows and Stuck 1976)."""
    index = 1.5
    angle, exponential = generator.uniform(-np.pi / 2, np.pi / 2, shape), generator.exponential(size=shape)
    ratio = np.cos((1 - index) * angle) / exponential
    return np.asarray(np.sin(index * angle) / np.cos(angle) ** (1 / index) * ratio ** ((1 - index) / index))


_SECOND_NOISES: dict[str, Sampler] = {
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
_FRESH_NOISES: dict[str, Sampler] = {
    "Voigt": lambda generator, shape: (2 * generator.normal(size=shape) + generator.standard_cauchy(shape)) / 3,
    "difference of gammas(0.5)": lambda generator, shape: (
        generator.gamma(0.5, size=shape) - generator.gamma(0.5, size=shape)
    ),
    "exponential power(1.2)": lambda generator, shape: (
        np.where(generator.random(shape) < 0.5, -1.0, 1.0) * generator.gamma(1 / 1.2, size=shape) ** (1 / 1.2)
    ),
    "difference of Poissons": lambda generator, shape: (
        (generator.poisson(2.0, shape) - generator.poisson(2.0, shape)) / 2
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
    equal: Sequence[int] = (42, 65, 120, 260, 800, 1_300)
    unequal: Sequence[tuple[int, int]] = ((900, 300), (1_500, 75), (80, 1_200), (52, 5_200))
    columns: Sequence[int] = (1, 2, 5, 10, 20, 45)
    ratios: Sequence[tuple[float, float]] = ((0.0, 0.0), (0.5, 0.0), (1.2, 1.2), (3.5, 0.0), (0.0, 1.2))
    many_columns: Sequence[tuple[int, int]] = ((120, 150), (100, 500), (250, 120), (220, 400))


FRESH = Design()
SECOND = Design(
    samplers=_SECOND,
    noises=_SECOND_NOISES,
    equal=(40, 75, 130, 320, 900, 1_200),
    unequal=((600, 200), (1_600, 80), (60, 900), (55, 5_500)),
    columns=(1, 2, 4, 9, 25, 60),
    ratios=((0.0, 0.0), (0.6, 0.0), (1.0, 1.0), (3.0, 0.0), (0.0, 2.0)),
    many_columns=((150, 150), (100, 600), (300, 120), (250, 500)),
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
    """Return those that judged the statistics before this one."""
    return pairs(SECOND)
