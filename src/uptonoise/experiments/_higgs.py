"""Cells on the HIGGS data: rows drawn without replacement from the two processes, or from one of them twice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from uptonoise.datasets import load_higgs
from uptonoise.experiments._rejections import Cell, Tests
from uptonoise.rows import Floats


def cell(tests: Tests, n_rows: int, columns: Sequence[str], same: bool) -> Cell:
    """Return the cell of background against signal, or of two disjoint draws from the signal where `same`."""
    at_level = frozenset(tests if same else ())
    settings = {"N": n_rows, "features": len(columns), "X": "signal" if same else "background", "Y": "signal"}
    return Cell(settings, partial(_draw, n_rows=n_rows, columns=tuple(columns), same=same), tests, at_level)


def _draw(generator: np.random.Generator, n_rows: int, columns: tuple[str, ...], same: bool) -> tuple[Floats, Floats]:
    higgs = _loaded(columns)
    if same:
        rows = generator.choice(len(higgs.signal), 2 * n_rows, replace=False)
        return higgs.signal[rows[:n_rows]], higgs.signal[rows[n_rows:]]
    left = generator.choice(len(higgs.background), n_rows, replace=False)
    right = generator.choice(len(higgs.signal), n_rows, replace=False)
    return higgs.background[left], higgs.signal[right]


@cache
def _loaded(columns: tuple[str, ...]) -> Any:
    return load_higgs(columns=columns)
