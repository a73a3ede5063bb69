"""Sums of cosine and sine features over rows of torch tensors, on their device: by fused kernels, or in plain torch.

The blocks do what the CPU path does: w.x in turns as a float64 product, whole turns taken off, cosine and sine in
float32, sums in float64. They are the fallback where there is no Triton, for many columns, and for
``precision="float64"``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from uptonoise._util.typing import Floats
from uptonoise.fourier import CosineSine

Result = TypeVar("Result")

FLOATS = (torch.float32, torch.float64)

_BLOCK_ELEMENTS = 2**26  # of rows times frequencies in plain torch
_KERNEL_ROWS = 2**26  # of one launch
_LEAST_ROWS = 64  # where not even these fit, there is no use in halving once more


class Projection(NamedTuple):
    """Frequencies on a device: of shape (d, m), in turns (in radians for float64), and how they are to be used."""

    matrix: Tensor
    n_frequencies: int
    precision: str
    is_far: bool  # whether w.x may have more turns than the kernels take at once
    fused: bool
    block_rows: int  # how many rows of features plain torch holds at once

    @classmethod
    def of(cls, features: CosineSine, values: Tensor, reach: float) -> Projection:
        """Return the frequencies for some rows whose columns reach as far as `reach` from 0."""
        matrix = torch.from_numpy(features.projection).to(values.device)
        sizes, m, precision = np.abs(features.projection), features.projection.shape[1], features.precision
        turns = reach * float(sizes.sum(axis=0).max())
        fused = precision == "fast" and has_kernels(values) and float(sizes.max()) < 2.0**100
        return cls(matrix, m, precision, not turns < 2.0**18, fused, max(_LEAST_ROWS, _BLOCK_ELEMENTS // m))


@cache
def has_triton() -> bool:
    """Tell whether Triton can be imported."""
    return find_spec("triton") is not None


def has_kernels(values: Tensor) -> bool:
    """Tell whether the fused kernels are for these rows: on an NVIDIA GPU since Ampere, with at most 64 columns."""
    if values.device.type != "cuda" or torch.version.hip is not None or not has_triton():
        return False
    return values.shape[1] <= 64 and torch.cuda.get_device_capability(values.device) >= (8, 0)


def in_blocks(n_rows: int, block_rows: int, work: Callable[[int, int], Result]) -> Iterator[Result]:
    """Yield ``work(start, stop)`` of consecutive rows; where memory is short, halve the blocks and go on."""
    start = 0
    while start < n_rows:
        stop = min(n_rows, start + block_rows)
        try:
            part = work(start, stop)
        except torch.OutOfMemoryError as error:
            if stop - start <= _LEAST_ROWS:
                raise MemoryError(
                    f"the GPU has no memory left for {stop - start} rows; free some, or use fewer frequencies ({error})"
                ) from None
            block_rows = (stop - start) // 2
        else:
            yield part
            start = stop
            continue
        torch.cuda.empty_cache()  # out here, where nothing holds on to what the failed block had


def cosine_and_sine(values: Tensor, projection: Projection, centre: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return cos(w.x) and sin(w.x) of all rows, float32 or float64 as the precision is."""
    rows = values.double()
    angles = (rows if centre is None else rows - centre) @ projection.matrix
    if projection.precision == "fast":
        angles = ((angles - angles.round()) * (2 * math.pi)).float()
    return angles.cos(), angles.sin()


def sample_sums(values: Tensor, weights: Tensor | None, projection: Projection, centre: Tensor | None = None) -> Tensor:
    """Return the sums over rows of [cos, sin], of shape (2m,), in float64."""
    matrix, far = projection.matrix, projection.is_far

    def part(start: int, stop: int) -> Tensor:
        if projection.fused:
            of_rows = None if weights is None else weights[start:stop]
            fused: Tensor = _kernels().sample_sums(values[start:stop], of_rows, matrix, centre, far)
            return fused
        both = torch.cat(cosine_and_sine(values[start:stop], projection, centre), dim=1)
        if weights is not None:
            return weights[start:stop] @ both.double()
        return both.sum(dim=0, dtype=torch.float64)

    total = torch.zeros(2 * projection.n_frequencies, dtype=torch.float64, device=values.device)
    for sums in in_blocks(len(values), _KERNEL_ROWS if projection.fused else projection.block_rows, part):
        total += sums
    return total


