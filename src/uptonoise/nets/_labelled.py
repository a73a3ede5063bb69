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


@dataclass(frozen=True)
class LabelledBags:
    """Bags with targets and weights, on the device where they are wanted; where each bag starts is in main memory."""

    rows: Tensor
    offsets: Indices
    targets: Tensor
    weights: Tensor

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Indices:
        """The number of rows of each bag."""
        return np.diff(self.offsets)

    def batch(self, picked: Indices) -> Batch:
        """Return the bags with these numbers."""
        device = self.rows.device
        sizes = self.sizes[picked]
        ends = np.cumsum(sizes)
        rows = np.arange(ends[-1]) + np.repeat(self.offsets[picked] - (ends - sizes), sizes)
        bags = torch.from_numpy(picked).to(device)
        return Batch(
            self.rows.index_select(0, torch.from_numpy(rows).to(device)),
            torch.from_numpy(sizes).to(device),
            self.targets.index_select(0, bags),
            self.weights.index_select(0, bags),
        )

    def part(self, picked: Indices) -> LabelledBags:
        """Return the bags with these numbers as bags of their own."""
        rows, sizes, targets, weights = self.batch(picked)
        return LabelledBags(rows, np.concatenate([[0], np.cumsum(sizes.cpu().numpy())]), targets, weights)
