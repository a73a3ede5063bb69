"""What the networks' estimators read: bags or vectors, with the columns of training.

Tensors that lie on the network's device stay there; all else is read into this machine's memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
from uptonoise.nets.labelled import Indices, WithOffsets, picked_rows
from uptonoise.rows import RowSource, SelectedRows, read_rows


@dataclass(frozen=True)
class ReadBags(WithOffsets):
    """The rows of all bags, where each bag starts, the labels and ids that came with them, and their columns.

    The rows are an array, or a tensor on the network's device; where bags start is in this machine's memory.
    """

    values: Floats | Tensor
    offsets: Indices
    labels: NDArray[Any] | None
    ids: Any
    columns: FittedColumns

    @property
    def sample(self) -> Floats | RowSource:
        """All rows as one sample, where they are."""
        return TensorRows(self.values) if isinstance(self.values, Tensor) else self.values

    def means(self) -> Floats:
        """Return the means of the columns."""
        if isinstance(self.values, Tensor):
            return np.asarray(self.values.mean(dim=0, dtype=torch.float64).cpu().numpy())
        return np.asarray(self.values.mean(axis=0))

    def variances(self) -> Floats:
        """Return the variances of the columns."""
        if isinstance(self.values, Tensor):
            return np.asarray(self.values.double().var(dim=0, correction=0).cpu().numpy())
        return np.asarray(self.values.var(axis=0))

    def part(self, picked: Indices) -> Bags | RowSource:
        """Return the bags with these numbers, where they are."""
        if isinstance(self.values, Tensor):
            rows, sizes = picked_rows(self.values, self.offsets, picked)
            return tensor_bags(rows, np.concatenate([[0], np.cumsum(sizes)]))
        return Bags([self.values[self.offsets[bag] : self.offsets[bag + 1]] for bag in picked.tolist()])


def read_bags(X: Any, estimator: BaseEstimator, device: torch.device, fitted: FittedColumns | None = None) -> ReadBags:
    """Return bags, or vectors as bags of one row; with the columns of fit, in their order, where there was one.

    Rows of a tensor on `device` stay there.
    """
    if isinstance(X, RowSource) and X.bag_ids is not None and not isinstance(X, BagRows):
        X = Bags.from_rows(X)
    source = bag_source(X, estimator, fitted)
    given = source.source if isinstance(source, SelectedRows) else source
    values = _rows_on(device, source, given) if isinstance(given, TensorRows) else read_rows(source)
    offsets = given.offsets if isinstance(given, BagRows) else np.arange(len(values) + 1)
    labels = X.labels if isinstance(X, Bags) else None
    return ReadBags(values, offsets, labels, source.bag_ids, FittedColumns(tuple(source.columns), source.named))


def _rows_on(device: torch.device, source: RowSource, given: TensorRows) -> Floats | Tensor:
    """Return the checked rows of `given` with the columns of `source`: on the device where they are there."""
    if given.device != torch.empty(0, device=device).device:  # which has a number, where "cuda" has none
        return read_rows(source)
    given.check()
    rows = given.tensor if given.tensor.is_floating_point() else given.tensor.double()
    if source.columns == given.columns:
        return rows
    return rows[:, [given.columns.index(column) for column in source.columns]]
