"""Ridge regression on bags: features of each bag, whose scale is tuned together with the penalty.

The paper's models are linear in features of a bag: its phase or Fourier features or its mean (the first level), and
optionally random Fourier features of those (the second level, a Gaussian kernel between bags). With features F,
weights w and targets y, all centred by their weighted means,

    coef = (F'wF + alpha)^-1 F'wy

so everything that cross-validation needs of a set of rows is F'wF, F'wy and sums: a fold's training part is the whole
minus the fold. Each candidate scale's features are computed once, one eigendecomposition a fold solves all penalties,
and the error on the held-out part comes from its own sums.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from uptonoise._util.files import read_arrays, write_arrays
from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_flag, checked_number
from uptonoise._util.wording import counted
from uptonoise.bags import BagRows, Bags, checked_weights
from uptonoise.learning.augmentation import (
    check_no_target,
    checked_levels,
    checked_target,
    means_with_noise,
    pooled_variances,
    with_noise,
)
from uptonoise.learning.features import Amplitude, FourierFeatures, MeanFeatures, PhaseFeatures
from uptonoise.learning.noise import add_noise
from uptonoise.learning.reliability import Reliability
from uptonoise.learning.steadiness import Predicted, Steadiness, knows_errors
from uptonoise.rows import RowSource, as_real_array

SCALE_FACTORS = tuple(np.geomspace(0.25, 16.0, 10).round(4).tolist())
ALPHAS = tuple(np.geomspace(1e-8, 1e2, 21).tolist())
_PAPER_FREQUENCIES = 75
_NOISY_COPIES = 4
_JUDGED_COPIES = 2
_BAGS_AT_ONCE = 8_192
_FORMAT = "uptonoise bag ridge"
_VERSION = 1
_FIRST: dict[str, Any] = {"phase": PhaseFeatures, "fourier": FourierFeatures, "mean": MeanFeatures}
_EPSILON = np.finfo(np.float64).eps


class _Sums(NamedTuple):
    """What ridge regression needs of some rows: weighted sums of 1, F, y, and of their products."""

    weight: float
    F: Floats
    y: Floats
    FF: Floats
    Fy: Floats
    yy: Floats

    @classmethod
    def of(cls, copies: Floats, y: Floats, weights: Floats) -> _Sums:
        """Return the sums over copies of features of the same bags, of shape (copies, n, p), which share weights."""
        n_copies, _, p = copies.shape
        F, y, weights = copies.reshape(-1, p), np.tile(y, (n_copies, 1)), np.tile(weights / n_copies, n_copies)
        weighted = F * weights[:, None]
        return cls(
            float(weights.sum()), weighted.sum(axis=0), weights @ y, F.T @ weighted, weighted.T @ y, weights @ y**2
        )

    def less(self, other: _Sums) -> _Sums:
        """Return the sums of the rows that are not among the others."""
        return _Sums(
            self.weight - other.weight,
            self.F - other.F,
            self.y - other.y,
            self.FF - other.FF,
            self.Fy - other.Fy,
            self.yy - other.yy,
        )

    def about(self, F: Floats, y: Floats) -> _Sums:
        """Return the sums of features less `F` and of targets less `y`."""
        FF = self.FF - np.outer(self.F, F) - np.outer(F, self.F) + self.weight * np.outer(F, F)
        Fy = self.Fy - np.outer(self.F, y) - np.outer(F, self.y) + self.weight * np.outer(F, y)
        yy = self.yy - 2 * y * self.y + self.weight * y**2
        return _Sums(self.weight, self.F - self.weight * F, self.y - self.weight * y, FF, Fy, yy)

    @property
    def means(self) -> tuple[Floats, Floats]:
        """The means of features and targets."""
        return self.F / self.weight, self.y / self.weight

    def solved(self, alphas: Floats, centre: tuple[Floats, Floats]) -> Floats:
        """Return the coefficients at each penalty, of shape (p, targets, alphas)."""
        centred = self.about(*centre)
        values, vectors = np.linalg.eigh(centred.FF)
        values = np.maximum(values, 0.0)
        damped = values[:, None] + alphas
        least = _EPSILON * len(values) * max(float(values[-1]), np.finfo(np.float64).tiny)
        inverse = np.divide(1.0, damped, out=np.zeros_like(damped), where=damped > least)
        rotated = vectors.T @ centred.Fy
        scaled = rotated[:, :, None] * inverse[:, None, :]
        return np.asarray(np.tensordot(vectors, scaled, axes=1))

    def squared_errors(self, coef: Floats, centre: tuple[Floats, Floats]) -> Floats:
        """Return the mean squared errors on these rows, averaged over targets, one for each penalty."""
        centred = self.about(*centre)
        fitted = np.einsum("pta,pq,qta->ta", coef, centred.FF, coef, optimize=True)
        crossed = np.einsum("pt,pta->ta", centred.Fy, coef)
        errors = (centred.yy[:, None] - 2 * crossed + fitted) / self.weight
        return np.asarray(np.maximum(errors, 0.0).mean(axis=0))


class _Split(NamedTuple):
    """The rows that a model is fitted on, and those that it is judged by."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def _cross_validated(
    fitted: Floats,
    judged: Floats,
    y: Floats,
    weights: Floats,
    splits: Sequence[_Split],
    alphas: Floats,
    intercept: bool,
) -> Floats:
    """Return mean squared errors, of shape (splits, alphas), of models fitted on some copies and judged by others."""
    everything = _Sums.of(fitted, y, weights)
    found = []
    for train, test in splits:
        left_out = _Sums.of(fitted[:, test], y[test], weights[test])
        held_out = left_out if judged is fitted else _Sums.of(judged[:, test], y[test], weights[test])
        complementary = len(train) + len(test) == len(y)
        fitted_on = everything.less(left_out) if complementary else _Sums.of(fitted[:, train], y[train], weights[train])
        centre = fitted_on.means if intercept else _origin(fitted, y)
        found.append(held_out.squared_errors(fitted_on.solved(alphas, centre), centre))
    return np.array(found)


