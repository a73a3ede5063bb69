"""Means of what single repetitions give, cell by cell: the frame of experiments on intervals and on planning.

Every repetition of every cell has a seed of its own, so that neither the order nor the number of workers matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from uptonoise.experiments._experiment import Experiment, NamedCell, Row, Runner, Task, batched


@dataclass(frozen=True)
class Measured(NamedCell):
    """One cell: its settings for the table, what a repetition gives, and numbers that need no repetition."""

    measure: Callable[[np.random.Generator], dict[str, float]]
    constants: Callable[[], dict[str, float]] = dict


@dataclass(frozen=True)
class MeasuredExperiment(Experiment):
    """A table of means over repetitions."""

    cells: Callable[[], Sequence[Measured]]
    repetitions: int = field(default=2_000, kw_only=True)
    quick_repetitions: int = field(default=5, kw_only=True)
    quick_cells: int = field(default=4, kw_only=True)

    def quickened(self) -> Self:
        """Return a few of the cells, from all parts of the table, and few repetitions."""
        return replace(self, cells=self._some_cells, repetitions=self.quick_repetitions)

    def _some_cells(self) -> Sequence[Measured]:
        cells = self.cells()
        return cells[:: -(-len(cells) // self.quick_cells)]

    def described(self) -> Any:
        """Return the settings of all cells."""
        return [cell.settings for cell in self.cells()]

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the means of each cell."""
        cells = self.cells()
        constants = runner.map([Task(f"{cell.name} / constants", cell.constants, ()) for cell in cells], "constants")
        jobs = [(cell.name, _measures, (cell, self.seed)) for cell in cells]
        measures = batched(runner, jobs, range(repetitions))
        return [_row(*row) for row in zip(cells, constants, measures, strict=True)]


def _row(cell: Measured, constants: dict[str, float], measures: Sequence[dict[str, float]]) -> Row:
    means = {name: f"{np.mean([measure[name] for measure in measures]):.4f}" for name in measures[0]}
    if "estimate" in means:
        means["+-"] = f"{np.std([measure['estimate'] for measure in measures]) / np.sqrt(len(measures)):.4f}"
    formatted = {name: f"{value:.4f}" for name, value in constants.items()}
    return cell.settings | formatted | means | {"repetitions": len(measures)}


def _measures(cell: Measured, seed: int, repetitions: Sequence[int]) -> list[dict[str, float]]:
    return [cell.measure(cell.generator(seed, repetition)) for repetition in repetitions]
