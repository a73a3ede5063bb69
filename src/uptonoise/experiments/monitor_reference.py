"""False alarms of the monitor when a finite reference is used again (beyond the paper).

The stream has the same distribution as the reference, with other noise. "n passes" is the share of runs with an alarm
before all rows of the reference were used n times; the first pass has the guarantee, 0.05.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from uptonoise.experiments._figures import dots
from uptonoise.experiments._measured import Measured, MeasuredExperiment, shares
from uptonoise.monitor import Monitor

_BATCH = 500
_PASSES = (1, 2, 3, 5, 10)
_N_RUNS = 60


def _run(generator: np.random.Generator, n: int, d: int) -> dict[str, float]:
    monitor = Monitor(generator.gamma(2, size=(n, d)), when_used_up="reuse", random_state=generator)
    alarms = {}
    for n_passes in range(1, max(_PASSES) + 1):
        for _ in range(n // _BATCH):
            state = monitor.update(generator.gamma(2, size=(_BATCH, d)) + generator.normal(size=(_BATCH, d)))
        if n_passes in _PASSES:
            alarms[f"{n_passes} passes"] = float(state.alarm)
    return alarms


CELLS = [
    Measured({"reference": n, "d": d}, partial(_run, n=n, d=d), shares, _N_RUNS) for n in (1_000, 4_000) for d in (1, 5)
]
"""Cells of references of several lengths."""
_FIGURE = dots(("reference", "d"), [f"{n} passes" for n in _PASSES], "runs with an alarm", 0.05, counts="runs")
EXPERIMENT = MeasuredExperiment(
    "monitor-reference", __doc__.splitlines()[0], CELLS, repetitions=_N_RUNS, quick_runs=2, quick_cells=2, draw=_FIGURE
)
