"""Models of ridge regression on bags as files, which hold plain arrays."""

from __future__ import annotations

import os
import warnings
from typing import Any, TypeVar

import numpy as np

from uptonoise._util.storage import check_finite, load_archive, save_archive
from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.learning.features import FourierFeatures, PhaseFeatures
from uptonoise.learning.mean_features import MeanFeatures
from uptonoise.learning.reliability import Reliability
from uptonoise.learning.steadiness import Steadiness

_KIND, _VERSION = "bag ridge", 1

Model = TypeVar("Model")
_NO_REACH = 1e150  # of a model that was saved before predictions had a reach


def save_ridge(model: Any, path: str | os.PathLike[str], *, force: bool = True) -> None:
    """Write a fitted model whose features have names."""
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
    save_archive(path, _KIND, _VERSION, header, arrays, force=force)


def load_ridge(cls: type[Model], path: str | os.PathLike[str]) -> Model:
    """Read a model that :func:`save_ridge` wrote."""
    try:
        header, arrays = load_archive(path, _KIND, _VERSION)
        check_finite(arrays)
        _check_columns(header, arrays)
        model: Any = cls(**header["params"])
        model.best_params_, model.best_score_ = header["best_params"], header["best_score"]
        model._y_is_flat, model.n_features_in_, model.by_ = header["y_is_flat"], header["n_columns"], header["by"]
        model.coef_ = arrays["coef"]
        model.intercept_ = float(arrays["intercept"]) if model._y_is_flat else arrays["intercept"]
        model.noise_range_ = header["noise_range"] and tuple(header["noise_range"])
        model.first_ = _first_layer(model, header, arrays)
        model.second_ = None
        if model.second is not None:
            frequencies = arrays["second_frequencies"]
            model.second_ = _fitted(FourierFeatures(frequencies=frequencies, precision=model.precision), frequencies)
        model.steadiness_ = None
        if "steadiness_centre" in arrays:
            arrays.setdefault("steadiness_reach", np.full_like(arrays["steadiness_centre"], _NO_REACH))
            arrays.setdefault("steadiness_seen", np.zeros_like(arrays["steadiness_centre"]))
            model.steadiness_ = Steadiness(*(arrays[f"steadiness_{name}"] for name in Steadiness._fields))
        _check_prediction(model)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is not a model that BagRidgeCV.save wrote: {error}") from None
    return model  # type: ignore[no-any-return]


def _check_columns(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Raise where the number of columns is not that of the arrays."""
    n_columns, columns = header["n_columns"], header["columns"]
    layer = arrays.get("first_frequencies", arrays.get("second_frequencies"))
    known = arrays["coef"].shape[-1] if layer is None else layer.shape[-1]
    if n_columns != known or len(columns) not in (0, known):
        raise ValueError(f"its arrays are of {known} columns; its header says {n_columns!r}, with {len(columns)} names")


def _check_prediction(model: Any) -> None:
    """Raise where the arrays do not fit together: predict a bag."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns = list(getattr(model.first_, "feature_names_in_", [])) or None
        predicted = model.predict(Bags(np.zeros((2, 1, model.n_features_in_)), columns=columns))
    expected = (2,) if model._y_is_flat else (2, len(np.atleast_1d(model.intercept_)))
    if predicted.shape != expected or not np.isfinite(predicted).all():
        raise ValueError("its arrays do not have the shapes that a model needs")


def _first_layer(model: Any, header: dict[str, Any], arrays: dict[str, Any]) -> Any:
    if model.first == "mean":
        return _fitted(MeanFeatures(), np.empty((0, int(header["n_columns"]))), header["columns"])
    options = {"frequencies": arrays["first_frequencies"], "precision": model.precision}
    if model.first == "fourier":
        return _fitted(FourierFeatures(**options), options["frequencies"], header["columns"])
    first = _fitted(PhaseFeatures(amplitude=model.amplitude, **options), options["frequencies"], header["columns"])
    if "reliability_mean" in arrays:
        first.reliability_ = Reliability(*(arrays[f"reliability_{name}"] for name in Reliability._fields))
    return first


def _fitted(transformer: Any, frequencies: Floats, columns: list[str] | None = None) -> Any:
    """Return a transformer that knows its columns, and no more."""
    return transformer.fit(Bags(np.zeros((2, 1, frequencies.shape[1])), columns=columns or None))


def _plain(value: Any) -> Any:
    """Return a parameter as JSON types."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    return list(value) if isinstance(value, tuple) else value
