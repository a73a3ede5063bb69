"""Power where rows come in clusters, against tests of one row per cluster (beyond the paper).

40 clusters of 50 rows with intraclass correlation 0.1 in each sample. The rows' own part has another shape in Y, or Y
is shifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.experiments._clustered import Clusters, Noise
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.twosample import flip_test, phase_test


def _one_row_each(bags: Bags, generator: np.random.Generator) -> Floats:
    return np.asarray(bags.values[bags.offsets[:-1] + generator.integers(bags.sizes)])


def phase_of_one_row(X: Bags, Y: Bags, *, random_state: np.random.Generator) -> Any:
    """Run the phase test on one random row of each cluster."""
    rows = (_one_row_each(bags, random_state) for bags in (X, Y))
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
    return [_cell(*setting) for setting in (*shapes, *shifts)]  # type: ignore[arg-type]


def _cell(shift: float, shape: float, noise: Noise) -> Cell:
    X = Clusters(40, "50 each", 0.1, 1, noise)
    Y = X._replace(noise="none", shape=shape, shift=shift)
    return Cell({"shift": shift, "shape": shape, "noise in X": noise}, partial(_sampled, X=X, Y=Y), TESTS)


def _sampled(generator: np.random.Generator, X: Clusters, Y: Clusters) -> Any:
    return X.draw(generator), Y.draw(generator)


EXPERIMENT = RejectionExperiment("clusters-power", __doc__.splitlines()[0], cells)
