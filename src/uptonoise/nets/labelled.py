"""Bags with targets as tensors: what networks are trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Indices = NDArray[np.int64]


class Batch(NamedTuple):
    """Some bags: their rows one after the other, the number of rows of each, targets and weights."""

    rows: Tensor
    sizes: Tensor
    targets: Tensor
    weights: Tensor


def picked_rows(rows: Tensor, offsets: Indices, picked: Indices) -> tuple[Tensor, Indices]:
    """Return the rows of the bags with these numbers, one bag after the other, and the number of rows of each."""
    sizes = np.diff(offsets)[picked]
    ends = np.cumsum(sizes)
    numbers = np.arange(ends[-1]) + np.repeat(offsets[picked] - (ends - sizes), sizes)
    return rows.index_select(0, torch.from_numpy(numbers).to(rows.device)), sizes


class WithOffsets:
    """Bags whose rows lie one after the other, of which we know where each begins."""

    offsets: Indices

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Indices:
        """The number of rows of each bag."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class LabelledBags(WithOffsets):
    """Bags with targets and weights, on the device where they are wanted; where each bag starts is in main memory."""

    rows: Tensor
    offsets: Indices
    targets: Tensor
    weights: Tensor

    def batch(self, picked: Indices) -> Batch:
        """Return the bags with these numbers."""
        device = self.rows.device
        rows, sizes = picked_rows(self.rows, self.offsets, picked)
        bags = torch.from_numpy(picked).to(device)
        return Batch(
            rows,
            torch.from_numpy(sizes).to(device),
            self.targets.index_select(0, bags),
            self.weights.index_select(0, bags),
        )

    def part(self, picked: Indices) -> LabelledBags:
        """Return the bags with these numbers as bags of their own."""
        rows, sizes, targets, weights = self.batch(picked)
        return LabelledBags(rows, np.concatenate([[0], np.cumsum(sizes.cpu().numpy())]), targets, weights)