def _origin(F: Floats, y: Floats) -> tuple[Floats, Floats]:
    return np.zeros(F.shape[-1]), np.zeros(y.shape[-1])


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
        The numbers of frequencies at the first and at the second level.
    amplitude : {"shrunk", "plain"}
        As for :class:`PhaseFeatures`, where those are named as the first level.
    alphas : sequence of float
        The penalties to try.
    scale_factors, second_scale_factors : sequence of float
        The scales to try at each level, in units of the median heuristic.
    steady : bool
        Whether predictions of bags that are less reliable than those of fit (more noise, fewer rows) are drawn to the
        mean, as far as they are: :mod:`uptonoise.learning.steadiness`. It is for phases at the first level, reads the rows once
        more, and changes no prediction of a bag like those of fit.
    tolerance : float
        How much larger the error of the chosen model may be than the smallest one, relative to it. Of those within, the
        one with the largest penalty is chosen: it predicts as well as can be told, and stands more noise.
    cv : int, splitter or iterable
        Folds, which are drawn at random, by group where groups are given; or a scikit-learn splitter, such as
        ``PredefinedSplit`` for a validation set.
    noise_augmentation : None, float or sequence of float
        Noise levels that the bags do not have, and that the model is fitted against: bags with Gaussian noise of a
        variance between 0 and the level times that of the column are added in the Fourier domain. Of several levels the
        best for `noise_target` is chosen; 0 is none.
    noise_target : pair of float, optional
        The range of noise levels to do well at, by which scales, penalty and level are chosen; by default from 0 to the
        largest level.
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
        What is known of its predictions on those bags, where `steady` has a meaning.
    n_features_in_ : int
        The number of columns of the bags.
    noise_range_ : pair of float, or None
        The noise levels that the model was tuned for.
    by_ : str or None
        The column that names the bags in the file that the model was fitted on, where there was one.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> shapes = rng.uniform(1, 6, size=300)
    >>> bags = un.Bags([rng.gamma(shape, size=(50, 1)) for shape in shapes])
    >>> model = un.BagRidgeCV("phase", n_frequencies=50, random_state=0).fit(bags[:200], shapes[:200])
    >>> model.score(bags[200:], shapes[200:]) > 0.9
    True
    >>> sorted(model.best_params_)
    ['alpha', 'scale_factor']
    """

    def __init__(
        self,
        first: Any = "phase",
        second: Any = None,
        *,
        n_frequencies: int = 100,
        n_second: int = 100,
        amplitude: Amplitude = "shrunk",
        alphas: Sequence[float] = ALPHAS,
        scale_factors: Sequence[float] = SCALE_FACTORS,
        second_scale_factors: Sequence[float] = SCALE_FACTORS,
        steady: bool = True,
        tolerance: float = 0.02,
        cv: Any = 3,
        noise_augmentation: float | Sequence[float] | None = None,
        noise_target: tuple[float, float] | None = None,
        fit_intercept: bool = True,
        precision: str = "fast",
        random_state: RandomState = None,
    ) -> None:
        self.first = first
        self.second = second
        self.n_frequencies = n_frequencies
        self.n_second = n_second
        self.amplitude = amplitude
        self.alphas = alphas
        self.scale_factors = scale_factors
        self.second_scale_factors = second_scale_factors
        self.steady = steady
        self.tolerance = tolerance
        self.cv = cv
        self.noise_augmentation = noise_augmentation
        self.noise_target = noise_target
        self.fit_intercept = fit_intercept
        self.precision = precision
        self.random_state = random_state

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
        bags = _as_bags(X)
        targets, self._y_is_flat = _checked_targets(bags, y)
        weights = checked_weights(sample_weight, len(bags))
        alphas = _checked_numbers("alphas", self.alphas, least=0.0)
        tolerance = checked_number(self.tolerance, "tolerance")
        checked_flag(self.steady, "steady")
        generator, _ = seeded_generator(self.random_state)
        seeds = [int(seed) for seed in generator.integers(2**31, size=4)]
        splits = _checked_splits(self.cv, bags, targets, groups, seeds[2])
        levels = self._levels(seeds)
        if isinstance(bags, _BagStream) and self.noise_augmentation is not None:
            raise ValueError("noise_augmentation needs bags in memory; read them with Bags.from_rows, or leave it out")
        noise = _Noise.checked(self.noise_augmentation, self.noise_target, bags, seeds[3])
        tried: list[_Candidate] = []
        with single_threaded_blas:
            rows = bags.source if isinstance(bags, _BagStream) else bags
            for one in _candidates(*levels, rows, self.scale_factors, self.second_scale_factors, noise):
                errors = _cross_validated(one.fitted, one.judged, targets, weights, splits, alphas, self.fit_intercept)
                tried.append(replace(one, errors=errors, fitted=np.empty(0), judged=np.empty(0)))
            self._set_results(tried, alphas)
            self.best_index_ = _chosen(self.cv_results_, tolerance)
            self.best_params_ = self.cv_results_["params"][self.best_index_]
            self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
            number, at = divmod(self.best_index_, len(alphas))
            best = tried[number].again(rows, noise)
            self._refit(best.fitted, targets, weights, alphas[[at]])
        self.first_, self.second_ = best.first, best.second
        self.steadiness_ = self._learnt_steadiness(rows, weights, noise)
        self.n_features_in_ = bags.n_columns
        self.by_: str | None = None
        self.noise_range_ = None if noise is None else noise.target
        return self

    def _levels(self, seeds: list[int]) -> tuple[Any, Any]:
        """Return unfitted transformers of both levels, with seeds of their own."""
        common: dict[str, Any] = {"precision": self.precision}
        first: Any = self.first
        if isinstance(first, str):
            if first not in _FIRST:
                raise ValueError(f"first must be one of {', '.join(_FIRST)}, or a transformer; got {first!r}")
            drawn: dict[str, Any] = {"n_frequencies": self.n_frequencies, "random_state": seeds[0], **common}
            if first == "phase":
                smooth = self.second is None or isinstance(self.second, str | FourierFeatures)
                drawn |= {"amplitude": self.amplitude, "bounded": self.steady and smooth}
            first = MeanFeatures() if first == "mean" else _FIRST[first](**drawn)
        second: Any = self.second
        if isinstance(second, str):
            if second != "fourier":
                raise ValueError(f'second must be None, "fourier" or a transformer; got {second!r}')
            second = FourierFeatures(n_frequencies=self.n_second, random_state=seeds[1], **common)
        for name, level in (("first", first), ("second", second)):
            if not hasattr(level, "transform") and not (name == "second" and level is None):
                raise ValueError(f"{name} must be the name of features or a transformer; got {level!r}")
        return first, second

    def _refit(self, copies: Floats, targets: Floats, weights: Floats, alpha: Floats) -> None:
        sums = _Sums.of(copies, targets, weights)
        centre = sums.means if self.fit_intercept else _origin(copies, targets)
        coef = sums.solved(alpha, centre)[:, :, 0].T
        intercept = centre[1] - coef @ centre[0]
        self.coef_ = coef[0] if self._y_is_flat else coef
        self.intercept_ = float(intercept[0]) if self._y_is_flat else intercept

    def _learnt_steadiness(self, rows: Any, weights: Floats, noise: _Noise | None) -> Steadiness | None:
        """Learn how reliable predictions are on the bags of fit, with the noise that they were fitted against."""
        if not self.steady or not knows_errors(self.first_, self.second_):
            return None
        level = self.best_params_.get("noise_level", 0.0)
        if noise is not None and level > 0:
            rows = add_noise(rows, level, variances=noise.variances, random_state=noise.seed)
        return Steadiness.learnt(Predicted.joined([self._predicted(part) for part in _parts(rows)]), weights)

    def _predicted(self, X: Any) -> Predicted:
        """Return predictions with their sampling variances."""
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        return Predicted.of(X, self.first_, self.second_, coef, intercept)

    def _set_results(self, tried: list[_Candidate], alphas: Floats) -> None:
        params = [one.params | {"alpha": float(alpha)} for one in tried for alpha in alphas]
        scores = -np.concatenate([one.errors for one in tried], axis=1)
        results: dict[str, Any] = {"params": params}
        results |= {f"param_{name}": np.array([one[name] for one in params]) for name in params[0]}
        results |= {f"split{number}_test_score": one for number, one in enumerate(scores)}
        mean = scores.mean(axis=0)
        ranks = 1 + np.argsort(np.argsort(-mean, kind="stable"), kind="stable")
        self.cv_results_ = results | {
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=0),
            "rank_test_score": ranks,
        }

    def transform(self, X: Any) -> Floats:
        """Return the features that the model is linear in, of shape (n_bags, p)."""
        check_is_fitted(self)
        F = np.asarray(self.first_.transform(X))
        return F if self.second_ is None else np.asarray(self.second_.transform(F))

    def predict(self, X: Any) -> Floats:
        """Predict the target of each bag; it does not depend on the other bags in the call.

        Parameters
        ----------
        X : Bags, list of arrays, or 3-D array
            The bags, with the columns of those that the model was fitted on.

        Returns
        -------
        array of shape (n_bags,) or (n_bags, n_targets)
        """
        check_is_fitted(self)
        if self.steadiness_ is None:
            return np.asarray(self.transform(X) @ self.coef_.T + self.intercept_)
        steady = np.concatenate([self.steadiness_.drawn(self._predicted(part)) for part in _parts(X)], axis=1)
        return steady[0] if self._y_is_flat else np.ascontiguousarray(steady.T)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a plain .npz file, whole or not at all; nothing in it is executed by :meth:`load`.

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
        check_is_fitted(self)
        if not isinstance(self.first, str) or not (self.second is None or isinstance(self.second, str)):
            raise ValueError("save is for models whose features were named; transformers of your own need pickle")
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "params": {name: _plain(value) for name, value in self.get_params(deep=False).items() if name != "cv"},
            "best_params": self.best_params_,
            "best_score": self.best_score_,
            "columns": list(getattr(self.first_, "feature_names_in_", [])),
            "n_columns": self.n_features_in_,
            "y_is_flat": self._y_is_flat,
            "by": self.by_,
            "noise_range": self.noise_range_,
        }
        arrays = {"header": np.array(json.dumps(header)), "coef": self.coef_, "intercept": np.asarray(self.intercept_)}
        for name, level in (("first", self.first_), ("second", self.second_)):
            if level is not None and not isinstance(level, MeanFeatures):
                arrays[f"{name}_frequencies"] = level.frequencies_
        if hasattr(self.first_, "reliability_"):
            arrays |= {f"reliability_{name}": values for name, values in self.first_.reliability_._asdict().items()}
        if self.steadiness_ is not None:
            arrays |= {f"steadiness_{name}": values for name, values in self.steadiness_._asdict().items()}
        write_arrays(Path(path), arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BagRidgeCV:
        """Read a model that :meth:`save` wrote; it predicts, and knows its parameters, but has no `cv_results_`."""
        arrays = read_arrays(Path(path), "a model")
        try:
            header = json.loads(str(arrays["header"]))
            if header["format"] != _FORMAT or int(header["version"]) > _VERSION:
                raise ValueError("it was written by something else, or by a newer version of uptonoise")
            model = cls(**header["params"])
            model.best_params_, model.best_score_ = header["best_params"], header["best_score"]
            model._y_is_flat, model.n_features_in_ = header["y_is_flat"], header["n_columns"]
            model.by_ = header["by"]
            model.coef_ = arrays["coef"]
            model.intercept_ = float(arrays["intercept"]) if model._y_is_flat else arrays["intercept"]
            model.noise_range_ = header["noise_range"] and tuple(header["noise_range"])
            model.first_ = _loaded(model.first, arrays.get("first_frequencies"), model.precision, header)
            if model.first == "phase":
                model.first_.set_params(amplitude=model.amplitude)
            if "reliability_mean" in arrays:
                learnt = Reliability(*(arrays[f"reliability_{name}"] for name in Reliability._fields))
                model.first_.reliability_ = learnt
            model.steadiness_ = None
            if "steadiness_centre" in arrays:
                model.steadiness_ = Steadiness(*(arrays[f"steadiness_{name}"] for name in Steadiness._fields))
            if model.second is None:
                model.second_ = None
            else:
                model.second_ = _loaded("fourier", arrays["second_frequencies"], model.precision, None)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is not a model that BagRidgeCV.save wrote: {error}") from None
        return model


@dataclass(frozen=True)
class _Candidate:
    """Features at one scale and noise level: copies to fit on and to judge by; and errors, (splits, alphas)."""

    first: Any
    second: Any
    params: dict[str, float]
    fitted: Floats
    judged: Floats
    errors: Floats

    def again(self, bags: Any, noise: _Noise | None) -> _Candidate:
        """Return the same with its features, which are too large to keep those of all candidates."""
        if noise is not None:
            noise = noise._replace(levels=(self.params["noise_level"],))
        factor, above = (self.params.get(name, 1.0) for name in ("scale_factor", "second_scale_factor"))
        (one,) = _candidates(self.first, self.second, bags, [factor], [above], noise)
        return one


def _chosen(results: dict[str, Any], tolerance: float) -> int:
    """Return the place of the largest penalty whose error is within a tolerance of the smallest."""
    errors = -results["mean_test_score"]
    within = np.flatnonzero(errors <= (1 + tolerance) * errors.min())
    penalties = results["param_alpha"][within]
    largest = within[penalties == penalties.max()]
    return int(largest[errors[largest].argmin()])


class _Noise(NamedTuple):
    """Which noise to fit against, and which to judge by."""

    levels: tuple[float, ...]
    target: tuple[float, float]
    variances: Floats
    seed: int

    @classmethod
    def checked(cls, levels: Any, target: Any, bags: Bags, seed: int) -> _Noise | None:
        if levels is None:
            check_no_target(target)
            return None
        tried = checked_levels("noise_augmentation", levels)
        return cls(tried, checked_target(target, max(tried)), pooled_variances(bags), seed)

    def copies(self, first: Any, bags: Bags, number: int, low: float, high: float, part: int) -> list[Floats]:
        """Return features of the bags with noise, a level between `low` and `high` for each; the same at all scales."""
        generator = np.random.default_rng([self.seed, part])
        is_mean = isinstance(first, MeanFeatures)
        if not is_mean and not hasattr(first, "from_characteristic"):
            raise ValueError("noise_augmentation needs phase, Fourier or mean features as the first level")
        found = first.transform(bags) if is_mean else first.characteristic(bags)
        made = []
        for _ in range(number):
            levels = generator.uniform(low, high, len(bags))
            if is_mean:
                sizes = bags.sizes.astype(np.float64)
                made.append(means_with_noise(found, sizes, self.variances, levels, generator))
            else:
                noisy = with_noise(found, first.frequencies_, bags.values, self.variances, levels, generator)
                made.append(first.from_characteristic(noisy))
        return made


def _candidates(
    first: Any,
    second: Any,
    bags: Any,
    factors: Sequence[float],
    second_factors: Sequence[float],
    noise: _Noise | None,
) -> Iterator[_Candidate]:
    """Yield the features of all bags at every pair of scales and every noise level; each is computed once."""
    for one in _scaled_copies(first, "scale_factors", factors):
        clean = np.asarray(one.fit_transform(bags), dtype=np.float64)
        params = {} if one.get_params().get("scale_factor") is None else {"scale_factor": float(one.scale_factor)}
        for more, fitted, judged in _with_noise(one, bags, clean, noise):
            if second is None:
                yield _Candidate(one, None, params | more, fitted, judged, np.empty(0))
                continue
            for two in _scaled_copies(second, "second_scale_factors", second_factors):
                two.fit(clean)
                tuned = getattr(two, "scale_factor", None)
                above = {} if tuned is None else {"second_scale_factor": float(tuned)}
                copies = np.stack([np.asarray(two.transform(copy)) for copy in fitted])
                others = copies if judged is fitted else np.stack([np.asarray(two.transform(copy)) for copy in judged])
                yield _Candidate(one, two, params | above | more, copies, others, np.empty(0))


def _with_noise(
    first: Any, bags: Bags, clean: Floats, noise: _Noise | None
) -> Iterator[tuple[dict[str, float], Floats, Floats]]:
    """Yield copies of the features to fit on, with noise of each level, and copies to judge by."""
    if noise is None:
        alone = clean[None]
        yield {}, alone, alone
        return
    judged = np.stack(noise.copies(first, bags, _JUDGED_COPIES, *noise.target, part=0))
    for level in noise.levels:
        noisy = noise.copies(first, bags, _NOISY_COPIES, 0.0, level, part=1) if level > 0 else []
        yield {"noise_level": level}, np.stack([clean, *noisy]), judged


def _scaled_copies(transformer: Any, name: str, factors: Sequence[float]) -> list[Any]:
    """Return copies of a transformer, one for each scale; one copy of what has no scale."""
    if "scale_factor" not in transformer.get_params():
        return [clone(transformer)]
    checked = _checked_numbers(name, factors, least=np.finfo(np.float64).tiny)
    return [clone(transformer).set_params(scale_factor=float(factor)) for factor in checked]


def _parts(X: Any) -> Iterator[Any]:
    """Yield bags some thousand at a time where they are in memory, since predictions with errors need room."""
    if not isinstance(X, Bags):
        yield X
        return
    for start in range(0, len(X), _BAGS_AT_ONCE):
        yield X[start : start + _BAGS_AT_ONCE]


class _BagStream:
    """Bags of a source that stay where they are: how many there are, and their ids."""

    labels = None

    def __init__(self, source: RowSource) -> None:
        if not source.can_be_read_again:
            raise ValueError(f"{source.name} is read once for each scale, and an iterator can be read only once")
        self.source = source
        self.n_columns = len(source.columns)
        if not isinstance(source, BagRows):
            MeanFeatures().fit_transform(source)  # a pass that meets all bags
        self.ids: Any = source.bag_ids

    def __len__(self) -> int:
        return len(self.ids)


def _as_bags(X: Any) -> Any:
    """Return bags in memory, or those of a source as a stream."""
    if isinstance(X, Bags):
        return X
    if not isinstance(X, RowSource):
        return Bags(X)
    if X.bag_ids is None:
        raise ValueError(f"{X.name} must say which row is in which bag, as a source made with by= does")
    return _BagStream(X)


def _by_id(targets: Mapping[Any, Any], ids: Any) -> list[Any]:
    """Return targets in the order of the bags."""
    plain = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    lacking = [one for one in plain if one not in targets]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise ValueError(f"y must have a target for each bag; it has none for the bag {lacking[0]!r}{more}")
    return [targets[one] for one in plain]


def _checked_targets(bags: Any, y: Any) -> tuple[Floats, bool]:
    """Return targets of shape (n_bags, n_targets), and whether they came as one number a bag."""
    if len(bags) < 2:
        raise ValueError(f"X must have at least 2 bags; got {len(bags)}")
    if y is None:
        if bags.labels is None:
            raise ValueError("y must be given where the bags have no labels; got None")
        y = bags.labels
    if isinstance(y, Mapping):
        y = _by_id(y, bags.ids)
    values = as_real_array(y, "y").astype(np.float64)
    if values.ndim not in (1, 2) or len(values) != len(bags):
        raise ValueError(f"y must have one target for each of {len(bags)} bags; got shape {values.shape}")
    if not np.isfinite(values).all():
        place = int(np.argwhere(~np.isfinite(values))[0][0])
        raise ValueError(f"y must be finite; got {values[place]} for bag {place}. Leave such bags out")
    if (values == values[0]).all():
        raise ValueError(f"y must vary; got {values[0]} for every bag, which needs no model")
    return (values[:, None], True) if values.ndim == 1 else (values, False)


def _checked_numbers(name: str, values: Any, least: float) -> Floats:
    numbers = np.atleast_1d(as_real_array(values, name)).astype(np.float64)
    if numbers.ndim != 1 or len(numbers) == 0 or not (np.isfinite(numbers).all() and (numbers >= least).all()):
        wanted = "not negative" if least == 0 else "positive"
        raise ValueError(f"{name} must be one or more finite numbers that are {wanted}; got {values!r}")
    return numbers


def _checked_splits(cv: Any, bags: Any, targets: Floats, groups: Any, seed: int) -> list[_Split]:
    """Return the splits, none of which takes a group apart."""
    labels = None if groups is None else np.asarray(groups)
    if labels is not None and labels.shape != (len(bags),):
        raise ValueError(f"groups must have one group for each of {len(bags)} bags; got shape {labels.shape}")
    places = np.arange(len(bags))
    splitter = _splitter(cv, len(bags), labels, seed)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The groups parameter is ignored")  # what that did is checked below
            found = [_Split(*split) for split in splitter.split(places, targets, labels)]
    except ValueError as error:
        raise ValueError(f"cv cannot split {counted(len(bags), 'bag')}: {error}") from None
    for number, (train, test) in enumerate(found):
        if len(test) == 0 or len(train) < 2:
            raise ValueError(f"cv must leave bags to fit on and bags to judge by; split {number} does not")
        torn = [] if labels is None else np.intersect1d(labels[train], labels[test]).tolist()
        if torn:
            raise ValueError(
                f"cv must keep each group in one part; split {number} has the group {torn[0]!r} in both. Use "
                "GroupKFold or an int"
            )
    if not found:
        raise ValueError("cv must give at least one split; got none")
    return found


def _splitter(cv: Any, n_bags: int, groups: Any, seed: int) -> Any:
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        count, what = (n_bags, "bag") if groups is None else (len(np.unique(groups)), "group")
        if not 2 <= cv <= count:
            raise ValueError(f"cv must be at least 2 and at most the number of {what}s, {count}; got {cv}")
        # Bags often come in the order of their targets.
        return KFold(cv, shuffle=True, random_state=seed) if groups is None else GroupKFold(cv)
    return check_cv(cv)


def _plain(value: Any) -> Any:
    """Return a parameter as what JSON knows."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    return list(value) if isinstance(value, tuple) else value


