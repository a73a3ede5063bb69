"""Posteriors of a normal mean against the exact ones: errors, and coverage of 90 % intervals (beyond the paper).

theta ~ N(0, 1), 20 rows N(theta, 1): the posterior is N(20 mean / 21, 1 / 21). Errors of means are medians over data
sets, in units of the exact standard deviation; the prior leaves few particles for data sets far out in its tails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from uptonoise._util.typing import Floats
from uptonoise.experiments._experiment import Row, Task
from uptonoise.experiments._figures import Figure, Rows, new_figure
from uptonoise.experiments._looks import look, wilson_interval
from uptonoise.experiments._tasks import TaskExperiment, Values
from uptonoise.inference import FourierABC, PhaseABC, SemiAutomaticABC, calibration, simulate
from uptonoise.plots import GREY, dress, rows_of_names

N_ROWS = 20
METHODS: dict[str, Any] = {"phase": PhaseABC, "Fourier": FourierABC, "semi-automatic": SemiAutomaticABC}
SETTINGS = ((1_000, 0.2, False), (10_000, 0.05, False), (50_000, 0.01, False), (10_000, 0.05, True))


def normal_rows(theta: Floats, rng: np.random.Generator) -> Floats:
    """Return bags of 20 normal rows about each parameter."""
    return rng.normal(theta[:, :, None], size=(len(theta), N_ROWS, 1))


def tasks(values: Values, seed: int, n: int) -> Sequence[Task]:
    """Return a task for each method and setting."""
    cells = [(name, *setting) for name in METHODS for setting in values["settings"]]
    return [Task(", ".join(map(str, cell)), row, (*cell, values["n_training"], seed, n)) for cell in cells]


def row(method: str, n_particles: int, quantile: float, adjust: bool, n_training: int, seed: int, n: int) -> Row:
    """Return the row of a method, a number of particles and a tolerance."""
    observed = simulate(stats.norm(), normal_rows, n, vectorized=True, random_state=seed + 1)
    tolerance = {"n_particles": n_particles, "quantile": quantile, "adjust": adjust}
    options = {"n_training": n_training, "vectorized": True, "random_state": seed}
    inference = METHODS[method](stats.norm(), normal_rows, **tolerance, **options)
    calibrated = calibration(inference.fit(), simulations=observed)
    sums = observed.bags.values.reshape(n, N_ROWS).sum(axis=1)
    exact_mean, exact_sd = sums / (N_ROWS + 1), 1 / np.sqrt(N_ROWS + 1)
    return {
        "method": method,
        "particles": n_particles,
        "quantile": quantile,
        "adjusted": adjust,
        "error of mean": f"{np.median(np.abs(calibrated.means[:, 0] - exact_mean)) / exact_sd:.3f}",
        "sd / exact": f"{np.median(calibrated.sds) / exact_sd:.3f}",
        "90 % covers": f"{calibrated.coverage(0.9)[0]:.3f}",
        "data sets": n,
    }


_AXES = {
    "error of mean": ("error of the mean, in exact SD", 0.0),
    "sd / exact": ("SD over the exact one", 1.0),
    "90 % covers": ("90 % intervals cover", 0.9),
}
"""What the panels show, and what it should be."""


def _three_panels(title: str, rows: Rows) -> Figure:
    """Draw error, width and coverage side by side, each with what it should be."""
    figure = new_figure(title, 12.0, 1.8 + 0.3 * len(rows))
    axes = figure.subplots(1, len(_AXES), sharey=True)
    methods = list(dict.fromkeys(row["method"] for row in rows))
    names = []
    for row in rows:
        nearest = f"nearest {100 * float(row['quantile']):g} % of {int(row['particles']):,}"
        names.append(f"{row['method']}, {nearest}" + (", adjusted" if row["adjusted"] == "True" else ""))
    for ax, (column, (label, target)) in zip(axes, _AXES.items(), strict=True):
        ax.axvline(target, color=GREY, linestyle="--", linewidth=0.8)
        for y, row in enumerate(rows):
            style, value = look(methods.index(row["method"])), float(row[column])
            if column == "90 % covers":
                ax.hlines(y, *wilson_interval(value, int(row["data sets"])), color=style.color, linewidth=1)
            ax.plot(value, y, style.marker, color=style.color)
        rows_of_names(ax, names)
        dress(ax, "", label, grid="x")
    return figure


EXPERIMENT = TaskExperiment(
    "conjugate",
    __doc__.splitlines()[0],
    {"methods": list(METHODS), "settings": SETTINGS, "n_training": 1_000},
    tasks,
    lambda values, rows: rows,
    quick_values={"settings": ((1_000, 0.1, False), (1_000, 0.1, True)), "n_training": 60},
    quick_runs=40,
    repetitions=1_000,
    draw=_three_panels,
)
