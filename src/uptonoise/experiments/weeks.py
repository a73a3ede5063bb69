"""Random weeks of one station's air against the other weeks: hours, days and weeks as clusters (beyond the paper).

Hourly pollution of Beijing's Aotizhongxin station. The weeks are split into halves at random, so that the samples do
not differ. Each week is sketched once, and the sketch of a half is a merge of sketches: 300 splits take minutes.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.datasets import load_air_quality
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.fourier import Sketch
from uptonoise.twosample import phase_test

_DAY, _WEEK = 24, 7 * 24
N_SPLITS = 300


class _Half(NamedTuple):
    """Some weeks of the station, with as many columns."""

    weeks: NDArray[np.int64]
    n_columns: int


@cache
def _rows(n_columns: int) -> Floats:
    values = load_air_quality().values[:, :n_columns]
    return values[: len(values) // _WEEK * _WEEK]


@cache
def _sketches(n_columns: int, size: int) -> list[Sketch]:
    """Return a sketch of each week, with clusters of so many hours; of rows as they are for a size of 1."""
    rows = _rows(n_columns)
    scaled = Sketch.for_samples(rows)
    # One centre for all, so that a merge has nothing to turn.
    empty = Sketch(scaled.frequencies, provenance=scaled.provenance, centre=np.median(rows, axis=0))
    weeks = [(Sketch.like(empty), week) for week in np.split(rows, len(rows) // _WEEK)]
    if size == 1:
        return [sketch.update(week) for sketch, week in weeks]
    ids = np.arange(_WEEK) // size
    return [s.update(week, clusters=ids + k * _WEEK, complete=True) for k, (s, week) in enumerate(weeks)]


def by_clusters(X: Any, Y: Any, *, random_state: np.random.Generator, size: int) -> Any:
    """Test two halves with clusters of so many hours."""
    sketches = _sketches(X.n_columns, size)
    left, right = (sum(sketches[week] for week in half.weeks) for half in (X, Y))
    return phase_test(left, right)


TESTS: Tests = {"weeks": partial(by_clusters, size=_WEEK), "hours": partial(by_clusters, size=1)}
DAYS: Tests = {"days": partial(by_clusters, size=_DAY)}


def _split(generator: np.random.Generator, n_columns: int) -> Any:
    weeks = generator.permutation(len(_rows(n_columns)) // _WEEK)
    half = len(weeks) // 2
    return _Half(np.sort(weeks[:half]), n_columns), _Half(np.sort(weeks[half:]), n_columns)


CELLS = [
    Cell({"columns": n_columns}, partial(_split, n_columns=n_columns), tests, at_most=frozenset({"weeks"}))
    for n_columns, tests in ((1, TESTS | DAYS), (6, TESTS))
]
"""The splits with one column, PM2.5, and with six."""
EXPERIMENT = RejectionExperiment("weeks", __doc__.splitlines()[0], CELLS, repetitions=N_SPLITS)
