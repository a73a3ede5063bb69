"""Tensors on a GPU as samples and bags, and the way there for rows of this machine; torch is imported when needed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal

import numpy as np

from uptonoise.fourier import as_frequencies
from uptonoise.rows import RowSource, as_column_names, as_rows, is_tensor, register_rows


def on_device(X: Any, device: str = "cuda", *, weights: Any = None) -> RowSource:
    """Return rows of this machine as a source that computes on a GPU.

    The rows stay where they are, an array, a frame or files, and may be more than the GPU can hold: each pass sends
    them there through two pinned buffers of 64 MB. For several passes over rows that fit, a tensor on the GPU is
    faster; it is a source by itself.

    Parameters
    ----------
    X : array, tensor, frame, iterator of these, Bags, or RowSource
        The rows.
    device : str
        "cuda", "cuda:1", ...; "cpu" does the same by torch on the CPU.
    weights : array of shape (n_rows,) or str, optional
        A weight for each row, or the column that holds them.

    Returns
    -------
    RowSource
        For :func:`~uptonoise.ecf`, sketches, tests and features.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.engines import on_device
    >>> X = np.random.default_rng(0).normal(size=(1_000, 2))
    >>> W = un.sample_frequencies(5, 2, random_state=0)
    >>> bool(np.allclose(un.ecf(on_device(X, "cpu"), W), un.ecf(X, W), atol=1e-6))
    True
    """
    source: RowSource = as_rows(X, weights=weights)
    if isinstance(source, _engine().DeviceRows):
        return as_rows(source)
    streamed: RowSource = import_module("uptonoise.engines.gpu.stream").StreamedRows(source, torch_device(device))
    return streamed


def torch_device(device: str, others: str = "") -> Any:
    """Return a device of torch; raise where it is not there. `others` are choices that the caller knows besides."""
    torch, wrong = _torch(), f'device must be {others}"cpu", "cuda" or "cuda:1", ...; got {device!r}'
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError, ValueError):
        raise ValueError(wrong) from None
    if place.type not in ("cuda", "cpu"):
        raise ValueError(wrong)
    there = torch.cuda.device_count()
    if place.type == "cuda" and not (place.index or 0) < there:
        raise ValueError(f'device={device!r} is not there: torch sees {there} GPUs. Use device="cpu"')
    return place


def tensor_bags(
    values: Any, offsets: Any, *, ids: Sequence[Any] | None = None, columns: Sequence[str] | None = None
) -> RowSource:
    """Return bags of different sizes whose rows lie in one tensor on a GPU, one bag after the other.

    Bags of equal sizes need no offsets: a tensor of three dimensions is bags by itself, and so is a list of tensors.

    Parameters
    ----------
    values : tensor of shape (n_rows, d)
        The rows of all bags.
    offsets : integer array or tensor of shape (n_bags + 1,)
        Where each bag starts; the last is the number of rows.
    ids : sequence, optional
        An id for each bag; 0, 1, ... by default.
    columns : sequence of str, optional
        The names of the columns.

    Returns
    -------
    RowSource

    Examples
    --------
    >>> import torch
    >>> import uptonoise as un
    >>> from uptonoise.engines import tensor_bags
    >>> bags = tensor_bags(torch.tensor([[0.0], [1.0], [2.0]]), [0, 2, 3])
    >>> un.ecf(bags, [[0.0]]).real
    array([[1.],
           [1.]])
    """
    torch, engine = _torch(), _engine()
    if not is_tensor(values):
        raise ValueError(f"values must be a torch tensor; got a {type(values).__name__}. For arrays use Bags")
    matrix = engine.as_matrix(values, "values")
    bounds = np.asarray(offsets.cpu() if is_tensor(offsets) else offsets)
    good = bounds.ndim == 1 and len(bounds) > 1 and bounds.dtype.kind in "iu"
    if not good or bounds[0] != 0 or bounds[-1] != len(matrix) or (np.diff(bounds.astype(np.int64)) < 1).any():
        raise ValueError(
            f"offsets must be whole numbers that go up from 0 to the number of rows, {len(matrix)}, since each bag "
            f"has at least one; got {torch.as_tensor(bounds) if bounds.dtype.kind in 'iuf' else offsets!r}"
        )
    if ids is not None and len(ids) != len(bounds) - 1:
        raise ValueError(f"ids must have one entry for each of the {len(bounds) - 1} bags; got {len(ids)}")
    on_device = import_module("uptonoise.engines.gpu.features").Bounds.of(bounds.astype(np.int64), matrix.device)
    source: RowSource = engine.TensorBagRows(matrix, on_device, ids)
    if columns is not None:
        source.columns, source.named = as_column_names(columns, "columns", matrix.shape[1]), True
    return source


def tensor_features(X: Any, frequencies: Any, kind: Literal["phase", "fourier"] = "phase") -> Any:
    """Return the features of bags on the GPU as a tensor there, for those who go on in torch.

    The same numbers as those of :class:`~uptonoise.PhaseFeatures` and :class:`~uptonoise.FourierFeatures`, which come
    back as arrays: on a million bags that takes longer than the features.

    Parameters
    ----------
    X : tensor of shape (n_bags, n, d), list of tensors, or RowSource of :func:`tensor_bags`
        The bags.
    frequencies : array of shape (m, d)
        One frequency per row.
    kind : {"phase", "fourier"}
        With or without the amplitudes taken off.

    Returns
    -------
    float32 tensor of shape (n_bags, 2m)
        sqrt(1/m) [Re, Im, Re, ...].

    Examples
    --------
    >>> import torch
    >>> from uptonoise.engines import tensor_bags, tensor_features
    >>> bags = tensor_bags(torch.tensor([[0.0], [1.0], [2.0]]), [0, 2, 3])
    >>> tensor_features(bags, [[0.0]])
    tensor([[1., 0.],
            [1., 0.]])
    """
    if kind not in ("phase", "fourier"):
        raise ValueError(f"kind must be phase or fourier; got {kind!r}")
    source, engine = as_rows(X), _engine()
    if not isinstance(source, engine.TensorBagRows):
        raise ValueError("X must be bags on a GPU: a tensor of three dimensions, a list of tensors, or tensor_bags")
    return import_module("uptonoise.engines.gpu.folds").bag_features(
        source, as_frequencies(frequencies, len(source.columns)), kind == "phase"
    )


def _is_on_device(X: Any) -> bool:
    """Tell whether `X` is a tensor on a GPU, or a list of tensors with one of them there."""
    tensors = X if isinstance(X, list | tuple) and len(X) > 0 and is_tensor(X[0]) and X[0].ndim > 0 else [X]
    return any(is_tensor(tensor) and tensor.device.type == "cuda" for tensor in tensors)


register_rows(_is_on_device, lambda X, name: _engine().from_tensors(X, name))


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError("GPUs need torch; run: pip install 'uptonoise[torch]'") from error
    return torch


def _engine() -> Any:
    _torch()
    return import_module("uptonoise.engines.gpu.rows")
