"""Where two samples differ most: places at which one has many more rows than the other.

A place is a point in one column or in two, with a width h. The share of rows near it is smoothed,

    k(x) = exp(-|x - place|^2 / (2 h^2))        z = (mean k over X - mean k over Y) / its standard error

with columns in units of their spread. Half of the rows search: the largest |z| over many places, three widths, all
columns and pairs of columns is moved to where |z| is largest nearby. Rows near it are left out, and the search goes on
for the next one. The other half of the rows tests each place that came out, by permutations, with the p-values adjusted
for the number of places by Holm's method. So the search needs no correction of its own, and where the samples do not
differ a place is named with a probability of at most alpha. Where rows come in clusters, whole clusters search or test,
and clusters are permuted.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.twosample import label_blocks, permutation_pvalue

Numbers = NDArray[np.int64]

_N_WIDTHS = 5  # of places, from the columns' spread down by factors of sqrt(2)
_N_STARTS = 150  # rows at which the search begins
_MOST_ROWS = 2_000  # of each sample that search, and as many that test
_MOST_COLUMNS = 6  # whose pairs are searched: those in which single columns differ most
_MOST_PLACES = 3
_LEAST_Z = 3.0  # of a place that is worth a test
_STEPS = 50
_NEAR = 2.0  # widths within which a row belongs to a place
_N_PERMUTATIONS = 999
_LEAST_ROWS = 20


@dataclass(frozen=True)
class Place:
    """A place where one sample has more rows than the other.

    Attributes
    ----------
    columns : tuple of str
        One column, or two.
    values : tuple of float
        Where, in the units of the columns.
    widths : tuple of float
        How wide the place is in each column.
    shares : tuple of float
        The share of the rows of X and of Y within two widths of it.
    pvalue : float
        Whether the shares differ, adjusted for the number of places.
    """

    columns: tuple[str, ...]
    values: tuple[float, ...]
    widths: tuple[float, ...]
    shares: tuple[float, float]
    pvalue: float

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON types."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


class _Candidate(NamedTuple):
    columns: tuple[int, ...]
    point: Floats
    width: float

    def squares(self, rows: Floats) -> Floats:
        """Return the squared distance of rows from the place, in widths."""
        gaps = (rows[:, self.columns] - self.point) / self.width
        return np.asarray(np.sum(gaps**2, axis=1))

    def kernel(self, rows: Floats) -> Floats:
        """Return the weights of rows, near 1 at the place."""
        return np.asarray(np.exp(-0.5 * self.squares(rows)))

    def near(self, rows: Floats) -> NDArray[np.bool_]:
        """Tell which rows belong to the place."""
        return np.asarray(self.squares(rows) <= _NEAR**2)


def differing_places(
    X: Floats,
    Y: Floats,
    columns: Sequence[str],
    alpha: float,
    generator: np.random.Generator,
    clusters: tuple[Numbers, Numbers] | None = None,
) -> tuple[Place, ...]:
    """Return at most three places where two samples differ, the clearest one first; none where none is significant.

    `clusters` are the numbers of the rows' clusters, where rows belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.comparison.places import differing_places
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(2, 1_000, 2))
    >>> X[:100] = [2, 2] + 0.3 * rng.normal(size=(100, 2))
    >>> place = differing_places(X, Y, ("a", "b"), 0.05, rng)[0]
    >>> place.columns, np.round(place.values).tolist()
    (('a', 'b'), [2.0, 2.0])
    """
    units = [None, None] if clusters is None else [np.unique(ids, return_inverse=True)[1] for ids in clusters]
    if min(len(X), len(Y), *(int(ids.max()) + 1 for ids in units if ids is not None)) < _LEAST_ROWS:
        return ()
    both = np.concatenate([X, Y])
    # Columns are in units of their spread: the smaller of the samples' middle halves, or of their SD.
    spreads = np.stack([np.subtract(*np.percentile(rows, [75, 25], axis=0)) / 1.349 for rows in (X, Y)])
    smallest, deviations = np.where(spreads > 0, spreads, np.inf).min(axis=0), both.std(axis=0)
    unit = np.where(np.isfinite(smallest), smallest, np.where(deviations > 0, deviations, 1.0))
    centre, varying = np.median(both, axis=0), np.flatnonzero((both[0] != both).any(axis=0))
    halves = [_halves(len(rows), ids, generator) for rows, ids in zip((X, Y), units, strict=True)]
    (search_X, test_X), (search_Y, test_Y) = (
        [(rows[half] - centre) / unit for half in two] for rows, two in zip((X, Y), halves, strict=True)
    )
    tested = [None if ids is None else ids[test] for ids, (_, test) in zip(units, halves, strict=True)]
    candidates = _searched(search_X, search_Y, varying, generator)
    pvalues = np.array([_permuted((at.kernel(test_X), at.kernel(test_Y)), tested, generator) for at in candidates])
    order = np.argsort(pvalues, kind="stable")
    adjusted = np.maximum.accumulate(pvalues[order] * (len(order) - np.arange(len(order))))
    places = []
    for number, pvalue in zip(order, adjusted, strict=True):
        if pvalue > alpha:
            break
        candidate = candidates[number]
        here = list(candidate.columns)
        places.append(
            Place(
                columns=tuple(columns[column] for column in here),
                values=tuple((centre[here] + unit[here] * candidate.point).tolist()),
                widths=tuple((unit[here] * candidate.width).tolist()),
                shares=(float(candidate.near(test_X).mean()), float(candidate.near(test_Y).mean())),
                pvalue=min(1.0, float(pvalue)),
            )
        )
    return tuple(places)


def _halves(n_rows: int, clusters: Numbers | None, generator: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Return the numbers of rows that search, and of rows that test; the rows of a cluster are on one side."""
    if clusters is None:
        order = generator.permutation(n_rows)[: 2 * _MOST_ROWS]
        middle = len(order) // 2
        return order[:middle], order[middle:]
    of_rows = generator.permutation(int(clusters.max()) + 1)[clusters]
    halves = of_rows < (int(clusters.max()) + 1) // 2
    search, test = np.flatnonzero(halves), np.flatnonzero(~halves)
    return generator.permutation(search)[:_MOST_ROWS], generator.permutation(test)[:_MOST_ROWS]


