"""Ridge regression on bags: features of each bag, whose scale is tuned together with the penalty.

The paper's models are linear in features of a bag: its phase or Fourier features or its mean (the first layer), and
optionally random Fourier features of those (the second layer, a Gaussian kernel between bags).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from uptonoise._util.parameters import with_parameters
from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats, Precision
from uptonoise._util.validation import checked_choice, checked_flag
from uptonoise.bags import Bags, checked_weights
from uptonoise.learning.docs import described
from uptonoise.learning.features import Amplitude, FourierFeatures, PhaseFeatures
from uptonoise.learning.inputs import as_bags, refuse_tables
from uptonoise.learning.mean_features import MeanFeatures
from uptonoise.learning.model_files import load_ridge, save_ridge
from uptonoise.learning.noise import add_noise
from uptonoise.learning.search import (
    NO_FEATURES,
    BagStream,
    Candidate,
    SearchNoise,
    candidates,
    checked_numbers,
    search_results,
)
from uptonoise.learning.solver import RidgeSums, Split, cross_validated, error_size
from uptonoise.learning.splits import checked_splits
from uptonoise.learning.steadiness import Predicted, Steadiness, knows_errors
from uptonoise.learning.targets import checked_targets, given_targets
from uptonoise.learning.tuning import Tolerance, checked_tolerance, smoothest_within, warn_at_edges
from uptonoise.rows import RowSource

SCALE_FACTORS = tuple((2.0 ** np.arange(-5, 6)).tolist())
SECOND_SCALE_FACTORS = tuple((2.0 ** np.arange(-2, 5)).tolist())
ALPHAS = tuple(np.geomspace(1e-8, 1e3, 23).tolist())
PAPER_MODELS = {
    "plrr": ("phase", None),
    "glrr": ("fourier", None),
    "lgrr": ("mean", "fourier"),
    "pgrr": ("phase", "fourier"),
    "ggrr": ("fourier", "fourier"),
}
"""The paper's models: their features, and the features of those."""

_PAPER_SETTINGS: dict[str, Any] = {
    "n_frequencies": 75,
    "n_second": 75,
    "amplitude": "plain",
    "steady": False,
    "scale": "median",
}
_BAGS_AT_ONCE = 8_192


