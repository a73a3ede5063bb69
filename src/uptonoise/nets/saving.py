"""What a fitted network has, and its file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from uptonoise._util.storage import check_finite, load_archive, save_archive
from uptonoise._util.typing import Floats
from uptonoise.nets.layers import EPSILON, BagNetwork, FourierLayer
from uptonoise.nets.parameters import Parameters, checked_widths
from uptonoise.nets.steadiness import Steadiness

_KIND = "network"
_VERSION = 2
_FORMER: dict[str, Any] = {"hidden": (), "steady": False}  # what networks of version 1 were, which had no such names


class SavedNetwork(Parameters, BaseEstimator, ABC):  # type: ignore[misc]
    """The attributes of a fitted network, and a file of them; subclasses say which layer, and what targets are."""

    _layer: ClassVar[type[FourierLayer]] = FourierLayer
    _layer_options: ClassVar[tuple[str, ...]] = ()  # the parameters of the layer beside those that all layers have

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
            given = header["params"].items()
            params = {name: dict(value["pairs"]) if isinstance(value, dict) else value for name, value in given}
            model = cls(**((_FORMER if header["version"] < _VERSION else {}) | params))
            check_finite({name: array for name, array in arrays.items() if not name.startswith("history.")})
            model._set_state(header, arrays)
        except (KeyError, TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:
            raise ValueError(f"{path} is not a network that {cls.__name__}.save wrote: {error}") from None
        return model

    def _set_state(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Take what a file holds, or raise where it does not fit together."""
        parts: dict[str, dict[str, Any]] = {"history": {}, "steadiness": {}, "network": {}}
        for name, array in arrays.items():
            part, _, rest = name.partition(".")
            if rest and part in parts:
                parts[part][rest] = array
        self.n_features_in_, self.best_epoch_ = int(header["n_columns"]), int(header["best_epoch"])
        if header["columns"] is not None:
            self.feature_names_in_ = np.array(header["columns"], dtype=object)
        self.noise_range_ = header["noise_range"] and tuple(header["noise_range"])
        self._set_target_state(header["targets"])
        self.centre_, self.scale_, self.history_ = arrays["centre"], arrays["scale"], parts["history"]
        n_outputs, steadiness = int(header["n_outputs"]), parts["steadiness"]
        self.steadiness_ = Steadiness.checked(steadiness, n_outputs) if steadiness else None
        network = self._new_network(parts["network"]["layer.frequencies"], n_outputs)
        network.load_state_dict({name: torch.tensor(array) for name, array in parts["network"].items()})
        self.network_ = network.eval()
        n_columns = int(network.layer.frequencies.shape[1])
        named = len(getattr(self, "feature_names_in_", range(n_columns)))
        if {self.n_features_in_, named} != {n_columns} or {self.centre_.shape, self.scale_.shape} != {(n_columns,)}:
            raise ValueError(f"its arrays are of {n_columns} columns, its header of {self.n_features_in_}")
        if not (self.scale_ > 0).all():
            raise ValueError("scale must be above 0")

    def _new_network(self, frequencies: Floats, n_outputs: int, seed: int = 0) -> BagNetwork:
        """Return a network of this kind, not trained."""
        m, d = frequencies.shape
        options = {name: getattr(self, name) for name in self._layer_options}
        # Ours are not divided by sqrt(m), so that their variances are m times as large.
        epsilon = EPSILON if self.epsilon is None else float(self.epsilon) * m
        return BagNetwork(
            self._layer(d, m, bias=self.bias, frequencies=frequencies, **options),
            n_outputs,
            normalisation=self.normalisation,
            epsilon=epsilon,
            hidden=checked_widths(self.hidden),
            seed=seed,
        )

    @abstractmethod
    def _target_state(self) -> dict[str, Any]:
        """Return what was learnt from targets, ready for JSON."""

    @abstractmethod
    def _set_target_state(self, state: dict[str, Any]) -> None:
        """Take back what :meth:`_target_state` returned."""


def _as_json(value: Any) -> Any:
    """Convert a parameter to JSON types; JSON's keys are strings, so a dict becomes pairs."""
    if isinstance(value, dict):
        return {"pairs": [[_as_json(key), _as_json(item)] for key, item in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    return list(value) if isinstance(value, tuple) else value
