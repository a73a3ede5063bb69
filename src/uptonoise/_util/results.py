"""What every result has: conversion to JSON types and frames, plots, a card for notebooks, equality."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import field, fields
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, TypeVar

import numpy as np


class Result:
    """Base class of frozen dataclasses that people read, plot, compare and write to JSON.

    A subclass is declared ``@dataclass(frozen=True, eq=False, repr=False)`` and writes its own ``__repr__``. `hidden`
    names the fields that are not part of the answer, such as rows kept for plots; `derived` names the properties
    that are. It overrides :meth:`table` where it has one.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from uptonoise._util.results import Result
    >>> @dataclass(frozen=True, eq=False)
    ... class Rates(Result):
    ...     sizes: np.ndarray
    ...     rate: float
    >>> rates = Rates(np.array([10, 20]), float("nan"))
    >>> rates.to_dict()
    {'sizes': [10, 20], 'rate': None}
    >>> rates == Rates(np.array([10, 20]), float("nan"))
    True
    """

    hidden: ClassVar[tuple[str, ...]] = ()
    derived: ClassVar[tuple[str, ...]] = ()
    not_compared: ClassVar[tuple[str, ...]] = ()

    def _answer(self) -> dict[str, Any]:
        """Return the fields and properties that make up the answer, by name."""
        names = [field.name for field in fields(self) if field.name not in self.hidden]  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in (*self.derived, *names)}

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON types: numbers, strings, lists, dicts and None; NaN and infinity become None."""
        return {name: as_json(value) for name, value in self._answer().items()}

    def table(self) -> Mapping[str, Any]:
        """Return the columns of the table that :meth:`to_frame` makes: by default one row with the plain values."""
        return {
            name: [value]
            for name, value in self.to_dict().items()
            if value is None or isinstance(value, str | int | float)
        }

    def to_frame(self, backend: Any = None) -> Any:
        """Return the result as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            What narwhals calls the backend: "pandas" (default), "polars" or "pyarrow".

        Returns
        -------
        DataFrame
        """
        import narwhals as nw

        return nw.from_dict(dict(self.table()), backend=backend or "pandas").to_native()

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the result and return the Axes; :func:`uptonoise.plots.plot` says how, and needs matplotlib."""
        # The one way from a result up to its picture and card: by name, so that no module imports what stands below it.
        return import_module("uptonoise.plots").plot(self, ax=ax, **options)

    def _repr_html_(self) -> str:
        """Return the card that a notebook shows; :func:`uptonoise.plots.card_of` makes it."""
        return str(import_module("uptonoise.plots").card_of(self))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        theirs = other._answer()
        ours = self._answer().items()
        return all(same_value(value, theirs[name]) for name, value in ours if name not in self.not_compared)

    def __hash__(self) -> int:
        # Arrays and dicts cannot be hashed; equal results agree in the plain values.
        return hash((type(self), *(v for v in self._answer().values() if isinstance(v, str | int) or v is None)))


AnyResult = TypeVar("AnyResult", bound=Result)


def computed(compute: Callable[[Any], Any]) -> Any:
    """Declare a field of a result that is computed from the others when it is first read.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from uptonoise._util.results import Result, computed
    >>> @dataclass(frozen=True, eq=False)
    ... class Square(Result):
    ...     side: float
    ...     area: float = computed(lambda self: self.side**2)
    >>> Square(3.0)
    Square(side=3.0, area=9.0)
    """
    return field(init=False, default=cached_property(compute))


def changed(result: AnyResult, **values: Any) -> AnyResult:
    """Return the same result with other values of fields that no other field depends on; what was computed stays."""
    copied = copy(result)
    vars(copied).update(values)
    return copied


def as_json(value: Any) -> Any:
    """Convert to JSON types; NaN and infinity become None (null)."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        plain = value.dtype.kind in "biuf" and bool(np.isfinite(value).all())  # large ones are not walked through
        return value.tolist() if plain else as_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple | list):
        return [as_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    return value


def same_value(left: Any, right: Any) -> bool:
    """Tell whether two values of a result are the same; NaN is the same as NaN."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        left, right = np.asarray(left), np.asarray(right)
        return np.array_equal(left, right, equal_nan=left.dtype.kind == right.dtype.kind == "f")
    if isinstance(left, tuple | list) and isinstance(right, tuple | list):
        return len(left) == len(right) and all(map(same_value, left, right))
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return bool(left == right)
