"""Alarms of the monitor and of other ways to watch a sensor, on the same streams (beyond the paper).

A sensor with three columns is compared with a reference for 60 nights of 100 rows. From night 21 on it is the same, or
noisier (by noise of the signal's own size), or its zero has moved (by half a standard deviation), or its signal is
another one (of another shape, with the same mean and variance). Numbers are shares of runs with an alarm: "before" by
night 20, "after" from night 21 on; and "nights", the median of the nights to the alarm. "every night" means a test with
alpha 0.05 on each night's rows, and an alarm at the first rejection. ADWIN is river's, on each column (left out where
river is not installed). MMD is that of a window of the last 200 rows and the reference, with a threshold for one false
alarm in 1,000 nights on average: a stand-in for alibi-detect's online MMD.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.stats import ks_2samp

from uptonoise._util.typing import Floats
from uptonoise.experiments._figures import dots
from uptonoise.experiments._measured import Measured, MeasuredExperiment, Runs
from uptonoise.fourier import median_scale, sample_frequencies
from uptonoise.monitor import Monitor
from uptonoise.twosample import phase_test

_NIGHTS, _CHANGE, _ROWS, _COLUMNS = 60, 20, 100, 3
_REFERENCE = 6_000
_ALPHA = 0.05
_WINDOW = 200
_RUN_LENGTH = 1_000
_N_RUNS = 20

Alarms = Iterator[bool]


def _same(generator: np.random.Generator) -> Floats:
    return generator.gamma(2, size=(_ROWS, _COLUMNS))


CHANGES: dict[str, Callable[[np.random.Generator], Floats]] = {
    "none": _same,
    "noisier": lambda generator: _same(generator) + np.sqrt(2) * generator.standard_normal((_ROWS, _COLUMNS)),
    "zero moved": lambda generator: _same(generator) + np.sqrt(2) / 2,
    "other signal": lambda generator: 4 - _same(generator),
}


def _monitor(reference: Floats, nights: Sequence[Floats], seed: int, **options: Any) -> Alarms:
    monitor = Monitor(reference, random_state=seed, **options)
    return (monitor.update(night).alarm for night in nights)


def _kolmogorov_smirnov(reference: Floats, nights: Sequence[Floats], seed: int) -> Alarms:
    for night in nights:
        pvalues = [ks_2samp(night[:, column], reference[:, column]).pvalue for column in range(_COLUMNS)]
        yield bool(min(pvalues) * _COLUMNS <= _ALPHA)


def _adwin(reference: Floats, nights: Sequence[Floats], seed: int) -> Alarms:
    drift = import_module("river.drift")  # pip install river; no part of uptonoise needs it

    detectors = [drift.ADWIN() for _ in range(_COLUMNS)]
    for row in reference[-1_000:]:
        for detector, value in zip(detectors, row, strict=True):
            detector.update(float(value))
    for night in nights:
        alarm = False
        for row in night:
            for detector, value in zip(detectors, row, strict=True):
                detector.update(float(value))
                alarm |= detector.drift_detected
        yield alarm


def _mmd(reference: Floats, nights: Sequence[Floats], seed: int) -> Alarms:
    """Yield whether the distance of a window to the reference is over a quantile that the reference gives."""
    generator = np.random.default_rng(seed)
    frequencies = sample_frequencies(50, _COLUMNS, scale=median_scale(reference, random_state=seed), random_state=seed)
    known = _cosines_and_sines(reference, frequencies)
    centre = known.mean(axis=0)
    picks = (generator.choice(len(known), _WINDOW, replace=False) for _ in range(3_000))
    distances = [float(np.sum((known[rows].mean(axis=0) - centre) ** 2)) for rows in picks]
    threshold = np.quantile(distances, 1 - 1 / _RUN_LENGTH)
    window = known[:0]
    for night in nights:
        window = np.concatenate([window, _cosines_and_sines(night, frequencies)])[-_WINDOW:]
        yield bool(len(window) == _WINDOW and np.sum((window.mean(axis=0) - centre) ** 2) > threshold)


def _cosines_and_sines(rows: Floats, frequencies: Floats) -> Floats:
    angles = rows @ frequencies.T
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)


METHODS: dict[str, Callable[[Floats, Sequence[Floats], int], Alarms]] = {
    "monitor": _monitor,
    "monitor, run length 1,000": partial(_monitor, guarantee="run length", run_length=_RUN_LENGTH),
    "monitor, up to an offset": partial(_monitor, invariant_to="noise+shift"),
    "phase test every night": lambda reference, nights, seed: (
        bool(phase_test(night, reference).pvalue <= _ALPHA) for night in nights
    ),
    "Kolmogorov-Smirnov every night": _kolmogorov_smirnov,
    "ADWIN (river)": _adwin,
    "MMD of a window": _mmd,
}


def _run(generator: np.random.Generator, change: str) -> dict[str, float]:
    """Return the night of the first alarm of each method, or none."""
    reference = generator.gamma(2, size=(_REFERENCE, _COLUMNS))
    nights = [_same(generator) for _ in range(_CHANGE)]
    nights += [CHANGES[change](generator) for _ in range(_NIGHTS - _CHANGE)]
    seed = int(generator.integers(2**32))
    firsts = {}
    for name, method in METHODS.items():
        if method is _adwin and find_spec("river") is None:
            continue
        alarms = (number for number, alarm in enumerate(method(reference, nights, seed), 1) if alarm)
        firsts[name] = float(next(alarms, _NIGHTS + 1))
    return firsts


def _summary(runs: Runs) -> dict[str, str]:
    table = {}
    for name in runs[0]:
        first = np.array([run[name] for run in runs])
        early = np.mean(first <= _CHANGE)
        late = first[first > _CHANGE]
        in_time = late <= _NIGHTS
        table[f"{name}: before"] = f"{early:.2f}"
        table[f"{name}: after"] = f"{in_time.mean():.2f}" if len(late) else "nan"
        table[f"{name}: nights"] = f"{np.median(late[in_time]) - _CHANGE:.0f}" if in_time.any() else "-"
    return table


_AFTER = [f"{name}: after" for name in METHODS]
CELLS = [Measured({"change": change}, partial(_run, change=change), _summary, _N_RUNS) for change in CHANGES]
"""All methods on all changes; every method sees the same streams."""
_FIGURE = dots(("change",), _AFTER, "runs with an alarm after the change", counts="runs")
EXPERIMENT = MeasuredExperiment(
    "monitor-peers", __doc__.splitlines()[0], CELLS, repetitions=_N_RUNS, quick_runs=2, quick_cells=2, draw=_FIGURE
)
