"""Intervals of predictions: conformal, normalised by what is known of each bag, calibrated under noise.

The residuals of bags that no learner has seen are divided by their expected size, which depends on the estimated noise,
on the number of rows, on the prediction, and on how much the learners disagree. The interval of a bag is its expected
size times a quantile of these quotients, over bags with similar noise. Noise that is estimated alike is not always
alike: where bags with more of it are among those, and their own quantile is larger, theirs counts. The expected size of
a residual is learnt from other bags than its own: what was fitted to a residual would call it small. Barber, Candes,
Ramdas and Tibshirani (2021) describe intervals from cross-validation; Lei et al. (2018) the normalised ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.learning.stack import Hats

_WIDTH = 0.4  # of the window over the logarithm of the noise size
_FLOOR = 0.05  # noise sizes below that are alike
_RIDGE = 1.0
_PARTS = 5
_LEAST_SHARE = 0.2  # of the bags with similar noise: a copy with fewer does not count for itself
_SLACK = 0.02  # of coverage, which a copy for itself may lack


class Known(NamedTuple):
    """What is known of bags before their targets: noise size, number of rows, prediction, disagreement of learners."""

    sizes: Floats
    rows: Floats
    predicted: Floats
    disagreement: Floats


class Conformal(NamedTuple):
    """Calibrated residuals.

    Attributes
    ----------
    knots : array
        Those of the functions of the noise size.
    coef : array
        The logarithm of the expected residual, linear in functions of what is known of a bag.
    centre : array of shape (2,)
        The mean and the standard deviation of the targets.
    scores, sizes : array of shape (n,)
        The residuals of calibration over their expected sizes, and the estimated noise of their bags.
    copies : array of int, of shape (n,)
        The number of the copy that each is of: 0 is clean, the others have more and more noise.
    """

    knots: Floats
    coef: Floats
    centre: Floats
    scores: Floats
    sizes: Floats
    copies: NDArray[np.int64]

    @classmethod
    def learnt(
        cls, hats: Hats, known: Known, y: Floats, bag: NDArray[np.int64], copies: NDArray[np.int64]
    ) -> Conformal:
        """Learn from predictions of copies of bags that the learners have not seen, with the numbers of both."""
        residuals = np.abs(y - known.predicted)
        centre = np.array([y.mean(), max(y.std(), np.finfo(float).tiny)])
        empty = cls(hats.knots, np.empty(0), centre, np.empty(0), np.empty(0), copies)
        design = empty._design(known)
        logs = np.log(residuals + 1e-3 * centre[1])
        coef = _solved(design, logs)
        expected = design @ coef
        for part in range(_PARTS):
            own = bag % _PARTS == part
            if own.any() and not own.all():
                expected[own] = design[own] @ _solved(design[~own], logs[~own])
        return empty._replace(coef=coef, scores=residuals / np.exp(expected), sizes=known.sizes)

    def _design(self, known: Known) -> Floats:
        moved = (known.predicted - self.centre[0]) / self.centre[1]
        others = [moved, moved**2, np.log(known.rows), np.log(known.disagreement / self.centre[1] + 0.01)]
        return np.column_stack([Hats(self.knots)(known.sizes), *(np.clip(part, -6, 12) for part in others)])

    def expected(self, known: Known) -> Floats:
        """Return the expected size of residuals, up to a factor."""
        return np.asarray(np.exp(self._design(known) @ self.coef))

    def half_widths(self, known: Known, coverage: float) -> Floats:
        """Return half of the widths of intervals."""
        return np.asarray(self.expected(known) * self._quantiles(known.sizes, coverage))

    def _quantiles(self, sizes: Floats, coverage: float) -> Floats:
        """Return the quantile of scores around each noise size, interpolated between places on a grid."""
        logs = np.log(self.sizes + _FLOOR)
        grid = np.linspace(logs.min(), logs.max(), 25)
        weights = np.exp(-0.5 * ((logs - grid[:, None]) / _WIDTH) ** 2)
        quantiles = _weighted_quantiles(self.scores, weights, coverage)
        for copy in np.unique(self.copies):
            own = self.copies == copy
            of_copy = _weighted_quantiles(self.scores[own], weights[:, own], coverage - _SLACK)
            counts = weights[:, own].sum(axis=1) > _LEAST_SHARE * weights.sum(axis=1)
            quantiles = np.where(counts, np.maximum(quantiles, of_copy), quantiles)
        return np.asarray(np.interp(np.log(sizes + _FLOOR), grid, quantiles))


def _weighted_quantiles(scores: Floats, weights: Floats, coverage: float) -> Floats:
    """Return a quantile of scores for each row of weights."""
    order = np.argsort(scores)
    weights = weights[:, order]
    shares = np.cumsum(weights, axis=1) / (weights.sum(axis=1, keepdims=True) + 1)  # the +1 is the new bag
    return np.asarray(scores[order][np.minimum((shares < coverage).sum(axis=1), len(scores) - 1)])


def _solved(design: Floats, logs: Floats) -> Floats:
    """Return the coefficients of ridge regression."""
    penalty = _RIDGE * np.eye(design.shape[1])
    return np.asarray(np.linalg.solve(design.T @ design + penalty, design.T @ logs))
