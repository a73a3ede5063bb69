"""What the networks' estimators read: bags or vectors, with the columns of training, and checked numbers.

Tensors that lie on the network's device stay there; all else is read into this machine's memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array
from torch import Tensor

from uptonoise._util.typing import Floats
from uptonoise.bags import BagRows, Bags
from uptonoise.engines import tensor_bags
from uptonoise.engines.gpu.rows import TensorRows
from uptonoise.nets.labelled import Indices, picked_rows
from uptonoise.rows import (
    RowSource,
    SelectedRows,
    aligned,
    as_real_array,
    as_rows,
    is_series,
    is_tensor,
    numbered_columns,
    read_rows,
)


@dataclass
class Columns:
    """The columns that an estimator was fitted on, for matching and for messages."""

    columns: tuple[str, ...]
    named: bool
    name: str = "the data of fit"


@dataclass(frozen=True)
class ReadBags:
    """The rows of all bags, where each bag starts, the labels that came with them, and their columns.

    The rows are an array, or a tensor on the network's device; where bags start is in this machine's memory.
    """

    values: Floats | Tensor
    offsets: Indices
    labels: NDArray[Any] | None
    columns: Columns

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Indices:
        """The number of rows of each bag."""
        return np.diff(self.offsets)

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


def read_bags(X: Any, estimator: BaseEstimator, device: torch.device, fitted: Columns | None = None) -> ReadBags:
    """Return bags, or vectors as bags of one row; with the columns of fit, in their order, where there was one.

    Rows of a tensor on `device` stay there.
    """
    if isinstance(X, list | tuple) and len(X) == 0:
        raise ValueError("X is empty; at least one bag is needed")
    if isinstance(X, RowSource) and X.bag_ids is not None and not isinstance(X, BagRows):
        X = Bags.from_rows(X)
    if isinstance(X, np.ndarray) and X.ndim != 3 and not (X.ndim == 1 and X.dtype == object):  # which is bags
        X = check_array(X, dtype="numeric", ensure_all_finite=False, input_name="X", estimator=estimator)
    source = as_rows(X)
    if source.bag_ids is None and _has_one_axis(X):
        raise ValueError(
            "X must be bags (a Bags, a list of arrays, a 3-D array), or vectors in 2 dimensions; got one dimension"
        )
    if fitted is not None:
        if len(source.columns) != len(fitted.columns):
            raise ValueError(  # in the words that scikit-learn's checks look for
                f"X has {len(source.columns)} features, but {type(estimator).__name__} is expecting "
                f"{len(fitted.columns)} features as input"
            )
        source = aligned(source, fitted)
    given = source.source if isinstance(source, SelectedRows) else source
    values = _rows_on(device, source, given) if isinstance(given, TensorRows) else read_rows(source)
    offsets = given.offsets if isinstance(given, BagRows) else np.arange(len(values) + 1)
    labels = X.labels if isinstance(X, Bags) else None
    return ReadBags(values, offsets, labels, Columns(tuple(source.columns), source.named))


def _rows_on(device: torch.device, source: RowSource, given: TensorRows) -> Floats | Tensor:
    """Return the checked rows of `given` with the columns of `source`: on the device where they are there."""
    if given.device != torch.empty(0, device=device).device:  # which has a number, where "cuda" has none
        return read_rows(source)
    given.check()
    rows = given.tensor if given.tensor.is_floating_point() else given.tensor.double()
    if source.columns == given.columns:
        return rows
    return rows[:, [given.columns.index(column) for column in source.columns]]


def _has_one_axis(X: Any) -> bool:
    if isinstance(X, list | tuple):
        return np.ndim(X[0]) == 0
    return bool(X.ndim == 1) if is_tensor(X) else is_series(X)


def fitted_columns(estimator: Any) -> Columns:
    """Return the columns of a fitted estimator."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return Columns(numbered_columns(estimator.n_features_in_), False)
    return Columns(tuple(names), True)


def given_targets(y: Any, bags: ReadBags) -> Any:
    """Return y in this machine's memory, or the labels of the bags where it is None."""
    if y is not None:
        return y.detach().cpu() if is_tensor(y) else y
    if bags.labels is None:
        raise ValueError(  # the end in the words that scikit-learn's checks look for
            "y must be given where the bags have no labels: fit requires y to be passed, but the target y is None"
        )
    return bags.labels


def checked_targets(y: Any, n_bags: int) -> Floats:
    """Return finite numbers of shape (n_bags,) or (n_bags, n_targets) that vary, or raise with what is wrong."""
    values = as_real_array(y, "y").astype(np.float64)
    if values.ndim not in (1, 2) or len(values) != n_bags or values.size == 0:
        raise ValueError(f"y must have one target for each of {n_bags} bags; got shape {values.shape}")
    if not np.isfinite(values).all():
        place = int(np.argwhere(~np.isfinite(values))[0][0])
        raise ValueError(f"y must be finite; got {values[place]} for bag {place}. Leave such bags out")
    if (values == values[0]).all():
        raise ValueError(f"y must vary; got {values[0]} for every bag, which needs no model")
    return values
