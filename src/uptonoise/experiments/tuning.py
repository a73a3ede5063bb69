"""Errors of PLRR and GLRR over the scale of the frequencies and the penalty, without noise and with it (ours only).

One split of each stand-in; errors are those on test bags, over that of the mean predictor, so that 1 is no use. All
bags to fit on are without noise; a size of noise is as in the paper's Figures 3 and 4. `chosen` marks the setting that
the default rule takes from cross-validation on the bags to fit on: the largest penalty, then the largest scale, within
one standard error of the smallest error. Where errors without noise are alike and those with noise are not, the rule
decides how robust a model is.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._bag_fits import MISR1_LIKE, aerosol, prepared
from uptonoise.experiments._experiment import Row
from uptonoise.experiments._figures import STAND_INS, Figure, Rows, grouped, new_figure
from uptonoise.experiments._tasks import TaskExperiment, Values, tasks_of
from uptonoise.experiments.bag_models import DARK_MATTER, QUICK_SETTINGS, Setting
from uptonoise.learning import FourierFeatures, PhaseFeatures, glrr, plrr
from uptonoise.plots import require

LEVELS = {"misr1-like": (0.0, 1.0, 3.0), "dark-matter-like": (0.0, 0.25, 2.0)}
SCALES = tuple(2.0**power for power in range(-5, 6))
PENALTIES = tuple(10.0**power for power in range(-8, 3))
MODELS = {"plrr": plrr, "glrr": glrr}
_SETTINGS = {setting.name: setting for setting in (MISR1_LIKE, DARK_MATTER)}
_QUICK = {"misr1-like": aerosol(quick=True), "dark-matter-like": QUICK_SETTINGS[1]}
_CELLS = list(product(_SETTINGS, MODELS))
_WORST = 3.0  # times the error of the mean: all above look alike


def errors(data: str, model: str, number: int, values: Values, seed: int) -> dict[str, Any]:
    """Return the errors of a model at all scales, penalties and noise sizes, over that of the mean."""
    setting: Setting = (_QUICK if values["quick"] else _SETTINGS)[data]
    part = prepared(setting, seed, 0)
    noisy = {level: part.noisy(level, seed) for level in LEVELS[data]}
    of_mean = float(np.mean((part.y_test - part.y_fit.mean()) ** 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a small one ends at an edge is no matter here
        chosen = MODELS[model](cv=part.cv, random_state=seed).fit(part.fast, part.y_fit).best_params_
    kind = {"plrr": PhaseFeatures, "glrr": FourierFeatures}[model]
    rows = []
    for scale in SCALES:
        options: dict[str, Any] = {"amplitude": "plain"} if model == "plrr" else {}
        features = kind(75, scale_factor=scale, random_state=seed, **options).fit(part.fit)
        predicted = _predictions(features.transform(part.fast), part.y_fit, [*map(features.transform, noisy.values())])
        for level, at_level in zip(noisy, predicted, strict=True):
            relative = np.mean((part.y_test[:, None] - at_level) ** 2, axis=0) / of_mean
            rows += [
                {"scale": scale, "penalty": penalty, "level": level, "error": float(np.sqrt(error))}
                for penalty, error in zip(PENALTIES, relative, strict=True)
            ]
    return {"rows": rows, "chosen": chosen}


def _predictions(F: Floats, y: Floats, tested: Sequence[Floats]) -> list[Floats]:
    """Return the predictions of ridge regression at all penalties, of shape (n, penalties), for several test sets."""
    centre, mean = F.mean(axis=0), y.mean()
    values, vectors = np.linalg.eigh((F - centre).T @ (F - centre))
    rotated = vectors.T @ ((F - centre).T @ (y - mean))
    coef = vectors @ (rotated[:, None] / (np.maximum(values, 0)[:, None] + np.array(PENALTIES)))
    return [mean + (T - centre) @ coef for T in tested]


def table(values: Values, results: list[Any]) -> list[Row]:
    """Return a row for each data set, model, scale, penalty and noise size."""
    rows: list[Row] = []
    for (data, model), result in zip(_CELLS, results, strict=True):
        best = result["chosen"]
        nearest = min(PENALTIES, key=lambda penalty: abs(np.log(penalty / best["alpha"])))
        rows += [
            {"bags": data, "model": model}
            | {**row, "error": f"{row['error']:.4g}"}
            | {"chosen": "yes" if (row["scale"], row["penalty"]) == (best["scale_factor"], nearest) else ""}
            for row in result["rows"]
        ]
    return rows


def draw(title: str, rows: Rows) -> Figure:
    """Draw a map for each data set, noise size and model; a ring marks what is chosen."""
    colors = require("matplotlib.colors")
    panels, cells = list(grouped(rows, "bags", "level")), grouped(rows, "bags", "level", "model")
    figure = new_figure(title, 3.0 * len(panels) + 1, 6.4)
    axes = figure.subplots(len(MODELS), len(panels), sharex=True, sharey=True, squeeze=False)
    norm = colors.LogNorm(0.3, _WORST)
    for line, model in zip(axes, MODELS, strict=True):
        for ax, (data, level) in zip(line, panels, strict=True):
            here = cells[data, level, model]
            grid = np.array([float(row["error"]) for row in here]).reshape(len(SCALES), len(PENALTIES))
            mesh = ax.pcolormesh(SCALES, PENALTIES, grid.T, norm=norm, cmap="viridis_r", shading="nearest")
            for row in here:
                if row["chosen"]:
                    place = float(row["scale"]), float(row["penalty"])
                    ax.plot(*place, "o", markersize=9, markerfacecolor="none", markeredgecolor="red", markeredgewidth=2)
            ax.set_xscale("log", base=2)
            ax.set_yscale("log")
            ax.set_title(f"{model}, {STAND_INS[data].split(':')[0]}, noise {float(level):g}", fontsize="small")
    for ax in axes[-1]:
        ax.set_xlabel("scale over the median")
    for line in axes:
        line[0].set_ylabel("penalty")
    figure.colorbar(mesh, ax=axes, label="RMSE over that of the mean (3 and more look alike)")
    return figure


EXPERIMENT = TaskExperiment(
    "tuning",
    __doc__.splitlines()[0],
    {"quick": False},
    tasks_of(errors, lambda values: _CELLS, once=True),
    table,
    quick_values={"quick": True},
    draw=draw,
)
