"""How noisy each bag is, and whether it is like any bag that a model was fitted on.

The noise that was added to copies of the bags of fit is known: so ridge regression on spreads and amplitudes learns its
logarithm. It tells how much noisier than the bags of fit a bag is; what noise these have themselves nobody knows.
A bag is outside of what was calibrated where the Mahalanobis distance of its means, spreads, amplitudes and number of
rows is larger than that of 99 in 100 clean and 99 in 100 noisy copies.

A regression cannot be trusted beyond the noise of all copies. There a bag is little but noise, and its spread is that
of the noise: the logarithm of the size is the mean logarithm of the spreads, up to a constant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from uptonoise._util.typing import Floats
from uptonoise.learning.bag_statistics import N_SPREADS
from uptonoise.learning.linear_learners import Linear, Standard, fitted_ridge
from uptonoise.learning.solver import Split
from uptonoise.learning.summary import NORMAL_QUARTILES, log_spreads

_FLOOR = 0.1  # a noise size that cannot be told from none
_CLEAN_SHARE = 0.99
_INSIDE_SHARE = 0.99
_RIDGE = 0.05  # of the mean variance, added to each
_DROWNED = 5.0  # a noise size at which little of the spread of a bag is its own
_LARGEST_LOG = 20.0
NO_SPREAD = np.array([0.0, 700.0])
"""Where no copy is noisy enough to tell noise by spread: nothing is beyond."""


class Profile(NamedTuple):
    """What is learnt from p means, spreads and amplitudes of clean and noisy bags.

    Where noise is larger than in all copies, the first number of `beyond` is subtracted from the mean logarithm of
    spreads; the second is the logarithm of the largest noise of copies.
    """

    standard: Standard  # how these features become comparable
    noise: Linear  # the logarithm of the noise size from them
    noisiest_clean: Floats  # the estimated noise size that 99 in 100 of the bags of fit do not exceed, (1,)
    centre: Floats  # the mean of the copies, (p,)
    inverse: Floats  # of their covariance, (p, p)
    farthest: Floats  # the distance that 99 in 100 copies do not exceed, (1,)
    beyond: Floats = NO_SPREAD

    @classmethod
    def learnt(cls, features: Floats, sizes: Floats, splits: list[Split]) -> tuple[Profile, Floats]:
        """Learn from features of copies with noise of known sizes; return also estimates by models of other folds."""
        standard = Standard.of(features[sizes == 0], features)
        X = standard(features)
        noise, estimates, _ = fitted_ridge(X, np.log(np.hypot(sizes, _FLOOR))[:, None], splits)
        centre = X.mean(axis=0)
        covariance = np.cov(X.T).reshape(X.shape[1], X.shape[1])
        covariance[np.diag_indices_from(covariance)] += _RIDGE * max(np.trace(covariance) / len(covariance), 1e-9)
        inverse = cho_solve(cho_factor(covariance), np.eye(len(covariance)))
        noise_sizes = _size(estimates[:, 0])
        drowned = sizes > _DROWNED
        beyond = NO_SPREAD
        if drowned.any():
            offset = np.median(_mean_log_spread(features[drowned]) - np.log(sizes[drowned]))
            beyond = np.array([offset, np.log(sizes.max())])
        profile = cls(standard, noise, np.zeros(1), centre, inverse, np.zeros(1), beyond)
        distances = profile.distances(features)
        parts = [distances[sizes == 0], distances[sizes > 0]]
        farthest = max(np.quantile(part, _INSIDE_SHARE) for part in parts if len(part))
        noisiest = np.quantile(noise_sizes[sizes == 0], _CLEAN_SHARE)
        return profile._replace(noisiest_clean=np.array([noisiest]), farthest=np.array([farthest])), noise_sizes

    def sizes(self, features: Floats) -> Floats:
        """Return the estimated noise size of each bag, in standard deviations of the columns."""
        regressed = _size(self.noise.predict(self.standard(features))[:, 0])
        logs = _mean_log_spread(features) - self.beyond[0]
        return np.where(logs > self.beyond[1], np.exp(np.minimum(logs, _LARGEST_LOG)), regressed)

    def distances(self, features: Floats) -> Floats:
        """Return how far each bag is from the copies, as a squared Mahalanobis distance."""
        moved = self.standard(features) - self.centre
        return np.asarray(np.einsum("ij,jk,ik->i", moved, self.inverse, moved))


def heaviness(features: Floats) -> Floats:
    """Return how heavy the tails of the columns of each bag are: log(SD / distance of quartiles), 0 if normal."""
    spreads = features[:, log_spreads(features.shape[1])].reshape(len(features), N_SPREADS, -1)
    return np.asarray((spreads[:, 0] - spreads[:, 1]).mean(axis=1) + np.log(NORMAL_QUARTILES))


def _mean_log_spread(features: Floats) -> Floats:
    return np.asarray(features[:, log_spreads(features.shape[1])].mean(axis=1))


def _size(logs: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(np.exp(2 * np.clip(logs, -_LARGEST_LOG, _LARGEST_LOG)) - _FLOOR**2, 0.0)))
