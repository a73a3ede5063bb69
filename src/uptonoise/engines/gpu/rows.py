"""Rows on a GPU: torch tensors that lie there, and rows of this machine that stream there through pinned memory.

Both are row sources as any other. What they add is a way of their own through the sums that the library is made of:
:meth:`DeviceRows.fold` knows how to do each of them on the device, and brings the result back. A sum that it does not
know sees the rows in this machine's memory, as those of any source.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uptonoise._util.threads import n_threads, ordered_map
from uptonoise._util.typing import Complex, Floats
from uptonoise._util.wording import counted
from uptonoise.bags import BagRows
from uptonoise.engines.gpu.features import (
    FLOATS,
    Bounds,
    Projection,
    as_vector,
    bag_phases,
    bag_sums,
    in_blocks,
    moment_sums,
    sample_sums,
    waves_of,
)
from uptonoise.fourier import BagPart, BagSums, FlipSums, MomentSum, RowWaves, SampleSum, Waves
from uptonoise.rows import AnyAccumulator, Block, RowSource, as_real_array, numbered_columns, with_weights

_HOST_ELEMENTS = 2**22  # of a block that is brought back
_PIECE_ROWS = 2**24  # of tensors that must be copied before a kernel can read them
_STREAM_BYTES = 2**26  # of one of the two pinned buffers
_BAG_ELEMENTS = 2**27  # bags times frequencies on the device at once
_ESTIMATE_ROWS = 65_536
_LEAST_ROWS = 1_024  # of a buffer
_LONGEST_STRIDE = 2**15


Item = TypeVar("Item")


class Piece(NamedTuple):
    """Some rows on the device, in order: their values, weights and where their bags lie; which rows and bags they are.

    Without `bags` the rows are one sample. With them, `bag_numbers` has the numbers of the bags that have rows here;
    without numbers these are all bags.
    """

    first_row: int
    values: Tensor
    weights: Tensor | None = None
    bags: Bounds | None = None
    bag_numbers: NDArray[np.int64] | None = None


class DeviceRows(RowSource):
    """A row source whose rows are on a GPU when sums are made of them."""

    device: torch.device
    bags_in_order = True  # kernels take them as they come

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """Yield all rows in order."""

    def fold(self, accumulator: AnyAccumulator) -> AnyAccumulator:
        """Feed all rows to `accumulator`, on the device where the sum is one that is known here."""
        on_device = _FOLDS.get(type(accumulator))
        if on_device is None:
            return super().fold(accumulator)
        self._check_that_there_are_rows()
        with torch.no_grad():
            on_device(self, accumulator)
        return accumulator

    def _check_that_there_are_rows(self) -> None:
        if self.n_rows == 0:
            raise ValueError(f"{self.name} has no rows; at least one is needed")

    def check(self) -> None:
        """Raise where there is no row, or one that is not finite."""
        self._check_that_there_are_rows()
        for piece in self.pieces():
            self.extremes(piece)

    def extremes(self, piece: Piece) -> tuple[float, float]:
        """Return the smallest and the largest value; raise where one is not finite, or a weight is none."""
        low, high = torch.stack(torch.aminmax(piece.values)).double().tolist()
        if not np.isfinite([low, high]).all():
            self._refuse(piece, ~torch.isfinite(piece.values).all(dim=1))
        if piece.weights is not None:
            good = ((piece.weights >= 1e-100) & (piece.weights <= 1e100)) | (piece.weights == 0)
            if not bool(good.all()):
                self._refuse(piece, ~good)
        return low, high

    def _refuse(self, piece: Piece, wrong: Tensor) -> None:
        """Raise in the words that rows of this machine are refused with."""
        row = int(wrong.to(torch.uint8).argmax())
        one = slice(row, row + 1)
        weights = None if piece.weights is None else piece.weights[one].cpu().numpy()
        self.checked(Block(_as_array(piece.values[one]), weights, first_row=piece.first_row + row))


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
        for start, stop in _ranges(len(self.tensor), max(1, _HOST_ELEMENTS // len(self.columns))):
            weights = None if self.weights is None else self.weights[start:stop]
            yield Block(_as_array(self.tensor[start:stop]), weights, self._bags(start, stop))

    def _bags(self, start: int, stop: int) -> NDArray[np.int64] | None:
        return None

    def pieces(self) -> Iterator[Piece]:
        """Yield the tensor as it is, or copies of parts of it where a kernel could not read it."""
        for start, values in _readable(self.tensor):
            stop = start + len(values)
            yield Piece(start, values, None if self.weights_there is None else self.weights_there[start:stop])

    def head(self, n_rows: int = 1_000) -> Floats:
        """Return the values of the first rows, at most `n_rows`."""
        if self.n_rows == 0:
            return super().head(n_rows)
        return self.checked(Block(_as_array(self.tensor[:n_rows]))).values

    def resident(self) -> Tensor:
        """Return all rows on the device, checked, as float64."""
        import_module("uptonoise.engines.gpu.resampling")  # which says what the tests compute from them
        self.check()
        return self.tensor.double()

    def minus(self, other: RowSource) -> RowSource | None:
        """Return the differences of the rows of this source and those of another one, where both are."""
        if isinstance(other, TensorRows) and other.device == self.device:
            return TensorRows(self.tensor.double() - other.tensor.double(), f"{self.name} - {other.name}")
        return None

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """Return the values of the rows with these increasing numbers; no others leave the device."""
        values = _as_array(self.tensor[torch.from_numpy(rows).to(self.device)]).astype(np.float64)
        for place in np.flatnonzero(~np.isfinite(values).all(axis=1))[:1]:
            self.checked(Block(values[place : place + 1], first_row=int(rows[place])))
        return values


class TensorBagRows(TensorRows, BagRows):
    """The rows of bags on a GPU, one bag after the other."""

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
    def offsets(self) -> NDArray[np.int64]:  # type: ignore[override]
        """Where each bag starts, in this machine's memory."""
        return np.append(self.bounds.starts.cpu().numpy(), len(self.tensor))

    def _bags(self, start: int, stop: int) -> NDArray[np.int64]:
        return self.bags_of(start, stop)

    def pieces(self) -> Iterator[Piece]:
        """Yield all bags at once; rows that a kernel could not read are copied."""
        values = self.tensor
        if not _is_readable(values):
            values = _copied(values)
        yield Piece(0, values, self.weights_there, self.bounds)


