"""Rows of each sample that the phase test needs to detect a shift with power 0.9 (beyond the paper).

One column. Y is a sample of the distribution of X, moved by so many standard deviations of the signal: a gamma(2)
signal, which is skewed, or a normal one. Without noise, and with Gaussian noise of the signal's standard deviation in
both samples. `rows` is planned by :func:`~uptonoise.phase_test_power` from a pilot of 100,000 evenly spaced quantiles:
sizes go up by factors of the root of 2 until the power is reached, and the last step is interpolated. `simulated
power` is the share of tests that reject on fresh samples of that size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import gammaincinv, ndtri

from uptonoise._util.typing import Floats
from uptonoise.experiments._experiment import Row, Task
from uptonoise.experiments._figures import dots
from uptonoise.experiments._sizes import interpolated
from uptonoise.experiments._tasks import TaskExperiment, Values
from uptonoise.twosample import phase_test, phase_test_power

_POWER = 0.9
_SMALLEST = 12.0  # rows times the squared shift over the variance of signal and noise: a t test needs 21
VALUES = {
    "signals": ["skewed", "normal"],
    "noises": [0.0, 1.0],
    "shifts": [1.0, 0.5, 0.2, 0.1],
    "pilot": 100_000,
    "draws": 200,
    "checks": 100,
}


def tasks(values: Values, seed: int, repetitions: int) -> Sequence[Task]:
    """Return one task per cell."""
    cells = [
        {"signal": signal, "noise": noise, "shift": shift}
        for signal in values["signals"]
        for noise in values["noises"]
        for shift in values["shifts"]
    ]
    return [Task(str(cell), rows_needed, (cell, dict(values), seed)) for cell in cells]


def rows_needed(cell: Mapping[str, Any], values: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the rows that one cell needs, and the power that tests of that size have."""
    generator = np.random.default_rng([seed, round(1_000 * cell["shift"]), round(cell["noise"])])
    pilot = _pilot(cell, values["pilot"])
    n = _SMALLEST / cell["shift"] ** 2 * (1 + cell["noise"] ** 2)
    before = (0.0, 0.0)
    while True:
        power = phase_test_power(*pilot, round(n), noise=cell["noise"], n_draws=values["draws"])
        if power >= _POWER:
            break
        before, n = (n, power), n * np.sqrt(2)
    rows = round(interpolated(before, (n, power)))
    rejected = [phase_test(*_samples(cell, rows, generator)).pvalue <= 0.05 for _ in range(values["checks"])]
    return dict(cell) | {"rows": rows, "simulated power": float(np.mean(rejected)), "tests": len(rejected)}


def _pilot(cell: Mapping[str, Any], n: int) -> tuple[Floats, Floats]:
    """Return two samples without noise that differ by the shift and by nothing else, not even by chance."""
    levels = (np.arange(n) + 0.5) / n
    X = gammaincinv(2, levels) / np.sqrt(2) if cell["signal"] == "skewed" else ndtri(levels)
    return X, X + cell["shift"]


def _samples(cell: Mapping[str, Any], n: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    skewed = cell["signal"] == "skewed"
    X, Y = (generator.gamma(2, size=n) / np.sqrt(2) if skewed else generator.standard_normal(n) for _ in range(2))
    X, Y = (signal + cell["noise"] * generator.standard_normal(n) for signal in (X, Y))
    return X, Y + cell["shift"]


def table(values: Values, results: list[Any]) -> list[Row]:
    """Return the rows of the table, as the tasks gave them."""
    return [
        {
            "signal": result["signal"],
            "noise": "none" if not result["noise"] else "as large as the signal",
            "shift in SD": f"{result['shift']:g}",
            "rows": result["rows"],
            "simulated power": f"{result['simulated power']:.3f}",
            "tests": result["tests"],
        }
        for result in results
    ]


EXPERIMENT = TaskExperiment(
    "rows-needed",
    __doc__.splitlines()[0],
    VALUES,
    tasks,
    table,
    quick_values={"shifts": [1.0], "pilot": 5_000, "draws": 50, "checks": 10},
    draw=dots(("signal", "noise", "shift in SD"), ["rows"], "rows of each sample for power 0.9", logarithmic=True),
)
