"""Predict the class of each bag, also where new bags are noisier, with calibrated probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.multiclass import check_classification_targets

from uptonoise._util.parameters import with_parameters
from uptonoise._util.typing import Floats
from uptonoise._util.wording import shown
from uptonoise.learning.bag_model import BagModel
from uptonoise.learning.docs import described
from uptonoise.learning.inputs import bags_in_memory
from uptonoise.learning.solver import Split
from uptonoise.learning.splits import checked_splits
from uptonoise.learning.targets import checked_classes, given_targets

_LEAST_PROBABILITY = 1e-3


@described
@with_parameters
class BagClassifier(ClassifierMixin, BagModel):  # type: ignore[misc]
    """Predict the class of each bag, also where new bags are noisier than those of fit.

    As :class:`BagRegressor`, with probabilities that are calibrated under noise: where noise leaves no information they
    are the shares of the classes in fit.

    Parameters
    ----------
    {bag_model}

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes.
    {fitted_bag_model}

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> kinds = np.array(["short", "long"])[rng.integers(2, size=120)]
    >>> bags = un.Bags([rng.gamma(1 if kind == "short" else 3, size=(40, 1)) for kind in kinds])
    >>> model = un.BagClassifier(random_state=0).fit(bags[:80], kinds[:80])
    >>> model.score(bags[80:], kinds[80:]) > 0.9
    True
    >>> model.predict_proba(bags[80:]).shape
    (40, 2)
    """

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, of shape (n_bags, n_classes).

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, or RowSource with bags
            The bags, with the columns of fit.
        """
        shares = np.maximum(self._predicted(X)[1].predicted, _LEAST_PROBABILITY)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each bag; it does not depend on the other bags in the call."""
        codes = self._predicted(X)[1].predicted.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of right classes; `y` is what ``fit`` takes."""
        return float(super().score(X, given_targets(y, bags_in_memory(X)), sample_weight))

    def _targets(self, y: Any, n_bags: int) -> Floats:
        labels = checked_classes(y, n_bags)
        try:
            self.classes_, codes = np.unique(labels, return_inverse=True)
        except TypeError:
            raise ValueError("y must have classes of one kind, text or numbers; got a mixture") from None
        check_classification_targets(labels)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least 2 classes; got {shown(self.classes_[0])} for every bag")
        return np.eye(len(self.classes_))[codes]

    def _folds(self, Y: Floats, groups: Any) -> int:
        least = int(Y.sum(axis=0).min())
        if least < 2:
            lonely = shown(self.classes_[Y.sum(axis=0).argmin()])
            raise ValueError(f"y must have at least 2 bags of each class; class {lonely} has {least}")
        return super()._folds(Y, groups) if groups is not None else min(super()._folds(Y, groups), least)

    def _splits(self, Y: Floats, groups: Any, seed: int) -> list[Split]:
        cv = self._folds(Y, groups) if self.cv is None else self.cv
        is_count = isinstance(cv, int | np.integer) and not isinstance(cv, bool)
        if is_count and groups is None and 2 <= cv <= len(Y):
            counts = Y.sum(axis=0)
            if counts.min() < cv:
                raise ValueError(
                    f"y must have at least as many bags of each class as folds, {cv}; class "
                    f"{shown(self.classes_[counts.argmin()])} has {int(counts.min())}. Give a smaller cv, or more bags"
                )
            cv = StratifiedKFold(cv, shuffle=True, random_state=seed)
        return checked_splits(cv, Y.argmax(axis=1), groups, seed)
