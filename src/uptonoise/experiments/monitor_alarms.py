"""False alarms of the monitor where only noise differs, over 20,000 rows (beyond the paper).

The noise of the stream is of six kinds in turn, and its size changes every 500 rows between 0.1 and 10 times that of
the signal; the reference has Gaussian noise of half the signal's size. Columns share a part of the signal. The alarm
looks after every row, and up to 2,048 rows the size of a batch makes no difference to the bets: one run stands for
batches of 1, 20 and 200 rows. The numbers are the shares of runs with an alarm at any time. Up to noise and an offset,
every batch of 200 rows has an offset of its own, of the size of the signal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets import NOISE_KINDS, symmetric_noise
from uptonoise.experiments._figures import dots
from uptonoise.experiments._measured import Measured, MeasuredExperiment, shares
from uptonoise.monitor import Monitor

_ROWS = 20_000
_EVERY = 500  # rows, the noise changes
_HALF = 0.5
_BATCH = 500  # rows with the same noise, whose random order matters to nobody
_OFFSET_BATCH = 200
_N_RUNS = 1_000
_N_OFFSET_RUNS = 300

_PARTS: dict[str, Callable[..., Floats]] = {
    "skewed": lambda generator, shape: generator.gamma(1.5, size=shape),
    "heavy-tailed": lambda generator, shape: generator.pareto(2.2, size=shape),
}
SIGNALS = tuple(_PARTS)


def sampled_signal(name: str, n: int, d: int, generator: np.random.Generator) -> Floats:
    """Sample rows of a signal, of which all columns share a part."""
    return _PARTS[name](generator, (n, d)) + _PARTS[name](generator, (n, 1))


def changing_noise(n_rows: int, n_columns: int, scale: float, generator: np.random.Generator) -> Floats:
    """Sample noise whose kind and size change every 500 rows: each kind in turn, of 0.1 to 10 times the scale."""
    kinds = generator.permutation((*NOISE_KINDS, "uniform"))
    parts = []
    for number, start in enumerate(range(0, n_rows, _EVERY)):
        sd, kind = scale * 10 ** generator.uniform(-1, 1), str(kinds[number % len(kinds)])
        n = min(_EVERY, n_rows - start)
        if kind == "uniform":
            parts.append(generator.uniform(-1, 1, (n, n_columns)) * (sd * np.sqrt(3)))
        else:
            parts.append(symmetric_noise(n, n_columns, sd, kind, generator))
    return np.concatenate(parts)


def _run(generator: np.random.Generator, signal: str, d: int, invariant_to: str) -> dict[str, float]:
    stream, reference = (sampled_signal(signal, _ROWS, d, generator) for _ in range(2))
    scale = math.sqrt(1.5)
    stream += changing_noise(_ROWS, d, scale, generator)
    reference += _HALF * scale * generator.standard_normal(reference.shape)
    batch = _BATCH
    if invariant_to == "noise+shift":
        batch = _OFFSET_BATCH
        stream += np.repeat(generator.normal(size=(_ROWS // batch, d)), batch, axis=0)
    monitor = Monitor(reference, invariant_to=invariant_to, random_state=generator)  # type: ignore[arg-type]
    for start in range(0, _ROWS, batch):
        state = monitor.update(stream[start : start + batch])
    assert state.pvalue is not None
    return {f"alarm at {alpha:g}": float(state.pvalue <= alpha) for alpha in (0.05, 0.01)}


_COLUMNS = ("signal", "d", "batch", "up to")
_PLAIN = [(signal, d, "noise", "1, 20, 200", _N_RUNS) for d in (1, 5, 20) for signal in SIGNALS]
CELLS = [
    Measured(
        dict(zip(_COLUMNS, (signal, d, batches, invariant_to), strict=True)),
        partial(_run, signal=signal, d=d, invariant_to=invariant_to),
        shares,
        n_runs,
    )
    for signal, d, invariant_to, batches, n_runs in (*_PLAIN, ("skewed", 5, "noise+shift", "200", _N_OFFSET_RUNS))
]
"""Cells of signals and columns, and one up to an offset."""
_FIGURE = dots(_COLUMNS, ["alarm at 0.05", "alarm at 0.01"], "share of runs with an alarm", 0.05, counts="runs")
EXPERIMENT = MeasuredExperiment(
    "monitor-alarms", __doc__.splitlines()[0], CELLS, repetitions=_N_RUNS, quick_runs=10, quick_cells=2, draw=_FIGURE
)
