"""Ridge regression from sums, for all penalties and all folds at once.

With features F, weights w and targets y, all centred by their weighted means,

    coef = (F'wF + alpha)^-1 F'wy

so everything that cross-validation needs of a set of rows is F'wF, F'wy and sums: a fold's training part is the whole
minus the fold. One eigendecomposition per fold solves all penalties, and the error on the held-out part comes from its
own sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats

Centre = tuple[Floats, Floats]
"""What is subtracted from features and from targets."""

_EPSILON = np.finfo(np.float64).eps


class RidgeSums(NamedTuple):
    """What ridge regression needs of some rows: weighted sums of 1, F, y, and of their products."""

    weight: float
    F: Floats
    y: Floats
    FF: Floats
    Fy: Floats
    yy: Floats

    @classmethod
    def of(cls, copies: Floats, y: Floats, weights: Floats) -> RidgeSums:
        """Return the sums over copies of features of the same bags, of shape (copies, n, p), which share weights."""
        n_copies, _, p = copies.shape
        F, y, weights = copies.reshape(-1, p), np.tile(y, (n_copies, 1)), np.tile(weights / n_copies, n_copies)
        weighted = F * weights[:, None]
        return cls(
            float(weights.sum()), weighted.sum(axis=0), weights @ y, F.T @ weighted, weighted.T @ y, weights @ y**2
        )

    def less(self, other: RidgeSums) -> RidgeSums:
        """Return the sums of the rows that are not among the others."""
        pairs: Any = zip(self, other, strict=True)
        return RidgeSums(*(mine - theirs for mine, theirs in pairs))

    def about(self, F: Floats, y: Floats) -> RidgeSums:
        """Return the sums of features minus `F` and of targets minus `y`."""
        FF = self.FF - np.outer(self.F, F) - np.outer(F, self.F) + self.weight * np.outer(F, F)
        Fy = self.Fy - np.outer(self.F, y) - np.outer(F, self.y) + self.weight * np.outer(F, y)
        yy = self.yy - 2 * y * self.y + self.weight * y**2
        return RidgeSums(self.weight, self.F - self.weight * F, self.y - self.weight * y, FF, Fy, yy)

    def centre(self, intercept: bool) -> Centre:
        """Return the means of features and targets, or zeros for a model without an intercept."""
        if intercept:
            return self.F / self.weight, self.y / self.weight
        return np.zeros_like(self.F), np.zeros_like(self.y)

    def solved(self, alphas: Floats, centre: Centre) -> Floats:
        """Return the coefficients at each penalty, of shape (p, targets, alphas)."""
        centred = self.about(*centre)
        values, vectors = np.linalg.eigh(centred.FF)
        values = np.maximum(values, 0.0)
        damped = values[:, None] + alphas
        least = _EPSILON * len(values) * max(float(values[-1]), np.finfo(np.float64).tiny)
        inverse = np.divide(1.0, damped, out=np.zeros_like(damped), where=damped > least)
        scaled = (vectors.T @ centred.Fy)[:, :, None] * inverse[:, None, :]
        return np.asarray(np.tensordot(vectors, scaled, axes=1))

    def squared_errors(self, coef: Floats, centre: Centre) -> Floats:
        """Return the mean squared errors on these rows, averaged over targets, one for each penalty."""
        centred = self.about(*centre)
        fitted = np.einsum("pta,pq,qta->ta", coef, centred.FF, coef, optimize=True)
        crossed = np.einsum("pt,pta->ta", centred.Fy, coef)
        errors = (centred.yy[:, None] - 2 * crossed + fitted) / self.weight
        return np.asarray(np.maximum(errors, 0.0).mean(axis=0))


class Split(NamedTuple):
    """The bags that a model is fitted on, and those that it is judged by."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


class ErrorSize(NamedTuple):
    """How exactly a mean squared error is known: its standard error over bags, and the error of a constant."""

    standard_error: float
    of_constant: float


def cross_validated(
    fitted: Floats,
    judged: Floats,
    y: Floats,
    weights: Floats,
    splits: Sequence[Split],
    alphas: Floats,
    intercept: bool,
) -> Floats:
    """Return mean squared errors, of shape (splits, alphas), of models fitted on some copies and judged by others."""
    errors = []
    for kept, left_out, (_, test) in _sums_of_splits(fitted, y, weights, splits):
        held_out = left_out if judged is fitted else RidgeSums.of(judged[:, test], y[test], weights[test])
        centre = kept.centre(intercept)
        errors.append(held_out.squared_errors(kept.solved(alphas, centre), centre))
    return np.array(errors)


def error_size(
    fitted: Floats,
    judged: Floats,
    y: Floats,
    weights: Floats,
    splits: Sequence[Split],
    alpha: float,
    intercept: bool,
) -> ErrorSize:
    """Return how exactly the mean squared error at one penalty is known; splits count as independent."""
    squares, constants = [], []
    for kept, _, (_, test) in _sums_of_splits(fitted, y, weights, splits):
        of_features, of_targets = centre = kept.centre(intercept)
        coef = kept.solved(np.array([alpha]), centre)[:, :, 0]
        residuals = y[test] - of_targets - (judged[:, test] - of_features) @ coef
        errors = np.mean(residuals**2, axis=(0, 2))
        shares = weights[test] / weights[test].sum()
        squares.append(np.sum(shares**2 * (errors - shares @ errors) ** 2))
        constants.append(shares @ np.mean((y[test] - of_targets) ** 2, axis=1))
    return ErrorSize(float(np.sqrt(np.sum(squares)) / len(splits)), float(np.mean(constants)))


def _sums_of_splits(
    fitted: Floats, y: Floats, weights: Floats, splits: Sequence[Split]
) -> Iterator[tuple[RidgeSums, RidgeSums, Split]]:
    """Yield the sums of the bags to fit on and of those left out; each bag's products are computed once or twice."""
    everything = RidgeSums.of(fitted, y, weights)
    for split in splits:
        train, test = split
        left_out = RidgeSums.of(fitted[:, test], y[test], weights[test])
        if len(train) + len(test) == len(y):
            yield everything.less(left_out), left_out, split
        else:
            yield RidgeSums.of(fitted[:, train], y[train], weights[train]), left_out, split