def _searched(X: Floats, Y: Floats, varying: NDArray[np.intp], generator: np.random.Generator) -> list[_Candidate]:
    candidates: list[_Candidate] = []
    while len(candidates) < _MOST_PLACES and min(len(X), len(Y)) >= _LEAST_ROWS // 2:
        best = _best(X, Y, varying, generator)
        if best is None:
            break
        candidates.append(best)
        X, Y = X[~best.near(X)], Y[~best.near(Y)]
    return candidates


def _best(X: Floats, Y: Floats, varying: NDArray[np.intp], generator: np.random.Generator) -> _Candidate | None:
    if not len(varying):
        return None
    both = np.concatenate([X, Y])
    starts = both[generator.choice(len(both), min(_N_STARTS, len(both)), replace=False)]
    of_columns = {int(column): _scored([_kernels(rows, starts, column) for rows in (X, Y)]) for column in varying}
    kept = sorted(sorted(of_columns, key=lambda column: -of_columns[column].z)[:_MOST_COLUMNS])
    scored: list[tuple[tuple[int, ...], _Score]] = [((column,), score) for column, score in of_columns.items()]
    if len(kept) > 1:
        kernels = {column: [_kernels(rows, starts, column) for rows in (X, Y)] for column in kept}
        for pair in itertools.combinations(kept, 2):
            products = [first * second for first, second in zip(*(kernels[column] for column in pair), strict=True)]
            scored.append((pair, _scored(products)))
    columns, score = max(scored, key=lambda scores: scores[1].z)
    if score.z < _LEAST_Z:
        return None
    return _at_peak(X, Y, _Candidate(columns, starts[score.start, list(columns)], score.width), score.sign)


