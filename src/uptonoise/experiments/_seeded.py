"""Models compared on problems that are sampled anew for each seed: the frame of experiments with networks.

Each model of each problem and seed is a task of its own. Two files: `NAME-runs.csv` has every number of every seed, and
`NAME.csv` means with 5 % and 95 % quantiles over seeds. What the first file has is not computed again where the record
says that it is of the same settings, so that a later run can add seeds.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from uptonoise.experiments._experiment import Experiment, Row, Runner, Task, read_table, write_table
from uptonoise.experiments._figures import Draw, dots


@dataclass(frozen=True)
class Problem:
    """A problem by name, the models to compare on it, and what one of them has there with a seed: numbers by name.

    `settings` are what else the numbers depend on, ready for the record: the same name and settings, the same numbers.
    """

    name: str
    models: Sequence[str]
    measure: Callable[[int, str], Mapping[str, float]]
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SeededExperiment(Experiment):
    """A table with a row for each problem and model, and a column for each measure."""

    problems: Sequence[Problem]
    repetitions: int = field(default=10, kw_only=True)
    quick_problems: Sequence[Problem] | None = field(default=None, kw_only=True)
    adds_seeds: bool = field(default=True, kw_only=True)

    def quickened(self) -> Self:
        """Return the experiment with one seed of smaller problems."""
        return replace(self, problems=self.quick_problems or self.problems, repetitions=1, adds_seeds=False)

    def described(self) -> Any:
        """Return the problems by name, with their models and settings."""
        return {problem.name: {"models": list(problem.models), **problem.settings} for problem in self.problems}

    def drawing(self) -> Draw:
        """Return what draws the figure: a line of dots for each model, where there is nothing better."""
        return self.draw or dots(("problem", "model"), None, self.paper.split(":")[0])

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Write every number of every seed beside the table, and return the means."""
        path = runner.folder / f"{self.name}-runs.csv"
        record = self.record(runner.folder)
        is_same = not record.get("quick") and record.get("settings") == json.loads(json.dumps(self.described()))
        known: dict[tuple[str, ...], list[Row]] = defaultdict(list)
        for row in read_table(path) if self.adds_seeds and is_same and path.exists() else []:
            known[row["problem"], row["seed"], row["model"]].append(dict(row))
        problems = {
            (problem.name, str(seed), model): problem
            for seed in range(repetitions)
            for problem in self.problems
            for model in problem.models
        }
        missing = [key for key in problems if key not in known]
        tasks = [Task("{} / seed {} / {}".format(*key), _measured_rows, (problems[key], *key[1:])) for key in missing]
        known |= zip(missing, runner.map(tasks), strict=True)
        rows = [row for key in problems for row in known[key]]
        write_table(path, rows, ("problem", "seed", "model", "measure", "value"))
        values_by_model = by_model(rows)
        return [
            {"problem": problem, "model": model}
            | {measure: _cell(numbers) for measure, numbers in values.items()}
            | {"seeds": len(next(iter(values.values())))}
            for name in dict.fromkeys(row["problem"] for row in rows)
            for (problem, model), values in values_by_model.items()
            if problem == name
        ]


def _measured_rows(problem: Problem, seed: str, model: str) -> list[Row]:
    return [
        {"problem": problem.name, "seed": seed, "model": model, "measure": measure, "value": f"{value:.5g}"}
        for measure, value in problem.measure(int(seed), model).items()
    ]


def by_model(rows: Iterable[Mapping[str, str]]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Return the values over seeds of each measure, for each problem and model, in the order of the file."""
    values_by_model: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        values_by_model[row["problem"], row["model"]][row["measure"]].append(float(row["value"]))
    return values_by_model


def _cell(values: list[float]) -> str:
    low, high = np.quantile(values, [0.05, 0.95])
    return f"{np.mean(values):.3f} ({low:.3f} to {high:.3f})"
