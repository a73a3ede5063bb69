"""Several learners as one model: weights that depend on how noisy a bag is, chosen on bags that no learner has seen.

With predictions f_k of the learners, the mean target f0 and hat functions h_j of the estimated noise,

    f  =  f0 + sum_jk  w_jk h_j(noise) (f_k - f0)        w >= 0

A prior keeps weights near equal ones, or near equal ones of blind learners, which do not see noise, and 0 for the
others: noise of the bags of fit may go with their targets, and does not have to in use. So what others see must be
worth it. Where noise leaves no information all weights shrink towards 0, and predictions to the mean. Beyond the noise
of any copy of fit the weights cannot be learnt: there they fall as the information of a bag does, with one over the
variance of its noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from uptonoise._util.typing import Floats
from uptonoise.learning.noisy_copies import BEYOND

_PRIOR = 0.02  # of the number of rows: how much equal weights count
_WARY_PRIOR = 0.04  # the same for learners that see noise, beside those that do not


class Hats(NamedTuple):
    """Piecewise linear functions of the logarithm of the noise size that sum to one."""

    knots: Floats

    @classmethod
    def up_to(cls, largest: float) -> Hats:
        """Return the functions for noise up to a size; a constant where there is none."""
        return cls(np.log([0.1, 0.3, 1.0, 3.0, 10.0]) + np.log(largest / 10) if largest > 0 else np.zeros(1))

    def __call__(self, sizes: Floats) -> Floats:
        """Return the functions at noise sizes, of shape (n, n_knots)."""
        if len(self.knots) == 1:
            return np.ones((len(sizes), 1))
        logs = np.log(np.clip(sizes, *np.exp(self.knots[[0, -1]])))
        return np.stack([np.interp(logs, self.knots, unit) for unit in np.eye(len(self.knots))], axis=1)

    def kept(self, sizes: Floats) -> Floats:
        """Return how much of a weight is kept at noise sizes: all up to the largest noise of fit."""
        if len(self.knots) == 1:
            return np.ones(len(sizes))
        largest = BEYOND * np.exp(self.knots[-1])
        return np.asarray((largest / np.maximum(sizes, largest)) ** 2)


class Stack(NamedTuple):
    """The weights of learners."""

    hats: Hats  # the functions of the noise size
    weights: Floats  # of each learner at each knot, (n_knots, n_learners)
    mean: Floats  # of the targets

    @classmethod
    def learnt(cls, hats: Hats, sizes: Floats, guesses: Sequence[Floats], Y: Floats, n_blind: int = 0) -> Stack:
        """Learn weights from predictions, each of shape (n, n_targets), of bags that the learners have not seen.

        The last `n_blind` are of learners that do not see noise.
        """
        mean = Y.mean(axis=0)
        functions = hats(sizes)
        # One column per knot and learner, one row per bag and target.
        columns = [(functions[:, [j]] * (guess - mean)).ravel() for j in range(functions.shape[1]) for guess in guesses]
        design, targets = np.stack(columns, axis=1), (Y - mean).ravel()
        # A least-squares prior keeps knots with few bags sensible.
        is_sighted = np.arange(len(guesses)) < len(guesses) - n_blind
        if n_blind:
            expected, priors = np.where(is_sighted, 0.0, 1 / n_blind), np.where(is_sighted, _WARY_PRIOR, _PRIOR)
        else:
            expected, priors = np.full(len(guesses), 1 / len(guesses)), np.full(len(guesses), _PRIOR)
        n_knots = functions.shape[1]
        strength = np.tile(np.sqrt(priors * np.mean(targets**2) * len(targets) / n_knots), n_knots)
        weights, _ = nnls(
            np.concatenate([design, np.diag(strength)]),
            np.concatenate([targets, strength * np.tile(expected, n_knots)]),
        )
        return cls(hats, weights.reshape(functions.shape[1], len(guesses)), mean)

    def combined(self, sizes: Floats, guesses: Sequence[Floats]) -> Floats:
        """Return predictions of shape (n, n_targets)."""
        weights = (self.hats(sizes) @ self.weights) * self.hats.kept(sizes)[:, None]
        moved = [weights[:, [k]] * (guess - self.mean) for k, guess in enumerate(guesses)]
        return np.asarray(self.mean + sum(moved))
