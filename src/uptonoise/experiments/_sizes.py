"""How many rows a test needs for a power: the frame of experiments that go up a ladder of sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, Self

import numpy as np

from uptonoise.experiments._alternatives import Alternative
from uptonoise.experiments._experiment import Experiment, Row, Runner
from uptonoise.experiments._rejections import Cell, Tests, all_pvalues

_SMALLEST = 25
_POWER = 0.9


@dataclass
class _Ladder:
    """How far the tests have come on one alternative: those that climb with their last size and power, and sizes found.

    All alternatives go up together, so that their batches share the workers.
    """

    name: str
    limits: dict[str, int]
    climbing: dict[str, tuple[float, float]]
    rows_needed: dict[str, str] = field(default_factory=dict)

    def stop_beyond(self, n: int) -> None:
        for test in [test for test in self.climbing if n > self.limits[test]]:
            del self.climbing[test]
            self.rows_needed[test] = f"over {self.limits[test]:,}"

    def climb(self, n: int, pvalues: Any) -> None:
        for test, power in zip(list(self.climbing), np.mean(pvalues <= 0.05, axis=0), strict=True):
            if power >= _POWER:
                self.rows_needed[test] = f"{interpolated(self.climbing.pop(test), (n, float(power))):.0f}"
            else:
                self.climbing[test] = (n, float(power))


@dataclass(frozen=True)
class SizeExperiment(Experiment):
    """A table of sizes: the alternatives, the tests, and which of these to run on each, up to which size."""

    alternatives: Mapping[str, Alternative]
    tests: Tests
    limits: Callable[[str], dict[str, int]]
    repetitions: int = field(default=200, kw_only=True)
    quick_limit: int = field(default=200, kw_only=True)

    def quickened(self) -> Self:
        """Return the experiment with a low limit on the sizes, and few repetitions."""
        return replace(self, limits=self._low_limits, repetitions=10)

    def _low_limits(self, name: str) -> dict[str, int]:
        return {test: min(limit, self.quick_limit) for test, limit in self.limits(name).items()}

    def described(self) -> Any:
        """Return the limits of the tests on each alternative."""
        return {name: self.limits(name) for name in self.alternatives}

    def table_columns(self, rows: Sequence[Row]) -> list[str]:
        """Return the tests in their order."""
        return ["samples", *self.tests, "repetitions"]

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the sizes that each test needs on each alternative."""
        ladders = [
            _Ladder(name, limits, dict.fromkeys(limits, (0.0, 0.0))) for name, limits in self.described().items()
        ]
        for step in count():
            n = round(_SMALLEST * math.sqrt(2) ** step)
            for ladder in ladders:
                ladder.stop_beyond(n)
            climbing = [ladder for ladder in ladders if ladder.climbing]
            if not climbing:
                break
            cells = [self._cell(ladder, n) for ladder in climbing]
            for ladder, pvalues in zip(
                climbing, all_pvalues(runner, self.seed, cells, range(repetitions), f"N = {n}"), strict=True
            ):
                ladder.climb(n, pvalues)
        return [{"samples": ladder.name, **ladder.rows_needed, "repetitions": repetitions} for ladder in ladders]

    def _cell(self, ladder: _Ladder, n: int) -> Cell:
        tests = {test: self.tests[test] for test in ladder.climbing}
        draw = partial(self.alternatives[ladder.name].draw, sizes=(n, n))
        return Cell({"samples": ladder.name, "N": n}, draw, tests)


def interpolated(below: tuple[float, float], above: tuple[float, float]) -> float:
    """Return the size for the power between two sizes with theirs; the first may be (0, 0), where there is none."""
    if below[0] == 0:
        return above[0]
    part = (_POWER - below[1]) / (above[1] - below[1])
    return float(below[0] * (above[0] / below[0]) ** part)
