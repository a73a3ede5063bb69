"""Models as plain files: an .npz archive of arrays with a JSON header, and nothing that could be executed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from uptonoise._util.files import read_arrays, write_arrays

_FORMAT = "uptonoise network"
_VERSION = 1


def write(path: Path, model: BaseEstimator, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write a model's parameters, a header of its own and its arrays."""
    params = {name: _plain(value) for name, value in model.get_params(deep=False).items()}
    whole = {"format": _FORMAT, "version": _VERSION, "class": type(model).__name__, "params": params} | header
    try:
        text = json.dumps(whole)
    except TypeError as error:
        raise ValueError(f"save is for models whose parameters and labels are numbers and strings: {error}") from None
    write_arrays(path, {"header": np.array(text)} | arrays)


@contextmanager
def read(path: Path, wanted: str) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Give the parameters, the header and the arrays of a file; whatever is wrong with them becomes one clear error."""
    arrays = read_arrays(path, "a network")
    try:
        header = json.loads(str(arrays["header"]))
        if header["format"] != _FORMAT:
            raise ValueError(f"it is a file of the format {header['format']!r}")
        if header["version"] != _VERSION:
            raise ValueError(
                f"it has version {header['version']} of the format, and this version of uptonoise reads {_VERSION}"
            )
        if header["class"] != wanted:
            raise ValueError(f"it holds a {header['class']}; use {header['class']}.load")
        params = {name: _given(value) for name, value in header["params"].items()}
        yield params, header, arrays
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        raise ValueError(f"{path} is not a network that {wanted}.save wrote: {error}") from None


def under(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _plain(value: Any) -> Any:
    """Return a parameter as what JSON knows; keys of its dicts are strings, so that a dict becomes pairs."""
    if isinstance(value, dict):
        return {"pairs": [[_plain(key), _plain(item)] for key, item in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return None
    return list(value) if isinstance(value, tuple) else value


def _given(value: Any) -> Any:
    return dict(value["pairs"]) if isinstance(value, dict) else value
