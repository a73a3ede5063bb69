"""A table of whatever a list of tasks gives: the frame of experiments that are neither rates nor errors of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from uptonoise.experiments._experiment import Experiment, Row, Runner, Task

Values = Mapping[str, Any]


Tasks = Callable[[Values, int, int], Sequence[Task]]
"""Makes tasks of the values, the seed and the number of repetitions."""


def tasks_of(
    measure: Callable[..., Any], cells: Callable[[Values], Sequence[tuple[Any, ...]]], once: bool = False
) -> Tasks:
    """Return what makes a task for each repetition and each cell: ``measure(*cell, repetition, values, seed)``.

    With `once`, there is nothing to repeat.
    """
    return lambda values, seed, repetitions: [
        Task(f"{', '.join(map(str, cell))} / {number}", measure, (*cell, number, dict(values), seed))
        for number in range(1 if once else repetitions)
        for cell in cells(values)
    ]


@dataclass(frozen=True)
class TaskExperiment(Experiment):
    """Settings as data, the tasks that they ask for, and the rows that their results make.

    `table` takes the values and the results in the order of the tasks. `quick_values` replace values for a quick look.
    """

    values: Values
    tasks: Tasks
    table: Callable[[Values, list[Any]], list[Row]]
    quick_values: Values = field(default_factory=dict, kw_only=True)
    quick_runs: int = field(default=1, kw_only=True)

    def quickened(self) -> Self:
        """Return the experiment with the quick values, and few repetitions."""
        return replace(self, values={**self.values, **self.quick_values}, repetitions=self.quick_runs)

    def described(self) -> Any:
        """Return the values."""
        return dict(self.values)

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the rows that the tasks' results make."""
        return self.table(self.values, runner.map(self.tasks(self.values, self.seed, repetitions)))