def from_tensors(X: Any, name: str) -> TensorRows:
    """Return a tensor, or a list of them, as one sample or as bags."""
    if isinstance(X, Tensor):
        if X.ndim != 3:
            return TensorRows(X, name)
        if 0 in X.shape:
            raise ValueError(f"{name} must have bags, rows and columns; got shape {tuple(X.shape)}")
        return TensorBagRows(X.reshape(-1, X.shape[2]), Bounds.of_equal(len(X), X.shape[1], X.device), None, name)
    places = {str(one.device) if isinstance(one, Tensor) else "this machine's memory" for one in X}
    if len(places) > 1:
        raise ValueError(f"{name} must be on one device; got bags on {' and '.join(sorted(places))}")
    bags = [as_matrix(one, f"{name}[{number}]") for number, one in enumerate(X)]
    for number, bag in enumerate(bags):
        if len(bag) == 0 or bag.shape[1] != bags[0].shape[1]:
            expected, shape = counted(bags[0].shape[1], "column"), tuple(bag.shape)
            raise ValueError(
                f"{name}[{number}] must have at least one row, and {expected} as {name}[0]; got shape {shape}"
            )
    offsets = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])])
    return TensorBagRows(torch.cat(bags), Bounds.of(offsets, bags[0].device), None, name)


