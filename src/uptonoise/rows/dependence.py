"""Rows that look dependent where no clusters were named.

Two signs. Neighbouring rows are alike in the order in which they come: the ranks of a column have lag correlations
whose sum over the first lags is far beyond chance. Or a column of whole numbers or text repeats its values and tells
the other columns apart: an id of the unit that the rows belong to. A number that the others follow smoothly, such as a
count or a month, is no id, so that only what remains beyond a smooth curve counts.

With r_k the correlation of ranks at lag k, which has mean -1/n and variance near 1/n for rows in random order,

    z = sqrt(n/L) sum_{k <= L} (r_k + 1/n)        L = 1, 3, 10, 30, as far as n >= 50 L

At most 1 in 1,000 of samples of independent rows has a z above 5 (`docs/results/clusters.md`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from uptonoise._util.typing import Floats
from uptonoise.rows.source import RowSource

_LAGS = (1, 3, 10, 30)
_ROWS_PER_LAG = 50
_FAR = 5.0  # standard errors
_LOOKED_AT = 20_000  # rows at the start
_COLUMNS = 50
_CURVE = 6  # the degree of a smooth curve, enough for a season
_LEAST_VALUES = 10  # of a column that may hold ids
_LEAST_REPEATS = 2.0  # rows of a value, on average
_EXPLAINED = 0.1  # of the variance of a column, beyond a smooth curve
_RARE = 1e-6


class DependentRowsWarning(UserWarning):
    """Rows look dependent, and no clusters were named: p-values may be far too small."""


class Dependence(NamedTuple):
    """Why rows of a sample look dependent.

    Attributes
    ----------
    sample : str
        What the sample is called.
    kind : str
        "order", where neighbouring rows are alike, or "column", where a column looks like the id of units.
    column : str
        The column whose neighbouring values are alike, or that looks like ids.
    score : float
        The standardised lag correlation, or the part of another column's variance that the ids explain.
    """

    sample: str
    kind: str
    column: str
    score: float

    def __str__(self) -> str:
        if self.kind == "order":
            return (
                f"neighbouring rows of {self.sample} are alike (column {self.column}, {self.score:.0f} standard errors "
                "beyond chance): the rows are not independent, or the file is sorted. If rows come in units or in "
                "time, name the units (clusters=, or --cluster on the command line), or take blocks of consecutive "
                "rows (un.blocks, or --block)"
            )
        return (
            f"the column {self.column} of {self.sample} repeats its values and explains {self.score:.0%} of the "
            "variance of another column: it looks like the id of units that rows belong to. If so, name it "
            f"(clusters={self.column!r}, or --cluster on the command line)"
        )


def find_dependence(source: RowSource) -> Dependence | None:
    """Return the clearest sign that rows are dependent; None where there is none, or clusters are known.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.rows import as_rows
    >>> from uptonoise.rows.dependence import find_dependence
    >>> rng = np.random.default_rng(0)
    >>> find_dependence(as_rows(rng.normal(size=1_000))) is None
    True
    >>> find_dependence(as_rows(np.cumsum(rng.normal(size=1_000)))).kind
    'order'
    """
    if source.bag_ids is not None or source.is_remote:
        return None
    rows = source.head(_LOOKED_AT)[:, :_COLUMNS]
    # The column of whole numbers that looks most like the ids of units.
    best = Dependence(source.name, "column", "", 0.0)
    for place, values in enumerate(rows.T):
        if source.named and np.array_equal(values, np.rint(values)):
            _, codes = np.unique(values, return_inverse=True)
            explained = explained_by(codes, np.delete(rows, place, axis=1), smooth=values)
            if explained > best.score:
                best = best._replace(column=source.columns[place], score=explained)
    if best.score > 0:
        return best
    # The column whose lag correlations are most standard errors above those of rows in random order.
    n = len(rows)
    lags = [lag for lag in _LAGS if n >= _ROWS_PER_LAG * lag]
    best = Dependence(source.name, "order", "", _FAR)
    for column, values in zip(source.columns, rows.T, strict=False):
        ranks = _ranks(values) if lags else None
        if ranks is not None:
            correlations = np.array([ranks[lag:] @ ranks[:-lag] / n for lag in range(1, lags[-1] + 1)]) + 1 / n
            sums = np.cumsum(correlations)
            score = max(np.sqrt(n / lag) * sums[lag - 1] for lag in lags)
            if score > best.score:
                best = best._replace(column=column, score=float(score))
    return best if best.score > _FAR else None


def _ranks(values: Floats) -> Floats | None:
    """Return ranks with mean 0 and variance 1, the mean one for equal values; None where all are equal."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(counts) == 1:
        return None
    ranks = (np.cumsum(counts) - (counts + 1) / 2)[places]
    ranks = ranks - ranks.mean()
    return np.asarray(ranks / np.sqrt(np.mean(ranks**2)))


def explained_by(codes: NDArray[np.int64], others: Floats, smooth: Floats | None = None) -> float:
    """Return the largest part of a column's variance that groups explain; 0 unless it is large and beyond chance.

    With `smooth`, the number that names the groups, only what a smooth curve in it leaves over is explained.
    """
    n, counts = len(codes), np.bincount(codes)
    k = len(counts)
    if k < _LEAST_VALUES or n < _LEAST_REPEATS * k or n - k < 1 or others.shape[1] == 0 or counts.max() > n / 2:
        return 0.0
    ranks = [_ranks(column) for column in others.T]
    columns = np.stack([column for column in ranks if column is not None] or [np.zeros(n)], axis=1)
    taken = 1
    if smooth is not None:
        low, high = smooth.min(), smooth.max()
        scaled = 2 * (smooth - low) / (high - low) - 1 if high > low else np.zeros_like(smooth)
        curve = np.polynomial.legendre.legvander(scaled, _CURVE)
        columns = columns - curve @ np.linalg.lstsq(curve, columns, rcond=None)[0]
        taken = curve.shape[1]
    means = np.zeros((k, columns.shape[1]))
    np.add.at(means, codes, columns)
    between = np.sum(means**2 / counts[:, None], axis=0)
    within = np.maximum(np.sum(columns**2, axis=0) - between, 1e-12 * n)
    F = between / max(k - taken, 1) / (within / (n - k))
    rare = fdtrc(max(k - taken, 1), n - k, F) * columns.shape[1] < _RARE
    # What groups explain without what chance gives to as many.
    explained = 1 - within / (n - k) * (n - taken) / np.maximum(between + within, 1e-12)
    explained = np.where(rare, explained, 0.0)
    return float(explained.max()) if explained.max() > _EXPLAINED else 0.0


def dependence_on_column(source: RowSource, column: str) -> Dependence | None:
    """Return whether the bags of a source, named by a column that is not compared, look like units of rows."""
    block = next(source.blocks(_LOOKED_AT))
    explained = 0.0 if block.bags is None else explained_by(block.bags, block.values[:, :_COLUMNS])
    return Dependence(source.name, "column", column, explained) if explained > 0 else None
