"""Means of what single repetitions give, cell by cell: the frame of experiments on intervals and on planning.

Every repetition of every cell has a seed of its own, so that neither the order nor the number of workers matters.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from uptonoise.experiments._tables import write_table

_BATCH = 25


@dataclass(frozen=True)
class Measured:
    """One cell: its settings for the table, what a repetition gives, and numbers that need no repetition."""

    settings: dict[str, Any]
    measure: Callable[[np.random.Generator], dict[str, float]]
    constants: Callable[[], dict[str, float]] = dict

    @property
    def name(self) -> str:
        """The settings as text, from which the cell's seeds are made."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items())


@dataclass(frozen=True)
class MeasuredExperiment:
    """A table of means over repetitions."""

    name: str
    paper: str
    cells: Callable[[], Sequence[Measured]]
    repetitions: int = 2_000
    seed: int = 0

    def run(self, folder: Path, repetitions: int | None = None, workers: int | None = None) -> Path:
        """Write the means as CSV into `folder`, and return the file."""
        with Parallel(n_jobs=workers or os.cpu_count()) as parallel:
            rows = [self._row(cell, repetitions or self.repetitions, parallel) for cell in self.cells()]
        return write_table(folder / f"{self.name}.csv", rows)

    def _row(self, cell: Measured, repetitions: int, parallel: Any) -> dict[str, Any]:
        batches = [range(start, min(start + _BATCH, repetitions)) for start in range(0, repetitions, _BATCH)]
        found = [
            one for batch in parallel(delayed(_batch)(cell, self.seed, batch) for batch in batches) for one in batch
        ]
        means = {name: f"{np.mean([one[name] for one in found]):.4f}" for name in found[0]}
        if "estimate" in means:
            means["+-"] = f"{np.std([one['estimate'] for one in found]) / np.sqrt(repetitions):.4f}"
        constants = {name: f"{value:.4f}" for name, value in cell.constants().items()}
        row = cell.settings | constants | means | {"repetitions": repetitions}
        print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        return row


def _batch(cell: Measured, seed: int, repetitions: Sequence[int]) -> list[dict[str, float]]:
    os.environ["UPTONOISE_NUM_THREADS"] = "1"  # the workers share the cores
    words = [[seed, zlib.crc32(cell.name.encode()), repetition] for repetition in repetitions]
    return [cell.measure(np.random.default_rng(np.random.SeedSequence(one))) for one in words]