class Bounds(NamedTuple):
    """Where bags lie in the rows: first rows and sizes, on the device; the largest size, and whether all are equal."""

    starts: Tensor
    sizes: Tensor
    largest: int
    equal: bool

    def part(self, start: int, stop: int) -> Bounds:
        """Return those of some of the bags, in rows that begin where the first of them does."""
        return self._replace(starts=self.starts[start:stop] - self.starts[start], sizes=self.sizes[start:stop])

    @classmethod
    def of_equal(cls, n_bags: int, size: int, device: torch.device) -> Bounds:
        """Return those of bags of one size."""
        starts = size * torch.arange(n_bags, device=device)
        return cls(starts, torch.full_like(starts, size), size, True)

    @classmethod
    def of(cls, offsets: Any, device: torch.device) -> Bounds:
        """Return those of bags that start at these offsets, the last of which is the number of rows."""
        sizes = np.diff(offsets)
        largest = int(sizes.max())
        on_device = torch.from_numpy(np.ascontiguousarray(offsets)).to(device)
        return cls(on_device[:-1].contiguous(), on_device.diff(), largest, bool((sizes == largest).all()))


def bag_sums(
    values: Tensor, weights: Tensor | None, bounds: Bounds, projection: Projection, scales: Tensor | None = None
) -> Tensor:
    """Return the sums over each bag's rows of (cos, sin), of shape (n_bags, m, 2), times a factor for each bag."""
    if projection.fused:
        fused: Tensor = _kernels().bag_sums(values, weights, bounds, projection.matrix, scales, projection.is_far)
        return fused
    n_bags, m = len(bounds.starts), projection.n_frequencies
    total = torch.zeros(n_bags, 2 * m, dtype=torch.float64, device=values.device)
    ends = bounds.starts + bounds.sizes

    def part(start: int, stop: int) -> tuple[int, int, Tensor]:
        both = torch.cat(cosine_and_sine(values[start:stop], projection), dim=1).double()
        if weights is not None:
            both *= weights[start:stop, None]
        first = int(torch.searchsorted(ends, start, right=True))
        last = int(torch.searchsorted(bounds.starts, stop))
        lengths = ends[first:last].clamp(max=stop) - bounds.starts[first:last].clamp(min=start)
        return first, last, torch.segment_reduce(both, "sum", lengths=lengths, axis=0)

    for first, last, sums in in_blocks(len(values), projection.block_rows, part):
        total[first:last] += sums
    total = total.reshape(n_bags, 2, m).transpose(1, 2)
    return total if scales is None else total * scales[:, None, None]


def bag_phases(values: Tensor, weights: Tensor | None, bounds: Bounds, projection: Projection, factor: float) -> Tensor:
    """Return phi/abs(phi) of each bag times a factor, as float32 of shape (n_bags, m, 2); 0 where phi is 0."""
    if projection.fused and bounds.largest <= _kernels().BAG_ROWS:
        scales = torch.full_like(bounds.starts, factor, dtype=torch.float32)
        matrix, far = projection.matrix, projection.is_far
        fused: Tensor = _kernels().bag_sums(values, weights, bounds, matrix, scales, far, phase=True)
        return fused
    phi = bag_sums(values, weights, bounds, projection)
    sizes = phi.norm(dim=2, keepdim=True)
    return torch.where(sizes > 0, phi * (factor / sizes), 0).float()


def moment_sums(
    values: Tensor, weights: Tensor | None, projection: Projection, centre: Tensor, about: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the sums over rows of b = [cos, sin] - about and of b b', of shapes (2m,) and (2m, 2m), in float64."""
    matrix, far = projection.matrix, projection.is_far
    width = 2 * projection.n_frequencies
    sums = torch.zeros(width, dtype=torch.float64, device=values.device)
    products = torch.zeros(width, width, dtype=torch.float64, device=values.device)

    def part(start: int, stop: int) -> tuple[Tensor, Tensor]:
        if projection.fused:
            rows, of_rows = values[start:stop], None if weights is None else weights[start:stop]
            fused: tuple[Tensor, Tensor] = _kernels().moment_sums(rows, of_rows, matrix, centre, about, far)
            return fused
        both = torch.cat(cosine_and_sine(values[start:stop], projection, centre), dim=1).double() - about
        weighted = both if weights is None else both * weights[start:stop, None]
        return weighted.sum(dim=0), weighted.T @ both

    block_rows = _kernels().MOMENT_ROWS if projection.fused else max(_LEAST_ROWS, projection.block_rows // 4)
    for of_sums, of_products in in_blocks(len(values), block_rows, part):
        sums += of_sums
        products += of_products
    return sums, (products + products.T) / 2


def as_vector(array: Floats, device: torch.device) -> Tensor:
    """Return an array as float64 on a device."""
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float64)).to(device)


@cache
def _kernels() -> Any:
    from uptonoise.engines.gpu import launch

    return launch