def _loaded(kind: str, frequencies: Floats | None, precision: str, header: dict[str, Any] | None) -> Any:
    """Return a transformer that is fitted, from what a file holds."""
    n_columns = len(frequencies[0]) if frequencies is not None else int(header["n_columns"])  # type: ignore[index]
    columns = header["columns"] if header is not None else []
    made = MeanFeatures() if kind == "mean" else _FIRST[kind](frequencies=frequencies, precision=precision)
    return made.fit(Bags(np.zeros((2, 1, n_columns)), columns=columns or None))


def plrr(**options: Any) -> BagRidgeCV:
    """Return the paper's PLRR: linear ridge regression on phase features, with 75 frequencies.

    Parameters
    ----------
    **options
        Other parameters of :class:`BagRidgeCV`, whose own defaults stand more noise.

    Returns
    -------
    BagRidgeCV

    Examples
    --------
    >>> import uptonoise as un
    >>> un.plrr(cv=5).first, un.plrr().second
    ('phase', None)
    """
    return _paper("phase", None, options)


def glrr(**options: Any) -> BagRidgeCV:
    """Return the paper's GLRR: linear ridge regression on Fourier features, with 75 frequencies.

    Examples
    --------
    >>> import uptonoise as un
    >>> un.glrr().first, un.glrr().second
    ('fourier', None)
    """
    return _paper("fourier", None, options)


