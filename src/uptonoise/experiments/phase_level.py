"""False-positive rate of the phase statistic over four grids of cells (ours only).

The grids: that of `noise-level`; 20 and 100 times as many rows in one sample; distributions and noises that chose no
constant; and 100 and 200 columns. The statistic is that of the phase test without positivity, computed in
batches, on a GPU where there is one. A rate above its 99 % band is run again with four times as many fresh runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._batched_phases import PairCell, cell_pvalues
from uptonoise.experiments._experiment import Experiment, Row, Runner, batched
from uptonoise.experiments._figures import strips, wald_band
from uptonoise.experiments._phase_cells import level_cells
from uptonoise.twosample import CONSTANTS

ALPHAS = (0.05, 0.01, 0.001)
_AGAIN = 4  # times as many runs
_QUICK_ROWS = 300


@dataclass(frozen=True)
class LevelExperiment(Experiment):
    """A table of false-positive rates, one row a cell."""

    quick: bool = False

    def quickened(self) -> Self:
        """Return the experiment with few runs of small cells."""
        return replace(self, quick=True, repetitions=25)

    def cells(self) -> Sequence[PairCell]:
        """Return the cells."""
        small = [cell for cell in level_cells() if sum(cell.sizes) <= _QUICK_ROWS and cell.settings["d"] <= 5]
        return small if self.quick else level_cells()

    def described(self) -> Any:
        """Return the settings of all cells, and the constants."""
        return {"cells": [cell.settings for cell in self.cells()], "constants": CONSTANTS._asdict()}

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the rates of each cell, and those of fresh runs where one was above its band."""
        cells = self.cells()
        first = self._pvalues(runner, cells, range(repetitions))
        above = [place for place, pvalues in enumerate(first) if _is_above(pvalues)]
        fresh = range(repetitions, (1 + _AGAIN) * repetitions)
        again = dict(zip(above, self._pvalues(runner, [cells[place] for place in above], fresh), strict=True))
        return [
            cell.settings
            | {("phase" if alpha == ALPHAS[0] else f"phase at {alpha:g}"): _rate(pvalues, alpha) for alpha in ALPHAS}
            | {"repetitions": repetitions, "again": _judged(again[place]) if place in again else ""}
            for place, (cell, pvalues) in enumerate(zip(cells, first, strict=True))
        ]

    def _pvalues(self, runner: Runner, cells: Sequence[PairCell], runs: range) -> list[Floats]:
        jobs = [(cell.name, _cell_pvalues, (cell, self.seed)) for cell in cells]
        return [np.array(values)[:, 0] for values in batched(runner, jobs, runs)]


def _cell_pvalues(cell: PairCell, seed: int, runs: Sequence[int]) -> list[list[float]]:
    return cell_pvalues(cell, [CONSTANTS], seed, runs)


def _rate(pvalues: Floats, alpha: float) -> str:
    return f"{np.mean(pvalues <= alpha):.4f}"


def _is_above(pvalues: Floats) -> bool:
    return any(np.mean(pvalues <= alpha) > wald_band(alpha, len(pvalues))[1] for alpha in ALPHAS[:2])


def _judged(pvalues: Floats) -> str:
    """Return the rates of fresh runs, and whether they are above their bands."""
    verdicts = []
    for alpha in ALPHAS[:2]:
        above = np.mean(pvalues <= alpha) > wald_band(alpha, len(pvalues))[1]
        verdicts.append(f"{_rate(pvalues, alpha)} at {alpha:g}{', ABOVE its band' if above else ''}")
    return f"{'; '.join(verdicts)} in {len(pvalues):,}"


EXPERIMENT = LevelExperiment(
    "phase-level", __doc__.splitlines()[0], repetitions=1_000, draw=strips(["phase"]), uses_gpu=True
)
