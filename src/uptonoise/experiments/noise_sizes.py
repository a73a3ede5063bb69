"""How many rows of each sample the tests need for power 0.9 (beyond the paper).

Sizes go up by factors of sqrt(2) until a test has that power; between the last two, the logarithm of the size is
interpolated. PhD, ME, MMD, pted and Epps-Singleton are left out where the noises differ: there they reject for the
noise alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from uptonoise.experiments._alternatives import HIGGS, INDEPENDENT, OTHER_TAIL, Alternative, chi2
from uptonoise.experiments._experiment import Experiment, Row, Runner
from uptonoise.experiments._figures import dots
from uptonoise.experiments._rejections import Cell, Tests, all_pvalues
from uptonoise.experiments.noise_power import ONE_DIMENSIONAL, QUADRATIC, TESTS

_SMALLEST = 25
_POWER = 0.9
ALTERNATIVES = {
    "chi-squared, d = 1": chi2(1, (0.0, 0.0)),
    "chi-squared, d = 5": chi2(5, (0.0, 0.0)),
    "chi-squared, d = 5, noise 0.5 and 0.5": chi2(5, (0.5, 0.5)),
    "chi-squared, d = 5, noise 2 and 0": chi2(5, (2.0, 0.0)),
    "chi-squared, d = 20, noise 1 and 0": chi2(20, (1.0, 0.0)),
    "dependence in the other tail, d = 5": OTHER_TAIL,
    "dependence or none, d = 5": INDEPENDENT,
    "HIGGS high level": HIGGS,
}
ALL_TESTS = TESTS | QUADRATIC | ONE_DIMENSIONAL
BLIND_TO_NOISE = frozenset({"phase", "flip", "flip, 5 pairings", "sme"})


def limits_of(alternative: Alternative) -> dict[str, int]:
    """Return the tests to run on an alternative, each with the largest size that it is tried at."""
    limits = dict.fromkeys(TESTS, 6_400) | dict.fromkeys(QUADRATIC, 800)
    if alternative.d == 1:
        limits |= dict.fromkeys(ONE_DIMENSIONAL, 6_400)
    # Tests for any difference, and PhD, see the difference in signal alone where the noises are equal.
    equal = alternative.noise[0] == alternative.noise[1]
    return {test: n for test, n in limits.items() if equal or test in BLIND_TO_NOISE}


@dataclass(frozen=True)
class SizeExperiment(Experiment):
    """A table of sizes: the alternatives, the tests, and which of these to run on each, up to which size."""

    alternatives: Mapping[str, Alternative]
    tests: Tests
    limits: Mapping[str, Mapping[str, int]]
    repetitions: int = field(default=200, kw_only=True)
    quick_limit: int = field(default=200, kw_only=True)

    def quickened(self) -> Self:
        """Return the experiment with a low limit on the sizes, and few repetitions."""
        limits = {
            name: {test: min(limit, self.quick_limit) for test, limit in of_tests.items()}
            for name, of_tests in self.limits.items()
        }
        return replace(self, limits=limits, repetitions=10)

    def described(self) -> Any:
        """Return the limits of the tests on each alternative."""
        return self.limits

    def table_columns(self, rows: Sequence[Row]) -> list[str]:
        """Return the tests in their order."""
        return ["samples", *self.tests, "repetitions"]

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the sizes that each test needs on each alternative.

        All alternatives go up together, so that their batches share the workers.
        """
        # Of each alternative the sizes that were found, and the tests that still climb, with their last size and power.
        found: dict[str, dict[str, str]] = {name: {} for name in self.limits}
        climbing = {name: dict.fromkeys(of_tests, (0.0, 0.0)) for name, of_tests in self.limits.items()}
        step = 0
        while True:
            n = round(_SMALLEST * math.sqrt(2) ** step)
            step += 1
            for name, last in climbing.items():
                for test in [test for test in last if n > self.limits[name][test]]:
                    del last[test]
                    found[name][test] = f"over {self.limits[name][test]:,}"
            names = [name for name, last in climbing.items() if last]
            if not names:
                return [{"samples": name, **sizes, "repetitions": repetitions} for name, sizes in found.items()]
            cells = [
                Cell(
                    {"samples": name, "N": n},
                    partial(self.alternatives[name].draw, sizes=(n, n)),
                    {test: self.tests[test] for test in climbing[name]},
                )
                for name in names
            ]
            results = all_pvalues(runner, self.seed, cells, range(repetitions), f"N = {n}")
            for name, pvalues in zip(names, results, strict=True):
                last = climbing[name]
                for test, power in zip(list(last), np.mean(pvalues <= 0.05, axis=0), strict=True):
                    if power >= _POWER:
                        found[name][test] = f"{interpolated(last.pop(test), (n, float(power))):.0f}"
                    else:
                        last[test] = (n, float(power))


def interpolated(below: tuple[float, float], above: tuple[float, float]) -> float:
    """Return the size for the power between two sizes with theirs; the first may be (0, 0), where there is none."""
    if below[0] == 0:
        return above[0]
    part = (_POWER - below[1]) / (above[1] - below[1])
    return float(below[0] * (above[0] / below[0]) ** part)


EXPERIMENT = SizeExperiment(
    "noise-sizes",
    __doc__.splitlines()[0],
    ALTERNATIVES,
    ALL_TESTS,
    {name: limits_of(alternative) for name, alternative in ALTERNATIVES.items()},
    draw=dots(
        ("samples",),
        list(ALL_TESTS),
        "rows of each sample for power 0.9; hollow: more than were tried",
        logarithmic=True,
    ),
)
