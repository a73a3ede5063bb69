"""Noise that goes with the target in training and not in use: errors as in training and reversed (beyond the paper).

Bags of gamma shapes: the target is the shape, and rows have a variance of about 1. In training the noise has a standard
deviation between 0 and 1 that grows with the target, as where sicker patients are measured with the older device. In
use it is as in training, or it falls with the target. Errors are in units of the constant predictor's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.experiments._bag_peers import BOOSTED, OURS, REGRESSORS
from uptonoise.experiments._experiment import Row
from uptonoise.experiments._figures import dots
from uptonoise.experiments._tasks import TaskExperiment, Values, tasks_of
from uptonoise.learning import BagRegressor

_LEAST, _MOST = 1.0, 6.0
MODELS: dict[str, Callable[[int], Any]] = {
    "boosted statistics": REGRESSORS["boosted statistics"],
    BOOSTED: REGRESSORS[BOOSTED],
    OURS: REGRESSORS[OURS],
    "ours, invariant": lambda seed: BagRegressor(invariant=True, random_state=seed),
    "ours, invariant, up to 3": lambda seed: BagRegressor("up to 3", invariant=True, random_state=seed),
    "plrr": REGRESSORS["plrr"],
    "BagRidgeCV, against noise": REGRESSORS["BagRidgeCV, against noise"],
}


def tied_bags(generator: np.random.Generator, n_bags: int, *, reversed_noise: bool) -> tuple[Bags, Floats]:
    """Return bags whose noise grows with the target, or falls with it."""
    shapes = generator.uniform(_LEAST, _MOST, n_bags)
    bags = []
    for shape in shapes:
        share = (shape - _LEAST) / (_MOST - _LEAST)
        size = (int(generator.integers(60, 140)), 2)
        noise = (1 - share if reversed_noise else share) * generator.normal(size=size)
        bags.append(generator.gamma(shape, size=size) / np.sqrt(shape) + noise)
    return Bags(bags), shapes


def errors(model: str, split: int, values: Values, seed: int) -> list[float]:
    """Return the error with the noise as in training, and reversed."""
    generator = np.random.default_rng([seed, split])
    bags, y = tied_bags(generator, values["bags"], reversed_noise=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = MODELS[model](split).fit(bags, y)
        measured = []
        for reversed_noise in (False, True):
            test, truth = tied_bags(generator, values["bags"], reversed_noise=reversed_noise)
            squares = np.mean((fitted.predict(test) - truth) ** 2) / np.mean((y.mean() - truth) ** 2)
            measured.append(float(np.sqrt(squares)))
    return measured


def _table(values: Values, results: list[Any]) -> list[Row]:
    by_model = np.array(results).reshape(-1, len(values["models"]), 2)
    rows = []
    for model, (same, other) in zip(values["models"], by_model.mean(axis=0), strict=True):
        errors = {"as in training": f"{same:.4f}", "reversed": f"{other:.4f}", "ratio": f"{other / same:.3f}"}
        rows.append({"model": model} | errors | {"splits": len(by_model)})
    return rows


EXPERIMENT = TaskExperiment(
    "label-noise",
    __doc__.splitlines()[0],
    {"models": list(MODELS), "bags": 300},
    tasks_of(errors, lambda values: [(model,) for model in values["models"]]),
    _table,
    quick_values={"models": ["boosted statistics", "ours, invariant"], "bags": 60},
    repetitions=10,
    seed=281,
    draw=dots(("model",), ["as in training", "reversed"], "RMSE / constant predictor"),
)
