"""Models compared on problems that are drawn anew for each seed: the frame of experiments with networks.

Two files: `NAME-runs.csv` has every number of every seed, and `NAME.csv` means with 5 % and 95 % quantiles over seeds.
What the first file has is not computed again, so that a later run can add seeds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from uptonoise.experiments._experiment import Experiment, Row, Runner, Task, read_table, write_table
from uptonoise.experiments._figures import Draw, dots


class Found(NamedTuple):
    """A number that a model has on a problem: which one, and its value."""

    model: str
    measure: str
    value: float


@dataclass(frozen=True)
class Problem:
    """A problem by name, and what is found on it with a seed."""

    name: str
    measure: Callable[[int], Iterable[Found]]


_COLUMNS = ("problem", "seed", *Found._fields)


@dataclass(frozen=True)
class SeededExperiment(Experiment):
    """A table with a row for each problem and model, and a column for each measure."""

    problems: Sequence[Problem]
    seeds: int = 10
    quick_problems: Sequence[Problem] | None = field(default=None, kw_only=True)
    adds_seeds: bool = field(default=True, kw_only=True)

    @property
    def default_repetitions(self) -> int:
        """How many seeds a full run has."""
        return self.seeds

    def quickened(self) -> Self:
        """Return the experiment with one seed of smaller problems."""
        return replace(self, problems=self.quick_problems or self.problems, seeds=1, adds_seeds=False)

    def described(self) -> Any:
        """Return the names of the problems."""
        return [one.name for one in self.problems]

    def drawing(self) -> Draw:
        """Return what draws the figure: a line of dots for each model, where there is nothing better."""
        return self.draw or dots(("problem", "model"), None, self.paper.split(":")[0])

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Write every number of every seed beside the table, and return the means."""
        path = runner.folder / f"{self.name}-runs.csv"
        known = _by_seed(path) if self.adds_seeds else {}
        wanted = [(one, seed) for seed in range(repetitions) for one in self.problems]
        missing = [(one, seed) for one, seed in wanted if (one.name, str(seed)) not in known]
        found = runner.map([Task(f"{one.name} / seed {seed}", _found, (one, seed)) for one, seed in missing])
        known |= {(one.name, str(seed)): rows for (one, seed), rows in zip(missing, found, strict=True)}
        rows = [row for one, seed in wanted for row in known[one.name, str(seed)]]
        write_table(path, rows, _COLUMNS)
        return _means(rows)


def _found(problem: Problem, seed: int) -> list[Row]:
    return [
        {"problem": problem.name, "seed": str(seed)} | one._asdict() | {"value": f"{one.value:.5g}"}
        for one in problem.measure(seed)
    ]


def _by_seed(path: Path) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in read_table(path) if path.exists() else []:
        found.setdefault((row["problem"], row["seed"]), []).append(dict(row))
    return found


def by_model(rows: Iterable[Mapping[str, str]]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Return the values over seeds of each measure, for each problem and model, in the order of the file.

    Examples
    --------
    >>> from uptonoise.experiments._seeded import by_model
    >>> by_model([{"problem": "a", "seed": "0", "model": "b", "measure": "c", "value": "2"}])[("a", "b")]["c"]
    [2.0]
    """
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row["problem"], row["model"]][row["measure"]].append(float(row["value"]))
    return found


def _means(rows: Sequence[Row]) -> list[Row]:
    found = by_model(rows)
    return [
        {"problem": problem, "model": model}
        | {measure: _cell(numbers) for measure, numbers in values.items()}
        | {"seeds": len(next(iter(values.values())))}
        for name in dict.fromkeys(row["problem"] for row in rows)
        for (problem, model), values in found.items()
        if problem == name
    ]


def _cell(values: list[float]) -> str:
    low, high = np.quantile(values, [0.05, 0.95])
    return f"{np.mean(values):.3f} ({low:.3f} to {high:.3f})"
