"""Tensors on a GPU as rows and as bags, and what the tests that resample compute from them on their device.

Labels are sampled in this machine's memory, so that a seed gives the same p-value everywhere, and go to the device
block by block. The products are float64.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.bags import BagRows
from uptonoise.engines.gpu.features import FLOATS, Bounds, Projection, as_vector, cosine_and_sine, in_blocks
from uptonoise.engines.gpu.folds import DeviceBlock, DeviceRows, as_array
from uptonoise.fourier import CosineSine, column_variances, labelled_feature_sums
from uptonoise.rows import Block, RowSource, as_real_array, check_real_tensor, numbered_columns

_HOST_ELEMENTS = 2**22  # of a block that is brought back
_COPIED_ROWS = 2**24  # of tensors that must be copied before a kernel can read them
_LONGEST_STRIDE = 2**15


class TensorRows(DeviceRows):
    """The rows of a tensor on a GPU."""

    weights: Floats | None = None

    def __init__(self, values: Tensor, name: str = "X") -> None:
        self.tensor = as_matrix(values, name)
        self.device = values.device
        self.name = name
        self.columns = numbered_columns(self.tensor.shape[1])
        self.n_rows = len(self.tensor)
        self.weights_there: Tensor | None = None

    def weighted(self, weights: Any) -> RowSource:
        """Return the same rows with weights from the same device, or from this machine's memory."""
        return _with_weights(TensorRows(self.tensor, self.name), weights)

    def chunks(self) -> Iterator[Block]:
        """Yield the rows in this machine's memory."""
        size = max(1, _HOST_ELEMENTS // len(self.columns))
        for start in range(0, len(self.tensor), size):
            stop = min(len(self.tensor), start + size)
            weights = None if self.weights is None else self.weights[start:stop]
            yield Block(as_array(self.tensor[start:stop]), weights, self._bags(start, stop))

    def _bags(self, start: int, stop: int) -> NDArray[np.int64] | None:
        return None

    def device_blocks(self) -> Iterator[DeviceBlock]:
        """Yield the tensor as it is, or copies of parts of it where a kernel could not read it."""
        values, weights = self.tensor, self.weights_there
        if _is_readable(values):
            yield DeviceBlock(0, values, weights)
            return
        copies = in_blocks(len(values), _COPIED_ROWS, lambda start, stop: (start, stop, _copied(values[start:stop])))
        for start, stop, copied in copies:
            yield DeviceBlock(start, copied, None if weights is None else weights[start:stop])

    def head(self, n_rows: int = 1_000) -> Floats:
        """Return the values of the first rows, at most `n_rows`."""
        if self.n_rows == 0:
            return super().head(n_rows)
        return self.checked(Block(as_array(self.tensor[:n_rows]))).values

    def resident(self) -> Tensor:
        """Return all rows on the device, checked, as float64."""
        self.check()
        return self.tensor.double()

    def minus(self, other: RowSource) -> RowSource | None:
        """Return the differences of the rows of this source and those of another one, where both are."""
        if isinstance(other, TensorRows) and other.device == self.device:
            return TensorRows(self.tensor.double() - other.tensor.double(), f"{self.name} - {other.name}")
        return None

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """Return the values of the rows with these increasing numbers; no others leave the device."""
        values = as_array(self.tensor[torch.from_numpy(rows).to(self.device)]).astype(np.float64)
        for place in np.flatnonzero(~np.isfinite(values).all(axis=1))[:1]:
            self.checked(Block(values[place : place + 1], first_row=int(rows[place])))
        return values


class TensorBagRows(TensorRows, BagRows):
    """The rows of bags on a GPU, one bag after the other."""

    blocks = RowSource.blocks  # rows come to this machine's memory by chunks, not as views

    def __init__(
        self, values: Tensor, bounds: Bounds, ids: Sequence[Any] | NDArray[Any] | None = None, name: str = "X"
    ) -> None:
        TensorRows.__init__(self, values, name)
        self.bounds = bounds
        self.bag_ids = range(len(bounds.starts)) if ids is None else ids

    def weighted(self, weights: Any) -> RowSource:
        """Return the same bags with weights of their rows."""
        return _with_weights(TensorBagRows(self.tensor, self.bounds, self.bag_ids, self.name), weights)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each bag starts, in this machine's memory."""
        return np.append(self.bounds.starts.cpu().numpy(), len(self.tensor))

    def _bags(self, start: int, stop: int) -> NDArray[np.int64]:
        return self.bags_of(start, stop)

    def device_blocks(self) -> Iterator[DeviceBlock]:
        """Yield all bags at once; rows that a kernel could not read are copied."""
        values = self.tensor if _is_readable(self.tensor) else _copied(self.tensor)
        yield DeviceBlock(0, values, self.weights_there, self.bounds)


def from_tensors(X: Any, name: str) -> TensorRows:
    """Return a tensor, or a list of them, as one sample or as bags."""
    if isinstance(X, Tensor):
        if X.ndim != 3:
            return TensorRows(X, name)
        if 0 in X.shape:
            raise ValueError(f"{name} must have bags, rows and columns; got shape {tuple(X.shape)}")
        return TensorBagRows(X.reshape(-1, X.shape[2]), Bounds.of_equal(len(X), X.shape[1], X.device), None, name)
    places = {str(bag.device) if isinstance(bag, Tensor) else "this machine's memory" for bag in X}
    if len(places) > 1:
        raise ValueError(f"{name} must be on one device; got bags on {' and '.join(sorted(places))}")
    bags = [as_matrix(bag, f"{name}[{number}]") for number, bag in enumerate(X)]
    for number, bag in enumerate(bags):
        if len(bag) == 0 or bag.shape[1] != bags[0].shape[1]:
            expected, shape = counted(bags[0].shape[1], "column"), tuple(bag.shape)
            raise ValueError(
                f"{name}[{number}] must have at least one row, and {expected} as {name}[0]; got shape {shape}"
            )
    offsets = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])])
    return TensorBagRows(torch.cat(bags), Bounds.of(offsets, bags[0].device), None, name)


