"""What the networks' estimators read, bags or vectors with the columns of training, and what they are trained on.

Tensors that lie on the network's device stay there; all else is read into this machine's memory. Where bags start is
in this machine's memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from torch import Tensor

from uptonoise._util.typing import Floats
from uptonoise.bags import BagRows, Bags
from uptonoise.engines import tensor_bags
from uptonoise.engines.gpu.rows import TensorRows
from uptonoise.learning import FittedColumns, bag_source
from uptonoise.rows import RowSource, SelectedRows, read_rows

Indices = NDArray[np.int64]


def picked_rows(rows: Tensor, offsets: Indices, picked: Indices) -> tuple[Tensor, Indices]:
    """Return the rows of the bags with these numbers, one bag after the other, and where each of these bags starts."""
    sizes = np.diff(offsets)[picked]
    ends = np.cumsum(sizes)
    numbers = np.arange(ends[-1]) + np.repeat(offsets[picked] - (ends - sizes), sizes)
    return rows.index_select(0, torch.from_numpy(numbers).to(rows.device)), np.concatenate([[0], ends])


@dataclass(frozen=True)
class LabelledBags:
    """Bags with targets and weights, on the device where they are wanted."""

    rows: Tensor
    offsets: Indices
    targets: Tensor
    weights: Tensor

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Tensor:
        """The number of rows of each bag."""
        return torch.from_numpy(np.diff(self.offsets)).to(self.rows.device)

    def part(self, picked: Indices) -> LabelledBags:
        """Return the bags with these numbers as bags of their own."""
        rows, offsets = picked_rows(self.rows, self.offsets, picked)
        bags = torch.from_numpy(picked).to(rows.device)
        return LabelledBags(rows, offsets, self.targets.index_select(0, bags), self.weights.index_select(0, bags))


class Parts(NamedTuple):
    """The bags of a fit: all, those to train on, those kept aside, as they are judged by, and the numbers of these."""

    everything: LabelledBags
    training: LabelledBags
    validation: LabelledBags | None
    held_out: Indices


@dataclass(frozen=True)
class ReadBags:
    """The rows of all bags, where each bag starts, the labels and ids that came with them, and their columns.

    The rows are an array, or a tensor on the network's device.
    """

    values: Floats | Tensor
    offsets: Indices
    labels: NDArray[Any] | None
    ids: Any
    columns: FittedColumns

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def moments(self) -> tuple[Floats, Floats]:
        """Return the means and the variances of the columns."""
        if not isinstance(self.values, Tensor):
            return np.asarray(self.values.mean(axis=0)), np.asarray(self.values.var(axis=0))
        means = self.values.mean(dim=0, dtype=torch.float64)
        return means.cpu().numpy(), self.values.double().var(dim=0, correction=0).cpu().numpy()

    def part(self, picked: Indices) -> Bags | RowSource:
        """Return the bags with these numbers, where they are."""
        if isinstance(self.values, Tensor):
            return tensor_bags(*picked_rows(self.values, self.offsets, picked))
        return Bags([self.values[self.offsets[bag] : self.offsets[bag + 1]] for bag in picked.tolist()])


def read_bags(X: Any, estimator: BaseEstimator, device: torch.device, fitted: FittedColumns | None = None) -> ReadBags:
    """Return bags, or vectors as bags of one row; with the columns of fit, in their order, where there was one."""
    if isinstance(X, RowSource) and X.bag_ids is not None and not isinstance(X, BagRows):
        X = Bags.from_rows(X)
    source = bag_source(X, estimator, fitted)
    given = source.source if isinstance(source, SelectedRows) else source
    values: Floats | Tensor
    # The device of a tensor has a number, where "cuda" has none.
    if isinstance(given, TensorRows) and given.device == torch.empty(0, device=device).device:
        given.check()
        values = given.tensor if given.tensor.is_floating_point() else given.tensor.double()
        if source.columns != given.columns:
            values = values[:, [given.columns.index(column) for column in source.columns]]
    else:
        values = read_rows(source)
    offsets = given.offsets if isinstance(given, BagRows) else np.arange(len(values) + 1)
    labels = X.labels if isinstance(X, Bags) else None
    return ReadBags(values, offsets, labels, source.bag_ids, FittedColumns(tuple(source.columns), source.named))
