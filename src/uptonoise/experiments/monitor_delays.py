"""Rows to the alarm of the monitor, from the start and after 50 quiet batches (beyond the paper).

"flip test" is the number of rows at which the fixed-size flip test has power 0.9, by a probit regression on the square
root of that number. "median" and "90 %" are quantiles of the rows between the change and the alarm, in batches of 20
rows: with the guarantee "probability" at alpha 0.05, and with a "run length" of 1,000 batches; from the start, and
after 50 quiet batches of 20 and of 200 rows. "ratio" is the median over that of the flip test, "late ratio" over the
median from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np
from scipy.special import ndtr, ndtri

from uptonoise._util.typing import Floats
from uptonoise.datasets import HIGGS_HIGH_LEVEL, make_chi2_samples
from uptonoise.experiments._experiment import Row, Runner
from uptonoise.experiments._figures import dots
from uptonoise.experiments._higgs import draw_processes
from uptonoise.experiments._measured import Measured, MeasuredExperiment, Runs, shares
from uptonoise.monitor import Monitor
from uptonoise.twosample import flip_test

_BATCH = 20
_QUIET = 50  # batches
_POWER = 0.9
_N_RUNS = 60
_N_FLIP_RUNS = 100

Sample = Callable[[np.random.Generator, int, int], tuple[Floats, Floats, Floats]]
Setting = tuple[Sample, int, tuple[int, ...]]


def _chi2(noise: tuple[float, float]) -> Sample:
    def sample(generator: np.random.Generator, n: int, quiet: int) -> tuple[Floats, Floats, Floats]:
        changed, reference = make_chi2_samples((n, n + quiet), 5, freedoms=(4, 8), noise=noise, random_state=generator)
        same = make_chi2_samples((max(quiet, 1), 1), 5, freedoms=(8, 8), noise=noise, random_state=generator)[0]
        return same[:quiet], changed, reference

    return sample


def _higgs(generator: np.random.Generator, n: int, quiet: int) -> tuple[Floats, Floats, Floats]:
    changed, others = draw_processes(generator, (n, n + 2 * quiet), HIGGS_HIGH_LEVEL)
    return others[:quiet], changed, others[quiet:]


SETTINGS: dict[str, Setting] = {
    "chi-squared, noise (0, 0)": (_chi2((0.0, 0.0)), 4_000, (120, 170, 220, 300)),
    "chi-squared, noise (0.5, 0.5)": (_chi2((0.5, 0.5)), 6_000, (350, 500, 650, 850)),
    "chi-squared, noise (2, 0)": (_chi2((2.0, 0.0)), 12_000, (1_300, 1_800, 2_300, 3_000)),
    "HIGGS": (_higgs, 2_000, (70, 100, 140, 190)),
}


def cells() -> Sequence[Measured]:
    """Return for each setting the flip test, and both guarantees from the start and after quiet batches."""
    made = []
    for name, (sample, n, sizes) in SETTINGS.items():
        for size in sizes:
            settings = {"setting": name, "what": f"flip test, {size} rows"}
            made.append(Measured(settings, partial(_flipped, sample=sample, n=size), shares, _N_FLIP_RUNS))
        for guarantee in ("probability", "run length"):
            for quiet, batch in ((0, _BATCH), (_QUIET, _BATCH), (_QUIET, 200)):
                after = "from the start" if not quiet else f"after {quiet} batches of {batch}"
                settings = {"setting": name, "what": f"{guarantee}, {after}"}
                run = partial(_delay, sample=sample, n=n, quiet=quiet, batch=batch, guarantee=guarantee)
                made.append(Measured(settings, run, _quantiles, _N_RUNS))
    return made


def _flipped(generator: np.random.Generator, sample: Sample, n: int) -> dict[str, float]:
    _, changed, reference = sample(generator, n, 0)
    return {"power": float(flip_test(changed, reference[:n], random_state=generator).pvalue <= 0.05)}


def _delay(
    generator: np.random.Generator, sample: Sample, n: int, quiet: int, batch: int, guarantee: str
) -> dict[str, float]:
    before, changed, reference = sample(generator, n, quiet * batch)
    monitor = Monitor(reference, guarantee=guarantee, random_state=generator)  # type: ignore[arg-type]
    for start in range(0, len(before), batch):
        if monitor.update(before[start : start + batch]).alarm:
            return {"delay": np.nan}  # a false alarm says nothing about the delay
    for start in range(0, n, _BATCH):
        if monitor.update(changed[start : start + _BATCH]).alarm:
            return {"delay": float(start + _BATCH)}
    return {"delay": np.inf}


def _quantiles(runs: Runs) -> dict[str, str]:
    delays = np.array([run["delay"] for run in runs], dtype=float)
    false = np.isnan(delays)
    median, high = np.quantile(delays[~false], [0.5, 0.9], method="inverted_cdf")
    return {"median": f"{median:.0f}", "90 %": f"{high:.0f}", "false alarms": f"{false.mean():.3f}"}


class _Delays(MeasuredExperiment):
    """The table, with ratios that need several rows."""

    def quickened(self) -> Self:
        """Return a flip test, and the first delays."""
        few = [replace(cell, n_runs=self.quick_runs) for cell in cells()[3:6]]
        return replace(self, cells=few, repetitions=self.quick_runs)

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the rows of all cells, and the ratios of each setting, where all that they need is there."""
        table = super().rows(runner, repetitions)
        for name in SETTINGS:
            rows = [row for row in table if row["setting"] == name]
            flips = [(int(row["what"].split()[2]), float(row["power"])) for row in rows if "power" in row]
            needed = rows_for_power(flips) if len(flips) > 1 else np.nan
            starts: dict[str, float] = {}
            for row in (row for row in rows if "median" in row):
                guarantee, median = row["what"].split(",")[0], float(row["median"])
                starts.setdefault(guarantee, median)
                row["flip test"] = f"{needed:.0f}"
                row["ratio"] = f"{median / needed:.2f}"
                row["late ratio"] = f"{median / starts[guarantee]:.2f}"
        return table


def rows_for_power(powers: Sequence[tuple[int, float]]) -> float:
    """Return the number of rows for power 0.9: a line through probits against the square root of the number.

    Examples
    --------
    >>> from scipy.special import ndtr
    >>> from uptonoise.experiments.monitor_delays import rows_for_power
    >>> round(rows_for_power([(n, float(ndtr(0.2 * n**0.5 - 1.645))) for n in (50, 100, 200)]))
    214
    """
    n, power = np.array(powers, dtype=float).T
    probits = ndtri(np.clip(power, 0.01, 0.99))
    weights = np.exp(-(probits**2) / 4) / np.sqrt(ndtr(probits) * ndtr(-probits))
    slope, intercept = np.polyfit(np.sqrt(n), probits, 1, w=weights)
    return float(((ndtri(_POWER) - intercept) / slope) ** 2)


_DRAW = dots(("setting", "what"), ["median", "90 %"], "rows to the alarm", ends=("median", "90 %"))
EXPERIMENT = _Delays(
    "monitor-delays",
    __doc__.splitlines()[0],
    cells(),
    repetitions=_N_FLIP_RUNS,
    quick_runs=2,
    draw=lambda title, rows: _DRAW(title, [row for row in rows if row.get("median")]),  # the flip test is not drawn
)
