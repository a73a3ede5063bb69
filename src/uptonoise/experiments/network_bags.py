"""Do networks learn from more bags? Errors of networks with and without hidden layers, 500 to 5,000 bags (our own).

Two tasks of ``prediction``, other seeds. The networks have their defaults: noise of unknown size in training, one
hidden layer of 64; "linear" has none. DeepSets is trained with the same noise. 1,000 test bags, as they are and with
Gaussian noise of some standard deviations of the columns. Errors are root mean squared errors over that of the constant
predictor; `largest` is the largest at any of these noise sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from uptonoise.experiments._bag_peers import REGRESSORS, with_noise
from uptonoise.experiments._bag_tasks import REPORTED
from uptonoise.experiments._experiment import Row
from uptonoise.experiments._figures import dots
from uptonoise.experiments._tasks import TaskExperiment, Values, tasks_of
from uptonoise.experiments.networks import NETWORKS

_TASKS = {task.name: task for task in REPORTED if task.name in ("skewness", "mixture")}
_PEER = "DeepSets, with noise"
MODELS = [*NETWORKS, *(f"{name}, linear" for name in NETWORKS), _PEER]


def errors(name: str, model: str, n_bags: int, split: int, values: Values, seed: int) -> list[float]:
    """Return the errors of a model at each noise size."""
    fit, test = _TASKS[name].split(seed, split, n_bags, values["test"])
    if model == _PEER:
        made = REGRESSORS[_PEER](split)
    else:
        hidden = () if model.endswith("linear") else (64,)
        made = NETWORKS[model.removesuffix(", linear")](hidden=hidden, progress=False, random_state=split)
    fitted = made.fit(fit.bags, fit.y)
    generator, deviations = np.random.default_rng([seed, split, 1]), fit.bags.values.std(axis=0)
    constant = np.mean((fit.y.mean() - test.y) ** 2)
    of_levels = []
    for level in values["levels"]:
        bags = with_noise(test.bags, level, deviations, generator.standard_normal(test.bags.values.shape))
        of_levels.append(float(np.sqrt(np.mean((fitted.predict(bags) - test.y) ** 2) / constant)))
    return of_levels


def _cells(values: Values) -> list[tuple[str, str, int]]:
    # The largest first, so that workers end together.
    sizes = sorted(values["bags"], reverse=True)
    return [(name, model, n_bags) for n_bags in sizes for name in values["tasks"] for model in values["models"]]


def _table(values: Values, results: list[Any]) -> list[Row]:
    cells = _cells(values)
    by_cell = np.array(results).reshape(-1, len(cells), len(values["levels"]))
    means = by_cell.mean(axis=0)
    rows = []
    for (name, model, n_bags), of_cell in zip(cells, means, strict=True):
        noisy = {f"noise {level:g}": f"{mean:.3f}" for level, mean in zip(values["levels"], of_cell, strict=True)}
        about = {"task": name, "model": model, "bags": n_bags}
        rows.append(about | noisy | {"largest": f"{of_cell.max():.3f}", "splits": len(by_cell)})
    return sorted(rows, key=lambda row: (row["task"], row["model"], row["bags"]))


EXPERIMENT = TaskExperiment(
    "network-bags",
    __doc__.splitlines()[0],
    {
        "tasks": list(_TASKS),
        "models": MODELS,
        "bags": [500, 2_000, 5_000],
        "test": 1_000,
        "levels": [0.0, 1.0, 10.0, 100.0],
    },
    tasks_of(errors, _cells),
    _table,
    quick_values={"tasks": ["mixture"], "models": ["phase network"], "bags": [20, 40], "test": 40},
    repetitions=3,
    seed=283,
    uses_gpu=True,
    draw=dots(("task", "model", "bags"), ["noise 0", "noise 1"], "RMSE / constant predictor"),
)
