"""Cells of the chi-squared setting: X0 of chi2(4)/4 in every column, against itself or against chi2(8)/8."""

from __future__ import annotations

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets import make_chi2_samples
from uptonoise.experiments._rejections import Cell, Tests

AT_MOST = frozenset({"phase"})
"""Tests that may reject less often than the level says."""


def cell(
    tests: Tests,
    n_rows: int,
    noise: tuple[float, float] = (0.0, 0.0),
    n_columns: int = 5,
    kind: str = "gaussian",
    freedoms: tuple[int, int] = (4, 4),
) -> Cell:
    """Return the cell of one setting."""
    same = freedoms[0] == freedoms[1]
    # With the same signal and no noise every test keeps the level; under noise only those that are blind to it.
    blind = {"sme", "flip", "phase"} & set(tests)
    keeping = set(tests) if same and noise == (0, 0) else blind if same else set()
    settings = {"N": n_rows, "n1": noise[0], "n2": noise[1], "kind": kind, "d": n_columns}

    def draw(generator: np.random.Generator) -> tuple[Floats, Floats]:
        return make_chi2_samples(n_rows, n_columns, noise=noise, kind=kind, freedoms=freedoms, random_state=generator)

    return Cell(settings, draw, tests, frozenset(keeping - AT_MOST), frozenset(keeping & AT_MOST))
