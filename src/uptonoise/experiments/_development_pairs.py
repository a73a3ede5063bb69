"""Pairs of samples that chose the constants of the phase statistic: none of them is in a table that judges it.

Their distributions and kinds of noise occur neither in `noise-level` and `noise-power` nor among the fresh pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gamma

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._fresh_pairs import FreshPair, Sampler


def _two_exponentials(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.where(generator.random(shape) < 0.3, 4.0, 0.5) * generator.exponential(size=shape)


def _skew_normal(skewed: float, normal: float, shift: float = 0.0) -> Sampler:
    return lambda generator, shape: (
        skewed * np.abs(generator.normal(size=shape)) + normal * generator.normal(size=shape) + shift
    )


def _weibull(power: float) -> Sampler:
    """Return a sampler of Weibull variables with the mean 1."""
    return lambda generator, shape: generator.weibull(power, shape) / gamma(1 + 1 / power)


def _events(share: float) -> Sampler:
    return lambda generator, shape: (generator.random(shape) < share).astype(float)


def _shared(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Sample exponentials of which half is shared by all columns."""
    return generator.gamma(0.5, size=(shape[0], 1)) + generator.gamma(0.5, size=shape)


def _shocks(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Sample times until a shock of one column's own or of all (Marshall and Olkin 1967): exponentials."""
    return 2 * np.minimum(generator.exponential(size=shape), generator.exponential(size=(shape[0], 1)))


def _two_values(share: float, high: float, low: float) -> Sampler:
    return lambda generator, shape: (
        np.where(generator.random(shape) < share, high, low) + 0.4 * generator.normal(size=shape)
    )


DISTRIBUTIONS: dict[str, tuple[Sampler, float]] = {
    "Weibull(0.7)": (lambda generator, shape: generator.weibull(0.7, shape), 1.85),
    "beta(0.5, 2)": (lambda generator, shape: generator.beta(0.5, 2, shape), 0.21),
    "binomial(5, 0.2)": (lambda generator, shape: generator.binomial(5, 0.2, shape).astype(float), 0.9),
    "80 % zeros": (
        lambda generator, shape: (generator.random(shape) > 0.8).astype(float) * np.abs(generator.normal(size=shape)),
        0.42,
    ),
    "skew normal": (_skew_normal(0.97, 0.25), 0.64),
    "two exponentials": (_two_exponentials, 2.7),
    "events 0.05": (_events(0.05), 0.22),
    "Pareto(1.5)": (lambda generator, shape: generator.pareto(1.5, shape), 5.0),
    "events 0.03": (_events(0.03), 0.17),
    "Pareto(0.6)": (lambda generator, shape: generator.pareto(0.6, shape), 1.0),
    "two values": (_two_values(0.25, 2.0, -0.5), 1.15),
}
"""Distributions, each with the unit of its noise: its standard deviation, where that is finite."""

_UNIT = 0.7  # of the noise of alternatives

NOISES: dict[str, Sampler] = {
    "logistic": lambda generator, shape: generator.logistic(scale=np.sqrt(3) / np.pi, size=shape),
    "symmetric Weibull(0.8)": lambda generator, shape: (
        np.where(generator.random(shape) < 0.5, -1.0, 1.0) * generator.weibull(0.8, shape) / 1.6
    ),
    "triangular": lambda generator, shape: (generator.random(shape) - generator.random(shape)) * np.sqrt(6),
    "slash": lambda generator, shape: generator.normal(size=shape) / np.maximum(generator.random(shape), 1e-12) / 3,
}

ALTERNATIVES: dict[str, tuple[Sampler, Sampler]] = {
    "Weibull, 1 or 1.3": (_weibull(1.0), _weibull(1.3)),
    "Weibull, 1.5 or 2.5": (_weibull(1.5), _weibull(2.5)),
    "beta": (
        lambda generator, shape: 5 * generator.beta(0.5, 2, shape),
        lambda generator, shape: 2.67 * generator.beta(1.2, 2, shape),
    ),
    "two exponentials or one": (
        _two_exponentials,
        lambda generator, shape: generator.exponential(1.55, size=shape),
    ),
    "skew normal, more or less": (_skew_normal(0.97, 0.25), _skew_normal(0.485, 0.8, 0.38)),
    "two values, or others": (_two_values(0.25, 2.0, -0.5), _two_values(0.4, 1.3, -0.8)),
    "shared part or none": (_shared, lambda generator, shape: generator.exponential(size=shape)),
    "shocks, early or late": (
        _shocks,
        lambda generator, shape: -np.log(-np.expm1(-_shocks(generator, shape))),
    ),
    "skew normal, shifted": (_skew_normal(0.97, 0.25), _skew_normal(0.97, 0.25, 0.16)),
    "Weibull(1.3), scaled": (
        lambda generator, shape: generator.weibull(1.3, shape),
        lambda generator, shape: 1.25 * generator.weibull(1.3, shape),
    ),
}


class DevelopmentPair(FreshPair):
    """Two samples with noise of their own: of one distribution, or of the two of an alternative."""

    def draw(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw both samples."""
        if self.distribution in ALTERNATIVES:
            samplers, unit = ALTERNATIVES[self.distribution], _UNIT
        else:
            sampler, unit = DISTRIBUTIONS[self.distribution]
            samplers = sampler, sampler
        shapes = [(size, self.d) for size in self.sizes]
        X, Y = (sample(generator, shape) for sample, shape in zip(samplers, shapes, strict=True))
        for sample, ratio in ((X, self.noise[0]), (Y, self.noise[1])):
            if ratio:
                sample += np.sqrt(ratio) * unit * NOISES[self.kind](generator, sample.shape)
        return X, Y


_SKEWED = list(DISTRIBUTIONS)[:8]
_EQUAL = ((30, 30), (60, 60), (150, 150), (300, 300), (800, 800))
_UNEQUAL = ((800, 80), (80, 800), (60, 1_200), (100, 3_000), (1_500, 150), (50, 5_000), (600, 200))
_RATIOS = ((0.0, 0.0), (0.7, 0.0), (1.5, 0.3), (4.0, 0.0), (0.0, 0.7))


def _design(sizes: Sequence[tuple[int, int]], n_cells: int) -> list[DevelopmentPair]:
    kinds = list(NOISES)
    return [
        DevelopmentPair(
            _SKEWED[i % 8],
            sizes[(i // 8 + i) % len(sizes)],
            (1, 3, 8, 30)[(i // 4 + i) % 4],
            _RATIOS[(i // 5 + 2 * i) % 5],
            kinds[(i // 3 + i) % 4],
        )
        for i in range(n_cells)
    ]


_FURTHER = (
    # Heavy tails, rare events, and many columns.
    ("Pareto(0.6)", (150, 150), 2, (1.0, 1.0), "slash"),
    ("Pareto(0.6)", (300, 300), 4, (1.0, 1.0), "slash"),
    ("events 0.03", (80, 4_000), 1, (0.0, 0.0), "logistic"),
    ("events 0.03", (120, 2_400), 1, (0.0, 0.0), "logistic"),
    ("Weibull(0.7)", (100, 100), 100, (0.0, 0.0), "logistic"),
    ("skew normal", (200, 200), 150, (0.7, 0.0), "triangular"),
    ("Pareto(1.5)", (60, 60), 40, (1.0, 0.0), "slash"),
    ("Weibull(0.7)", (60, 60), 40, (1.5, 0.0), "slash"),
    # Much noise at equal sizes.
    ("Weibull(0.7)", (150, 150), 3, (4.0, 0.0), "slash"),
    ("skew normal", (300, 300), 3, (4.0, 4.0), "slash"),
    ("two exponentials", (60, 60), 8, (2.0, 2.0), "slash"),
    ("80 % zeros", (150, 150), 5, (8.0, 0.0), "slash"),
    ("Pareto(1.5)", (50, 50), 3, (1.0, 0.0), "slash"),
    ("beta(0.5, 2)", (200, 200), 5, (3.0, 0.0), "triangular"),
    # Noise in the smaller sample.
    ("80 % zeros", (100, 1_000), 1, (0.3, 0.0), "triangular"),
    ("80 % zeros", (100, 1_000), 1, (1.0, 0.0), "logistic"),
    ("80 % zeros", (80, 800), 2, (0.5, 0.0), "logistic"),
    ("events 0.05", (100, 1_000), 1, (0.5, 0.0), "triangular"),
    ("events 0.05", (120, 1_200), 2, (0.3, 0.0), "logistic"),
    ("Weibull(0.7)", (100, 1_000), 2, (0.5, 0.0), "logistic"),
    ("Weibull(0.7)", (80, 800), 4, (0.7, 0.0), "triangular"),
    ("two exponentials", (1_000, 100), 2, (0.0, 0.5), "triangular"),
    ("beta(0.5, 2)", (1_000, 100), 2, (0.0, 0.5), "logistic"),
    ("skew normal", (100, 1_500), 2, (0.4, 0.0), "triangular"),
    ("binomial(5, 0.2)", (100, 1_000), 2, (0.5, 0.0), "symmetric Weibull(0.8)"),
    ("two values", (2_000, 100), 2, (0.0, 1.0), "slash"),
    ("two values", (900, 100), 2, (0.0, 1.0), "slash"),
    ("two values", (150, 1_500), 4, (0.7, 0.0), "slash"),
    ("skew normal", (2_000, 100), 2, (0.0, 1.0), "slash"),
    # Noise in the larger sample.
    ("beta(0.5, 2)", (1_000, 100), 5, (0.5, 0.0), "logistic"),
    ("binomial(5, 0.2)", (1_000, 100), 3, (2.0, 0.0), "triangular"),
    ("skew normal", (1_000, 100), 10, (1.0, 0.5), "triangular"),
    ("Weibull(0.7)", (2_000, 100), 4, (0.5, 0.0), "symmetric Weibull(0.8)"),
    ("80 % zeros", (1_000, 100), 6, (4.0, 0.0), "triangular"),
    ("binomial(5, 0.2)", (80, 1_600), 2, (0.0, 4.0), "slash"),
    ("events 0.05", (100, 2_000), 6, (0.0, 1.0), "triangular"),
    ("events 0.05", (100, 2_000), 6, (0.0, 0.0), "triangular"),
)

_FEW_AGAINST_MANY = [
    DevelopmentPair(
        distribution, sizes, 2 - place % 2, (0.7, 0.0) if distribution == "80 % zeros" else (0.0, 0.0), "logistic"
    )
    for sizes in ((10, 500), (15, 500), (20, 400), (30, 300), (60, 300), (40, 120), (300, 60))
    for place, distribution in enumerate(
        ("Weibull(0.7)", "skew normal", "two exponentials", "beta(0.5, 2)", "80 % zeros")
    )
]

_DIFFERENT = (
    ("Weibull, 1 or 1.3", (250, 250), 1, (0.0, 0.0), "triangular"),
    ("Weibull, 1 or 1.3", (700, 700), 1, (0.5, 0.5), "logistic"),
    ("Weibull, 1 or 1.3", (120, 120), 4, (0.0, 0.0), "triangular"),
    ("Weibull, 1 or 1.3", (250, 250), 4, (0.7, 0.7), "triangular"),
    ("Weibull, 1 or 1.3", (400, 400), 4, (1.5, 0.0), "logistic"),
    ("Weibull, 1 or 1.3", (150, 150), 15, (0.7, 0.7), "triangular"),
    ("Weibull, 1.5 or 2.5", (150, 150), 1, (0.0, 0.0), "triangular"),
    ("Weibull, 1.5 or 2.5", (80, 80), 3, (0.0, 0.0), "triangular"),
    ("Weibull, 1.5 or 2.5", (300, 300), 3, (0.7, 0.0), "symmetric Weibull(0.8)"),
    ("beta", (80, 80), 1, (0.0, 0.0), "triangular"),
    ("two exponentials or one", (100, 100), 1, (0.0, 0.0), "triangular"),
    ("two exponentials or one", (200, 200), 2, (0.3, 0.3), "symmetric Weibull(0.8)"),
    ("skew normal, more or less", (150, 150), 1, (0.0, 0.0), "triangular"),
    ("skew normal, more or less", (300, 300), 2, (0.5, 0.0), "logistic"),
    ("two values, or others", (150, 150), 2, (0.5, 0.0), "triangular"),
    ("Weibull, 1 or 1.3", (800, 80), 4, (0.0, 0.0), "triangular"),
    ("Weibull, 1 or 1.3", (100, 2_000), 4, (0.5, 0.0), "triangular"),
    ("Weibull, 1 or 1.3", (1_000, 100), 20, (0.0, 0.0), "triangular"),
    ("beta", (600, 60), 1, (0.0, 0.0), "triangular"),
    ("two exponentials or one", (800, 80), 1, (0.0, 0.0), "triangular"),
    ("Weibull, 1.5 or 2.5", (80, 800), 1, (0.0, 0.0), "triangular"),
    ("skew normal, more or less", (1_000, 150), 3, (0.0, 0.0), "triangular"),
    ("two values, or others", (600, 60), 1, (0.0, 0.0), "triangular"),
    # Columns that differ in how they depend, and shifts and scales.
    ("shared part or none", (100, 100), 5, (0.0, 0.0), "triangular"),
    ("shared part or none", (200, 200), 5, (0.3, 0.3), "logistic"),
    ("shared part or none", (150, 150), 3, (0.0, 0.0), "triangular"),
    ("shared part or none", (150, 150), 10, (0.3, 0.0), "triangular"),
    ("shared part or none", (1_000, 120), 5, (0.0, 0.0), "triangular"),
    ("shocks, early or late", (80, 80), 5, (0.0, 0.0), "triangular"),
    ("shocks, early or late", (250, 250), 5, (0.7, 0.0), "logistic"),
    ("shocks, early or late", (120, 120), 2, (0.0, 0.0), "triangular"),
    ("skew normal, shifted", (150, 150), 1, (0.0, 0.0), "triangular"),
    ("skew normal, shifted", (150, 150), 5, (0.7, 0.7), "triangular"),
    ("skew normal, shifted", (100, 100), 15, (0.0, 0.0), "triangular"),
    ("skew normal, shifted", (800, 80), 4, (0.0, 0.0), "triangular"),
    ("Weibull(1.3), scaled", (150, 150), 1, (0.0, 0.0), "triangular"),
    ("Weibull(1.3), scaled", (100, 100), 5, (0.5, 0.0), "logistic"),
)


def alike() -> Sequence[DevelopmentPair]:
    """Return pairs that differ at most by noise: a sparse design of all settings, and further ones that are hard."""
    further = [DevelopmentPair(*setting) for setting in _FURTHER]
    return [*_design(_EQUAL, 32), *_design(_UNEQUAL, 48), *further, *_FEW_AGAINST_MANY]


def different() -> Sequence[DevelopmentPair]:
    """Return pairs that differ beyond noise."""
    return [DevelopmentPair(*setting) for setting in _DIFFERENT]
