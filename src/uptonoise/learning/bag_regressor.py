"""Predict a number from each bag, also where new bags are noisier, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from uptonoise._util.parameters import with_parameters
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_number
from uptonoise.learning.bag_model import BagModel
from uptonoise.learning.conformal import Added, Conformal, Known
from uptonoise.learning.docs import described
from uptonoise.learning.ensemble import Copies, OutOfFold
from uptonoise.learning.inputs import bags_in_memory
from uptonoise.learning.targets import checked_targets, given_targets


@described
@with_parameters
class BagRegressor(RegressorMixin, BagModel):  # type: ignore[misc]
    """Predict a number from each bag, also where new bags are noisier than those of fit.

    Summaries of the bags (:class:`BagSummary`) and of copies with noise of many sizes go to ridge regression, kernel
    ridge regression and boosted trees. Their weights depend on the noise of a bag, which is estimated, and are chosen
    by cross-validation under noise. No parameter needs tuning.

    Parameters
    ----------
    {bag_model}

    Attributes
    ----------
    {fitted_bag_model}

    See Also
    --------
    BagRidgeCV : A linear model of phases, which is faster, and reads bags that do not fit into memory.

    {gamma_bags}
    >>> model = un.BagRegressor(random_state=0).fit(bags[:200], shapes[:200])
    >>> model.score(bags[200:], shapes[200:]) > 0.9
    True
    >>> low, high = model.predict_interval(bags[200:], coverage=0.9).T
    >>> bool(np.mean((low <= shapes[200:]) & (shapes[200:] <= high)) > 0.8)
    True
    """

    @described
    def predict(self, X: Any) -> Floats:
        """Predict the target of each bag; it does not depend on the other bags in the call.

        {bags_to_predict}
        array of shape (n_bags,)
        """
        return self._predicted(X)[1].predicted[:, 0]

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Return an interval for the target of each bag.

        The intervals are calibrated on bags that the learners have not seen, with noise of all sizes that the model was
        fitted against; they are wider where a bag is noisier or has fewer rows. They have the coverage at each of these
        noise sizes, on average over bags.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, or RowSource with bags
            The bags, with the columns of fit.
        coverage : float
            The share of bags whose target is in the interval.

        Returns
        -------
        array of shape (n_bags, 2)
        """
        share = checked_number(coverage, "coverage", above=True, most=1.0)
        bags, predicted = self._predicted(X)
        known = _known(predicted, bags.sizes)
        half = self.conformal_.half_widths(known, share)
        return np.stack([known.predicted - half, known.predicted + half], axis=1)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R2 of predictions; `y` is what ``fit`` takes."""
        return float(super().score(X, given_targets(y, bags_in_memory(X)), sample_weight))

    def _targets(self, y: Any, n_bags: int) -> Floats:
        values = checked_targets(y, n_bags)
        if values.ndim != 1:
            raise ValueError(
                f"y must have one number for each of {n_bags} bags; got shape {values.shape}. Fit one model per target"
            )
        return values[:, None]

    def _calibrate(self, copies: Copies, Y: Floats, out_of_fold: OutOfFold) -> None:
        known = _known(out_of_fold, copies.rows[out_of_fold.places])
        bag = copies.bag[out_of_fold.places]
        added = Added(copies.sizes[out_of_fold.places], copies.heavy[out_of_fold.places])
        hats = self.ensemble_.stack.hats
        self.conformal_ = Conformal.learnt(hats, known, Y[bag, 0], bag, added, self.largest_noise_)


def _known(predicted: OutOfFold, rows: Any) -> Known:
    counts = np.asarray(rows, dtype=np.float64)
    return Known(predicted.sizes, counts, predicted.predicted[:, 0], predicted.disagreement, predicted.tails)
