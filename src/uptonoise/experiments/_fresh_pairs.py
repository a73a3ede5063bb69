"""Pairs of samples that differ at most by noise, of distributions and noises that chose no constant.

They were written down when the present statistic was final, before any of them was run. None of their distributions
and kinds of noise occurs in the grid of `noise-level`, nor among those that chose a constant, nor in a grid that judged
an earlier version. Sizes are equal, 3 to 1, 20 to 1 and 100 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._noisy_distributions import SampledPair

Sampler = Callable[[np.random.Generator, tuple[int, int]], Floats]


DISTRIBUTIONS: dict[str, Sampler] = {
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
NOISES: dict[str, Sampler] = {
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
_N_CELLS = 66
_SIZES = (
    *((n, n) for n in (42, 65, 120, 260, 800, 1_300)),
    *((900, 300), (1_500, 75), (80, 1_200), (52, 5_200)),
)
_COLUMNS = (1, 2, 5, 10, 20, 45)
_RATIOS = ((0.0, 0.0), (0.5, 0.0), (1.2, 1.2), (3.5, 0.0), (0.0, 1.2))
_MANY_COLUMNS = ((120, 150), (100, 500), (250, 120), (220, 400))  # with the size of both samples


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


def pairs() -> Sequence[FreshPair]:
    """Return a sparse design of all settings, and pairs with very many columns."""
    distributions, kinds = list(DISTRIBUTIONS), list(NOISES)
    sparse = [
        FreshPair(
            distributions[i % 9],
            _SIZES[(i // 10 + i) % 10],
            _COLUMNS[(i // 7 + i) % 6],
            _RATIOS[(i // 6 + 2 * i) % 5],
            kinds[(i // 5 + i) % 4],
        )
        for i in range(_N_CELLS)
    ]
    many = [
        FreshPair(distributions[2 * i], (n, n), d, _RATIOS[i % 2], kinds[i % 4])
        for i, (d, n) in enumerate(_MANY_COLUMNS)
    ]
    return [*sparse, *many]