def lgrr(**options: Any) -> BagRidgeCV:
    """Return the paper's LGRR: a Gaussian kernel between the means of bags, by 75 frequencies.

    Examples
    --------
    >>> import uptonoise as un
    >>> un.lgrr().first, un.lgrr().second
    ('mean', 'fourier')
    """
    return _paper("mean", "fourier", options)


def pgrr(**options: Any) -> BagRidgeCV:
    """Return the paper's PGRR: a Gaussian kernel between phase features, by 75 frequencies at each level.

    Examples
    --------
    >>> import uptonoise as un
    >>> un.pgrr().first, un.pgrr().second
    ('phase', 'fourier')
    """
    return _paper("phase", "fourier", options)


def ggrr(**options: Any) -> BagRidgeCV:
    """Return the paper's GGRR: a Gaussian kernel between Fourier features, by 75 frequencies at each level.

    Examples
    --------
    >>> import uptonoise as un
    >>> un.ggrr().first, un.ggrr().second
    ('fourier', 'fourier')
    """
    return _paper("fourier", "fourier", options)


def _paper(first: str, second: str | None, options: dict[str, Any]) -> BagRidgeCV:
    settings: dict[str, Any] = {
        "n_frequencies": _PAPER_FREQUENCIES,
        "n_second": _PAPER_FREQUENCIES,
        "amplitude": "plain",
        "steady": False,
        "tolerance": 0.0,
    }
    return BagRidgeCV(first, second, **(settings | options))


