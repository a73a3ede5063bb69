"""Classification of bags by networks with learnt frequencies."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from uptonoise._util.parameters import with_parameters
from uptonoise._util.typing import Floats
from uptonoise._util.wording import shown
from uptonoise.nets.base import BagNet, OnPhases, Targets
from uptonoise.nets.losses import CrossEntropy, Loss
from uptonoise.nets.parameters import documented


@documented
@with_parameters
class FourierNetClassifier(ClassifierMixin, BagNet):  # type: ignore[misc]
    """The paper's Fourier network as a classifier: Fourier features of bags, at frequencies that are learnt.

    {vectors}
    {classes}

    See Also
    --------
    PhaseNetClassifier : The same on phases, which Gaussian and similar noise does not change.

    {examples}
    >>> bags = [rng.normal(scale=1 + i % 2, size=(30, 1)) for i in range(150)]
    >>> labels = np.array(["narrow", "wide"])[np.arange(150) % 2]
    >>> model = un.nets.FourierNetClassifier(n_frequencies=10, n_epochs=10, device="cpu", random_state=0)
    >>> model.fit(bags[:100], labels[:100]).score(bags[100:], labels[100:]) > 0.9
    True
    >>> model.predict_proba(bags[:3]).shape
    (3, 2)
    """

    class_weight: dict[Any, float] | Literal["balanced"] | None = None

    @documented
    def predict_proba(self, X: Any) -> Floats:
        """Predict the probabilities of the classes; with ``statistics="training"`` they do not depend on the others.

        {bags_to}
        array of shape (n_bags, n_classes)
            In the order of `classes_`.
        """
        return self._predicted(X)

    @documented
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each bag.

        {bags_to}
        array of shape (n_bags,)
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    @documented
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of bags whose class is predicted right.

        Parameters
        ----------
        {bags}
            The bags.
        y : array of shape (n_bags,)
            Their classes, all of which were there in training.
        sample_weight : array of shape (n_bags,), optional
            A weight for each bag.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        _refuse_unseen(np.asarray(y), self.classes_)
        return float(super().score(X, y, sample_weight))

    def _fit_targets(self, y: Any, weights: Floats, continues: bool) -> Targets:
        labels = column_or_1d(y, warn=True)
        if labels.shape != (len(weights),):
            raise ValueError(f"y must have one label for each of {len(weights)} bags; got shape {labels.shape}")
        check_classification_targets(labels)
        if continues:
            _refuse_unseen(labels, self.classes_)
            classes = self.classes_
        else:
            classes = np.unique(labels[weights > 0])
        if len(classes) < 2:
            raise ValueError(f"y must have at least 2 classes; got only {shown(classes[0])}")
        self.classes_: NDArray[Any] = classes
        codes = np.searchsorted(classes, labels).clip(max=len(classes) - 1)  # labels without weight may be no class
        by_class = compute_sample_weight(self.class_weight, labels)
        return Targets(torch.from_numpy(codes), weights * by_class, codes)

    def _loss(self) -> Loss:
        return CrossEntropy(len(self.classes_))

    def _target_state(self) -> dict[str, Any]:
        return {"classes": self.classes_.tolist(), "dtype": self.classes_.dtype.str}

    def _set_target_state(self, state: dict[str, Any]) -> None:
        self.classes_ = np.array(state["classes"], dtype=np.dtype(state["dtype"]))


@documented
@with_parameters
class PhaseNetClassifier(OnPhases, FourierNetClassifier):
    """The paper's phase network as a classifier: phase features of bags, at frequencies that are learnt.

    {phases}
    {classes}

    See Also
    --------
    FourierNetClassifier : The same with the amplitude.

    {examples}
    >>> labels = np.arange(150) % 2
    >>> bags = [rng.gamma(1 + 5 * label, size=(40, 1)) for label in labels]
    >>> model = un.nets.PhaseNetClassifier(n_frequencies=10, n_epochs=10, device="cpu", random_state=0)
    >>> model.fit(bags[:100], labels[:100]).score(bags[100:], labels[100:]) > 0.9
    True
    """


def _refuse_unseen(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    unseen = np.setdiff1d(labels, classes)
    if len(unseen):
        raise ValueError(
            f"y has labels that were not there in training: {', '.join(map(shown, unseen[:5]))}; the model knows "
            f"{', '.join(map(shown, classes[:10]))}"
        )
