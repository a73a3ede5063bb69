"""How often the phase statistic rejects in each cell of a grid, computed in batches, on a GPU where there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._batched_phases import PairCell, cell_pvalues
from uptonoise.experiments._experiment import Experiment, Row, Runner, batched
from uptonoise.experiments._figures import Draw, strips, wald_band
from uptonoise.twosample import CONSTANTS

_AGAIN = 4  # times as many runs
_QUICK_ROWS = 300


@dataclass(frozen=True)
class PhaseRates(Experiment):
    """A table of rates at several significance levels, one row a cell.

    Where cells are judged, a cell is run again in fresh runs if one of its first two rates is above its band.
    """

    grid: Callable[[], Sequence[PairCell]]
    alphas: Sequence[float]
    judged: bool
    quick: bool = False
    repetitions: int = field(default=1_000, kw_only=True)
    draw: Draw | None = field(default=strips(["phase"]), kw_only=True)
    uses_gpu: bool = field(default=True, kw_only=True)

    def quickened(self) -> Self:
        """Return the experiment with few runs of small cells."""
        return replace(self, quick=True, repetitions=25)

    def cells(self) -> Sequence[PairCell]:
        """Return the cells."""
        small = [cell for cell in self.grid() if sum(cell.sizes) <= _QUICK_ROWS and cell.settings["d"] <= 5]
        return small if self.quick else self.grid()

    def described(self) -> Any:
        """Return the settings of all cells, and the constants."""
        return {"cells": [cell.settings for cell in self.cells()], "constants": CONSTANTS._asdict()}

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the rates of each cell, and those of fresh runs where one was above its band."""
        cells = self.cells()
        first = self._pvalues(runner, cells, range(repetitions))
        above = [place for place, pvalues in enumerate(first) if self.judged and self._is_above(pvalues)]
        fresh = range(repetitions, (1 + _AGAIN) * repetitions)
        again = dict(zip(above, self._pvalues(runner, [cells[place] for place in above], fresh), strict=True))
        return [
            cell.settings
            | {("phase" if place == 0 else f"phase at {a:g}"): _rate(pvalues, a) for place, a in enumerate(self.alphas)}
            | {"repetitions": repetitions}
            | ({"again": self._verdict(again[number]) if number in again else ""} if self.judged else {})
            for number, (cell, pvalues) in enumerate(zip(cells, first, strict=True))
        ]

    def _pvalues(self, runner: Runner, cells: Sequence[PairCell], runs: range) -> list[Floats]:
        jobs = [(cell.name, cell_pvalues, (cell, [CONSTANTS], self.seed)) for cell in cells]
        return [np.array(values)[:, 0] for values in batched(runner, jobs, runs)]

    def _is_above(self, pvalues: Floats) -> bool:
        return any(np.mean(pvalues <= alpha) > wald_band(alpha, len(pvalues))[1] for alpha in self.alphas[:2])

    def _verdict(self, pvalues: Floats) -> str:
        """Return the rates of fresh runs, and whether they are above their bands."""
        verdicts = []
        for alpha in self.alphas[:2]:
            above = np.mean(pvalues <= alpha) > wald_band(alpha, len(pvalues))[1]
            verdicts.append(f"{_rate(pvalues, alpha)} at {alpha:g}{', ABOVE its band' if above else ''}")
        return f"{'; '.join(verdicts)} in {len(pvalues):,}"


def _rate(pvalues: Floats, alpha: float) -> str:
    return f"{np.mean(pvalues <= alpha):.{4 if alpha >= 0.001 else 5}f}"