def make_bag_classifier(
    first: Any = "phase",
    second: Any = None,
    *,
    n_frequencies: int = 100,
    n_second: int = 100,
    scale_factors: Sequence[float] = (0.5, 1.0, 2.0, 4.0),
    Cs: Sequence[float] = (1.0, 10.0, 100.0, 1_000.0),
    cv: Any = 3,
    random_state: int | None = None,
) -> GridSearchCV:
    """Return a classifier of bags: the features of :class:`BagRidgeCV` before logistic regression.

    Parameters
    ----------
    first : {"phase", "fourier", "mean"} or transformer
        The features of a bag.
    second : None, "fourier" or transformer
        Features of those features.
    n_frequencies, n_second : int
        The numbers of frequencies at the two levels.
    scale_factors : sequence of float
        The scales of the first level to try, in units of the median heuristic.
    Cs : sequence of float
        The inverse penalties to try.
    cv : int, splitter or iterable
        As scikit-learn's searches take it; stratified by class where it is an int.
    random_state : None or int
        The seed of the frequencies.

    Returns
    -------
    GridSearchCV
        Over a Pipeline with the steps "first", "second" (where there is one) and "classifier".

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> bags = un.Bags([rng.gamma(1 + 5 * (i % 2), size=(40, 1)) for i in range(60)])
    >>> model = un.make_bag_classifier(n_frequencies=30, random_state=0).fit(bags, np.arange(60) % 2)
    >>> model.score(bags, np.arange(60) % 2) > 0.9
    True
    """
    seed = int(seeded_generator(random_state)[0].integers(2**31))
    ridge = BagRidgeCV(first, second, n_frequencies=n_frequencies, n_second=n_second, steady=False)
    levels = ridge._levels([seed, seed + 1])
    steps = [(name, level) for name, level in zip(("first", "second"), levels, strict=True) if level is not None]
    grid: dict[str, list[float]] = {"classifier__C": list(Cs)}
    if "scale_factor" in levels[0].get_params():
        grid["first__scale_factor"] = list(scale_factors)
    pipeline = Pipeline([*steps, ("classifier", LogisticRegression(max_iter=5_000))])
    return GridSearchCV(pipeline, grid, cv=cv)
