"""What each constant of the phase statistic is worth: false-positive rate and power without it (ours only).

Each constant is switched off, halved and doubled, one at a time, on the same samples. Cells are those of `phase-level`
and `noise-power` with at most 1,100 rows and 20 columns, and those with 20 times as many rows in one sample. No
constant was chosen on any of them: `constants-development` has the cells that chose them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._batched_phases import PairCell, cell_pvalues
from uptonoise.experiments._experiment import Experiment, Row, Runner, batched
from uptonoise.experiments._figures import dots, wald_band
from uptonoise.experiments._phase_cells import level_cells, power_cells
from uptonoise.twosample import CONSTANTS, Constants

OFF = {
    "ridge": 0.0,
    "least_ridge": 0.0,
    "unequal_ridge": 0.0,
    "tolerance": 0.0,
    "borrowed": 0.0,
    "own_phase": 0.0,
    "heard": 0.0,
    "merging": 0.0,
}
"""The value of each constant that takes away what it does."""

_MOST_ROWS, _MOST_COLUMNS = 1_100, 20
_LEVEL = 0.05


def variants() -> dict[tuple[str, str], Constants]:
    """Return the constants as they are, and with each of them off, halved and doubled.

    Examples
    --------
    >>> from uptonoise.experiments.ridge_constants import variants
    >>> variants()["borrowed", "doubled"].borrowed
    1.0
    """
    chosen = {("as it is", ""): CONSTANTS}
    for name, off in OFF.items():
        value = getattr(CONSTANTS, name)
        most = 1.0 if name in ("borrowed", "own_phase") else float("inf")
        for setting, changed in (("off", off), ("halved", value / 2), ("doubled", min(2 * value, most))):
            chosen[name, setting] = CONSTANTS._replace(**{name: changed})
    return chosen


@dataclass(frozen=True)
class ConstantsExperiment(Experiment):
    """A table with one row for each change of a constant."""

    grid: Callable[[], tuple[Sequence[PairCell], Sequence[PairCell]]]
    quick: bool = False

    def quickened(self) -> Self:
        """Return the experiment with few runs of every eighth cell."""
        return replace(self, quick=True, repetitions=25)

    def cells(self) -> tuple[Sequence[PairCell], Sequence[PairCell]]:
        """Return the cells of the level, and those of power."""
        level, power = self.grid()
        return (level[::8], power[::8]) if self.quick else (level, power)

    def described(self) -> Any:
        """Return the settings of all cells, and all changes."""
        cells = [cell.settings for cells in self.cells() for cell in cells]
        return {"cells": cells, "variants": {" ".join(key): values for key, values in variants().items()}}

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the pooled rates of each change of a constant."""
        level, power = self.cells()
        jobs = [(cell.name, cell_pvalues, (cell, list(variants().values()), self.seed)) for cell in (*level, *power)]
        pvalues = [np.array(values) for values in batched(runner, jobs, range(repetitions))]
        of_level, of_power = pvalues[: len(level)], pvalues[len(level) :]
        return [
            {"constant": constant, "setting": setting}
            | _of_level(level, [values[:, place] for values in of_level])
            | _of_power(power, [values[:, place] for values in of_power])
            | {"repetitions": repetitions}
            for place, (constant, setting) in enumerate(variants())
        ]


def judging_cells() -> tuple[Sequence[PairCell], Sequence[PairCell]]:
    """Return the small ones of the cells that judge the statistic."""
    level, power = ([cell for cell in cells if _is_small(cell)] for cells in (level_cells(), power_cells()))
    return level, power


def _is_small(cell: PairCell) -> bool:
    rows_are_few = sum(cell.sizes) <= _MOST_ROWS or cell.settings.get("grid") == "unequal sizes"
    return rows_are_few and max(cell.sizes) <= 2_000 and cell.settings["d"] <= _MOST_COLUMNS


def _of_level(cells: Sequence[PairCell], pvalues: Sequence[Floats]) -> Row:
    """Return pooled rates of the cells, the largest one, and the share of the cells that are above their bands."""
    rates = np.array([np.mean(values <= _LEVEL) for values in pvalues])
    equal = np.array([cell.sizes[0] == cell.sizes[1] for cell in cells])
    above = rates > wald_band(_LEVEL, len(pvalues[0]))[1]
    return {
        "equal sizes": f"{rates[equal].mean():.4f}",
        "unequal sizes": f"{rates[~equal].mean():.4f}",
        "at 0.01": f"{np.mean([np.mean(values <= 0.01) for values in pvalues]):.4f}",
        "largest": f"{rates.max():.3f}",
        "largest in": cells[int(rates.argmax())].name.replace("grid=", "").replace("law=", ""),
        "above the band": f"{above.mean():.3f}",
    }


def _of_power(cells: Sequence[PairCell], pvalues: Sequence[Floats]) -> Row:
    """Return the mean power, and that at unequal sizes where there are cells of these."""
    powers = np.array([np.mean(values <= _LEVEL) for values in pvalues])
    unequal = np.array([cell.sizes[0] != cell.sizes[1] for cell in cells])
    at_unequal = {"power at unequal sizes": f"{powers[unequal].mean():.4f}"} if unequal.any() else {}
    return {"power": f"{powers.mean():.4f}"} | at_unequal


EXPERIMENT = ConstantsExperiment(
    "ridge-constants",
    __doc__.splitlines()[0],
    judging_cells,
    repetitions=1_000,
    draw=dots(("constant", "setting"), ["equal sizes", "unequal sizes", "largest"], "false-positive rate", line=_LEVEL),
    uses_gpu=True,
)
