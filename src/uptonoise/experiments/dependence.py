"""How often rows are called dependent: independent ones in random order, and clusters and series (beyond the paper)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from uptonoise.experiments._clustered import Clusters
from uptonoise.experiments._peers import Outcome
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.rows import ArrayRows, as_rows, find_dependence


def warned(X: Any, Y: Any, *, random_state: np.random.Generator) -> Outcome:
    """Reject where the rows of X look dependent."""
    return Outcome(0.0 if find_dependence(as_rows(X)) is not None else 1.0)


WARNED: Tests = {"warned": warned}


def cells() -> Sequence[Cell]:
    """Return independent rows, of which at most one sample in a hundred may be warned of, then dependent ones."""
    independent = [
        _cell(f"independent, {name}", n, draw, frozenset(WARNED))
        for n in (60, 300, 3_000)
        for name, draw in (
            ("six lognormal columns", lambda generator, n: generator.lognormal(size=(n, 6))),
            ("counts and digits", _counts),
            ("0 or 1", lambda generator, n: (generator.random((n, 3)) < 0.1).astype(float)),
        )
    ]
    clusters = [
        _cell(f"clusters, correlation {correlation}", number * 20, partial(_clusters, number, correlation))
        for number, correlation in ((40, 0.1), (40, 0.5), (200, 0.1))
    ]
    ids = [_cell("clusters in random order, with their ids", 800, _with_ids)]
    series = [_cell("a series, correlation 0.5", n, _series) for n in (100, 500)]
    return [*independent, *clusters, *ids, *series]


def _cell(rows: str, n: int, draw: Callable[..., Any], at_most: frozenset[str] = frozenset()) -> Cell:
    nothing = np.empty((0, 1))
    return Cell({"rows": rows, "n": n, "k": 0}, lambda rng: (draw(rng, n), nothing), WARNED, at_most=at_most)


def _counts(generator: np.random.Generator, n: int) -> Any:
    size = generator.gamma(2, size=n)
    columns = {"size": size, "count": generator.poisson(3 * size), "energy": size + generator.normal(size=n)}
    return _named(columns | {"digit": generator.integers(0, 30, n)})


def _clusters(number: int, correlation: float, generator: np.random.Generator, n: int) -> Any:
    return Clusters(number, correlation=correlation).draw(generator).values


def _with_ids(generator: np.random.Generator, n: int) -> Any:
    unit = generator.permutation(np.repeat(generator.permutation(n // 20), 20))
    value = np.sqrt(0.3) * generator.normal(size=n // 20)[unit] + np.sqrt(0.7) * generator.normal(size=n)
    return _named({"unit": unit, "value": value})


def _named(columns: dict[str, Any]) -> ArrayRows:
    return ArrayRows(np.stack(list(columns.values()), axis=1), columns=list(columns))


def _series(generator: np.random.Generator, n: int) -> Any:
    values = generator.normal(size=n)
    for row in range(1, n):
        values[row] = 0.5 * values[row - 1] + np.sqrt(0.75) * values[row]
    return values


EXPERIMENT = RejectionExperiment("dependence", __doc__.splitlines()[0], cells(), alphas=(0.01,))
