"""Planned power against simulated power (beyond the paper).

`planned` is from a pilot of 100,000 rows, `simulated` the share of rejections; noise in the pilot's units is added to
the pilot in the last cells, and to the signal in their simulation.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from uptonoise.datasets import make_chi2_samples
from uptonoise.experiments._figures import dots
from uptonoise.experiments._measured import Measured, MeasuredExperiment
from uptonoise.twosample import phase_test, phase_test_power

SETTINGS = (
    ((100, 100), 5, (0.0, 0.0), (0.0, 0.0)),
    ((100, 100), 1, (0.0, 0.0), (0.0, 0.0)),
    ((200, 200), 5, (0.5, 0.5), (0.0, 0.0)),
    ((500, 500), 5, (2.0, 0.0), (0.0, 0.0)),
    ((100, 100), 20, (0.5, 0.5), (0.0, 0.0)),
    ((300, 100), 5, (0.5, 0.0), (0.0, 0.0)),
    ((200, 200), 5, (0.0, 0.0), (0.5, 0.5)),
    ((300, 300), 2, (0.0, 0.0), (0.5, 0.0)),
)
_COLUMNS = ("n", "k", "d", "n1", "n2", "more 1", "more 2")
_PILOT = 100_000


def _power(
    generator: np.random.Generator,
    sizes: tuple[int, int],
    d: int,
    noise: tuple[float, float],
    more: tuple[float, float],
) -> dict[str, float]:
    samples = make_chi2_samples(sizes, d, noise=noise, freedoms=(4, 8), random_state=generator)
    X, Y = (rows + sd * generator.standard_normal(rows.shape) for rows, sd in zip(samples, more, strict=True))
    return {"planned": _planned(sizes, d, noise, more), "simulated": float(phase_test(X, Y).pvalue <= 0.05)}


@cache
def _planned(sizes: tuple[int, int], d: int, noise: tuple[float, float], more: tuple[float, float]) -> float:
    X, Y = make_chi2_samples(_PILOT, d, noise=noise, freedoms=(4, 8), random_state=0)
    return float(phase_test_power(X, Y, *sizes, noise=more, n_draws=1_000))


CELLS = [
    Measured(
        dict(zip(_COLUMNS, (*sizes, d, *noise, *more), strict=True)),
        partial(_power, sizes=sizes, d=d, noise=noise, more=more),
    )
    for sizes, d, noise, more in SETTINGS
]
"""The cells; the last ones plan for noise that the pilot does not have."""
_FIGURE = dots(_COLUMNS, ["planned", "simulated"], "power", counts="repetitions")
EXPERIMENT = MeasuredExperiment(
    "planning", __doc__.splitlines()[0], CELLS, repetitions=1_000, quick_cells=1, draw=_FIGURE
)
