"""Cells on the HIGGS data: rows sampled without replacement from the two processes, or from one of them twice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets import load_higgs
from uptonoise.experiments._chi2 import AT_MOST
from uptonoise.experiments._figures import Panel
from uptonoise.experiments._rejections import Cell, Tests

PANELS = (
    Panel("background against signal", {"X": "background"}),
    Panel("signal against signal", {"X": "signal"}),
)
"""Power, and Type I error."""


def cell(tests: Tests, n_rows: int, columns: Sequence[str], same: bool) -> Cell:
    """Return the cell of background against signal, or of two disjoint draws from the signal where `same`."""
    keeping = frozenset(tests if same else ())
    settings = {"N": n_rows, "features": len(columns), "X": "signal" if same else "background", "Y": "signal"}

    def draw(generator: np.random.Generator) -> tuple[Floats, Floats]:
        if not same:
            return draw_processes(generator, (n_rows, n_rows), columns)
        signal = _loaded(tuple(columns)).signal
        rows = generator.choice(len(signal), 2 * n_rows, replace=False)
        return signal[rows[:n_rows]], signal[rows[n_rows:]]

    return Cell(settings, draw, tests, keeping - AT_MOST, keeping & AT_MOST)


def draw_processes(
    generator: np.random.Generator, sizes: tuple[int, int], columns: Sequence[str]
) -> tuple[Floats, Floats]:
    """Draw rows of the background process and rows of the signal process."""
    higgs = _loaded(tuple(columns))
    left = generator.choice(len(higgs.background), sizes[0], replace=False)
    right = generator.choice(len(higgs.signal), sizes[1], replace=False)
    return higgs.background[left], higgs.signal[right]


@cache
def _loaded(columns: tuple[str, ...]) -> Any:
    return load_higgs(columns=columns)
