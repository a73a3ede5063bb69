"""How the fused kernels of :mod:`uptonoise.engines.gpu.kernels` are launched."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from uptonoise.engines.gpu.kernels import bag_kernel, moment_kernel, sample_kernel

BAG_ROWS = 32  # of one piece of a bag
MOMENT_ROWS = 2**24  # of outer products at once

_ROWS_EACH = 4_096  # of one program; a property of the sum, never of the machine
_MOMENT_ROWS_EACH = 1_024
_SLOTS = 64  # of frequencies in a tile of outer products; the last one is the frequency 0
_PRODUCT_BYTES = 2**30  # of partial sums of outer products at once

# Tiles of rows by frequencies, how many of them are added in float32, and warps: what was fastest on an H200.
_MANY_FREQUENCIES = {"BM": 32, "BN": 128, "STEPS": 16, "num_warps": 4, "num_stages": 3, "maxnreg": 168}
_FEW_FREQUENCIES = {"BM": 32, "BN": 64, "STEPS": 16, "num_warps": 4, "num_stages": 3, "maxnreg": 128}
_BAGS = {"BM": 16, "BN": 64, "num_warps": 2, "num_stages": 3, "maxnreg": 128}
_SAME_BLOCK = {"BK": 64, "num_warps": 4, "num_stages": 3}
_TWO_BLOCKS = {"BK": 32, "num_warps": 4, "num_stages": 2}


def sample_sums(values: Tensor, weights: Tensor | None, v: Tensor, centre: Tensor | None, far: bool) -> Tensor:
    """Return the sums over rows of [cos, sin], of shape (2m,), in float64."""
    n, m = len(values), v.shape[1]
    n_full, n_parts = n // _ROWS_EACH, -(-n // _ROWS_EACH)
    partial = torch.empty(n_parts, 2 * m, dtype=torch.float64, device=v.device)
    tile = _MANY_FREQUENCIES if m > 64 else _FEW_FREQUENCIES
    unit = _unit(values.dtype)
    v = v / unit
    most, shares = _weight_unit(weights)
    for first, stop, masked in ((0, n_full, False), (n_full, n_parts, True)):
        if first == stop:
            continue
        rows = values[first * _ROWS_EACH :]
        sample_kernel[(-(-m // tile["BN"]) * (stop - first),)](
            rows,
            values.stride(0),
            v if shares is None else shares[first * _ROWS_EACH :],
            v if centre is None else centre * unit,
            v,
            partial[first:],
            len(rows),
            m,
            _ROWS_EACH,
            D=values.shape[1],
            K=_padded(values.shape[1]),
            WEIGHTED=shares is not None,
            CENTRED=centre is not None,
            FAR=far,
            MASKED=masked,
            **tile,
        )
    total: Tensor = partial.sum(dim=0) * most
    return total


def bag_sums(
    values: Tensor,
    weights: Tensor | None,
    bounds: Any,
    v: Tensor,
    scales: Tensor | None,
    far: bool,
    phase: bool = False,
) -> Tensor:
    """Return the sums over each bag's rows of (cos, sin), of shape (n_bags, m, 2), times a factor for each bag.

    Bags of at most 32 rows come in float32. Larger ones are cut into pieces of 32 rows, which are added in float64.
    """
    n_bags, m = len(bounds.starts), v.shape[1]
    starts, sizes, counts = bounds.starts, bounds.sizes, None
    if bounds.largest > BAG_ROWS:
        counts = (sizes + BAG_ROWS - 1) // BAG_ROWS
        bag = torch.repeat_interleave(counts)
        number = torch.arange(len(bag), device=v.device) - (counts.cumsum(0) - counts)[bag]
        starts = starts[bag] + BAG_ROWS * number
        sizes = (sizes[bag] - BAG_ROWS * number).clamp(max=BAG_ROWS)
    most = None
    if weights is not None:
        most = torch.segment_reduce(weights, "max", lengths=bounds.sizes, unsafe=True).clamp(min=1e-100)
        weights = (weights / torch.repeat_interleave(most, bounds.sizes, output_size=len(weights))).float()
    direct = counts is None and most is None
    factors = scales if direct and scales is not None else torch.ones_like(starts, dtype=torch.float32)
    out = torch.empty(len(starts), m, 2, dtype=torch.float32, device=v.device)
    order = torch.arange(len(sizes), device=v.device) if bounds.equal and counts is None else torch.argsort(sizes)
    bag_kernel[(-(-len(starts) // _BAGS["BM"]), -(-m // _BAGS["BN"]))](
        values,
        values.stride(0),
        v if weights is None else weights,
        order,
        starts,
        sizes,
        factors.float(),
        v / _unit(values.dtype),
        out,
        len(starts),
        m,
        D=values.shape[1],
        K=_padded(values.shape[1]),
        WEIGHTED=weights is not None,
        PHASE=phase,
        FAR=far,
        **_BAGS,
    )
    if direct or phase:
        return out
    sums = out.double()
    if counts is not None:
        sums = torch.segment_reduce(sums, "sum", lengths=counts, axis=0, unsafe=True)
    for factor in (most, scales):
        if factor is not None:
            sums *= factor[:, None, None]
    return sums.reshape(n_bags, m, 2)


def moment_sums(
    values: Tensor, weights: Tensor | None, v: Tensor, centre: Tensor, about: Tensor, far: bool
) -> tuple[Tensor, Tensor]:
    """Return the sums over rows of b = [cos, sin] - about and of b b', of shapes (2m,) and (2m, 2m), in float64."""
    n, m, device = len(values), v.shape[1], v.device
    unit = _unit(values.dtype)
    v, centre = v / unit, centre * unit
    n_blocks = -(-m // (_SLOTS - 1))
    number = torch.arange(m, device=device)
    block, slot = number // (_SLOTS - 1), number % (_SLOTS - 1)
    width = 2 * _SLOTS
    places = torch.cat([block * width + 2 * slot, block * width + 2 * slot + 1])
    phases = torch.zeros(n_blocks * _SLOTS, dtype=torch.float64, device=device)
    phases[block * _SLOTS + slot] = -((centre @ v) % 1)
    padded = torch.zeros(n_blocks * width, dtype=torch.float32, device=device)
    padded[places] = about.float()
    most, shares = _weight_unit(weights)
    roots = v if shares is None else shares.sqrt()
    products = torch.zeros(n_blocks, n_blocks, width, width, dtype=torch.float64, device=device)
    every = [(left, right) for left in range(n_blocks) for right in range(left, n_blocks)]
    n_full, n_parts = n // _MOMENT_ROWS_EACH, -(-n // _MOMENT_ROWS_EACH)
    at_once = max(1, _PRODUCT_BYTES // (4 * width * width * n_parts))
    for same in (True, False):
        chosen = [pair for pair in every if (pair[0] == pair[1]) == same]
        for start in range(0, len(chosen), at_once):
            pairs = torch.tensor(chosen[start : start + at_once], dtype=torch.int32, device=device)
            some = torch.empty(n_parts, len(pairs), width, width, dtype=torch.float32, device=device)
            for first, stop, masked in ((0, n_full, False), (n_full, n_parts, True)):
                if first == stop:
                    continue
                rows = values[first * _MOMENT_ROWS_EACH :]
                moment_kernel[(len(pairs) * (stop - first),)](
                    rows,
                    values.stride(0),
                    roots if shares is None else roots[first * _MOMENT_ROWS_EACH :],
                    centre,
                    phases,
                    v,
                    padded,
                    pairs,
                    some[first:],
                    len(rows),
                    m,
                    _MOMENT_ROWS_EACH,
                    len(pairs),
                    D=values.shape[1],
                    K=_padded(values.shape[1]),
                    WEIGHTED=shares is not None,
                    FAR=far,
                    MASKED=masked,
                    SAME=same,
                    BN=_SLOTS,
                    **(_SAME_BLOCK if same else _TWO_BLOCKS),
                )
            left, right = pairs.long().T
            products[left, right] = _sum_of_parts(some)
    whole = _symmetric(products) * most
    # The cosine of the last frequency of each block has the sums of that block.
    return whole[places, places // width * width + width - 2], whole[places][:, places]


def _sum_of_parts(parts: Tensor) -> Tensor:
    """Return the sum over the first axis in float64; 32 at a time are added in float32, which torch does faster."""
    n_long = len(parts) // 32
    few = parts[: 32 * n_long].reshape(n_long, 32, *parts.shape[1:]).sum(dim=1) if n_long else parts[:0]
    return few.sum(dim=0, dtype=torch.float64) + parts[32 * n_long :].sum(dim=0, dtype=torch.float64)


def _symmetric(products: Tensor) -> Tensor:
    """Return blocks of outer products above the diagonal as one matrix, of which both triangles agree."""
    n_blocks, width = products.shape[0], products.shape[2]
    own = torch.arange(n_blocks, device=products.device)
    same = products[own, own]
    products[own, own] = (same + same.mT) / 4
    upper = products.transpose(1, 2).reshape(n_blocks * width, n_blocks * width)
    return upper + upper.T


def _padded(n_columns: int) -> int:
    """Return how many columns a tile has: the matrix units take 16 at least, and tiles powers of 2."""
    return max(16, 1 << (n_columns - 1).bit_length())


def _unit(dtype: torch.dtype) -> float:
    """Return what rows of a type are multiplied with by the way that a kernel reads them."""
    return 1.0 if dtype == torch.float64 else 2.0**-896


def _weight_unit(weights: Tensor | None) -> tuple[Any, Tensor | None]:
    """Return the largest weight, and the weights in units of it, which float32 can hold."""
    if weights is None:
        return 1.0, None
    most = weights.max().clamp(min=1e-100)
    return most, (weights / most).float()
