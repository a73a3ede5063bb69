"""Experiments whose repetitions give numbers, which are summed up cell by cell: intervals, planning, and streams.

Every repetition of every cell has a seed of its own, so that neither the order nor the number of workers matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from uptonoise.experiments._experiment import Experiment, NamedCell, Row, Runner, batched

Runs = Sequence[dict[str, float]]


def means(runs: Runs) -> dict[str, str]:
    """Sum up by the mean of each value, with the standard error of an estimate."""
    summary = {name: f"{np.mean([run[name] for run in runs]):.4f}" for name in runs[0]}
    if "estimate" in summary:
        summary["+-"] = f"{np.std([run['estimate'] for run in runs]) / np.sqrt(len(runs)):.4f}"
    return summary


def shares(runs: Runs) -> dict[str, str]:
    """Sum up by the mean of each value, with three digits."""
    return {name: f"{np.mean([run[name] for run in runs]):.3f}" for name in runs[0]}


@dataclass(frozen=True)
class Measured(NamedCell):
    """One cell: its settings, what a run of it gives, how runs are summed up, and the most runs, where there are less.

    A cell with a number of runs of its own counts them as "runs" in the table, else they are "repetitions".
    """

    measure: Callable[[np.random.Generator], dict[str, float]]
    summary: Callable[[Runs], dict[str, str]] = means
    n_runs: int | None = None


@dataclass(frozen=True)
class MeasuredExperiment(Experiment):
    """A table with one row per cell."""

    cells: Sequence[Measured]
    repetitions: int = field(default=2_000, kw_only=True)
    quick_runs: int = field(default=5, kw_only=True)
    quick_cells: int = field(default=4, kw_only=True)

    def quickened(self) -> Self:
        """Return a few of the cells, from all parts of the table, and few repetitions."""
        cells, most = self.cells, self.quick_runs
        few = [replace(cell, n_runs=cell.n_runs and most) for cell in cells[:: -(-len(cells) // self.quick_cells)]]
        return replace(self, cells=few, repetitions=self.quick_runs)

    def described(self) -> Any:
        """Return the settings of all cells, and their numbers of runs."""
        return [cell.settings | ({} if cell.n_runs is None else {"runs": cell.n_runs}) for cell in self.cells]

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the summary of each cell; no cell has more runs than `repetitions`."""
        cells = self.cells
        jobs = [(cell.name, _measures, (cell, self.seed)) for cell in cells]
        numbers = [range(min(cell.n_runs or repetitions, repetitions)) for cell in cells]
        return [
            cell.settings | cell.summary(runs) | {"runs" if cell.n_runs else "repetitions": len(runs)}
            for cell, runs in zip(cells, batched(runner, jobs, numbers), strict=True)
        ]


def _measures(cell: Measured, seed: int, repetitions: Sequence[int]) -> list[dict[str, float]]:
    return [cell.measure(cell.generator(seed, repetition)) for repetition in repetitions]