class _Score(NamedTuple):
    """The largest |z| of all starts and widths, with its sign, and where it is."""

    z: float
    sign: float
    start: int
    width: float


def _kernels(rows: Floats, starts: Floats, column: int) -> NDArray[np.float32]:
    """Return the kernel of width 1 in one column, of shape (n_rows, n_starts); pairs of columns have products."""
    gaps = np.subtract.outer(rows[:, column].astype(np.float32), starts[:, column].astype(np.float32))
    return np.asarray(np.exp(-0.5 * gaps**2))


def _scored(kernels: list[NDArray[np.float32]]) -> _Score:
    """Return the best start and width: the square of a kernel is the kernel of a width that is smaller by sqrt(2)."""
    best = _Score(0.0, 1.0, 0, 1.0)
    sizes = [len(kernel) for kernel in kernels]
    means = [kernel.mean(axis=0, dtype=np.float64) for kernel in kernels]
    for halving in range(_N_WIDTHS):
        kernels = [kernel * kernel for kernel in kernels]
        squares = [kernel.mean(axis=0, dtype=np.float64) for kernel in kernels]
        # A sample without rows nearby counts as if it had one.
        errors = sum(
            np.maximum(square - mean**2, 1 / n) / n for square, mean, n in zip(squares, means, sizes, strict=True)
        )
        z = (means[0] - means[1]) / np.sqrt(errors)
        start = int(np.argmax(np.abs(z)))
        if abs(z[start]) > best.z:
            best = _Score(float(abs(z[start])), float(np.sign(z[start])), start, 2 ** (-halving / 2))
        means = squares
    return best


def _at_peak(X: Floats, Y: Floats, candidate: _Candidate, sign: float) -> _Candidate:
    """Move a place to the centre of what one sample has more of nearby, step by step: to the peak of the difference.

    |z| is largest further out, where the other sample has no rows; the peak is where people would look.
    """
    more, less = (X, Y) if sign > 0 else (Y, X)
    for _ in range(_STEPS):
        weights = candidate.kernel(more) / len(more), candidate.kernel(less) / len(less)
        excess = weights[0].sum() - weights[1].sum()
        if excess <= 0:
            break
        here = list(candidate.columns)
        point = (weights[0] @ more[:, here] - weights[1] @ less[:, here]) / excess
        moved = np.abs(point - candidate.point).max() / candidate.width
        if moved > 1:  # a difference of two samples need not have its centre near
            break
        candidate = candidate._replace(point=point)
        if moved < 1e-3:
            break
    return candidate


def _permuted(values: tuple[Floats, Floats], clusters: list[Numbers | None], generator: np.random.Generator) -> float:
    """Return the p-value of a difference of means, by permutations of the rows, or of clusters."""
    if clusters[0] is None or clusters[1] is None:
        both = np.concatenate(values)
        total, n = both.sum(), len(values[0])
        orders = generator.random((_N_PERMUTATIONS, len(both))).argpartition(n - 1, axis=1)[:, :n]
        sums = np.concatenate([[values[0].sum()], both[orders].sum(axis=1)])
        return permutation_pvalue(np.abs(sums / n - (total - sums) / (len(both) - n)))
    places = [np.unique(numbers, return_inverse=True)[1] for numbers in clusters if numbers is not None]
    of_X, of_Y = (np.bincount(place, of_sample) for place, of_sample in zip(places, values, strict=True))
    totals, sizes = np.concatenate([of_X, of_Y]), np.concatenate([np.bincount(place) for place in places])
    blocks = label_blocks((len(of_X), len(of_Y)), [len(totals)], _N_PERMUTATIONS, generator)
    labels = np.asarray(next(blocks), dtype=np.float64)
    called, n_called = labels @ totals, labels @ sizes
    return permutation_pvalue(np.abs(called / n_called - (totals.sum() - called) / (sizes.sum() - n_called)))
