"""Power where rows come in clusters, against tests of one row per cluster (beyond the paper).

40 clusters of 50 rows with intraclass correlation 0.1 in each sample. The rows' own part has another shape in Y, or Y
is shifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from uptonoise.bags import Bags
from uptonoise.experiments._clustered import Clusters, draws_of
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.twosample import flip_test, phase_test


def phase_of_one_row(X: Bags, Y: Bags, *, random_state: np.random.Generator) -> Any:
    """Run the phase test on one random row of each cluster."""
    rows = (bags.values[bags.offsets[:-1] + random_state.integers(bags.sizes)] for bags in (X, Y))
    return phase_test(*rows, random_state=random_state)


TESTS: Tests = {
    "phase, clusters": phase_test,
    "phase, one row": phase_of_one_row,
    "flip, one row": partial(flip_test, n_flips=400),
    "flip, 5 pairings": partial(flip_test, n_pairings=5, n_flips=400),
}


def cells() -> Sequence[Cell]:
    """Return two kinds of differences, each of several sizes, without and with noise in one sample."""
    shapes = [(0.0, shape, noise) for shape in (0.2, 0.35) for noise in ("none", "own")]
    shifts = [(shift, 2.0, noise) for shift in (0.2, 0.27, 0.35) for noise in ("none", "own")]
    cells = []
    for shift, shape, noise in (*shapes, *shifts):
        X = Clusters(40, "50 each", 0.1, 1, noise)  # type: ignore[arg-type]
        Y = X._replace(noise="none", shape=shape, shift=shift)
        cells.append(Cell({"shift": shift, "shape": shape, "noise in X": noise}, draws_of(X, Y), TESTS))
    return cells


EXPERIMENT = RejectionExperiment("clusters-power", __doc__.splitlines()[0], cells())
