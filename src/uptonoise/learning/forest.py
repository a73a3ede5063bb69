"""Boosted trees as plain arrays: fitted by scikit-learn, and then predicted from and saved without it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from uptonoise._util.typing import Floats

_BAGS_AT_ONCE = 1_024
_FIELDS = ("feature_idx", "num_threshold", "left", "right", "is_leaf", "value")
_SETTINGS: dict[str, Any] = {
    "learning_rate": 0.1,
    "max_iter": 100,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 20,
    "max_features": 0.2,
    "early_stopping": False,
}


class Forest(NamedTuple):
    """Trees whose leaves are summed up, one column of sums for each target.

    Attributes
    ----------
    feature, left, right : array of int, of shape (n_nodes,)
        The feature of each node, and the places of its children; those of a leaf are the leaf itself.
    threshold, value : array of shape (n_nodes,)
        Rows go left where the feature is at most the threshold; the value of a leaf.
    roots : array of int, of shape (n_trees, n_outputs)
        Where each tree starts.
    baseline : array of shape (n_outputs,)
        What leaves add to.
    depth : array of int, of shape (1,)
        The depth of the deepest tree.
    """

    feature: NDArray[np.int64]
    threshold: Floats
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Floats
    roots: NDArray[np.int64]
    baseline: Floats
    depth: NDArray[np.int64]

    @classmethod
    def of(cls, model: Any) -> Forest:
        """Return the trees of a fitted HistGradientBoosting model."""
        trees = [[tree.nodes for tree in of_outputs] for of_outputs in model._predictors]
        flat = [nodes for of_outputs in trees for nodes in of_outputs]
        starts = np.concatenate([[0], np.cumsum([len(nodes) for nodes in flat])])
        feature, threshold, left, right, is_leaf, value = (
            np.concatenate([nodes[name] for nodes in flat]) for name in _FIELDS
        )
        shifts = np.repeat(starts[:-1], np.diff(starts))
        own = np.arange(starts[-1])
        is_leaf = is_leaf.astype(bool)
        return cls(
            np.where(is_leaf, 0, feature).astype(np.int64),
            np.where(is_leaf, np.inf, threshold),
            np.where(is_leaf, own, left.astype(np.int64) + shifts),
            np.where(is_leaf, own, right.astype(np.int64) + shifts),
            value.astype(np.float64),
            starts[:-1].reshape(len(trees), -1),
            np.ravel(model._baseline_prediction).astype(np.float64),
            np.array([max(int(nodes["depth"].max()) for nodes in flat)]),
        )

    def sums(self, X: Floats) -> Floats:
        """Return the sums of the leaves, of shape (n, n_outputs)."""
        parts = [self._sums(X[start : start + _BAGS_AT_ONCE]) for start in range(0, len(X), _BAGS_AT_ONCE)]
        return np.concatenate(parts)

    def _sums(self, X: Floats) -> Floats:
        places = np.broadcast_to(self.roots.ravel(), (len(X), self.roots.size))
        rows = np.arange(len(X))[:, None]
        for _ in range(int(self.depth[0])):
            goes_left = X[rows, self.feature[places]] <= self.threshold[places]
            places = np.where(goes_left, self.left[places], self.right[places])
        leaves = self.value[places].reshape(len(X), *self.roots.shape)
        return np.asarray(leaves.sum(axis=1) + self.baseline)


def boosted_regression(X: Floats, y: Floats, seed: int) -> Forest:
    """Return boosted trees for a number."""
    return Forest.of(HistGradientBoostingRegressor(random_state=seed, **_SETTINGS).fit(X, y))


def boosted_classes(X: Floats, codes: NDArray[np.int64], seed: int) -> Forest:
    """Return boosted trees for classes 0, 1, ...; their sums are logits: one for two classes, else one per class."""
    return Forest.of(HistGradientBoostingClassifier(random_state=seed, **_SETTINGS).fit(X, codes))


def class_probabilities(logits: Floats) -> Floats:
    """Return probabilities of shape (n, n_classes) from logits."""
    if logits.shape[1] == 1:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=1)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))
