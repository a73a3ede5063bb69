"""Regressors and classifiers of bags as files, which hold plain arrays: trees, too."""

from __future__ import annotations

import os
import warnings
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np

from uptonoise._util.storage import check_finite, load_archive, save_archive
from uptonoise.bags import Bags
from uptonoise.learning.conformal import Added, Conformal, Known
from uptonoise.learning.ensemble import Ensemble
from uptonoise.learning.noise_estimate import NO_SPREAD
from uptonoise.learning.summary import BagSummary

_VERSION = 2
_KINDS = {"BagRegressor": "bag regressor", "BagClassifier": "bag classifier"}

Model = TypeVar("Model")


def save_model(model: Any, path: str | os.PathLike[str], *, force: bool = True) -> None:
    """Write a fitted model."""
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
    arrays |= _flat("ensemble", model.ensemble_)
    if hasattr(model, "classes_"):
        if model.classes_.dtype == object:
            header["classes"] = model.classes_.tolist()
        arrays["classes"] = np.asarray(model.classes_.astype(str) if model.classes_.dtype == object else model.classes_)
    else:
        arrays |= _flat("conformal", model.conformal_)
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
        kind = "invariant" if model.invariant else "all"
        summary = BagSummary(kind, n_frequencies=model.n_frequencies)
        summary.fit(Bags(np.zeros((2, 1, model.n_features_in_)), columns=columns))
        summary.centre_, summary.scale_, summary.frequencies_ = (
            arrays[name] for name in ("centre", "scale", "frequencies")
        )
        summary.pairs_ = [tuple(pair) for pair in header["pairs"]]
        model.summary_ = summary
        arrays.setdefault("ensemble.profile.beyond", NO_SPREAD)  # which models of uptonoise 0.2.0 did not have
        model.ensemble_ = _rebuilt(Ensemble, "ensemble", arrays)
        if "classes" in arrays:
            classes = header.get("classes")
            model.classes_ = arrays["classes"] if classes is None else np.array(classes, dtype=object)
        else:
            if header["version"] == 1:
                arrays |= _calibration_of_version_1(arrays, model.largest_noise_)
            model.conformal_ = _rebuilt(Conformal, "conformal", arrays)
        _check_prediction(model, columns)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{path} is not a model that {cls.__name__}.save wrote: {error}") from None
    return model  # type: ignore[no-any-return]


def _calibration_of_version_1(arrays: dict[str, Any], largest: float) -> dict[str, Any]:
    """Return what is missing of a calibration: there, noise that was added counts as it was estimated."""
    sizes, centre = arrays["conformal.sizes"], arrays["conformal.centre"]
    known, added = Known.of_sizes(sizes, centre), Added(sizes, np.zeros(len(sizes), dtype=bool))
    of_model = {"conformal.largest": np.array([largest])}
    return of_model | _flat("conformal.known", known) | _flat("conformal.added", added)


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


def _check_prediction(model: Any, columns: list[str] | None) -> None:
    """Raise where the arrays do not fit together: predict two bags."""
    bags = Bags(np.zeros((2, 1, model.n_features_in_)), columns=columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = model.predict_proba(bags) if hasattr(model, "classes_") else model.predict(bags)
    if len(predicted) != len(bags) or not np.isfinite(predicted).all():
        raise ValueError("its arrays do not have the shapes that a model needs")


def _flat(name: str, value: Any) -> dict[str, Any]:
    """Return the arrays in nested tuples, by names such as ``ensemble.forests.0.value``."""
    if isinstance(value, np.ndarray):
        return {name: value}
    fields = value._asdict() if hasattr(value, "_asdict") else dict(enumerate(value))
    return {key: array for field, inner in fields.items() for key, array in _flat(f"{name}.{field}", inner).items()}


def _rebuilt(kind: Any, name: str, arrays: dict[str, Any]) -> Any:
    """Return nested tuples of a kind from their arrays."""
    if not hasattr(kind, "_fields"):
        inner = get_args(kind)
        if inner and hasattr(inner[0], "_fields"):
            start = f"{name}."
            number = len({key.removeprefix(start).split(".")[0] for key in arrays if key.startswith(start)})
            return tuple(_rebuilt(inner[0], f"{name}.{place}", arrays) for place in range(number))
        return arrays[name]
    hints = get_type_hints(kind)
    return kind(*(_rebuilt(hints[field], f"{name}.{field}", arrays) for field in kind._fields))
