"""Pairs of samples that differ at most by noise, of distributions and noises that chose no constant.

They were written down before any of them was run. None of their distributions and kinds of noise occurs in the grid of
`noise-level`, nor among those that chose a constant, nor in a grid that judged an earlier version. Sizes are equal, 4
to 1, 20 to 1 and 100 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._noisy_distributions import SampledPair

Sampler = Callable[[np.random.Generator, tuple[int, int]], Floats]

_N_CELLS = 66


DISTRIBUTIONS: dict[str, Sampler] = {
    "inverse gamma(3)": lambda generator, shape: 1 / generator.gamma(3, size=shape),
    "skew logistic(0.3)": lambda generator, shape: -np.log(generator.random(shape) ** (-1 / 0.3) - 1),
    "Poisson of lognormal": lambda generator, shape: generator.poisson(
        generator.lognormal(sigma=0.8, size=shape)
    ).astype(float),
    "truncated half-Cauchy": lambda generator, shape: np.tan(generator.random(shape) * np.pi / 2.2),
    "Lindley(0.8)": lambda generator, shape: generator.gamma(
        np.where(generator.random(shape) < 0.8 / 1.8, 1.0, 2.0), 1 / 0.8
    ),
    "Benford": lambda generator, shape: np.floor(10 ** generator.random(shape)),
    "sum of powers": lambda generator, shape: (u := generator.random(shape)) ** 2 + u**6,
    "sinh-arcsinh normal": lambda generator, shape: np.sinh(np.arcsinh(generator.normal(size=shape)) + 0.7),
    "85 % zeros, or gamma(2)": lambda generator, shape: (
        (generator.random(shape) > 0.85) * generator.gamma(2.0, size=shape)
    ),
}
NOISES: dict[str, Sampler] = {
    "difference of Weibulls(1.5)": lambda generator, shape: (
        generator.weibull(1.5, shape) - generator.weibull(1.5, shape)
    ),
    "lognormal size": lambda generator, shape: (
        generator.lognormal(sigma=0.6, size=shape) * generator.normal(size=shape)
    ),
    "difference of binomials": lambda generator, shape: (
        (generator.binomial(5, 0.3, shape) - generator.binomial(5, 0.3, shape)) / 1.5
    ),
    "Cauchy plus Laplace": lambda generator, shape: (
        (generator.standard_cauchy(shape) + generator.laplace(size=shape)) / 3
    ),
}


class Design(NamedTuple):
    """The sizes, columns and noises of a sparse design.

    `equal` are sizes of both samples; `many_columns` has numbers of columns, each with the size of both samples.
    """

    equal: Sequence[int] = (48, 85, 150, 240, 600, 1_000)
    unequal: Sequence[tuple[int, int]] = ((800, 200), (1_700, 85), (75, 1_500), (58, 5_800))
    columns: Sequence[int] = (1, 2, 4, 8, 16, 40)
    ratios: Sequence[tuple[float, float]] = ((0.0, 0.0), (0.6, 0.0), (1.0, 1.0), (3.0, 0.0), (0.0, 1.5))
    many_columns: Sequence[tuple[int, int]] = ((110, 130), (100, 400), (200, 150), (240, 350))


class FreshPair(SampledPair):
    """Two samples of a distribution with noise of their own, in units of half the distance of its deciles."""

    distributions: ClassVar[Mapping[str, Sampler]] = DISTRIBUTIONS
    noises: ClassVar[Mapping[str, Sampler]] = NOISES

    def draw(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw both samples."""
        signal, noise = self.distributions[self.distribution], self.noises[self.kind]
        unit = np.subtract(*np.quantile(signal(np.random.default_rng(0), (10_000, 1)), (0.9, 0.1))) / 2
        X, Y = (
            signal(generator, (size, self.d))
            + (np.sqrt(ratio) * unit * noise(generator, (size, self.d)) if ratio else 0.0)
            for size, ratio in zip(self.sizes, self.noise, strict=True)
        )
        return X, Y

    @classmethod
    def of(cls, design: Design) -> Sequence[FreshPair]:
        """Return a sparse design of all settings, and pairs with very many columns."""
        distributions, kinds, columns, ratios = list(cls.distributions), list(cls.noises), design.columns, design.ratios
        sizes = [*((n, n) for n in design.equal), *design.unequal]
        sparse = [
            cls(
                distributions[i % 9],
                sizes[(i // 10 + i) % 10],
                columns[(i // 7 + i) % 6],
                ratios[(i // 6 + 2 * i) % 5],
                kinds[(i // 5 + i) % 4],
            )
            for i in range(_N_CELLS)
        ]
        many = [
            cls(distributions[2 * i], (n, n), d, ratios[i % 2], kinds[i % 4])
            for i, (d, n) in enumerate(design.many_columns)
        ]
        return [*sparse, *many]


def pairs() -> Sequence[FreshPair]:
    """Return the fresh pairs."""
    return FreshPair.of(Design())
