"""A table of whatever a list of tasks gives: the frame of experiments that are neither rates nor errors of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from uptonoise.experiments._experiment import Experiment, Row, Runner, Task

Values = Mapping[str, Any]


def tasks_of_splits(
    measure: Callable[[str, int, int], Any], what: str, values: Values, seed: int, repetitions: int
) -> list[Task]:
    """Return a task for each name in `values[what]` and each split of bags."""
    return [
        Task(f"{name} / {split}", measure, (name, split, values["bags"]))
        for split in range(repetitions)
        for name in values[what]
    ]


@dataclass(frozen=True)
class TaskExperiment(Experiment):
    """Settings as data, the tasks that they ask for, and the rows that their results make.

    `tasks` takes the values, the seed and the number of repetitions; `table` takes the values and the results in the
    order of the tasks. `quick_values` replace values for a quick look.
    """

    values: Values
    tasks: Callable[[Values, int, int], Sequence[Task]]
    table: Callable[[Values, list[Any]], list[Row]]
    quick_values: Values = field(default_factory=dict, kw_only=True)

    def quickened(self) -> Self:
        """Return the experiment with the quick values, and one repetition."""
        return replace(self, values={**self.values, **self.quick_values}, repetitions=1)

    def described(self) -> Any:
        """Return the values."""
        return dict(self.values)

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the rows that the tasks' results make."""
        return self.table(self.values, runner.map(self.tasks(self.values, self.seed, repetitions)))