@described
@with_parameters
class BagRidgeCV(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Ridge regression on features of bags, with scales and penalty chosen by cross-validation.

    Parameters
    ----------
    first : {"phase", "fourier", "mean"} or transformer
        The features of a bag: the paper's phase or Fourier features, or its mean; or any transformer of bags to
        vectors, whose parameter ``scale_factor``, if it has one, is tuned.
    second : None, "fourier" or transformer
        Features of those features: None for a linear model, "fourier" for a Gaussian kernel between bags.
    n_frequencies, n_second : int
        The numbers of frequencies in the first and in the second layer.
    amplitude : {"shrunk", "plain"}
        As for :class:`PhaseFeatures`, where the first layer is "phase".
    alphas : sequence of float
        The penalties to try.
    scale : "median-per-column", "median", float, or array
        The length scale of the first layer, as for :class:`PhaseFeatures`. By default each column has its own, so that
        no prediction depends on the units of a column; the paper's models have one for all columns.
    scale_factors, second_scale_factors : sequence of float
        The scales to try in each layer, in units of `scale` and of the median heuristic.
    steady : bool
        Whether predictions of bags that are less reliable than those of fit (more noise, fewer rows) are shrunk
        towards the mean: :mod:`uptonoise.learning.steadiness`. It needs phases as the first layer, reads the rows once
        more, and changes no prediction of a bag like those of fit.
    tolerance : "standard error" or float
        How much larger than the smallest error that of the chosen model may be: by one standard error over bags, or by
        a share of it. Of the models within it, that with the largest penalty is chosen, then that with the largest
        scale of the last layer: it predicts about as well, and is more robust to noise. A choice at the edge of a grid
        gives a :class:`GridEdgeWarning`.
    cv : int, splitter or iterable
        The number of random folds, by group where groups are given; or a scikit-learn splitter, such as
        ``PredefinedSplit`` for a validation set.
    noise_augmentation : None, float or sequence of float
        Sizes of noise that the bags do not have, and that the model is fitted against: bags with Gaussian noise of a
        variance between 0 and the size times that of the column are added in the Fourier domain. Of several sizes the
        best for `noise_target` is chosen; 0 is none.
    noise_target : pair of float, optional
        The range of noise sizes that scales, penalty and noise are tuned for; by default from 0 to the largest size.
    fit_intercept : bool
        Whether the model has an intercept.
    precision : {"fast", "float64"}
        As for :func:`~uptonoise.ecf`.
    random_state : None, int, Generator or RandomState
        The seed of frequencies and folds.

    Attributes
    ----------
    best_params_ : dict
        ``alpha``, ``scale_factor`` and ``second_scale_factor`` that were chosen.
    best_index_ : int
        Their place in `cv_results_`.
    best_score_ : float
        Minus their error: the mean squared error, averaged over folds and targets.
    cv_results_ : dict of arrays
        As scikit-learn's searches have it: ``params``, ``param_...``, ``split0_test_score``, ...,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``.
    first_, second_ : transformers
        The features, fitted on all bags.
    coef_ : array of shape (p,) or (n_targets, p)
        The coefficients of the model that was fitted on all bags.
    intercept_ : float or array
        Its intercept.
    steadiness_ : Steadiness or None
        How reliable its predictions on those bags are, where `steady` has a meaning.
    n_features_in_ : int
        The number of columns of the bags.
    noise_range_ : pair of float, or None
        The noise sizes that the model was tuned for.
    by_ : str or None
        The column that names the bags in the file that the model was fitted on, where there was one.

    {gamma_bags}
    >>> model = un.BagRidgeCV("phase", n_frequencies=50, random_state=0).fit(bags[:200], shapes[:200])
    >>> model.score(bags[200:], shapes[200:]) > 0.9
    True
    >>> sorted(model.best_params_)
    ['alpha', 'scale_factor']
    """

    first: Any = field(default="phase", kw_only=False)
    second: Any = field(default=None, kw_only=False)
    n_frequencies: int = 100
    n_second: int = 100
    amplitude: Amplitude = "shrunk"
    alphas: Sequence[float] = ALPHAS
    scale: Any = "median-per-column"
    scale_factors: Sequence[float] = SCALE_FACTORS
    second_scale_factors: Sequence[float] = SECOND_SCALE_FACTORS
    steady: bool = True
    tolerance: Tolerance = "standard error"
    cv: Any = 3
    noise_augmentation: float | Sequence[float] | None = None
    noise_target: tuple[float, float] | None = None
    fit_intercept: bool = True
    precision: Precision = "fast"
    random_state: RandomState = None

    @classmethod
    def paper(cls, name: str, **options: Any) -> BagRidgeCV:
        """Return one of the paper's models, with its settings: 75 frequencies, plain phases, no shrinking.

        Parameters
        ----------
        name : {"plrr", "glrr", "lgrr", "pgrr", "ggrr"}
            Linear ridge regression on phase or Fourier features; or a Gaussian kernel between means, phase features or
            Fourier features.
        **options
            Other parameters.

        Examples
        --------
        >>> import uptonoise as un
        >>> un.BagRidgeCV.paper("plrr").first, un.BagRidgeCV.paper("ggrr", cv=5).second
        ('phase', 'fourier')
        """
        first, second = PAPER_MODELS[checked_choice(name, PAPER_MODELS, "name")]
        return cls(first, second, **(_PAPER_SETTINGS | options))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> BagRidgeCV:
        """Tune on folds of the bags, and fit on all of them.

        Parameters
        ----------
        X : Bags, list of arrays, 3-D array, or RowSource with bags
            The bags. Those of a source, such as ``scan_parquet(path, by="patient")``, stay where they are: they are
            read once for each scale, and what is in memory is their features.
        y : array of shape (n_bags,) or (n_bags, n_targets), or dict of targets by bag id, optional
            The targets, in the order of the bags (in a source, that of their first rows); by default the labels of the
            bags.
        sample_weight : array of shape (n_bags,), optional
            A weight for each bag.
        groups : array of shape (n_bags,), optional
            Bags of one group are never in different parts of a split.

        Returns
        -------
        BagRidgeCV
            This model.
        """
        bags = BagStream(X) if isinstance(X, RowSource) else as_bags(X)
        if len(bags) < 2:
            raise ValueError(f"X must have at least 2 bags; got {len(bags)}")
        y = checked_targets(given_targets(y, bags), len(bags))
        targets, self._y_is_flat = y.reshape(len(bags), -1), y.ndim == 1
        weights = checked_weights(sample_weight, len(bags))
        checked_flag(self.steady, "steady")
        checked_flag(self.fit_intercept, "fit_intercept")
        seeds = [int(seed) for seed in seeded_generator(self.random_state)[0].integers(2**31, size=4)]
        splits = checked_splits(self.cv, targets, groups, seeds[2])
        layers = self._layers(seeds)
        noise = SearchNoise.checked(self.noise_augmentation, self.noise_target, bags, seeds[3])
        rows = bags.rows if isinstance(bags, BagStream) else bags
        with single_threaded_blas():
            best = self._tuned(rows, noise, targets, weights, splits, layers)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.first_, self.second_ = best.first, best.second
        self.steadiness_ = self._learnt_steadiness(rows, targets, weights, noise)
        self.n_features_in_ = bags.n_columns
        self.by_: str | None = None
        self.noise_range_ = None if noise is None else noise.target
        return self

    def _layers(self, seeds: list[int]) -> tuple[Any, Any]:
        """Return unfitted transformers of both layers, with seeds of their own."""
        first, second = self.first, self.second
        if isinstance(first, str):
            if first not in ("phase", "fourier", "mean"):
                raise ValueError(f"first must be one of phase, fourier, mean, or a transformer; got {first!r}")
            options: dict[str, Any] = {
                "n_frequencies": self.n_frequencies,
                "scale": self.scale,
                "random_state": seeds[0],
                "precision": self.precision,
            }
            if first == "phase":
                smooth = second is None or isinstance(second, str | FourierFeatures)
                first = PhaseFeatures(amplitude=self.amplitude, bounded=self.steady and smooth, **options)
            else:
                first = MeanFeatures() if first == "mean" else FourierFeatures(**options)
        if isinstance(second, str):
            if second != "fourier":
                raise ValueError(f'second must be None, "fourier" or a transformer; got {second!r}')
            second = FourierFeatures(n_frequencies=self.n_second, random_state=seeds[1], precision=self.precision)
        for name, layer in (("first", first), ("second", second)):
            is_transformer = hasattr(layer, "fit") and hasattr(layer, "transform")
            if not is_transformer and not (name == "second" and layer is None):
                raise ValueError(f"{name} must be the name of features or a transformer; got {layer!r}")
        return first, second

    def _tuned(
        self,
        rows: Any,
        noise: SearchNoise | None,
        targets: Floats,
        weights: Floats,
        splits: Sequence[Split],
        layers: tuple[Any, Any],
    ) -> Candidate:
        """Try all settings, fit the chosen one on all bags, and return its features."""
        alphas, tolerance = checked_numbers("alphas", self.alphas), checked_tolerance(self.tolerance)
        tried = []
        for scaled in candidates(*layers, rows, self.scale_factors, self.second_scale_factors, noise):
            data = scaled.fitted, scaled.judged, targets, weights
            errors = cross_validated(*data, splits, alphas, self.fit_intercept)
            tried.append(scaled._replace(errors=errors, fitted=NO_FEATURES, judged=NO_FEATURES))
        self.cv_results_ = search_results(tried, alphas)
        least = int(self.cv_results_["mean_test_score"].argmax())
        number, place = divmod(least, len(alphas))
        best = tried[number].again(rows, noise)
        data = best.fitted, best.judged, targets, weights
        size = error_size(*data, splits, alphas[place], self.fit_intercept)
        error = -float(self.cv_results_["mean_test_score"][least])
        limit = error + (size.standard_error if isinstance(tolerance, str) else tolerance * error)
        self.best_index_ = smoothest_within(self.cv_results_, limit)
        chosen, place = divmod(self.best_index_, len(alphas))
        if chosen != number:
            best = tried[chosen].again(rows, noise)
        sums = RidgeSums.of(best.fitted, targets, weights)
        centre = sums.centre(self.fit_intercept)
        coef = sums.solved(alphas[[place]], centre)[:, :, 0].T
        intercept = centre[1] - coef @ centre[0]
        self.coef_ = coef[0] if self._y_is_flat else coef
        self.intercept_ = float(intercept[0]) if self._y_is_flat else intercept
        if size.of_constant > limit:  # else no setting is better than a constant, and there is nothing to tune
            warn_at_edges(self.cv_results_, self.best_index_)
        return best

    def _learnt_steadiness(
        self, rows: Any, targets: Floats, weights: Floats, noise: SearchNoise | None
    ) -> Steadiness | None:
        """Learn how reliable predictions are on the bags of fit, with the noise that they were fitted against."""
        if not self.steady or not knows_errors(self.first_, self.second_):
            return None
        size = self.best_params_.get("noise_level", 0.0)
        if noise is not None and size > 0:
            rows = add_noise(rows, size, variances=noise.variances, random_state=noise.seed)
        return Steadiness.learnt(Predicted.joined(list(self._predicted(rows))), targets, weights)

    def _predicted(self, X: Any) -> Iterator[Predicted]:
        """Yield predictions with their sampling variances: those of bags in memory in parts, since they need room."""
        starts = range(0, len(X), _BAGS_AT_ONCE) if isinstance(X, Bags) else [0]
        for start in starts:
            part = X[start : start + _BAGS_AT_ONCE] if isinstance(X, Bags) else X
            coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
            yield Predicted.of(part, self.first_, self.second_, coef, intercept)

    def transform(self, X: Any) -> Floats:
        """Return the features that the model is linear in, of shape (n_bags, p)."""
        check_is_fitted(self)
        F = np.asarray(self.first_.transform(X))
        return F if self.second_ is None else np.asarray(self.second_.transform(F))

    @described
    def predict(self, X: Any) -> Floats:
        """Predict the target of each bag; it does not depend on the other bags in the call.

        {bags_to_predict}
        array of shape (n_bags,) or (n_bags, n_targets)
        """
        check_is_fitted(self)
        refuse_tables(X)
        if self.steadiness_ is None:
            return np.asarray(self.transform(X) @ self.coef_.T + self.intercept_)
        steady = np.concatenate([self.steadiness_.shrunk(part) for part in self._predicted(X)], axis=1)
        return steady[0] if self._y_is_flat else np.ascontiguousarray(steady.T)

    def save(self, path: str | os.PathLike[str], *, force: bool = True) -> None:
        """Write the fitted model to a plain .npz file, whole or not at all.

        Nothing in it is executed by :meth:`load`. `force` replaces a file that exists.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> import uptonoise as un
        >>> bags = un.Bags(np.random.default_rng(0).gamma(2, size=(30, 20, 1)))
        >>> model = un.plrr(random_state=0).fit(bags, np.arange(30.0))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(pathlib.Path(folder, "model.npz"))
        ...     again = un.BagRidgeCV.load(pathlib.Path(folder, "model.npz"))
        >>> np.array_equal(again.predict(bags), model.predict(bags))
        True
        """
        save_ridge(self, path, force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BagRidgeCV:
        """Read a model that :meth:`save` wrote; it predicts, and knows its parameters, but has no `cv_results_`."""
        return load_ridge(cls, path)
