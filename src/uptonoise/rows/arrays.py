"""Arrays and torch tensors as arrays of real numbers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGEST_EXACT = 2**53


def as_real_array(X: Any, name: str) -> NDArray[Any]:
    """Return `X` as an array of real numbers, or raise with what is wrong."""
    if not isinstance(X, np.ndarray) and is_tensor(X):
        if X.device.type != "cpu":
            raise ValueError(
                f"{name} must be in this machine's memory; got a tensor on {X.device}. Call its .cpu() first"
            )
        check_real_tensor(X, name)
        if X.dtype.itemsize < 4 and X.is_floating_point():
            X = X.float()  # numpy knows no bfloat16
        X = X.detach().resolve_neg().numpy()
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise ValueError(f"{name} must be dense; got a sparse {type(X).__name__}. Call its .toarray() if that fits")
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        raise ValueError(f"{name} has masked entries, which are missing values; drop or fill them first")
    kind = "None" if X is None else f"a {type(X).__name__}"
    try:
        array = np.asarray(X)
    except (ValueError, TypeError, RuntimeError) as error:
        raise ValueError(f"{name} must be an array of numbers; got {kind} ({error})") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers; got {kind} of dtype {array.dtype}")
    return array


def is_tensor(X: Any) -> bool:
    """Tell whether `X` is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def object_array(entries: Sequence[Any]) -> NDArray[Any]:
    """Return entries as an array that changes none: numpy would turn a tuple into a row, and 1 beside "a" into "1"."""
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def plain_array(entries: Sequence[Any]) -> NDArray[Any]:
    """Return entries as an array of their type where they have the same one, else as objects."""
    kinds = {type(entry) for entry in entries}
    if len(kinds) == 1 and not kinds & {list, tuple, dict, set}:
        return np.asarray(entries)
    return object_array(entries)


def check_real_tensor(X: Any, name: str) -> None:
    """Raise where a torch tensor, on any device, is not dense or does not hold real numbers."""
    if X.is_complex() or X.is_quantized:
        raise ValueError(f"{name} must hold real numbers; got a tensor of dtype {X.dtype}")
    if str(X.layout) != "torch.strided":
        raise ValueError(f"{name} must be dense; got a tensor of layout {X.layout}. Call its .to_dense() if that fits")


def check_whole_numbers(values: NDArray[Any], name: str, columns: Sequence[str]) -> None:
    """Raise where the integers of an array are so large that float64 would round them."""
    if values.dtype.itemsize < 8 or values.size == 0:
        return
    for column, *extremes in zip(columns, values.min(axis=0).tolist(), values.max(axis=0).tolist(), strict=True):
        check_exact(extremes, name, column)


def check_exact(extremes: Sequence[int], name: str, column: str) -> None:
    """Raise where extremes of a column of whole numbers are so large that float64 would round them."""
    wrong = next((value for value in extremes if abs(value) > _LARGEST_EXACT), None)
    if wrong is not None:
        raise ValueError(
            f"{name} must have whole numbers up to 2^53 in size, which float64 holds exactly; got {wrong} in the "
            f"column {column!r}. Subtract a constant first, such as the smallest value of both samples"
        )
