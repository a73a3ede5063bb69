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
    """Trees whose leaves are summed up: for a number, or as logits for classes, of which two have one for both."""

    feature: NDArray[np.int64]  # of each node
    threshold: Floats  # of each node: rows go left where the feature is at most that
    left: NDArray[np.int64]  # the places of children; that of a leaf is the leaf itself
    right: NDArray[np.int64]
    value: Floats  # of each leaf
    roots: NDArray[np.int64]  # where each tree starts, (n_trees, n_outputs)
    baseline: Floats  # what leaves add to, (n_outputs,)
    depth: NDArray[np.int64]  # of the deepest tree, (1,)

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

    def predict(self, X: Floats, n_targets: int) -> Floats:
        """Return the number, or the probabilities of several classes, of shape (n, n_targets)."""
        sums = []
        for start in range(0, len(X), _BAGS_AT_ONCE):
            part = X[start : start + _BAGS_AT_ONCE]
            places = np.broadcast_to(self.roots.ravel(), (len(part), self.roots.size))
            rows = np.arange(len(part))[:, None]
            for _ in range(int(self.depth[0])):
                goes_left = part[rows, self.feature[places]] <= self.threshold[places]
                places = np.where(goes_left, self.left[places], self.right[places])
            leaves = self.value[places].reshape(len(part), *self.roots.shape)
            sums.append(leaves.sum(axis=1) + self.baseline)
        outputs = np.concatenate(sums)
        if n_targets == 1:
            return outputs
        if outputs.shape[1] == 1:
            outputs = np.concatenate([np.zeros_like(outputs), outputs], axis=1)
        odds = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def boosted(X: Floats, y: NDArray[Any], seed: int) -> Forest:
    """Return boosted trees for numbers, or for classes 0, 1, ... which are whole numbers."""
    kind = HistGradientBoostingRegressor if y.dtype.kind == "f" else HistGradientBoostingClassifier
    return Forest.of(kind(random_state=seed, **_SETTINGS).fit(X, y))
