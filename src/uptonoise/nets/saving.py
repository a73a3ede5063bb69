"""Saving and loading fitted networks, and what a fitted network has."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from uptonoise._util.storage import check_finite, load_archive, save_archive
from uptonoise._util.typing import Floats
from uptonoise.nets.layers import BagNetwork
from uptonoise.nets.steadiness import Steadiness

_KIND = "network"
_VERSION = 2
_FORMER: dict[str, Any] = {"hidden": (), "steady": False}  # what networks of version 1 were, which had no such names


class SavedNetwork(BaseEstimator, ABC):  # type: ignore[misc]
    """The attributes of a fitted network, and a file of them."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    network_: BagNetwork
    centre_: Floats
    scale_: Floats
    history_: dict[str, Floats]
    best_epoch_: int
    noise_range_: tuple[float, float] | None
    steadiness_: Steadiness | None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a plain .npz file, whole or not at all; nothing in it is executed by :meth:`load`.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> from uptonoise.nets import PhaseNetRegressor
        >>> bags = np.random.default_rng(0).gamma(2, size=(30, 20, 1))
        >>> model = PhaseNetRegressor(8, n_epochs=2, device="cpu", random_state=0).fit(bags, np.arange(30.0))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(pathlib.Path(folder, "model.npz"))
        ...     again = PhaseNetRegressor.load(pathlib.Path(folder, "model.npz"))
        >>> np.array_equal(again.predict(bags), model.predict(bags))
        True
        """
        check_is_fitted(self)
        header = {
            "n_outputs": self.network_.output.out_features,
            "columns": None if not hasattr(self, "feature_names_in_") else list(self.feature_names_in_),
            "n_columns": self.n_features_in_,
            "best_epoch": self.best_epoch_,
            "noise_range": self.noise_range_,
            "targets": self._target_state(),
        }
        arrays = {"centre": self.centre_, "scale": self.scale_}
        if self.steadiness_ is not None:
            arrays |= {f"steadiness.{name}": part for name, part in self.steadiness_._asdict().items()}
        arrays |= {f"history.{name}": column for name, column in self.history_.items()}
        arrays |= {f"network.{name}": tensor.numpy() for name, tensor in self.network_.state_dict().items()}
        params = {name: _as_json(value) for name, value in self.get_params(deep=False).items()}
        save_archive(path, _KIND, _VERSION, {"class": type(self).__name__, "params": params} | header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote."""
        header, arrays = load_archive(path, _KIND, _VERSION)
        written = header.get("class")
        if written != cls.__name__:
            raise ValueError(f"{path} holds a {written}; use {written}.load")
        try:
            params = {name: _from_json(value) for name, value in header["params"].items()}
            model = cls(**((_FORMER if header["version"] < _VERSION else {}) | params))
            check_finite({name: array for name, array in arrays.items() if not name.startswith("history.")})
            model._set_state(header, arrays)
            model._check_state()
        except (KeyError, TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:
            raise ValueError(f"{path} is not a network that {cls.__name__}.save wrote: {error}") from None
        return model

    def _set_state(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.n_features_in_, self.best_epoch_ = int(header["n_columns"]), int(header["best_epoch"])
        if header["columns"] is not None:
            self.feature_names_in_ = np.array(header["columns"], dtype=object)
        self.noise_range_ = header["noise_range"] and tuple(header["noise_range"])
        self._set_target_state(header["targets"])
        self.centre_, self.scale_ = arrays["centre"], arrays["scale"]
        self.history_ = _under("history.", arrays)
        steadiness = _under("steadiness.", arrays)
        self.steadiness_ = Steadiness.checked(steadiness, int(header["n_outputs"])) if steadiness else None
        state = {name: torch.tensor(array) for name, array in _under("network.", arrays).items()}
        network = self._new_network(state["layer.frequencies"].numpy(), int(header["n_outputs"]))
        network.load_state_dict(state)
        self.network_ = network.eval()

    def _check_state(self) -> None:
        """Raise where what was read does not fit together."""
        n_columns = int(self.network_.layer.frequencies.shape[1])
        shapes = {self.centre_.shape, self.scale_.shape}
        named = len(getattr(self, "feature_names_in_", range(n_columns)))
        if self.n_features_in_ != n_columns or named != n_columns or shapes != {(n_columns,)}:
            raise ValueError(f"its arrays are of {n_columns} columns, its header of {self.n_features_in_}")
        if not (self.scale_ > 0).all():
            raise ValueError("scale must be above 0")

    @abstractmethod
    def _new_network(self, frequencies: Floats, n_outputs: int, seed: int = 0) -> BagNetwork:
        """Return a network of this kind, not trained."""

    @abstractmethod
    def _target_state(self) -> dict[str, Any]:
        """Return what was learnt from targets, ready for JSON."""

    @abstractmethod
    def _set_target_state(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`_target_state` returned."""


def _under(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _as_json(value: Any) -> Any:
    """Convert a parameter to JSON types; JSON's keys are strings, so a dict becomes pairs."""
    if isinstance(value, dict):
        return {"pairs": [[_as_json(key), _as_json(item)] for key, item in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    return list(value) if isinstance(value, tuple) else value


def _from_json(value: Any) -> Any:
    return dict(value["pairs"]) if isinstance(value, dict) else value
