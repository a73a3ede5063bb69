"""Rows on a device, and the sums that the library is made of over them; results come back to this machine's memory.

:meth:`DeviceRows.fold` computes each known sum on the device. An accumulator that it does not know sees the rows in
this machine's memory, as those of any source.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uptonoise._util.typing import Complex, Floats
from uptonoise.engines.gpu.features import (
    Bounds,
    Projection,
    as_vector,
    bag_phases,
    bag_sums,
    cosine_and_sine,
    in_blocks,
    moment_sums,
    sample_sums,
)
from uptonoise.fourier import BagPart, BagSums, CosineSine, FlipSums, MomentSum, RowFeatures, SampleSum
from uptonoise.rows import CHUNK_ROWS, AnyAccumulator, Block, RowSource

_BAG_ELEMENTS = 2**27  # bags times frequencies on the device at once

Item = TypeVar("Item")


class DeviceBlock(NamedTuple):
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
    def device_blocks(self) -> Iterator[DeviceBlock]:
        """Yield all rows in order."""

    def fold(self, accumulator: AnyAccumulator) -> AnyAccumulator:
        """Feed all rows to `accumulator`, on the device where the sum is one that is known here."""
        on_device = FOLDS.get(type(accumulator))
        if on_device is None:
            return super().fold(accumulator)
        if self.n_rows == 0:
            raise self.no_rows()
        with torch.no_grad():
            on_device(self, accumulator)
        return accumulator

    def check(self) -> None:
        """Raise where there is no row, or one that is not finite."""
        if self.n_rows == 0:
            raise self.no_rows()
        for block in self.device_blocks():
            self.extremes(block)

    def extremes(self, block: DeviceBlock) -> tuple[float, float]:
        """Return the smallest and the largest value; raise where one is not finite, or a weight is none."""
        low, high = torch.stack(torch.aminmax(block.values)).double().tolist()
        if not np.isfinite([low, high]).all():
            self._refuse(block, ~torch.isfinite(block.values).all(dim=1))
        if block.weights is not None:
            good = ((block.weights >= 1e-100) & (block.weights <= 1e100)) | (block.weights == 0)
            if not bool(good.all()):
                self._refuse(block, ~good)
        return low, high

    def _refuse(self, block: DeviceBlock, wrong: Tensor) -> None:
        """Raise in the words that rows of this machine are refused with."""
        row = int(wrong.to(torch.uint8).argmax())
        here = slice(row, row + 1)
        weights = None if block.weights is None else block.weights[here].cpu().numpy()
        self.checked(Block(as_array(block.values[here]), weights, first_row=block.first_row + row))


def _fold_sample(source: DeviceRows, total: SampleSum) -> None:
    def sums(block: DeviceBlock) -> tuple[Tensor, Tensor]:
        projection = _projection(source, total.features, block)
        return sample_sums(block.values, block.weights, projection), _weight_sums(block)

    for of_features, weights in _one_late(map(sums, source.device_blocks())):
        weight, squares = weights.tolist()
        total.add((of_features.cpu().numpy(), weight, squares))


def _fold_bags(source: DeviceRows, total: BagSums) -> None:
    for block in source.device_blocks():
        if block.bags is None:
            raise ValueError(f"{source.name} is a source of bags, and its blocks must tell each row's bag")
        phi_sums = _bag_sums_here(block, _projection(source, total.features, block))
        weight = squares = block.bags.sizes.double().cpu().numpy()
        if block.weights is not None:
            both = torch.stack([block.weights, block.weights**2], dim=1)
            lengths = block.bags.sizes
            weight, squares = torch.segment_reduce(both, "sum", lengths=lengths, axis=0).T.cpu().numpy()
        if block.bag_numbers is None:
            total.phi_sums, total.weight, total.weight_squares = phi_sums, weight, squares
        else:
            total.add(BagPart(block.bag_numbers, phi_sums, weight, squares))


def _bag_sums_here(block: DeviceBlock, projection: Projection) -> Complex:
    """Return the sums of bags in this machine's memory; on the device there are only some of them at a time."""
    bags: Any = block.bags
    all_sums = np.empty((len(bags.starts), projection.n_frequencies), dtype=np.complex128)

    def part(start: int, stop: int) -> None:
        first, last = (int(bags.starts[start]), int(bags.starts[stop - 1] + bags.sizes[stop - 1]))
        weights = None if block.weights is None else block.weights[first:last]
        sums = bag_sums(block.values[first:last], weights, bags.part(start, stop), projection)
        all_sums[start:stop] = torch.view_as_complex(sums.contiguous()).cpu().numpy()

    for _ in in_blocks(len(all_sums), max(1, _BAG_ELEMENTS // projection.n_frequencies), part):
        pass
    return all_sums


def _fold_rows(source: DeviceRows, total: RowFeatures) -> None:
    for block in source.device_blocks():
        values, projection = block.values, _projection(source, total.features, block)

        def part(start: int, stop: int, values: Tensor = values, projection: Projection = projection) -> Complex:
            pairs = torch.stack(cosine_and_sine(values[start:stop], projection), dim=2)
            return torch.view_as_complex(pairs).cpu().numpy().astype(np.complex128, copy=False)

        for characteristic in in_blocks(len(values), projection.block_rows, part):
            total.add(characteristic)


def _fold_moments(source: DeviceRows, total: MomentSum) -> None:
    centre = as_vector(total.centre, source.device)

    def sums(block: DeviceBlock) -> tuple[int, Tensor, Tensor, Tensor, Tensor]:
        projection = _projection(source, total.features, block, total.centre)
        # Features minus an estimate of their mean: then no sum of products is large against what it is to tell.
        some = block.values[:: -(-len(block.values) // CHUNK_ROWS)].contiguous()
        about = (sample_sums(some, None, projection, centre) / len(some)).float().double()
        moments = moment_sums(block.values, block.weights, projection, centre, about)
        return len(block.values), _weight_sums(block), about, *moments

    for n_rows, weights, *moments in _one_late(map(sums, source.device_blocks())):
        weight, squares = weights.tolist()
        total.add_sums(n_rows, (weight, squares), *(tensor.cpu().numpy() for tensor in moments))


def _one_late(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items after the next one was asked for: what is read back is then made while the next rows come."""
    held: list[Item] = []
    for item in items:
        held.append(item)
        if len(held) == 2:
            yield held.pop(0)
    yield from held


def _fold_flips(source: DeviceRows, total: FlipSums) -> None:
    """Signs are generated in this machine's memory, so that a seed gives the same p-value everywhere."""
    for block in source.device_blocks():
        values, projection = block.values, _projection(source, total.features, block)
        for start in range(0, len(values), total.block_rows):
            stop = min(len(values), start + total.block_rows)
            sines = cosine_and_sine(values[start:stop], projection)[1].double()
            signs = total.signs(block.first_row + start, block.first_row + stop)
            flipped = torch.from_numpy(signs).to(source.device).double() @ sines
            total.add(((sines.T @ sines).cpu().numpy(), flipped.cpu().numpy()))


FOLDS: dict[type, Callable[[Any, Any], None]] = {
    SampleSum: _fold_sample,
    BagSums: _fold_bags,
    RowFeatures: _fold_rows,
    MomentSum: _fold_moments,
    FlipSums: _fold_flips,
}


def _projection(
    source: DeviceRows, features: CosineSine, block: DeviceBlock, centre: Floats | None = None
) -> Projection:
    """Return the frequencies for a block whose rows are finite and not too large."""
    low, high = source.extremes(block)
    shift = np.zeros(features.n_columns) if centre is None else centre
    try:
        features.check_size(np.array([low - shift, high - shift]))
    except ValueError:
        lows, highs = (bound.double().cpu().numpy() for bound in torch.aminmax(block.values, dim=0))
        features.check_size(np.array([lows - shift, highs - shift]))
    return Projection.of(features, block.values, max(-low, high) + float(np.abs(shift).max()))


def _weight_sums(block: DeviceBlock) -> Tensor:
    """Return the sum of the weights and that of their squares."""
    if block.weights is None:
        return torch.tensor([len(block.values)] * 2, dtype=torch.float64)
    return torch.stack([block.weights.sum(), block.weights @ block.weights])


@torch.no_grad()
def bag_features(source: DeviceRows, frequencies: Floats, phase: bool) -> Tensor:
    """Return the phase or Fourier features of bags where they are, of shape (n_bags, 2m)."""
    (block,) = source.device_blocks()
    bounds: Any = block.bags
    features = CosineSine(frequencies, "fast", source.name)
    projection = _projection(source, features, block)
    factor = 1 / np.sqrt(features.n_frequencies)
    if phase:
        return bag_phases(block.values, block.weights, bounds, projection, factor).flatten(1)
    sizes = bounds.sizes
    weight = sizes if block.weights is None else torch.segment_reduce(block.weights, "sum", lengths=sizes)
    return bag_sums(block.values, block.weights, bounds, projection, factor / weight).float().flatten(1)


def as_array(values: Tensor) -> NDArray[Any]:
    """Return a tensor in this machine's memory; numpy knows no bfloat16."""
    small = values.is_floating_point() and values.dtype.itemsize < 4
    array: NDArray[Any] = (values.float() if small else values).cpu().numpy()
    return array
