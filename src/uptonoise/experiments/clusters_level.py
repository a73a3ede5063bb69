"""Type I error where rows come in clusters (beyond the paper).

Every number of clusters with every kind of cluster sizes, twice; intraclass correlation, number of columns and noise
take turns, so that each value meets each number of clusters and each kind of sizes, but not all of their combinations.
Then unequal numbers of clusters, offsets, the other tests, pairs of groups, and all rows as if they were independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from uptonoise.bags import Bags
from uptonoise.comparison import compare_groups
from uptonoise.experiments._clustered import Clusters, Noise, Sizes, draws_of
from uptonoise.experiments._peers import Outcome
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.fourier import Sketch
from uptonoise.twosample import flip_test, me_test, mmd_test, phase_test, sme_test

NUMBERS = (10, 20, 40, 100, 400)
SIZES: tuple[Sizes, ...] = ("20 each", "5 to 60", "a third in one")
CORRELATIONS = (0.0, 0.1, 0.5)
COLUMNS = (1, 3, 10)
NOISES: tuple[Noise, ...] = ("none", "own", "shared")
_UNEQUAL_NOISES: tuple[Noise, ...] = ("shared", "own", "none")


def sketched_mmd(X: Any, Y: Any, *, random_state: np.random.Generator) -> Any:
    """Test two sketches for any difference."""
    left = Sketch.for_samples(X, Y, random_state=random_state).update(X, complete=True)
    return mmd_test(left, Sketch.like(left).update(Y, complete=True))


def all_pairs(X: Bags, Y: Bags, *, random_state: np.random.Generator) -> Outcome:
    """Compare all pairs of groups, two from each sample; return the smallest adjusted p-value."""
    both = Bags.concatenate([X, Y])
    groups = Bags(both, ids=range(len(both)), labels=[number % 4 for number in range(len(both))])
    return Outcome(float(compare_groups(groups, random_state=random_state).pairs.adjusted.min()))


PHASE: Tests = {"phase": phase_test}
OFFSET: Tests = {"offset": partial(phase_test, invariant_to="noise+shift")}
AT_ALL: Tests = {
    "MMD": partial(mmd_test, n_permutations=199, method="fourier"),
    "MMD, sketches": sketched_mmd,
    "ME": partial(me_test, n_locations=5),
}
ONE_ROW: Tests = {"flip": partial(flip_test, n_pairings=5, n_flips=400), "SME": partial(sme_test, n_locations=1)}
PAIRS: Tests = {"pairs of groups": all_pairs}
ROWS: Tests = {"clusters ignored": lambda X, Y, random_state: phase_test(X.values, Y.values, random_state=random_state)}


def cells() -> Sequence[Cell]:
    """Return all cells; those with 400 clusters have one or three columns only, for the time that they take."""
    grid = []
    for turn in range(2):
        for i, number in enumerate(NUMBERS):
            for j, sizes in enumerate(SIZES):
                columns = COLUMNS[(i + j + turn) % 3] if number < NUMBERS[-1] else COLUMNS[(j + turn) % 2]
                correlation, noise = CORRELATIONS[(i + 2 * j + turn) % 3], NOISES[(2 * i + j + turn + i // 3) % 3]
                grid.append(_cell(Clusters(number, sizes, correlation, columns, noise), PHASE))
    unequal = [
        _cell(Clusters(15, sizes, 0.5, d, noise), PHASE | OFFSET if d == 1 else PHASE, other=60)
        for sizes, d, noise in zip(SIZES, (1, 3, 1), _UNEQUAL_NOISES, strict=True)
    ]
    reverse = [_cell(Clusters(60, "5 to 60", 0.5, 1, "shared"), PHASE, other=15)]
    offset = [
        _cell(sample, OFFSET, shift=sample.shift)
        for sample in (
            Clusters(10, "20 each", 0.5, 1, "own", shift=1.0),
            Clusters(20, "5 to 60", 0.1, 1, "shared", shift=10.0),
            Clusters(40, "20 each", 0.5, 3, "own", shift=1.0),
            Clusters(100, "5 to 60", 0.1, 1, "none", shift=1.0),
            Clusters(40, "a third in one", 0.5, 1, "own", shift=1.0),
        )
    ]
    equal = [
        _cell(Clusters(number, "5 to 60", 0.5, 1, "none"), AT_ALL | ONE_ROW | PAIRS | ROWS) for number in (10, 20, 40)
    ]
    noisy = [_cell(Clusters(40, "5 to 60", 0.1, 3, "own"), ONE_ROW | PAIRS | ROWS)]
    return [*grid, *unequal, *reverse, *offset, *equal, *noisy]


def _cell(X: Clusters, tests: Tests, other: int | None = None, shift: float = 0.0) -> Cell:
    Y = X._replace(number=other or X.number, noise="none", shift=0.0)
    settings: dict[str, Any] = {"clusters": X.number, "against": Y.number, "sizes": X.sizes}
    settings |= {"correlation": X.correlation, "d": X.d, "noise in X": X.noise, "shift": shift}
    return Cell(settings, draws_of(X, Y), tests, at_most=frozenset(tests) - frozenset(ROWS))


EXPERIMENT = RejectionExperiment("clusters-level", __doc__.splitlines()[0], cells(), alphas=(0.05, 0.01))
