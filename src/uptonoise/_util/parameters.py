"""Classes whose parameters are stated once, as annotations with defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def with_parameters(cls: Class) -> Class:
    """Make the annotations of a class its parameters: keywords that ``__init__`` stores, and nothing else.

    The signature is explicit, as scikit-learn wants it. A subclass inherits the parameters and may add its own.
    Attributes that are no parameters are annotated in a class without this decorator.

    Examples
    --------
    >>> from uptonoise._util.parameters import with_parameters
    >>> @with_parameters
    ... class Model:
    ...     alpha: float = 1.0
    >>> @with_parameters
    ... class Robust(Model):
    ...     noise: float | None = None
    >>> Robust(noise=2.0).alpha
    1.0
    """
    dataclass(kw_only=True, eq=False, repr=False)(cls)  # which changes the class itself
    return cls