@torch.no_grad()
def features(source: TensorBagRows, frequencies: Floats, phase: bool) -> Tensor:
    """Return the phase or Fourier features of bags where they are, of shape (n_bags, 2m)."""
    (piece,) = source.pieces()
    waves = Waves(frequencies, "fast", source.name)
    projection = _projection(source, waves, piece)
    factor = 1 / np.sqrt(waves.n_frequencies)
    if phase:
        return bag_phases(piece.values, piece.weights, source.bounds, projection, factor).flatten(1)
    sizes = source.bounds.sizes
    weight = sizes if piece.weights is None else torch.segment_reduce(piece.weights, "sum", lengths=sizes)
    return bag_sums(piece.values, piece.weights, source.bounds, projection, factor / weight).float().flatten(1)


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
    source.weights_there = torch.from_numpy(source.weights).to(source.device)
    return source


class StreamedRows(DeviceRows):
    """Rows of this machine that pass through a GPU, a pinned buffer after the other, when sums are made of them."""

    def __init__(self, source: RowSource, device: torch.device) -> None:
        self.source, self.device = source, device
        self.name, self.columns, self.named = source.name, source.columns, source.named
        self.n_rows, self.bag_ids = source.n_rows, source.bag_ids
        self.can_be_read_again = source.can_be_read_again
        self.weights = source.weights

    def weighted(self, weights: Any) -> RowSource:
        """Return the same rows with a weight each."""
        return StreamedRows(with_weights(self.source, weights), self.device)

    def chunks(self) -> Iterator[Block]:
        """Yield the rows where they are."""
        return self.source.chunks()

    def head(self, n_rows: int = 1_000) -> Floats:
        """Return the values of the first rows, at most `n_rows`."""
        return self.source.head(n_rows)

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """Return the values of the rows with these increasing numbers."""
        return self.source.take(rows)

    def place(self, block: Block, row: int) -> str:
        """Return where a row is, in the words of the source below."""
        return self.source.place(block, row)

    def pieces(self) -> Iterator[Piece]:
        """Yield the rows as they arrive: while the device works on one buffer, the other one is filled."""
        n_rows, buffers = self._buffers()
        for number, block in enumerate(self.source.unchecked_blocks(n_rows)):
            yield buffers[number % 2].piece(block)

    def _buffers(self) -> tuple[int, list[_Buffer]]:
        """Return two buffers and the number of rows that each holds: fewer where the device has little memory."""
        n_rows = max(_LEAST_ROWS, _STREAM_BYTES // (8 * len(self.columns)))
        while n_rows > _LEAST_ROWS:
            try:
                return n_rows, [_Buffer(n_rows, len(self.columns), self.device) for _ in range(2)]
            except torch.OutOfMemoryError:
                n_rows //= 2
            torch.cuda.empty_cache()
        return n_rows, [_Buffer(n_rows, len(self.columns), self.device) for _ in range(2)]


class _Buffer:
    """Pinned memory of this machine and as much on the device."""

    def __init__(self, n_rows: int, n_columns: int, device: torch.device) -> None:
        self.device = device
        self._is_cuda = device.type == "cuda"
        self._here = torch.empty(n_rows * n_columns, dtype=torch.float64, pin_memory=self._is_cuda)
        self._there = torch.empty(n_rows * n_columns, dtype=torch.float64, device=device)
        self._copied = torch.cuda.Event() if self._is_cuda else None  # type: ignore[no-untyped-call]

    def piece(self, block: Block) -> Piece:
        """Return the rows of a block on the device; they are valid until the next call."""
        values = block.values
        dtype = torch.float32 if values.dtype == np.float32 else torch.float64
        here, there = (_shaped(buffer, dtype, values.shape) for buffer in (self._here, self._there))
        if self._copied is not None:
            self._copied.synchronize()  # the last copy from this buffer may still be under way
        _copy(here.numpy(), values)
        there.copy_(here, non_blocking=True)
        if self._copied is not None:
            self._copied.record()
        weights, bags, numbers = block.weights, None, None
        if block.bags is not None:
            order = (
                np.arange(len(values)) if (np.diff(block.bags) >= 0).all() else np.argsort(block.bags, kind="stable")
            )
            by_bag = block.bags[order]
            if not np.array_equal(by_bag, block.bags):
                there = there[torch.from_numpy(order).to(self.device)]
                weights = None if weights is None else weights[order]
            starts = np.concatenate([[0], np.flatnonzero(np.diff(by_bag)) + 1])
            bags, numbers = Bounds.of(np.append(starts, len(by_bag)), self.device), by_bag[starts]
        weights_there = None if weights is None else as_vector(weights, self.device)
        return Piece(block.first_row, there, weights_there, bags, numbers)


def _copy(to: NDArray[Any], values: NDArray[Any]) -> None:
    """Copy rows by all threads: one alone is slower than the way to the device."""
    size = -(-len(values) // n_threads())
    places = [slice(start, start + size) for start in range(0, len(values), size)]
    for _ in ordered_map(lambda place: np.copyto(to[place], values[place]), places):
        pass


def _shaped(buffer: Tensor, dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
    return buffer.view(dtype)[: shape[0] * shape[1]].view(shape)


def _fold_sample(source: DeviceRows, total: SampleSum) -> None:
    def sums(piece: Piece) -> tuple[Tensor, Tensor]:
        projection = _projection(source, total.waves, piece)
        return sample_sums(piece.values, piece.weights, projection), _weight_sums(piece)

    for of_waves, weights in _one_late(map(sums, source.pieces())):
        weight, squares = weights.tolist()
        total.add((of_waves.cpu().numpy(), weight, squares))


def _fold_bags(source: DeviceRows, total: BagSums) -> None:
    for piece in source.pieces():
        if piece.bags is None:
            raise ValueError(f"{source.name} is a source of bags, and its blocks must tell each row's bag")
        phi_sums = _bag_sums_here(piece, _projection(source, total.waves, piece))
        weight = squares = piece.bags.sizes.double().cpu().numpy()
        if piece.weights is not None:
            both = torch.stack([piece.weights, piece.weights**2], dim=1)
            lengths = piece.bags.sizes
            weight, squares = torch.segment_reduce(both, "sum", lengths=lengths, axis=0).T.cpu().numpy()
        if piece.bag_numbers is None:
            total.phi_sums, total.weight, total.weight_squares = phi_sums, weight, squares
        else:
            total.add(BagPart(piece.bag_numbers, phi_sums, weight, squares))


def _bag_sums_here(piece: Piece, projection: Projection) -> Complex:
    """Return the sums of bags in this machine's memory; on the device there are only some of them at a time."""
    bags: Any = piece.bags
    found = np.empty((len(bags.starts), projection.n_frequencies), dtype=np.complex128)

    def part(start: int, stop: int) -> None:
        first, last = (int(bags.starts[start]), int(bags.starts[stop - 1] + bags.sizes[stop - 1]))
        weights = None if piece.weights is None else piece.weights[first:last]
        sums = bag_sums(piece.values[first:last], weights, bags.part(start, stop), projection)
        found[start:stop] = torch.view_as_complex(sums.contiguous()).cpu().numpy()

    for _ in in_blocks(len(found), max(1, _BAG_ELEMENTS // projection.n_frequencies), part):
        pass
    return found


def _fold_rows(source: DeviceRows, total: RowWaves) -> None:
    for piece in source.pieces():
        values, projection = piece.values, _projection(source, total.waves, piece)

        def part(start: int, stop: int, values: Tensor = values, projection: Projection = projection) -> Complex:
            pairs = torch.stack(waves_of(values[start:stop], projection), dim=2)
            return torch.view_as_complex(pairs).cpu().numpy().astype(np.complex128, copy=False)

        for one in in_blocks(len(values), projection.block_rows, part):
            total.add(one)


def _fold_moments(source: DeviceRows, total: MomentSum) -> None:
    centre = as_vector(total.centre, source.device)

    def sums(piece: Piece) -> tuple[int, Tensor, Tensor, Tensor, Tensor]:
        projection = _projection(source, total.waves, piece, total.centre)
        # Waves less an estimate of their mean: then no sum of products is large against what it is to tell.
        some = piece.values[:: -(-len(piece.values) // _ESTIMATE_ROWS)].contiguous()
        about = (sample_sums(some, None, projection, centre) / len(some)).float().double()
        found = moment_sums(piece.values, piece.weights, projection, centre, about)
        return len(piece.values), _weight_sums(piece), about, *found

    for n_rows, weights, *found in _one_late(map(sums, source.pieces())):
        weight, squares = weights.tolist()
        total.add_sums(n_rows, (weight, squares), *(one.cpu().numpy() for one in found))


def _one_late(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items after the next one was asked for: what is read back is then made while the next rows come."""
    held: list[Item] = []
    for item in items:
        held.append(item)
        if len(held) == 2:
            yield held.pop(0)
    yield from held


def _fold_flips(source: DeviceRows, total: FlipSums) -> None:
    """Signs are drawn in this machine's memory, so that a seed gives the same p-value everywhere."""
    for piece in source.pieces():
        values, projection = piece.values, _projection(source, total.waves, piece)
        for start, stop in _ranges(len(values), total.block_rows):
            sines = waves_of(values[start:stop], projection)[1].double()
            signs = total.signs(piece.first_row + start, piece.first_row + stop)
            flipped = torch.from_numpy(signs).to(source.device).double() @ sines
            total.add(((sines.T @ sines).cpu().numpy(), flipped.cpu().numpy()))


_FOLDS: dict[type, Callable[[Any, Any], None]] = {
    SampleSum: _fold_sample,
    BagSums: _fold_bags,
    RowWaves: _fold_rows,
    MomentSum: _fold_moments,
    FlipSums: _fold_flips,
}


def _projection(source: DeviceRows, waves: Waves, piece: Piece, centre: Floats | None = None) -> Projection:
    """Return the frequencies for a piece whose rows are finite and not too large."""
    low, high = source.extremes(piece)
    shift = np.zeros(waves.n_columns) if centre is None else centre
    try:
        waves.check_size(np.array([low - shift, high - shift]))
    except ValueError:
        lows, highs = (one.double().cpu().numpy() for one in torch.aminmax(piece.values, dim=0))
        waves.check_size(np.array([lows - shift, highs - shift]))
    reach = max(-low, high) + float(np.abs(shift).max())
    return Projection.of(waves, piece.values, reach)


def _weight_sums(piece: Piece) -> Tensor:
    """Return the sum of the weights and that of their squares."""
    if piece.weights is None:
        return torch.tensor([len(piece.values)] * 2, dtype=torch.float64)
    return torch.stack([piece.weights.sum(), piece.weights @ piece.weights])


def as_matrix(values: Tensor, name: str) -> Tensor:
    """Return a tensor as rows and columns of real numbers, or raise with what is wrong."""
    if values.is_complex() or values.is_quantized:
        raise ValueError(f"{name} must hold real numbers; got a tensor of dtype {values.dtype}")
    if values.layout != torch.strided:
        raise ValueError(
            f"{name} must be dense; got a tensor of layout {values.layout}. Call its .to_dense() if that fits"
        )
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


def _readable(values: Tensor) -> Iterator[tuple[int, Tensor]]:
    """Yield rows as they lie where a kernel can read them, else copies of some at a time, with their first number."""
    if _is_readable(values):
        yield 0, values
        return

    yield from in_blocks(len(values), _PIECE_ROWS, lambda start, stop: (start, _copied(values[start:stop])))


def _copied(values: Tensor) -> Tensor:
    """Return rows of any type as a kernel can read them: half precision as float32, and whole numbers as float64."""
    if values.is_floating_point() and values.dtype.itemsize < 4:
        return values.float().contiguous()
    return (values if values.dtype in FLOATS else values.double()).contiguous()


def _ranges(n_rows: int, size: int) -> Iterator[tuple[int, int]]:
    return ((start, min(n_rows, start + size)) for start in range(0, n_rows, size))


def _as_array(values: Tensor) -> NDArray[Any]:
    """Return a tensor in this machine's memory; numpy knows no bfloat16."""
    small = values.is_floating_point() and values.dtype.itemsize < 4
    array: NDArray[Any] = (values.float() if small else values).cpu().numpy()
    return array
