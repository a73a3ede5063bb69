"""Fitted models of bags as files, which hold plain arrays: trees, too."""

from __future__ import annotations

import os
import warnings
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from uptonoise._util.storage import check_finite, flattened, load_archive, rebuilt, save_archive
from uptonoise.bags import Bags
from uptonoise.learning.conformal import Added, Conformal, Known
from uptonoise.learning.ensemble import Ensemble
from uptonoise.learning.features import FourierFeatures, PhaseFeatures
from uptonoise.learning.mean_features import MeanFeatures
from uptonoise.learning.noise_estimate import NO_SPREAD
from uptonoise.learning.reliability import Reliability
from uptonoise.learning.steadiness import Steadiness
from uptonoise.learning.summary import BagSummary

_KINDS = {"BagRegressor": "bag regressor", "BagClassifier": "bag classifier"}
_VERSION, _RIDGE_VERSION = 2, 1
_NO_REACH = 1e150  # of a ridge model that was saved before predictions had a reach
_NOT_OURS = (KeyError, TypeError, ValueError, IndexError, AttributeError)

Model = TypeVar("Model")


def save_model(model: Any, path: str | os.PathLike[str], *, force: bool = True) -> None:
    """Write a fitted regressor or classifier."""
    check_is_fitted(model)
    params = {name: value for name, value in model.get_params(deep=False).items() if name not in ("cv", "random_state")}
    summary = model.summary_
    header = {
        "params": params,
        "columns": list(getattr(model, "feature_names_in_", [])),
        "n_columns": model.n_features_in_,
        "largest_noise": model.largest_noise_,
        "by": model.by_,
        "cv_error": model.cv_error_,
        "pairs": summary.pairs_,
    }
    arrays = {"centre": summary.centre_, "scale": summary.scale_, "frequencies": summary.frequencies_}
    arrays |= flattened(model.ensemble_, "ensemble")
    if hasattr(model, "classes_"):
        if model.classes_.dtype == object:
            header["classes"] = model.classes_.tolist()
        arrays["classes"] = np.asarray(model.classes_.astype(str) if model.classes_.dtype == object else model.classes_)
    else:
        arrays |= flattened(model.conformal_, "conformal")
    save_archive(path, _KINDS[type(model).__name__], _VERSION, header, arrays, force=force)


def load_model(cls: type[Model], path: str | os.PathLike[str]) -> Model:
    """Read a model that :func:`save_model` wrote."""
    header, arrays = load_archive(path, _KINDS[cls.__name__], _VERSION)
    try:
        _check_arrays(header, arrays)
        model: Any = cls(**header["params"])
        model.n_features_in_, model.by_ = header["n_columns"], header["by"]
        model.largest_noise_, model.cv_error_ = header["largest_noise"], header["cv_error"]
        model.noise_range_ = (0.0, model.largest_noise_**2)
        columns = header["columns"] or None
        if columns:
            model.feature_names_in_ = np.array(columns, dtype=object)
        summary = BagSummary("invariant" if model.invariant else "all", n_frequencies=model.n_frequencies)
        model.summary_ = summary.fit(Bags(np.zeros((2, 1, model.n_features_in_)), columns=columns))
        summary.centre_, summary.scale_, summary.frequencies_ = (
            arrays[name] for name in ("centre", "scale", "frequencies")
        )
        summary.pairs_ = [tuple(pair) for pair in header["pairs"]]
        arrays.setdefault("ensemble.profile.beyond", NO_SPREAD)  # which models of uptonoise 0.2.0 did not have
        model.ensemble_ = rebuilt(Ensemble, arrays, "ensemble")
        if "classes" in arrays:
            classes = header.get("classes")
            model.classes_ = arrays["classes"] if classes is None else np.array(classes, dtype=object)
        else:
            if header["version"] == 1:  # there noise that was added counts as it was estimated
                sizes = arrays["conformal.sizes"]
                arrays |= flattened(Known.of_sizes(sizes, arrays["conformal.centre"]), "conformal.known")
                arrays |= flattened(Added(sizes, np.zeros(len(sizes), dtype=bool)), "conformal.added")
                arrays["conformal.largest"] = np.array([model.largest_noise_])
            model.conformal_ = rebuilt(Conformal, arrays, "conformal")
        _check_prediction(model.predict_proba if "classes" in arrays else model.predict, model.n_features_in_, columns)
    except _NOT_OURS as error:
        raise ValueError(f"{path} is not a model that {cls.__name__}.save wrote: {error}") from None
    return model  # type: ignore[no-any-return]


