"""Tasks of prediction from bags, simulated and measured: those that are reported, and those of development.

The constants of our models were chosen on ``DEVELOPMENT`` only. ``REPORTED`` has other distributions, other targets of
the measured data, other years and other seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.datasets import csv_rows, data_file

Sampled = tuple[list[Floats], NDArray[Any]]
Generator = np.random.Generator
_EULER = 0.5772156649015329


class Labelled(NamedTuple):
    """Bags and their targets or classes."""

    bags: Bags
    y: NDArray[Any]


@dataclass(frozen=True)
class BagTask:
    """Bags to fit on and to test on.

    `sample` takes a generator and the number of bags, and returns the bags with their targets.
    """

    name: str
    sample: Callable[[Generator, int], Sampled]
    kind: str = "regression"

    def split(self, seed: int, number: int, n_fit: int, n_test: int) -> tuple[Labelled, Labelled]:
        """Return the bags to fit on and those to test on, for one split."""
        arrays, y = self.sample(np.random.default_rng([seed, number]), n_fit + n_test)
        bags = Bags(arrays)
        return Labelled(bags[:n_fit], y[:n_fit]), Labelled(bags[n_fit:], y[n_fit:])


def _sizes(generator: Generator, n_bags: int) -> NDArray[np.int64]:
    return generator.integers(60, 141, size=n_bags)


def _located(generator: Generator, rows: Floats) -> Floats:
    """Return rows of another location and scale."""
    return np.asarray(generator.normal() + np.exp(0.3 * generator.normal()) * rows)


def _gamma_skewness(generator: Generator, n_bags: int) -> Sampled:
    shapes = np.exp(generator.uniform(np.log(0.5), np.log(16), n_bags))
    bags = [
        _located(generator, (generator.gamma(shape, size=(n, 1)) - shape) / np.sqrt(shape))
        for shape, n in zip(shapes, _sizes(generator, n_bags), strict=True)
    ]
    return bags, 2 / np.sqrt(shapes)


def _lognormal_skewness(generator: Generator, n_bags: int) -> Sampled:
    sigmas, signs = generator.uniform(0.05, 0.6, n_bags), generator.choice([-1.0, 1.0], n_bags)
    grown = np.exp(sigmas**2)
    bags = []
    for sigma, sign, n in zip(sigmas, signs, _sizes(generator, n_bags), strict=True):
        rows = sign * generator.lognormal(0, sigma, size=(n, 1))
        spread = np.sqrt(np.expm1(sigma**2) * np.exp(sigma**2))
        bags.append(_located(generator, (rows - sign * np.exp(sigma**2 / 2)) / spread))
    return bags, signs * (grown + 2) * np.sqrt(grown - 1)


def _entropy(generator: Generator, n_bags: int, kind: str) -> Sampled:
    """Return a gamma or a Weibull column beside a normal one; the target is the entropy of the first."""
    shapes = generator.uniform(*((0.7, 6) if kind == "gamma" else (0.8, 4)), n_bags)
    scales = np.exp(0.4 * generator.normal(size=n_bags))
    sample = getattr(generator, kind)
    bags = [
        np.column_stack([scale * sample(shape, size=n), generator.normal(size=n)])
        for shape, scale, n in zip(shapes, scales, _sizes(generator, n_bags), strict=True)
    ]
    if kind == "gamma":
        return bags, shapes + np.log(scales) + gammaln(shapes) + (1 - shapes) * digamma(shapes)
    return bags, _EULER * (1 - 1 / shapes) + np.log(scales / shapes) + 1


def _mixture(generator: Generator, n_bags: int, component: Callable[[Generator, int], Floats]) -> Sampled:
    """Return two columns: a share of the rows is of one component, the others are standard normal."""
    shares = generator.uniform(0, 1, n_bags)
    bags = []
    for share, n in zip(shares, _sizes(generator, n_bags), strict=True):
        is_first = generator.random((n, 1)) < share
        bags.append(np.where(is_first, component(generator, n), generator.normal(size=(n, 2))))
    return bags, shares


def _bent_component(generator: Generator, n: int) -> Floats:
    first = generator.exponential(size=n)
    return np.column_stack([first - 0.5, 0.7 * first**2 / 2 + 0.5 * generator.normal(size=n) - 1])


def _components(generator: Generator, n_bags: int, d: int, kind: str, spread: float) -> Sampled:
    """Return bags of mixtures of 1 to 5 components, whose number is the target."""
    counts = generator.integers(1, 6, n_bags)
    bags = []
    for count, n in zip(counts, _sizes(generator, n_bags), strict=True):
        centres = 1.5 * generator.normal(size=(count, d))
        bags.append(centres[generator.integers(count, size=n)] + spread * getattr(generator, kind)(size=(n, d)))
    return bags, counts.astype(np.float64)


def _same_moments(generator: Generator, n_bags: int, others: Callable[[Generator, int], Floats]) -> Sampled:
    """Return bags of one column of mean 0 and variance 1: gamma, or another distribution, with some location."""
    classes = generator.integers(2, size=n_bags)
    bags = []
    for label, n in zip(classes, _sizes(generator, n_bags), strict=True):
        rows = others(generator, n) if label else (generator.gamma(2.0, size=n) - 2) / np.sqrt(2)
        bags.append(_located(generator, rows[:, None]))
    return bags, classes


def _reflected_rows(generator: Generator, n: int) -> Floats:
    """Return a mixture of a lognormal distribution and its mirror image, which is nearly symmetric."""
    rows = (generator.lognormal(0, 0.5, size=n) - 1.1331) / 0.6039
    return np.where(generator.random(n) < 0.3, -rows, rows)


def _instances(generator: Generator, n_bags: int, d: int, share: float, moved: float) -> Sampled:
    """Return bags of class 1 if some of their rows are of a special kind."""
    classes = generator.integers(2, size=n_bags)
    bags = []
    for label, n in zip(classes, generator.integers(30, 91, size=n_bags), strict=True):
        rows = generator.gamma(3.0, size=(n, d)) / np.sqrt(3)
        special = generator.random(n) < share * label
        rows[special] = rows[special] * 0.4 + moved * np.where(np.arange(d) % 2, -1.0, 1.0)
        bags.append(rows)
    return bags, classes


def _bent_pairs(generator: Generator, n_bags: int, powers: tuple[int, int]) -> Sampled:
    """Return two columns whose dependence tells the class: 0 for none."""
    classes = generator.integers(3, size=n_bags)
    bags = []
    for label, n in zip(classes, _sizes(generator, n_bags), strict=True):
        first, other = generator.normal(size=(2, n))
        signal = 0.0 if label == 0 else first ** powers[label - 1]
        spread = np.sqrt(1 + 0.25 * np.var(signal))
        bags.append(np.column_stack([first, (0.5 * signal + other) / spread]))
    return bags, classes


@lru_cache(maxsize=1)
def _hours() -> dict[str, Floats]:
    """Return the columns of the measured air by day, each of shape (days, 24)."""
    file = data_file(None, ("beijing-aotizhongxin.csv.gz",), "no {place}/beijing-aotizhongxin.csv.gz")
    names = ("year", "month", "PM2.5", "PM10", "SO2", "NO2", "CO", "O3", "TEMP", "WSPM")
    rows = csv_rows(file, names)
    return {name: np.array([float(row[name]) for row in rows]).reshape(-1, 24) for name in names}


def _air(years: tuple[int, ...], target: str, *columns: str) -> Callable[[Generator, int], Sampled]:
    """Return what samples days as bags of 24 hours; the target is the mean of another column, or the heating season."""

    def sample(generator: Generator, n_bags: int) -> Sampled:
        hours = _hours()
        days = generator.permutation(np.flatnonzero(np.isin(hours["year"][:, 0], years)))[:n_bags]
        table = np.stack([hours[name] for name in columns], axis=2)
        if target == "season":
            y: NDArray[Any] = np.isin(hours["month"][:, 0], (11, 12, 1, 2, 3)).astype(np.int64)
        else:
            y = hours[target].mean(axis=1)
        return list(table[days]), (y if target in ("season", "TEMP") else np.log(y))[days]

    return sample


_LATE, _EARLY = (2015, 2016, 2017), (2013, 2014)

REPORTED = (
    BagTask("air, PM2.5", _air(_LATE, "PM2.5", "SO2", "NO2", "CO", "O3", "WSPM")),
    BagTask("air, temperature", _air(_LATE, "TEMP", "PM10", "SO2", "NO2", "CO", "O3")),
    BagTask("skewness", _lognormal_skewness),
    BagTask("entropy", lambda generator, n: _entropy(generator, n, "weibull")),
    BagTask("mixture", lambda generator, n: _mixture(generator, n, _bent_component)),
    BagTask("components", lambda generator, n: _components(generator, n, 2, "normal", 0.35)),
    BagTask("air, season", _air(_LATE, "season", "PM10", "SO2", "NO2", "O3"), "classes"),
    BagTask("same moments", lambda generator, n: _same_moments(generator, n, _reflected_rows), "classes"),
    BagTask("instances", lambda generator, n: _instances(generator, n, 3, 0.15, 1.5), "classes"),
    BagTask("dependence", lambda generator, n: _bent_pairs(generator, n, (1, 2)), "classes"),
)
DEVELOPMENT = (
    BagTask("air, NO2", _air(_EARLY, "NO2", "PM2.5", "SO2", "CO", "O3")),
    BagTask("air, wind", _air(_EARLY, "WSPM", "PM2.5", "PM10", "SO2", "NO2")),
    BagTask("skewness", _gamma_skewness),
    BagTask("entropy", lambda generator, n: _entropy(generator, n, "gamma")),
    BagTask("mixture", lambda generator, n: _mixture(generator, n, lambda _, k: generator.gamma(2.0, size=(k, 2)) - 1)),
    BagTask("components", lambda generator, n: _components(generator, n, 1, "laplace", 0.25)),
    BagTask("air, season", _air(_EARLY, "season", "PM2.5", "CO", "WSPM"), "classes"),
    BagTask(
        "same moments",
        lambda generator, n: _same_moments(
            generator, n, lambda _, k: (generator.weibull(2.2, size=k) - 0.8856) / 0.4245
        ),
        "classes",
    ),
    BagTask("instances", lambda generator, n: _instances(generator, n, 5, 0.12, 1.2), "classes"),
    BagTask("dependence", lambda generator, n: _bent_pairs(generator, n, (2, 3)), "classes"),
)
