"""Batches to a false alarm of the monitor with the guarantee "run length" (beyond the paper).

Two streams with the same skewed or heavy-tailed signal, of which one has noise that changes its kind and size every 500
rows. "asked for" is the run length that was asked for, "mean" the mean number of batches to the alarm, with an interval
of 99 % confidence from "low" to "high", and "median" their median. A run ends after 20 times the run length at the
latest.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from uptonoise.experiments._figures import dots
from uptonoise.experiments._measured import Measured, MeasuredExperiment, Runs
from uptonoise.experiments.monitor_alarms import SIGNALS, changing_noise, sampled_signal
from uptonoise.monitor import Monitor

_MOST = 20  # times the run length
_N_RUNS = 300
_Z99 = 2.576


def _run(generator: np.random.Generator, signal: str, d: int, batch: int, run_length: int) -> dict[str, float]:
    monitor = Monitor(guarantee="run length", run_length=run_length, random_state=generator)
    stream = np.empty((0, d))
    for _ in range(_MOST * run_length):
        if len(stream) < batch:
            noise = changing_noise(3_000, d, 1.0, generator)
            stream = np.concatenate([stream, sampled_signal(signal, len(noise), d, generator) + noise])
        rows, stream = stream[:batch], stream[batch:]
        state = monitor.update(rows, sampled_signal(signal, batch, d, generator))
        if state.alarm:
            break
    return {"batches": float(state.batch)}


def _summary(runs: Runs) -> dict[str, str]:
    batches = np.array([run["batches"] for run in runs])
    mean, error = batches.mean(), batches.std(ddof=1) / np.sqrt(len(batches))
    values = {"mean": mean, "low": mean - _Z99 * error, "high": mean + _Z99 * error, "median": np.median(batches)}
    return {name: f"{value:.0f}" for name, value in values.items()}


CELLS = [
    Measured(
        {"signal": signal, "d": d, "batch": batch, "asked for": run_length},
        partial(_run, signal=signal, d=d, batch=batch, run_length=run_length),
        _summary,
        _N_RUNS,
    )
    for signal in SIGNALS
    for d, batch, run_length in ((1, 20, 50), (5, 20, 50), (5, 200, 50), (5, 20, 200))
]
"""Cells of signals, columns, batches and run lengths."""
_COLUMNS = ("signal", "d", "batch", "asked for")
_FIGURE = dots(_COLUMNS, ["mean", "asked for"], "batches to a false alarm", ends=("low", "high"))
EXPERIMENT = MeasuredExperiment(
    "monitor-run-length", __doc__.splitlines()[0], CELLS, repetitions=_N_RUNS, quick_runs=3, quick_cells=2, draw=_FIGURE
)
