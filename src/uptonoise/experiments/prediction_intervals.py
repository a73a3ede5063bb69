"""Coverage of intervals of predictions from bags: several sizes and kinds of noise (beyond the paper).

The six tasks of ``prediction`` with numbers as targets. The intervals of ``BagRegressor`` are to hold the targets of
0.9 of the test bags, at every noise size; "varies" is noise of another size in each bag, up to 3. `low` and `high` are
two standard errors over splits from the mean coverage. `width` is that of the intervals, over the standard deviation of
the targets. `outside` is the share of bags that the model flags.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from uptonoise.datasets import symmetric_noise
from uptonoise.experiments._bag_peers import with_noise
from uptonoise.experiments._bag_tasks import REPORTED
from uptonoise.experiments._experiment import Row
from uptonoise.experiments._figures import dots
from uptonoise.experiments._tasks import TaskExperiment, Values, tasks_of
from uptonoise.learning import BagRegressor

COVERAGE = 0.9
NOISES = (*(("gaussian", size) for size in (0.0, 0.5, 1.0, 3.0, 10.0)), ("t", 1.0), ("t", 3.0), ("varies", 3.0))
_TASKS = {task.name: task for task in REPORTED if task.kind == "regression"}


def coverages(name: str, split: int, values: Values, seed: int) -> list[list[float]]:
    """Return coverage, width and share of flagged bags for each noise."""
    fit, test = _TASKS[name].split(seed, split, values["bags"], values["bags"])
    generator = np.random.default_rng([seed, split, 1])
    deviations = fit.bags.values.std(axis=0)
    measured = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of bags that are flagged, which are counted
        model = BagRegressor(random_state=split).fit(fit.bags, fit.y)
        for kind, size in NOISES:
            varies = kind == "varies"
            sizes = generator.uniform(0, size, len(test.y)) if varies else size
            noise = symmetric_noise(
                len(test.bags.values), test.bags.n_columns, 1.0, "gaussian" if varies else kind, generator
            )
            bags = with_noise(test.bags, sizes, deviations, noise)
            low, high = model.predict_interval(bags, COVERAGE).T
            covered = np.mean((low <= test.y) & (test.y <= high))
            width = np.mean(high - low) / fit.y.std()
            measured.append([float(covered), float(width), float(model.check(bags).outside.mean())])
    return measured


def _table(values: Values, results: list[Any]) -> list[Row]:
    by_split = np.array(results).reshape(-1, len(values["tasks"]), len(NOISES), 3)
    means, n_splits = by_split.mean(axis=0), len(by_split)
    deviations = by_split[..., 0].std(axis=0, ddof=1) if n_splits > 1 else np.zeros(means.shape[:2])
    margins = 2 * deviations / np.sqrt(n_splits)
    rows = []
    for row, name in enumerate(values["tasks"]):
        for column, (kind, size) in enumerate(NOISES):
            coverage, width, outside = means[row, column]
            low, high = coverage + np.array([-1, 1]) * margins[row, column]
            numbers = {"coverage": coverage, "low": low, "high": high, "width": width, "outside": outside}
            shown = {what: f"{number:.3f}" for what, number in numbers.items()}
            rows.append({"task": name, "noise": f"{kind} {size:g}"} | shown | {"splits": n_splits})
    return rows


EXPERIMENT = TaskExperiment(
    "prediction-intervals",
    __doc__.splitlines()[0],
    {"tasks": list(_TASKS), "bags": 300},
    tasks_of(coverages, lambda values: [(name,) for name in values["tasks"]]),
    _table,
    quick_values={"tasks": ["skewness"], "bags": 60},
    repetitions=10,
    seed=282,
    draw=dots(("task", "noise"), ["coverage"], "coverage of 90 % intervals", COVERAGE, ends=("low", "high")),
)
