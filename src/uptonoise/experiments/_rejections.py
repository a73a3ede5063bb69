"""Rejection rates of tests, cell by cell: the frame that all testing experiments share.

An experiment is data: its name, what the paper shows, and its cells. A cell says how a pair of samples is drawn, which
tests look at it, and which of these should reject at the level. Every repetition of every cell has a seed of its own,
made of the experiment's seed, the cell's name and the repetition's number, so that neither the order nor the number of
workers changes a p-value.

In a table of many cells some leave a 99 % band by chance: where a test that should keep its level does, the cell is run
again with 4,000 fresh repetitions, and that run's rate and band stand beside the first.
"""

from __future__ import annotations

import csv
import os
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from uptonoise.rows import Floats
from uptonoise.twosample import UnequalNoiseWarning

Draw = Callable[[np.random.Generator], tuple[Floats, Floats]]
Tests = dict[str, Callable[..., Any]]

_BATCH = 25
_AGAIN = 4_000


@dataclass(frozen=True)
class Cell:
    """One setting: its values for the table, how to draw X and Y, and the tests by name.

    Of these, some should reject at the level, and some at most at the level.
    """

    settings: dict[str, Any]
    draw: Draw
    tests: Tests
    at_level: frozenset[str] = field(default_factory=frozenset)
    at_most: frozenset[str] = field(default_factory=frozenset)

    @property
    def name(self) -> str:
        """The settings as text, from which the cell's seeds are made."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items())

    def leaves(self, test: str, rate: float, band: tuple[float, float]) -> bool:
        """Tell whether a test that should keep its level does not, in a run with this band."""
        above = rate > band[1] and test in self.at_level | self.at_most
        return above or (rate < band[0] and test in self.at_level)


@dataclass(frozen=True)
class Experiment:
    """A figure or table: what the paper shows, the cells that show it here, and the levels of the tests."""

    name: str
    paper: str
    cells: Callable[[], Sequence[Cell]]
    repetitions: int = 1_000
    seed: int = 0
    alphas: tuple[float, ...] = (0.05,)

    def column(self, test: str, alpha: float) -> str:
        """Return the table's name for a test at a level."""
        return test if alpha == self.alphas[0] else f"{test} at {alpha:g}"

    def run(self, folder: Path, repetitions: int | None = None, workers: int | None = None) -> Path:
        """Write the rejection rates as CSV into `folder`, and return the file.

        Cells are written as they are done, so that an interruption loses only the one under way.
        """
        cells = self.cells()
        tests = list(dict.fromkeys(test for cell in cells for test in cell.tests))
        rates = [self.column(test, alpha) for alpha in self.alphas for test in tests]
        path = folder / f"{self.name}.csv"
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file, Parallel(n_jobs=workers or os.cpu_count()) as parallel:
            writer = csv.DictWriter(file, [*cells[0].settings, *rates, "repetitions", "again"])
            writer.writeheader()
            for cell in cells:
                row = self._row(cell, repetitions or self.repetitions, parallel)
                writer.writerow(row)
                file.flush()
                print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        return path

    def _row(self, cell: Cell, repetitions: int, parallel: Any) -> dict[str, Any]:
        """Return the rates of one cell, and of the run with fresh repetitions where one left the band."""
        pvalues = all_pvalues(self.seed, cell, range(repetitions), parallel)
        rates: dict[str, str] = {}
        again: list[tuple[str, float]] = []
        for alpha in self.alphas:
            found = dict(zip(cell.tests, np.mean(pvalues <= alpha, axis=0), strict=True))
            rates |= {self.column(test, alpha): f"{rate:.3f}" for test, rate in found.items()}
            band = wald_band(alpha, repetitions)
            again += [(test, alpha) for test, rate in found.items() if cell.leaves(test, float(rate), band)]
        judged = []
        if again:
            fresh = all_pvalues(self.seed, cell, range(repetitions, repetitions + _AGAIN), parallel)
            places = list(cell.tests)
            judged = [_judged(cell, test, float(np.mean(fresh[:, places.index(test)] <= a)), a) for test, a in again]
        return cell.settings | rates | {"repetitions": repetitions, "again": "; ".join(judged)}


def _judged(cell: Cell, test: str, rate: float, alpha: float) -> str:
    band = wald_band(alpha, _AGAIN)
    verdict = "in the band" if not cell.leaves(test, rate, band) else "below it" if rate < band[0] else "ABOVE it"
    return f"{test} at {alpha:g}: {rate:.4f} in {_AGAIN:,}, {verdict}"


def all_pvalues(seed: int, cell: Cell, repetitions: range, parallel: Any) -> Floats:
    """Return the p-values of all tests of a cell, one row a repetition, computed by joblib's `parallel`."""
    batches = [repetitions[start : start + _BATCH] for start in range(0, len(repetitions), _BATCH)]
    return np.concatenate(parallel(delayed(_pvalues)(cell, seed, batch) for batch in batches))


def _pvalues(cell: Cell, seed: int, repetitions: Sequence[int]) -> Floats:
    """Return the p-values of all tests of a cell for some repetitions."""
    os.environ["UPTONOISE_NUM_THREADS"] = "1"  # the workers share the cores
    found = np.empty((len(repetitions), len(cell.tests)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnequalNoiseWarning)  # that it happens is what these experiments show
        for place, repetition in enumerate(repetitions):
            words = np.random.SeedSequence([seed, zlib.crc32(cell.name.encode()), repetition])
            generator = np.random.default_rng(words)
            X, Y = cell.draw(generator)
            found[place] = [test(X, Y, random_state=generator).pvalue for test in cell.tests.values()]
    return found


def wald_band(alpha: float, repetitions: int) -> tuple[float, float]:
    """Return the paper's 99 % Wald interval around the level.

    Examples
    --------
    >>> from uptonoise.experiments._rejections import wald_band
    >>> [round(one, 4) for one in wald_band(0.05, 1_000)]
    [0.0323, 0.0677]
    """
    width = 2.57 * np.sqrt(alpha * (1 - alpha) / repetitions)
    return float(alpha - width), float(alpha + width)
