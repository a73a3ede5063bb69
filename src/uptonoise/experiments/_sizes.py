"""How many rows a test needs for a power: the frame of experiments that go up a ladder of sizes."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel

from uptonoise.experiments._alternatives import Alternative
from uptonoise.experiments._rejections import Cell, Tests, all_pvalues

_SMALLEST = 25
_POWER = 0.9


@dataclass(frozen=True)
class SizeExperiment:
    """A table of sizes: the alternatives, the tests, and which of these to run on each, up to which size."""

    name: str
    paper: str
    alternatives: Mapping[str, Alternative]
    tests: Tests
    limits: Callable[[str], dict[str, int]]
    repetitions: int = 200
    seed: int = 0

    def run(self, folder: Path, repetitions: int | None = None, workers: int | None = None) -> Path:
        """Write the sizes as CSV into `folder`, and return the file."""
        path = folder / f"{self.name}.csv"
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file, Parallel(n_jobs=workers or os.cpu_count()) as parallel:
            writer = csv.DictWriter(file, ["samples", *self.tests, "repetitions"])
            writer.writeheader()
            for name in self.alternatives:
                sizes = self._sizes(name, repetitions or self.repetitions, parallel)
                row = {"samples": name, **sizes, "repetitions": repetitions or self.repetitions}
                writer.writerow(row)
                file.flush()
                print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        return path

    def _sizes(self, name: str, repetitions: int, parallel: Any) -> dict[str, str]:
        limits = self.limits(name)
        climbing = dict.fromkeys(limits, (0.0, 0.0))  # the last size and its power
        found: dict[str, str] = {}
        step = 0
        while climbing:
            n = round(_SMALLEST * math.sqrt(2) ** step)
            step += 1
            for test in [test for test in climbing if n > limits[test]]:
                del climbing[test]
                found[test] = f"over {limits[test]:,}"
            if not climbing:
                break
            tests = {test: self.tests[test] for test in climbing}
            draw = partial(self.alternatives[name].draw, sizes=(n, n))
            cell = Cell({"samples": name, "N": n}, draw, tests)
            powers = np.mean(all_pvalues(self.seed, cell, range(repetitions), parallel) <= 0.05, axis=0)
            for test, power in zip(tests, powers, strict=True):
                if power >= _POWER:
                    found[test] = f"{interpolated(climbing.pop(test), (n, float(power))):.0f}"
                else:
                    climbing[test] = (n, float(power))
        return found


def interpolated(below: tuple[float, float], above: tuple[float, float]) -> float:
    """Return the size for the power between two sizes with theirs; the first may be (0, 0), where there is none.

    Examples
    --------
    >>> from uptonoise.experiments._sizes import interpolated
    >>> round(interpolated((100, 0.8), (200, 1.0)), 1)
    141.4
    """
    if below[0] == 0:
        return above[0]
    part = (_POWER - below[1]) / (above[1] - below[1])
    return float(below[0] * (above[0] / below[0]) ** part)
