"""Ridge regression and kernel ridge regression on features of bags, cross-fitted at every penalty by sums over folds.

Both are linear: in the features themselves, or in their kernel with some of the bags, the landmarks,

    k(x, l)  =  exp(-gamma |x - l|^2)        gamma = 0.1 / number of features

so that one matrix of products per fold gives the predictions of bags that a fold leaves out, at every penalty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.metrics.pairwise import rbf_kernel

from uptonoise._util.typing import Floats
from uptonoise.learning.solver import Split

RIDGE_PENALTIES = (3.0, 10.0, 30.0, 100.0, 300.0)
KERNEL_PENALTIES = (0.1, 0.3, 1.0, 3.0)
_GAMMA = 0.1
_MOST_LANDMARKS = 1_000
_JITTER = 1e-8


class Standard(NamedTuple):
    """How features become comparable: by median and SD of the clean bags, and arcsinh beyond these.

    Noise moves some features a hundred times further than bags differ: the logarithm of large values keeps both apart.
    """

    centre: Floats
    scale: Floats

    @classmethod
    def of(cls, clean: Floats, every: Floats) -> Standard:
        """Learn from the features of clean bags, and from all where those are constant."""
        scale = clean.std(axis=0)
        constant = scale <= 1e-9 * (np.abs(every).max(axis=0) + 1e-9)
        return cls(np.median(clean, axis=0), np.where(constant, every.std(axis=0) + 1e-9, scale))

    def __call__(self, features: Floats) -> Floats:
        """Return features that are comparable."""
        return np.arcsinh((features - self.centre) / self.scale)


class Linear(NamedTuple):
    """A model that is linear in features, or in the kernel with landmarks where there are any."""

    coef: Floats
    feature_mean: Floats
    intercept: Floats
    landmarks: Floats

    def predict(self, X: Floats) -> Floats:
        """Return predictions of shape (n, n_targets) from standardised features."""
        inputs = _kernel(X, self.landmarks) if len(self.landmarks) else X
        return np.asarray((inputs - self.feature_mean) @ self.coef + self.intercept)


CrossFitted = tuple[Linear, Floats, float]
"""A model fitted on all bags, predictions of each bag by a model that has not seen it, and the penalty."""


def fitted_ridge(X: Floats, Y: Floats, splits: list[Split]) -> CrossFitted:
    """Fit ridge regression on standardised features; Y has shape (n, n_targets)."""
    return _cross_fitted(X, np.eye(X.shape[1]), Y, splits, RIDGE_PENALTIES, np.empty((0, X.shape[1])))


def fitted_kernel(X: Floats, Y: Floats, splits: list[Split], generator: np.random.Generator) -> CrossFitted:
    """Fit kernel ridge regression; landmarks are sampled from all bags, without their targets."""
    chosen = np.sort(generator.permutation(len(X))[:_MOST_LANDMARKS])
    landmarks = X[chosen]
    inputs = _kernel(X, landmarks)
    return _cross_fitted(inputs, inputs[chosen], Y, splits, KERNEL_PENALTIES, landmarks)


def _kernel(X: Floats, landmarks: Floats) -> Floats:
    return np.asarray(rbf_kernel(X, landmarks, gamma=_GAMMA / X.shape[1]))


class _Sums(NamedTuple):
    """Sums over rows from which a centred least-squares problem is solved."""

    number: float
    inputs: Floats
    targets: Floats
    squares: Floats
    products: Floats

    @classmethod
    def of(cls, inputs: Floats, Y: Floats) -> _Sums:
        return cls(len(inputs), inputs.sum(axis=0), Y.sum(axis=0), inputs.T @ inputs, inputs.T @ Y)

    def without(self, other: _Sums) -> _Sums:
        pairs: Any = zip(self, other, strict=True)
        return _Sums(*(mine - theirs for mine, theirs in pairs))

    def solved(self, metric: Floats, penalty: float) -> tuple[Floats, Floats, Floats]:
        """Return coefficients, the mean of the inputs, and the mean of the targets."""
        mean, intercept = self.inputs / self.number, self.targets / self.number
        squares = self.squares - self.number * np.outer(mean, mean) + penalty * metric
        squares[np.diag_indices_from(squares)] += _JITTER * np.trace(squares) / len(squares)
        return cho_solve(cho_factor(squares), self.products - np.outer(self.inputs, intercept)), mean, intercept


def _cross_fitted(
    inputs: Floats, metric: Floats, Y: Floats, splits: list[Split], penalties: tuple[float, ...], landmarks: Floats
) -> CrossFitted:
    every = _Sums.of(inputs, Y)
    guesses = np.zeros((len(penalties), *Y.shape))
    counts = np.zeros(len(Y))
    for train, test in splits:
        if len(train) + len(test) == len(Y):  # the rows that a fold leaves out are few: their sums are subtracted
            sums = every.without(_Sums.of(inputs[test], Y[test]))
        else:
            sums = _Sums.of(inputs[train], Y[train])
        for place, penalty in enumerate(penalties):
            coef, mean, intercept = sums.solved(metric, penalty)
            guesses[place, test] += (inputs[test] - mean) @ coef + intercept
        counts[test] += 1
    judged = counts > 0
    guesses[:, judged] /= counts[judged, None]
    best = int(np.argmin(np.mean((guesses[:, judged] - Y[judged]) ** 2, axis=(1, 2))))
    coef, mean, intercept = every.solved(metric, penalties[best])
    return Linear(coef, mean, intercept, landmarks), guesses[best], penalties[best]