def _with_weights(source: TensorRows, weights: Any) -> TensorRows:
    """Give weights to rows: one number for each, from the same device or from this machine's memory."""
    if isinstance(weights, Tensor) and weights.device.type != "cpu":
        if weights.device != source.device:
            raise ValueError(
                f"weights must be on the device of {source.name}, {source.device}; got a tensor on {weights.device}"
            )
        weights = weights.detach().cpu()
    source.weights = as_real_array(weights, "weights").astype(np.float64)
    if source.weights.shape != (source.n_rows,):
        raise ValueError(
            f"weights must have one entry for each row of {source.name} ({source.n_rows}); "
            f"got shape {source.weights.shape}"
        )
    source.weights_there, source.is_weighted = torch.from_numpy(source.weights).to(source.device), True
    return source


def as_matrix(values: Tensor, name: str) -> Tensor:
    """Return a tensor as rows and columns of real numbers, or raise with what is wrong."""
    check_real_tensor(values, name)
    if values.ndim not in (1, 2):
        raise ValueError(
            f"{name} must have rows and columns (or be one column); got a tensor of {counted(values.ndim, 'dimension')}"
        )
    matrix = values.detach().reshape(len(values), -1) if values.ndim == 1 else values.detach()
    if matrix.shape[1] == 0:
        raise ValueError(f"{name} must have at least one column; got shape {tuple(values.shape)}")
    return matrix.resolve_neg()


def _is_readable(values: Tensor) -> bool:
    """Tell whether a kernel can read rows as they lie."""
    plain = values.shape[1] == 1 or values.stride(1) == 1
    return values.dtype in FLOATS and plain and values.stride(0) <= _LONGEST_STRIDE


def _copied(values: Tensor) -> Tensor:
    """Return rows of any type as a kernel can read them: half precision as float32, and whole numbers as float64."""
    if values.is_floating_point() and values.dtype.itemsize < 4:
        return values.float().contiguous()
    return (values if values.dtype in FLOATS else values.double()).contiguous()


@column_variances.register(Tensor)
def _column_variances(X: Tensor, Y: Tensor) -> Floats:
    return np.asarray(torch.cat([X, Y]).var(dim=0).cpu().numpy(), dtype=np.float64)


@labelled_feature_sums.register(Tensor)
def _labelled_feature_sums(
    X: Tensor, Y: Tensor, frequencies: Floats, labels: Iterable[NDArray[np.float32]]
) -> tuple[Floats, Floats]:
    pooled = torch.cat([X, Y])
    # The median as numpy has it: the mean of the two in the middle where there are two.
    middle = slice((len(pooled) - 1) // 2, len(pooled) // 2 + 1)
    pooled -= as_vector(pooled.sort(dim=0).values[middle].mean(dim=0).cpu().numpy(), pooled.device)
    features = CosineSine(frequencies, "fast")
    extremes = torch.stack(torch.aminmax(pooled, dim=0)).cpu().numpy()
    features.check_size(extremes)
    projection = Projection.of(features, pooled, float(np.abs(extremes).max()))
    sums = torch.zeros((), dtype=torch.float64, device=pooled.device)
    total = torch.zeros(2 * len(frequencies), dtype=torch.float64, device=pooled.device)
    start = 0
    for labelled in labels:
        stop = start + labelled.shape[1]
        block = torch.cat(cosine_and_sine(pooled[start:stop], projection), dim=1).double()
        sums = sums + torch.from_numpy(labelled).to(pooled.device).double() @ block
        total += block.sum(dim=0)
        start = stop
    return sums.cpu().numpy(), total.cpu().numpy()
