"""Power of the phase test and the flip test against the paper's tests, in the paper's settings and beyond.

chi2(4)/4 against chi2(8)/8 with noise in one or both samples, in 1 to 50 columns, and two laws with the same margins
and another dependence. PhD's rate is power only where its level is right: with equal noises.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from uptonoise.experiments._chi2 import cell as chi2_cell
from uptonoise.experiments._rejections import Cell, Experiment, Tests
from uptonoise.rows import Floats
from uptonoise.twosample import flip_test, me_test, phase_test, phd_test, sme_test

TESTS: Tests = {
    "phase": phase_test,
    "flip": flip_test,
    "flip, 5 pairings": partial(flip_test, n_pairings=5),
    "sme": sme_test,
    "phd": phd_test,
    "me": me_test,
}
SETTINGS = (
    (100, (0.0, 0.0), 5),
    (200, (0.0, 0.0), 5),
    (500, (0.0, 0.0), 5),
    (200, (0.5, 0.5), 5),
    (500, (0.5, 0.5), 5),
    (500, (2.0, 0.0), 5),
    (2_000, (2.0, 0.0), 5),
    (200, (0.0, 0.0), 1),
    (500, (0.0, 0.0), 1),
    (500, (1.0, 0.0), 20),
    (500, (1.0, 0.0), 50),
)


def cells() -> Sequence[Cell]:
    """Return the chi-squared cells, then those of dependence."""
    chi2 = [chi2_cell(TESTS, n, noise, d, freedoms=(4, 8)) for n, noise, d in SETTINGS]
    dependence = [
        Cell({"N": n, "n1": 0.0, "n2": 0.0, "kind": "dependence only", "d": 5}, partial(_dependent, n_rows=n), TESTS)
        for n in (200, 500)
    ]
    return [*chi2, *dependence]


def _dependent(generator: np.random.Generator, n_rows: int, **_: Any) -> tuple[Floats, Floats]:
    """Draw exponential margins, which depend in the lower tail in X (a Clayton copula) and in the upper one in Y."""
    lower, upper = (_clayton(generator, n_rows) for _ in range(2))
    return -np.log1p(-lower), -np.log(upper)


def _clayton(generator: np.random.Generator, n_rows: int) -> Floats:
    frailty = generator.gamma(1.0, size=(n_rows, 1))
    uniforms: Floats = 1 / (1 + generator.exponential(size=(n_rows, 5)) / frailty)
    return uniforms


EXPERIMENT = Experiment("noise-power", __doc__.splitlines()[0], cells)
