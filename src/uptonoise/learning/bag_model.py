"""What the regressor and the classifier of bags share: fitting against noise, and checks of new bags."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from uptonoise._util.parameters import with_parameters
from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.results import Result
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_flag, positive_int
from uptonoise._util.warning import warn
from uptonoise._util.wording import counted
from uptonoise.bags import BagRows, Bags
from uptonoise.learning.docs import described
from uptonoise.learning.ensemble import Copies, Ensemble, Inputs, OutOfFold, inputs_of
from uptonoise.learning.inputs import bags_in_memory, matched_bags, remember_columns
from uptonoise.learning.model_files import load_model, save_model
from uptonoise.learning.noise import checked_variances
from uptonoise.learning.noisy_copies import NoisePlan, largest_noise
from uptonoise.learning.solver import Split
from uptonoise.learning.splits import checked_splits
from uptonoise.learning.summary import BagSummary
from uptonoise.learning.targets import given_targets

_UNUSUAL_SHARE = 0.05  # of bags outside: one in a hundred is by chance
_LEAST_BAGS = 3  # two to fit on and one to judge by
_FEW, _FOLDS_OF_FEW, _FOLDS_OF_MANY = 1_000, 5, 3


class UnusualBagsWarning(UserWarning):
    """Bags are unlike those that a model was fitted on, with and without noise: see ``check``."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BagCheck(Result):
    """How noisy bags are, and which are unlike those that a model was fitted on.

    Attributes
    ----------
    ids : array of shape (n_bags,)
        The ids of the bags.
    noise : array of shape (n_bags,)
        The estimated size of the noise that a bag has and the bags of fit have not: a standard deviation in units of
        the columns' own.
    noisier : array of shape (n_bags,)
        Whether that is more than 99 in 100 of the bags of fit have.
    outside : array of shape (n_bags,)
        Whether a bag is outside of what predictions were calibrated for: more noise, another place, fewer rows.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> flags = np.array([False, True])
    >>> un.BagCheck(ids=np.array(["a", "b"]), noise=np.array([0.0, 20.0]), noisier=flags, outside=flags)
    2 bags: 1 noisier than those of fit, 1 outside of what was calibrated (b)
    """

    ids: NDArray[Any]
    noise: Floats
    noisier: NDArray[np.bool_]
    outside: NDArray[np.bool_]

    def table(self) -> dict[str, Any]:
        """Return the columns of the table: one row per bag."""
        return {"bag": self.ids, "noise": self.noise, "noisier": self.noisier, "outside": self.outside}

    def __repr__(self) -> str:
        names = [str(bag) for bag in self.ids[self.outside][:5]]
        more = ", ..." if self.outside.sum() > len(names) else ""
        which = f" ({', '.join(names)}{more})" if names else ""
        return (
            f"{counted(len(self.ids), 'bag')}: {self.noisier.sum()} noisier than those of fit, "
            f"{self.outside.sum()} outside of what was calibrated{which}"
        )


