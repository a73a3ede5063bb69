"""Intervals of predictions: conformal, normalised by what is known of each bag, right at every size of noise.

The residuals of bags that no learner has seen are divided by their expected size, which depends on the estimated noise,
on the number of rows, on the prediction, and on how much the learners disagree. The expected size of a residual is
learnt from other bags than its own: what was fitted to a residual would call it small. The interval of a bag is its
expected size times a quantile of these quotients: Lei et al. (2018) normalise residuals so, and Barber, Candes, Ramdas
and Tibshirani (2021) take them from cross-validation.

One quantile for all would be right on average over clean and noisy bags, and for none of them. The noise of a new bag
is only estimated, but that of the bags of calibration is known, since it was added. So the logarithm of the quantile is
a sum of functions of what is known of a new bag, whose weights are such that the share of covered targets is right in
each group of bags of calibration with noise of one size, and in those with heavy tails:

    sum_i  group_k(i) (1[residual_i <= width_i] - coverage)  =  0        for each group k

A prior keeps the weights near 0. Gibbs, Cherian and Candes (2025) choose quantiles by such equations, with groups that
are known of new bags, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from uptonoise._util.typing import Floats
from uptonoise.learning.stack import Hats

_FLOOR = 0.005  # of the largest noise size: sizes below that are alike
_SIZES = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.2])  # of groups, over the largest noise size
_HEAVY_SIZES = np.array([0.15, 0.6])
_LEAST_DISAGREEMENT, _ORDINARY_DISAGREEMENT = 0.01, np.exp(-2)  # in standard deviations of the targets
_RIDGE = 1.0
_PARTS = 5
_PRIOR = 0.5  # the standard deviation of weights
_STEPS = (0.1, 0.03, 0.01)  # widths of the smooth steps that stand for 0 and 1, in logarithms, one after the other
_MOST_ITERATIONS = 20
_LEAST_GAIN = 1e-3
_SHORTEST = 1e-2  # of a step


class Known(NamedTuple):
    """What is known of bags before their targets, each of shape (n,)."""

    sizes: Floats  # of the noise, as estimated
    rows: Floats  # how many
    predicted: Floats
    disagreement: Floats  # how much the learners differ
    tails: Floats  # how heavy those of the columns are: 0 for normal ones

    @classmethod
    def of_sizes(cls, sizes: Floats, centre: Floats) -> Known:
        """Return bags of which only the noise was estimated: in all else they are ordinary."""
        ones = np.ones(len(sizes))
        disagreement = centre[1] * (_ORDINARY_DISAGREEMENT - _LEAST_DISAGREEMENT)
        return cls(sizes, ones, centre[0] * ones, disagreement * ones, 0 * ones)


class Added(NamedTuple):
    """The noise that was added to bags of calibration: its size, and whether its tails are heavy."""

    sizes: Floats
    heavy: NDArray[np.bool_]


class Conformal(NamedTuple):
    """Calibrated residuals."""

    knots: Floats  # of the functions of the noise size in the expected residual
    coef: Floats  # of the logarithm of the expected residual, linear in functions of what is known of a bag
    centre: Floats  # the mean and the standard deviation of the targets
    largest: Floats  # noise size that was asked for, of shape (1,); 0 for none
    scores: Floats  # the residuals of calibration over their expected sizes
    known: Known  # of the bags of calibration
    added: Added  # noise of these

    @classmethod
    def learnt(
        cls, hats: Hats, known: Known, y: Floats, bag: NDArray[np.int64], added: Added, largest: float
    ) -> Conformal:
        """Learn from predictions of copies of bags that the learners have not seen, with the numbers of the bags."""
        residuals = np.abs(y - known.predicted)
        centre = np.array([y.mean(), max(y.std(), np.finfo(float).tiny)])
        conformal = cls(hats.knots, np.empty(0), centre, np.array([largest]), residuals, known, added)
        design = conformal._design(known)
        logs = np.log(residuals + 1e-3 * centre[1])
        coef = _solved(design, logs)
        expected = design @ coef
        for part in range(_PARTS):
            own = bag % _PARTS == part
            if own.any() and not own.all():
                expected[own] = design[own] @ _solved(design[~own], logs[~own])
        return conformal._replace(coef=coef, scores=residuals / np.exp(expected))

    def _design(self, known: Known) -> Floats:
        moved = (known.predicted - self.centre[0]) / self.centre[1]
        others = [moved, moved**2, np.log(known.rows), self._log_disagreement(known)]
        return np.column_stack([Hats(self.knots)(known.sizes), *(np.clip(part, -6, 12) for part in others)])

    def _log_disagreement(self, known: Known) -> Floats:
        return np.asarray(np.log(known.disagreement / self.centre[1] + _LEAST_DISAGREEMENT))

    def _hats(self, shares: Floats, sizes: Floats) -> Floats:
        """Return hat functions of noise sizes at shares of the largest; the first is 1 where there is no noise."""
        if self.largest[0] == 0:
            return np.ones((len(sizes), 1))
        logs = np.log(np.maximum(sizes, 0) / self.largest[0] + _FLOOR)
        return np.stack([np.interp(logs, np.log(shares + _FLOOR), unit) for unit in np.eye(len(shares))], axis=1)

    def _adjustments(self, known: Known) -> Floats:
        """Return the functions of what is known of bags by which widths are adjusted."""
        moved = (known.predicted - self.centre[0]) / self.centre[1]
        disagreement = np.clip(self._log_disagreement(known) - np.log(_ORDINARY_DISAGREEMENT), -3, 4)
        others = [np.minimum(moved**2, 4), disagreement, np.clip(known.tails, -0.5, 1.5)]
        return np.column_stack([np.ones(len(moved)), self._hats(_SIZES, known.sizes), *others])

    def half_widths(self, known: Known, coverage: float) -> Floats:
        """Return half of the widths of intervals."""
        expected = self._design(known) @ self.coef
        quantile = np.quantile(self.scores, coverage, method="higher")
        return np.asarray(quantile * np.exp(expected + self._adjustments(known) @ self._weights(quantile, coverage)))

    def _weights(self, quantile: float, coverage: float) -> Floats:
        """Return the weights of the adjustments, such that all groups have the coverage, by Gauss-Newton steps."""
        functions = self._adjustments(self.known)
        weights = np.zeros(functions.shape[1])
        if (1 - coverage) * len(functions) < 1 or quantile <= 0:
            return weights  # the largest residual counts, or there is none
        # How much each bag of calibration counts in each group: of one noise size, and with heavy tails.
        sizes, heavy = self.added
        groups = np.column_stack([self._hats(_SIZES, sizes), self._hats(_HEAVY_SIZES, sizes) * heavy[:, None]])
        groups = groups[:, groups.sum(axis=0) > 1]
        groups = groups / np.sqrt(groups.sum(axis=0) * len(groups))  # so that chance moves each equation alike
        logs = np.log(np.maximum(self.scores / quantile, 1e-9))
        penalty = (
            coverage * (1 - coverage) / len(functions) / _PRIOR**2
        )  # what chance is worth, over the prior variance

        def at(weights: Floats, width: float) -> tuple[Floats, Floats, float]:
            """Return by how much each equation is missed, the derivatives, and the loss."""
            covered = expit((functions @ weights - logs) / width)
            slopes = groups.T @ (functions * (covered * (1 - covered) / width)[:, None])
            errors = groups.T @ (covered - coverage)
            return errors, slopes, float(errors @ errors + penalty * weights @ weights)

        for width in _STEPS:
            errors, slopes, loss = at(weights, width)
            for _ in range(_MOST_ITERATIONS):
                gradient = slopes.T @ errors + penalty * weights
                step = np.linalg.solve(slopes.T @ slopes + penalty * np.eye(len(weights)), gradient)
                length, before = 1.0, loss
                while length > _SHORTEST:
                    errors, slopes, loss = at(weights - length * step, width)
                    if loss < before:
                        break
                    length /= 2
                else:
                    break  # no step is short enough to help
                weights = weights - length * step
                if before - loss < _LEAST_GAIN * before:
                    break
        return weights


def _solved(design: Floats, logs: Floats) -> Floats:
    """Return the coefficients of ridge regression."""
    return np.asarray(np.linalg.solve(design.T @ design + _RIDGE * np.eye(design.shape[1]), design.T @ logs))
