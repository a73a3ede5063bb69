"""Rejection rates of tests, cell by cell: the frame that all testing experiments share.

An experiment is data: its name, what the paper shows, and its cells. A cell says how a pair of samples is made, which
tests look at it, and which of these should reject at the level. Every repetition of every cell has a seed of its own,
made of the experiment's seed, the cell's name and the repetition's number. The tests of a cell share a generator, one
after the other: a test that is added at the end leaves the p-values of the others as they are.

In a table of many cells some leave a 99 % band by chance: where a test that should keep its level does, the cell is run
again with four times as many fresh repetitions, and that run's rate and band stand beside the first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._experiment import Experiment, NamedCell, Row, Runner, batched
from uptonoise.experiments._figures import Draw as Drawing, strips, wald_band
from uptonoise.twosample import UnequalNoiseWarning

Draw = Callable[[np.random.Generator], tuple[Floats, Floats]]
Tests = dict[str, Callable[..., Any]]

_AGAIN = 4  # times as many repetitions


@dataclass(frozen=True)
class Cell(NamedCell):
    """One setting: its values for the table, how to draw X and Y, and the tests by name.

    Of these, some should reject at the level, and some at most at the level.
    """

    draw: Draw
    tests: Tests
    at_level: frozenset[str] = field(default_factory=frozenset)
    at_most: frozenset[str] = field(default_factory=frozenset)

    def leaves(self, test: str, rate: float, band: tuple[float, float]) -> bool:
        """Tell whether a test that should keep its level does not, in a run with this band."""
        above = rate > band[1] and test in self.at_level | self.at_most
        return above or (rate < band[0] and test in self.at_level)


@dataclass(frozen=True)
class RejectionExperiment(Experiment):
    """A table of rejection rates: the cells, and the levels of the tests."""

    cells: Sequence[Cell]
    repetitions: int = field(default=1_000, kw_only=True)
    alphas: tuple[float, ...] = field(default=(0.05,), kw_only=True)
    quick_rows: int = field(default=1_000, kw_only=True)
    quick_runs: int = field(default=5, kw_only=True)

    def quickened(self) -> Self:
        """Return the cells with few rows, and few repetitions."""
        cells = [(cell, cell.settings, cell.settings.get("N", 0)) for cell in self.cells]
        small = [cell for cell, of, each in cells if of.get("n", each) + of.get("k", each) <= self.quick_rows]
        return replace(self, cells=small, repetitions=self.quick_runs)

    def described(self) -> Any:
        """Return the settings and the tests of all cells, and the levels."""
        cells = [cell.settings | {"tests": list(cell.tests)} for cell in self.cells]
        return {"alphas": self.alphas, "cells": cells}

    def column(self, test: str, alpha: float) -> str:
        """Return the table's name for a test at a level."""
        return test if alpha == self.alphas[0] else f"{test} at {alpha:g}"

    def table_columns(self, rows: Sequence[Row]) -> list[str]:
        """Return the settings, the tests at each level, and how often they were run."""
        cells = self.cells
        tests = dict.fromkeys(test for cell in cells for test in cell.tests)
        rates = [self.column(test, alpha) for alpha in self.alphas for test in tests]
        return [*cells[0].settings, *rates, "repetitions", "again"]

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the rates of each cell, and of the run with fresh repetitions where one left the band."""
        cells = self.cells
        first = all_pvalues(runner, self.seed, cells, range(repetitions))
        rates = [_rates(cell, self.alphas, pvalues) for cell, pvalues in zip(cells, first, strict=True)]
        left = [
            [(test, a) for (test, a), rate in of_cell.items() if cell.leaves(test, rate, wald_band(a, repetitions))]
            for cell, of_cell in zip(cells, rates, strict=True)
        ]
        leaving = [place for place, tests in enumerate(left) if tests]
        fresh = range(repetitions, (1 + _AGAIN) * repetitions)
        again = all_pvalues(runner, self.seed, [cells[place] for place in leaving], fresh, "once more")
        judged = dict(zip(leaving, again, strict=True))
        return [
            cell.settings
            | {self.column(test, alpha): f"{rate:.3f}" for (test, alpha), rate in rates[place].items()}
            | {"repetitions": repetitions}
            | {"again": "; ".join(_judged(cell, test, alpha, judged[place]) for test, alpha in left[place])}
            for place, cell in enumerate(cells)
        ]

    def drawing(self) -> Drawing:
        """Return what draws the figure: strips of all cells, where there is nothing better."""
        return self.draw or strips(list(dict.fromkeys(test for cell in self.cells for test in cell.tests)))


def _rates(cell: Cell, alphas: Sequence[float], pvalues: Floats) -> dict[tuple[str, float], float]:
    """Return how often each test rejects at each level."""
    return {
        (test, alpha): float(np.mean(pvalues[:, place] <= alpha))
        for alpha in alphas
        for place, test in enumerate(cell.tests)
    }


def _judged(cell: Cell, test: str, alpha: float, pvalues: Floats) -> str:
    rate = _rates(cell, [alpha], pvalues)[test, alpha]
    band = wald_band(alpha, len(pvalues))
    verdict = "in the band" if not cell.leaves(test, rate, band) else "below it" if rate < band[0] else "ABOVE it"
    return f"{test} at {alpha:g}: {rate:.4f} in {len(pvalues):,}, {verdict}"


def all_pvalues(runner: Runner, seed: int, cells: Sequence[Cell], repetitions: range, step: str = "") -> list[Floats]:
    """Return the p-values of all tests of each cell, one row a repetition."""
    pvalues = batched(runner, [(cell.name, _pvalues, (cell, seed)) for cell in cells], repetitions, step)
    return [np.array(values, dtype=float) for values in pvalues]


def _pvalues(cell: Cell, seed: int, repetitions: Sequence[int]) -> list[list[float]]:
    """Return the p-values of all tests of a cell for some repetitions."""
    pvalues = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnequalNoiseWarning)  # that it happens is what these experiments show
        for repetition in repetitions:
            generator = cell.generator(seed, repetition)
            X, Y = cell.draw(generator)
            pvalues.append([float(test(X, Y, random_state=generator).pvalue) for test in cell.tests.values()])
    return pvalues
