"""Rows of each sample that the phase test needs to detect a shift with power 0.9 (beyond the paper).

One column. Y is a sample of the distribution of X, moved by so many standard deviations of the signal: a gamma(2)
signal, which is skewed, or a normal one. Without noise, and with Gaussian noise of the signal's standard deviation in
both samples. `rows` is planned by :func:`~uptonoise.phase_test_power` from a pilot of 100,000 evenly spaced quantiles:
sizes go up by factors of the root of 2 until the power is reached, and the last step is interpolated. `simulated
power` is the share of tests that reject on fresh samples of that size.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import gammaincinv, ndtri

from uptonoise._util.typing import Floats
from uptonoise.experiments._experiment import Row
from uptonoise.experiments._figures import dots
from uptonoise.experiments._tasks import TaskExperiment, Values, tasks_of
from uptonoise.experiments.noise_sizes import interpolated
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


def rows_needed(signal: str, noise: float, shift: float, number: int, values: Values, seed: int) -> Row:
    """Return the row of one cell: the rows that it needs, and the power that tests of that size have."""
    generator = np.random.default_rng([seed, round(1_000 * shift), round(noise)])
    # The pilot: two samples without noise that differ by the shift and by nothing else, not even by chance.
    levels = (np.arange(values["pilot"]) + 0.5) / values["pilot"]
    pilot = gammaincinv(2, levels) / np.sqrt(2) if signal == "skewed" else ndtri(levels)
    n = _SMALLEST / shift**2 * (1 + noise**2)
    before = (0.0, 0.0)
    while True:
        power = phase_test_power(pilot, pilot + shift, round(n), noise=noise, n_draws=values["draws"])
        if power >= _POWER:
            break
        before, n = (n, power), n * np.sqrt(2)
    rows = round(interpolated(before, (n, power)))
    rejected = [
        phase_test(*_samples(signal, noise, shift, rows, generator)).pvalue <= 0.05 for _ in range(values["checks"])
    ]
    return {
        "signal": signal,
        "noise": "as large as the signal" if noise else "none",
        "shift in SD": f"{shift:g}",
        "rows": rows,
        "simulated power": f"{np.mean(rejected):.3f}",
        "tests": len(rejected),
    }


def _samples(signal: str, noise: float, shift: float, n: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    skewed = signal == "skewed"
    X, Y = (generator.gamma(2, size=n) / np.sqrt(2) if skewed else generator.standard_normal(n) for _ in range(2))
    X, Y = (rows + noise * generator.standard_normal(n) for rows in (X, Y))
    return X, Y + shift


EXPERIMENT = TaskExperiment(
    "rows-needed",
    __doc__.splitlines()[0],
    VALUES,
    tasks_of(
        rows_needed, lambda values: list(product(values["signals"], values["noises"], values["shifts"])), once=True
    ),
    lambda values, rows: rows,
    quick_values={"shifts": [1.0], "pilot": 5_000, "draws": 50, "checks": 10},
    draw=dots(("signal", "noise", "shift in SD"), ["rows"], "rows of each sample for power 0.9", logarithmic=True),
)
