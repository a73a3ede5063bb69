"""Level of the phase test with categories as columns of 0 and 1, alone and beside a noisy number (beyond the paper).

2, 5 and 20 unequal categories; noise is on the number only. Up to an offset, the number of the first sample is moved by
one standard deviation; categories have no offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.fourier import Sketch
from uptonoise.rows import ArrayRows, coded_names
from uptonoise.twosample import PhaseResult, phase_test

CATEGORIES = (2, 5, 20)
SIZES = ((200, 200), (2_000, 2_000), (200, 2_000))
NUMBER = "number"


def cells() -> Sequence[Cell]:
    """Return the cells of categories alone, then of those beside a number."""
    cells = []
    for beside, count, sizes in product((False, True), CATEGORIES, SIZES):
        number = "gamma(2) + noise" if beside else "nothing"
        settings = {"categories": count, "beside": number, "n": sizes[0], "k": sizes[1]}
        tests: Tests = {"phase": partial(_tested, count=count)}
        if beside:
            tests["up to an offset"] = partial(_tested, count=count, offset=1.0)
        draw = partial(_draw, count=count, sizes=sizes, beside=beside)
        cells.append(Cell(settings, draw, tests, at_most=frozenset(tests)))
    return cells


def _draw(generator: np.random.Generator, *, count: int, sizes: tuple[int, int], beside: bool) -> tuple[Floats, Floats]:
    """Return two samples with probabilities of categories that fall as 1, 1/2, 1/3, ...; the second one is noisy."""
    shares = 1 / np.arange(1, count + 1)
    samples = []
    for noise, n_rows in zip((0.0, 1.0), sizes, strict=True):
        numbers = generator.choice(count, n_rows, p=shares / shares.sum())
        columns = (numbers[:, None] == np.arange(count)).astype(np.float64)
        if count == 2:
            columns = columns[:, 1:]
        if beside:
            signal = generator.gamma(2, size=n_rows) / np.sqrt(2)
            columns = np.column_stack([columns, signal + noise * generator.normal(size=n_rows)])
        samples.append(columns)
    return samples[0], samples[1]


def _tested(X: Floats, Y: Floats, *, count: int, offset: float | None = None, random_state: Any = 0) -> PhaseResult:
    """Test two samples from their sketches, whose columns say by their names which are categories."""
    names = coded_names("category", [f"{number:02}" for number in range(count)])
    columns = [*names, *([NUMBER] if X.shape[1] > len(names) else [])]
    moved = X if offset is None else X + offset * np.array([name == NUMBER for name in columns])
    samples = ArrayRows(moved, "X", columns), ArrayRows(Y, "Y", columns)
    empty = Sketch.for_samples(*samples, random_state=random_state)
    left, right = (Sketch.like(empty).update(sample) for sample in samples)
    return phase_test(left, right, invariant_to="noise" if offset is None else "noise+shift")


EXPERIMENT = RejectionExperiment("categories-level", __doc__.splitlines()[0], cells(), alphas=(0.05, 0.01))
