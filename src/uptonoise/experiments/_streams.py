"""Experiments on streams: every cell has its own number of runs, and its own way to sum them up.

Every run of every cell has a seed of its own, so that neither the order nor the number of workers matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets import symmetric_noise
from uptonoise.experiments._experiment import Experiment, NamedCell, Row, Runner, Task, batches

KINDS = ("gaussian", "laplace", "cauchy", "t", "mixture", "uniform")
"""Six kinds of symmetric noise."""

Runs = Sequence[dict[str, float]]


@dataclass(frozen=True)
class StreamCell(NamedCell):
    """One setting: its values for the table, a run, how runs are summed up, and how many there are."""

    run: Callable[[np.random.Generator], dict[str, float]]
    summary: Callable[[Runs], dict[str, str]]
    n_runs: int


@dataclass(frozen=True)
class StreamExperiment(Experiment):
    """A table with one row per cell."""

    cells: Callable[[], Sequence[StreamCell]]
    quick_cells: int = field(default=2, kw_only=True)

    @property
    def default_repetitions(self) -> int:
        """The largest number of runs of a cell."""
        return max(cell.n_runs for cell in self.cells())

    def quickened(self) -> Self:
        """Return a few of the cells with one run in a hundred."""
        return replace(self, cells=self._some_cells)

    def _some_cells(self) -> Sequence[StreamCell]:
        cells = self.cells()
        chosen = cells[:: -(-len(cells) // self.quick_cells)]
        return [replace(cell, n_runs=max(2, cell.n_runs // 100)) for cell in chosen]

    def described(self) -> Any:
        """Return the settings of all cells, and their runs."""
        return [cell.settings | {"runs": cell.n_runs} for cell in self.cells()]

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the summary of each cell; no cell has more runs than `repetitions`."""
        cells = self.cells()
        tasks: list[tuple[float, int, Task]] = []
        for place, cell in enumerate(cells):
            n_runs = min(cell.n_runs, repetitions)
            for batch in batches(range(n_runs)):
                key = f"{cell.name} / {batch[0]} to {batch[-1]}"
                tasks.append((batch[0] / n_runs, place, Task(key, run_all, (cell, self.seed, batch))))
        tasks.sort(key=lambda task: task[:2])  # all cells come equally far, so that the time left is told well
        results: list[list[dict[str, float]]] = [[] for _ in cells]
        for (_, place, _), runs in zip(tasks, runner.map([task for _, _, task in tasks]), strict=True):
            results[place] += runs
        return [
            cell.settings | cell.summary(runs) | {"runs": len(runs)} for cell, runs in zip(cells, results, strict=True)
        ]


def run_all(cell: StreamCell, seed: int, repetitions: Sequence[int]) -> Runs:
    """Return the results of some runs of a cell."""
    return [cell.run(cell.generator(seed, repetition)) for repetition in repetitions]


def shares(runs: Runs) -> dict[str, str]:
    """Sum up by the mean of each value."""
    return {name: f"{np.mean([run[name] for run in runs]):.3f}" for name in runs[0]}


def noise_of(kind: str, n_rows: int, n_columns: int, sd: float, generator: np.random.Generator) -> Floats:
    """Sample noise of one of the six kinds."""
    if kind == "uniform":
        return np.asarray(generator.uniform(-1, 1, (n_rows, n_columns)) * (sd * np.sqrt(3)))
    return symmetric_noise(n_rows, n_columns, sd, kind, generator)


def changing_noise(n_rows: int, n_columns: int, scale: float, every: int, generator: np.random.Generator) -> Floats:
    """Sample noise whose kind and size change: each kind in turn, of 0.1 to 10 times the scale."""
    kinds = generator.permutation(KINDS)
    parts = []
    for number, start in enumerate(range(0, n_rows, every)):
        sd = scale * 10 ** generator.uniform(-1, 1)
        parts.append(noise_of(str(kinds[number % len(KINDS)]), min(every, n_rows - start), n_columns, sd, generator))
    return np.concatenate(parts)
