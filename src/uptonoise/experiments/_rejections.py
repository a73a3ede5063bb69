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
from collections.abc import Callable, Iterator, Sequence
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
    """One setting: its values for the table, how to draw X and Y, the tests by name, and those that keep the level."""

    settings: dict[str, Any]
    draw: Draw
    tests: Tests
    at_level: frozenset[str] = field(default_factory=frozenset)

    @property
    def name(self) -> str:
        """The settings as text, from which the cell's seeds are made."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items())


@dataclass(frozen=True)
class Experiment:
    """A figure or table: what the paper shows, and the cells that show it here."""

    name: str
    paper: str
    cells: Callable[[], Sequence[Cell]]
    repetitions: int = 1_000
    seed: int = 0
    alpha: float = 0.05


def run(experiment: Experiment, folder: Path, repetitions: int | None = None, workers: int | None = None) -> Path:
    """Run an experiment, write its rejection rates as CSV into `folder`, and return the file.

    Cells are written as they are done, so that an interruption loses only the one under way.
    """
    cells = experiment.cells()
    tests = list(dict.fromkeys(test for cell in cells for test in cell.tests))
    columns = [*cells[0].settings, *tests, "repetitions", "again"]
    path = folder / f"{experiment.name}.csv"
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file, Parallel(n_jobs=workers or os.cpu_count()) as parallel:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for row in _rows(experiment, cells, repetitions or experiment.repetitions, parallel):
            writer.writerow(row)
            file.flush()
            print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    return path


def _rows(experiment: Experiment, cells: Sequence[Cell], repetitions: int, parallel: Any) -> Iterator[dict[str, Any]]:
    low, high = wald_band(experiment.alpha, repetitions)
    for cell in cells:
        rates = _rates(experiment, cell, range(repetitions), parallel)
        again = {}
        if any(not low <= rates[test] <= high for test in cell.at_level):
            fresh = range(repetitions, repetitions + _AGAIN)
            again = _rates(experiment, cell, fresh, parallel)
        yield (
            cell.settings
            | {test: f"{rate:.3f}" for test, rate in rates.items()}
            | {
                "repetitions": repetitions,
                "again": "; ".join(
                    _judged(test, again[test], experiment.alpha)
                    for test in cell.tests
                    if test in cell.at_level and again and not low <= rates[test] <= high
                ),
            }
        )


def _judged(test: str, rate: float, alpha: float) -> str:
    low, high = wald_band(alpha, _AGAIN)
    verdict = "in the band" if low <= rate <= high else "below it" if rate < low else "ABOVE it"
    return f"{test} {rate:.4f} in {_AGAIN:,}: {verdict}"


def _rates(experiment: Experiment, cell: Cell, repetitions: range, parallel: Any) -> dict[str, float]:
    """Return how often each test of a cell rejects over these repetitions."""
    batches = [repetitions[start : start + _BATCH] for start in range(0, len(repetitions), _BATCH)]
    pvalues = np.concatenate(parallel(delayed(_pvalues)(cell, experiment.seed, batch) for batch in batches))
    return dict(zip(cell.tests, np.mean(pvalues <= experiment.alpha, axis=0).tolist(), strict=True))


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
