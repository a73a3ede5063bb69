"""Pairs of samples that judged earlier versions of the phase statistic, and chose constants of later ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._fresh_pairs import Design, FreshPair, Sampler


def _stable(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Sample a symmetric stable distribution with the index 1.5 (Chambers, Mallows and Stuck 1976)."""
    index = 1.5
    angle, exponential = generator.uniform(-np.pi / 2, np.pi / 2, shape), generator.exponential(size=shape)
    ratio = np.cos((1 - index) * angle) / exponential
    return np.asarray(np.sin(index * angle) / np.cos(angle) ** (1 / index) * ratio ** ((1 - index) / index))


class _SecondPair(FreshPair):
    distributions: ClassVar[Mapping[str, Sampler]] = {
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
    noises: ClassVar[Mapping[str, Sampler]] = {
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


class _ThirdPair(FreshPair):
    distributions: ClassVar[Mapping[str, Sampler]] = {
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
    noises: ClassVar[Mapping[str, Sampler]] = {
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


_SECOND = Design(
    equal=(40, 75, 130, 320, 900, 1_200),
    unequal=((600, 200), (1_600, 80), (60, 900), (55, 5_500)),
    columns=(1, 2, 4, 9, 25, 60),
    ratios=((0.0, 0.0), (0.6, 0.0), (1.0, 1.0), (3.0, 0.0), (0.0, 2.0)),
    many_columns=((150, 150), (100, 600), (300, 120), (250, 500)),
)
_THIRD = Design(
    equal=(42, 65, 120, 260, 800, 1_300),
    unequal=((900, 300), (1_500, 75), (80, 1_200), (52, 5_200)),
    columns=(1, 2, 5, 10, 20, 45),
    ratios=((0.0, 0.0), (0.5, 0.0), (1.2, 1.2), (3.5, 0.0), (0.0, 1.2)),
    many_columns=((120, 150), (100, 500), (250, 120), (220, 400)),
)


def pairs() -> Sequence[FreshPair]:
    """Return the pairs of two former grids."""
    return [*_SecondPair.of(_SECOND), *_ThirdPair.of(_THIRD)]