def _check_arrays(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Raise where arrays are not finite or not those of so many columns, or a tree is deeper than it has nodes."""
    check_finite({name: array for name, array in arrays.items() if not name.endswith(".threshold")})
    n_columns, columns = header["n_columns"], header["columns"]
    shapes = arrays["centre"].shape, arrays["scale"].shape, arrays["frequencies"].shape[-1:]
    if set(shapes) != {(n_columns,)} or len(columns) not in (0, n_columns):
        raise ValueError(f"its arrays are not of {n_columns!r} columns, as its header says")
    for name, depth in arrays.items():
        if name.endswith(".depth") and not 0 <= int(depth[0]) <= arrays[name.replace(".depth", ".value")].size:
            raise ValueError(f"{name} is {int(depth[0])}, deeper than its tree can be")


def _check_prediction(
    predict: Any, n_columns: int, columns: list[str] | None, shape: tuple[int, ...] | None = None
) -> None:
    """Raise where the arrays do not fit together: predict two bags."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = predict(Bags(np.zeros((2, 1, n_columns)), columns=columns))
    if len(predicted) != 2 or shape not in (None, predicted.shape) or not np.isfinite(predicted).all():
        raise ValueError("its arrays do not have the shapes that a model needs")


def save_ridge(model: Any, path: str | os.PathLike[str], *, force: bool = True) -> None:
    """Write a fitted :class:`BagRidgeCV` whose features have names."""
    check_is_fitted(model)
    if not isinstance(model.first, str) or not (model.second is None or isinstance(model.second, str)):
        raise ValueError("save is for models whose features were named; transformers of your own need pickle")
    header = {
        "params": {name: _plain(value) for name, value in model.get_params(deep=False).items() if name != "cv"},
        "best_params": model.best_params_,
        "best_score": model.best_score_,
        "columns": list(getattr(model.first_, "feature_names_in_", [])),
        "n_columns": model.n_features_in_,
        "y_is_flat": model._y_is_flat,
        "by": model.by_,
        "noise_range": model.noise_range_,
    }
    arrays = {"coef": model.coef_, "intercept": np.asarray(model.intercept_)}
    for name, layer in (("first", model.first_), ("second", model.second_)):
        if layer is not None and not isinstance(layer, MeanFeatures):
            arrays[f"{name}_frequencies"] = layer.frequencies_
    if hasattr(model.first_, "reliability_"):
        arrays |= {f"reliability_{name}": values for name, values in model.first_.reliability_._asdict().items()}
    if model.steadiness_ is not None:
        arrays |= {f"steadiness_{name}": values for name, values in model.steadiness_._asdict().items()}
    save_archive(path, "bag ridge", _RIDGE_VERSION, header, arrays, force=force)


def _plain(value: Any) -> Any:
    """Return a parameter as JSON types."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    return list(value) if isinstance(value, tuple) else value


def load_ridge(cls: type[Model], path: str | os.PathLike[str]) -> Model:
    """Read a model that :func:`save_ridge` wrote."""
    try:
        header, arrays = load_archive(path, "bag ridge", _RIDGE_VERSION)
        check_finite(arrays)
        n_columns, columns = header["n_columns"], header["columns"]
        layer = arrays.get("first_frequencies", arrays.get("second_frequencies"))
        known = arrays["coef"].shape[-1] if layer is None else layer.shape[-1]
        if n_columns != known or len(columns) not in (0, known):
            raise ValueError(
                f"its arrays are of {known} columns; its header says {n_columns!r}, with {len(columns)} names"
            )
        model: Any = cls(**header["params"])
        model.best_params_, model.best_score_ = header["best_params"], header["best_score"]
        model._y_is_flat, model.n_features_in_, model.by_ = header["y_is_flat"], n_columns, header["by"]
        model.coef_ = arrays["coef"]
        model.intercept_ = float(arrays["intercept"]) if model._y_is_flat else arrays["intercept"]
        model.noise_range_ = header["noise_range"] and tuple(header["noise_range"])
        _set_layers(model, arrays, columns or None)
        model.steadiness_ = None
        if "steadiness_centre" in arrays:
            arrays.setdefault("steadiness_reach", np.full_like(arrays["steadiness_centre"], _NO_REACH))
            arrays.setdefault("steadiness_seen", np.zeros_like(arrays["steadiness_centre"]))
            model.steadiness_ = Steadiness(*(arrays[f"steadiness_{name}"] for name in Steadiness._fields))
        shape = (2,) if model._y_is_flat else (2, len(np.atleast_1d(model.intercept_)))
        _check_prediction(model.predict, n_columns, columns or None, shape)
    except _NOT_OURS as error:
        raise ValueError(f"{path} is not a model that BagRidgeCV.save wrote: {error}") from None
    return model  # type: ignore[no-any-return]


def _set_layers(model: Any, arrays: dict[str, Any], columns: list[str] | None) -> None:
    """Give a model transformers that know their columns and frequencies, and no more."""
    bags = Bags(np.zeros((2, 1, model.n_features_in_)), columns=columns)
    if model.first == "mean":
        model.first_ = MeanFeatures().fit(bags)
    else:
        options = {"frequencies": arrays["first_frequencies"], "precision": model.precision}
        is_phase = model.first != "fourier"
        first = PhaseFeatures(amplitude=model.amplitude, **options) if is_phase else FourierFeatures(**options)
        model.first_ = first.fit(bags)
        if is_phase and "reliability_mean" in arrays:
            model.first_.reliability_ = Reliability(*(arrays[f"reliability_{name}"] for name in Reliability._fields))
    model.second_ = None
    if model.second is not None:
        frequencies = arrays["second_frequencies"]
        second = FourierFeatures(frequencies=frequencies, precision=model.precision)
        model.second_ = second.fit(np.zeros((2, frequencies.shape[1])))
