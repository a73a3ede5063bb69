"""Prediction from bags under noise: our models against what people would use instead (beyond the paper).

Six tasks with numbers as targets and four with classes, of which three are days of measured air pollution. 300 bags to
fit, 300 to test, and Gaussian noise in all columns of the test bags, in standard deviations of the columns. The error
is the root mean squared error over that of the constant predictor, or the share of wrong classes. Our constants were
chosen on tasks with other distributions, years and seeds (``DEVELOPMENT`` in ``_bag_tasks``).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from uptonoise._util.warning import warn
from uptonoise.experiments._bag_peers import BOOSTED, CLASSIFIERS, HAS_TORCH, OURS, REGRESSORS, with_noise
from uptonoise.experiments._bag_tasks import REPORTED
from uptonoise.experiments._experiment import Row, Task
from uptonoise.experiments._figures import Figure, Rows, draw_line, grouped, panels_of
from uptonoise.experiments._looks import look
from uptonoise.experiments._tasks import TaskExperiment, Values, tasks_of
from uptonoise.plots import add_legend, dress

LEVELS = [0.0, 0.5, 1.0, 3.0, 10.0, 100.0]
_HIGHEST = 1.5  # errors beyond are drawn there
_DRAWN = (
    *(OURS, BOOSTED, "boosted statistics", "forest of statistics, with noise"),
    *("DeepSets, with noise", "Fourier network", "BagRidgeCV", "phases"),
)
_TASKS = {task.name: task for task in REPORTED}


def errors(name: str, model: str, split: int, values: Values, seed: int) -> list[float]:
    """Return the errors of a model at each noise size, on one split of a task."""
    task = _TASKS[name]
    fit, test = task.split(seed, split, values["bags"], values["bags"])
    make = (REGRESSORS if task.kind == "regression" else CLASSIFIERS)[model]
    measured = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bags beyond what a model knows are the subject here
        fitted = make(split).fit(fit.bags, fit.y)
        generator = np.random.default_rng([seed, split, 1])
        deviations = fit.bags.values.std(axis=0)
        for level in values["levels"]:
            noise = generator.standard_normal(test.bags.values.shape)
            predicted = fitted.predict(with_noise(test.bags, level, deviations, noise))
            if task.kind == "classes":
                measured.append(float(np.mean(predicted != test.y)))
            else:
                squares = np.mean((predicted - test.y) ** 2) / np.mean((fit.y.mean() - test.y) ** 2)
                measured.append(float(np.sqrt(squares)))
    return measured


def _cells(values: Values) -> list[tuple[str, str]]:
    """Return tasks and models."""
    return [
        (name, model)
        for name in values["tasks"]
        for model in (REGRESSORS if _TASKS[name].kind == "regression" else CLASSIFIERS)
    ]


def _tasks(values: Values, seed: int, repetitions: int) -> Sequence[Task]:
    if not HAS_TORCH:
        warn(
            'torch is not installed: DeepSets and our networks are left out. pip install "uptonoise[torch]" brings it',
            UserWarning,
        )
    return tasks_of(errors, _cells)(values, seed, repetitions)


def _table(values: Values, results: list[Any]) -> list[Row]:
    """Return a row for each task, model and noise size: the mean over splits and its standard error."""
    cells = _cells(values)
    n_splits = len(results) // len(cells)
    by_split = np.array(results).reshape(n_splits, len(cells), -1)
    rows = []
    for number, (name, model) in enumerate(cells):
        of_cell = by_split[:, number]
        spread = of_cell.std(axis=0, ddof=1) if n_splits > 1 else np.zeros(of_cell.shape[1])
        for level, mean, error in zip(values["levels"], of_cell.mean(axis=0), spread / np.sqrt(n_splits), strict=True):
            about = {"task": name, "kind": _TASKS[name].kind, "model": model, "noise": level}
            rows.append(about | {"error": f"{mean:.4f}", "+-": f"{error:.4f}", "splits": n_splits})
    return rows


def _figure(title: str, rows: Rows) -> Figure:
    """Draw the error of some models against the noise, one panel per task."""
    kinds = grouped(rows, "task", "kind")
    figure, axes = panels_of(title, len(kinds))
    sizes = [f"{float(size):g}" for (size,) in grouped(rows, "noise")]
    entries: dict[str, Any] = {}
    for ax, ((name, kind), of_task) in zip(axes, kinds.items(), strict=True):
        by_model = grouped(of_task, "model")
        for place, model in enumerate(_DRAWN):
            if (model,) in by_model:
                shown = [min(float(row["error"]), _HIGHEST) for row in by_model[model,]]
                entries[model] = draw_line(ax, range(len(shown)), shown, look(place))
        label = "RMSE / constant predictor" if kind == "regression" else "share of wrong classes"
        dress(ax, name, "noise, SD of the columns", label)
        ax.set_xticks(range(len(sizes)), sizes)
    add_legend(figure, [(line, model) for model, line in entries.items()], loc="outside right upper")
    return figure


EXPERIMENT = TaskExperiment(
    "prediction",
    __doc__.splitlines()[0],
    {"tasks": [task.name for task in REPORTED], "bags": 300, "levels": LEVELS},
    _tasks,
    _table,
    quick_values={"tasks": ["skewness", "dependence"], "bags": 40, "levels": [0.0, 1.0]},
    repetitions=10,
    seed=28,
    draw=_figure,
)