@described
@with_parameters
class BagModel(BaseEstimator, ABC):  # type: ignore[misc]
    """What the regressor and the classifier of bags share."""

    noise: Any = field(default="unknown", kw_only=False)
    invariant: bool = False
    n_frequencies: int = 30
    cv: Any = None
    random_state: RandomState = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.two_d_array = False  # a table could be one bag, or many bags of one row
        return tags

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Fit on bags, and on copies of them with noise.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, or RowSource with bags
            The bags. Those of a source are read into memory.
        y : array of shape (n_bags,), or dict or pandas Series by bag id, optional
            The targets or classes; by default the labels of the bags.
        groups : array of shape (n_bags,), optional
            Bags of one group are never in different parts of a split.

        Returns
        -------
        self
        """
        bags = bags_in_memory(X)
        if len(bags) < _LEAST_BAGS:
            raise ValueError(f"X must have at least {_LEAST_BAGS} bags; got n_samples={len(bags)}")
        checked_flag(self.invariant, "invariant")
        positive_int(self.n_frequencies, "n_frequencies")
        Y = self._targets(given_targets(y, bags), len(bags))
        generator = seeded_generator(self.random_state)[0]
        seed = int(generator.integers(2**31))
        splits = self._splits(Y, groups, seed)
        plan = NoisePlan(largest_noise(self.noise), np.sqrt(checked_variances(bags, None)))
        remember_columns(self, BagRows(bags))
        kind = "invariant" if self.invariant else "all"
        self.summary_ = BagSummary(kind, n_frequencies=self.n_frequencies, random_state=seed).fit(bags)
        self.largest_noise_, self.noise_range_ = plan.largest, (0.0, plan.largest**2)
        with single_threaded_blas():
            copies = Copies.of(bags, self.summary_, plan, generator)
            has_trees = not self.invariant
            self.ensemble_, out_of_fold = Ensemble.learnt(copies, Y, splits, has_trees, plan.largest, generator)
            self._calibrate(copies, Y, out_of_fold)
        clean = copies.sizes[out_of_fold.places] == 0
        predicted, true = out_of_fold.predicted[clean], Y[copies.bag[out_of_fold.places[clean]]]
        if Y.shape[1] == 1:
            self.cv_error_ = float(np.sqrt(np.mean((predicted - true) ** 2)))
        else:
            self.cv_error_ = float(np.mean(predicted.argmax(axis=1) != true.argmax(axis=1)))
        self.by_: str | None = None
        return self

    @abstractmethod
    def _targets(self, y: Any, n_bags: int) -> Floats:
        """Return the targets as numbers, one row for each bag; of a class, 1 in its column and 0 in others."""

    def _splits(self, Y: Floats, groups: Any, seed: int) -> list[Split]:
        """Return the splits of cross-validation."""
        return checked_splits(self._folds(Y, groups) if self.cv is None else self.cv, Y, groups, seed)

    def _folds(self, Y: Floats, groups: Any) -> int:
        """Return the number of folds where none is given: as many as there are bags or groups for."""
        number = len(Y) if groups is None else len(np.unique(np.asarray(groups)))
        if number < 2:
            raise ValueError("groups must be at least 2, so that a model is judged by a group it has not seen; got 1")
        return min(_FOLDS_OF_FEW if len(Y) <= _FEW else _FOLDS_OF_MANY, number)

    def _calibrate(self, copies: Copies, Y: Floats, out_of_fold: OutOfFold) -> None:
        """Learn more from predictions of bags that the learners have not seen."""

    def _predicted(self, X: Any) -> tuple[Bags, OutOfFold]:
        """Return predictions; warn where bags are unlike those of fit."""
        bags = matched_bags(X, self)
        inputs = inputs_of(self.summary_, bags)
        with single_threaded_blas():
            predicted = self.ensemble_.predicted(inputs)
        outside = self._check(bags, inputs).outside
        if outside.mean() > _UNUSUAL_SHARE:
            warn(
                f"{counted(int(outside.sum()), 'bag')} of {len(bags):,} are unlike the bags of fit, with and without "
                "noise: predictions and intervals are not calibrated for them. check(bags) says which",
                UnusualBagsWarning,
            )
        return bags, predicted

    @described
    def check(self, X: Any) -> BagCheck:
        """Return how noisy bags are, and which are unlike those that the model was fitted on.

        {bags_to_predict}
        BagCheck
        """
        bags = matched_bags(X, self)
        return self._check(bags, inputs_of(self.summary_, bags))

    def _check(self, bags: Bags, inputs: Inputs) -> BagCheck:
        profile = self.ensemble_.profile
        noise = profile.sizes(inputs.profile)
        return BagCheck(
            ids=bags.ids,
            noise=noise,
            noisier=noise > profile.noisiest_clean,
            outside=profile.distances(inputs.profile) > profile.farthest,
        )

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> None:
        """Write the fitted model to a plain .npz file, whole or not at all; `force` replaces a file that exists."""
        save_model(self, path, force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote."""
        return load_model(cls, path)
