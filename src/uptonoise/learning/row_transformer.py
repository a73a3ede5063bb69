"""Any transformer of rows, lifted to bags."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from uptonoise._util.typing import Floats
from uptonoise.bags import BagRows, Bags
from uptonoise.learning.docs import described
from uptonoise.learning.transformer import BagTransformer
from uptonoise.rows import (
    ArrayRows,
    Block,
    FrameRows,
    RowSource,
    SelectedRows,
    as_column_names,
    as_rows,
    numbered_columns,
    read_rows,
)

_BLOCK_ROWS = 65_536


def _inner_has_names(lifted: RowTransformer) -> bool:
    return hasattr(getattr(lifted, "transformer_", lifted.transformer), "get_feature_names_out")


@described
class RowTransformer(BagTransformer, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Any transformer of rows, lifted to bags: fitted on the rows of all bags, applied to the rows of each.

    Bags come back as Bags with their ids and labels, and a stream of rows as a stream. A 2-D array or a frame comes
    back as a 2-D array.

    Parameters
    ----------
    transformer : transformer
        A scikit-learn transformer that gives a row for each row, such as ``StandardScaler()``. It is cloned, and never
        sees y, which belongs to bags.

    Attributes
    ----------
    transformer_ : transformer
        The clone, fitted on rows as a float64 array; with ``partial_fit`` where they are a stream and it has that.
    {fitted_columns}

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from sklearn.preprocessing import StandardScaler
    >>> bags = un.Bags([np.array([1.0, 3.0]), np.array([5.0])], ids=["a", "b"])
    >>> scaled = un.RowTransformer(StandardScaler()).fit_transform(bags)
    >>> scaled.ids, scaled[0].ravel().round(3)
    (array(['a', 'b'], dtype='<U1'), array([-1.225,  0.   ]))
    """

    transformer_: Any

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    @available_if(_inner_has_names)  # type: ignore[untyped-decorator]
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that come out, as the transformer has them."""
        names = super().get_feature_names_out(input_features)
        return np.asarray(self.transformer_.get_feature_names_out(names))

    def set_output(self, *, transform: str | None = None) -> Self:
        """Change nothing: bags have no other form. It is there for Pipelines, whose other steps obey."""
        return self

    def _fit_rows(self, source: RowSource) -> None:
        if not hasattr(self.transformer, "get_params") or isinstance(self.transformer, type):
            raise ValueError(f"transformer must be a transformer of rows; got {self.transformer!r}")
        self.transformer_ = clone(self.transformer)
        if _in_memory(source) is not None or not hasattr(self.transformer_, "partial_fit"):
            self.transformer_.fit(read_rows(source))
            return
        for block in source.blocks(_BLOCK_ROWS):
            self.transformer_.partial_fit(block.values)

    def _transform_rows(self, source: RowSource, X: Any) -> Any:
        original: Any = _in_memory(source)
        if original is None:
            return _TransformedRows(source, copy(self))  # which a later fit does not change
        values = self._transformed(read_rows(source))
        if not isinstance(original, BagRows):
            return values
        labels = X.labels if isinstance(X, Bags) else None
        columns = self._columns_out(values.shape[1])
        named = columns != numbered_columns(len(columns))
        return Bags._in_order(values, original.offsets, original.bag_ids, labels, columns, named)

    def _transformed(self, values: Floats) -> Floats:
        """Return transformed rows as an array of finite numbers, one row for each."""
        name = f"the output of {type(self.transformer_).__name__}"
        transformed = read_rows(as_rows(self.transformer_.transform(values), name=name))
        if len(transformed) != len(values):
            raise ValueError(f"{name} must have a row for each of the {len(values)} rows; got {len(transformed)}")
        return transformed

    def _columns_out(self, n_columns: int) -> tuple[str, ...]:
        """Return names from the transformer where it has them, else those of the columns that stay, else numbers."""
        if _inner_has_names(self):
            return as_column_names(self.get_feature_names_out(), "transformer", n_columns)
        if n_columns == self.n_features_in_:
            return tuple(super().get_feature_names_out())
        return numbered_columns(n_columns)


def _in_memory(source: RowSource) -> RowSource | None:
    """Return the rows in memory that a source is, or selects columns of; None where they are a stream."""
    original = source.source if isinstance(source, SelectedRows) else source
    return original if isinstance(original, ArrayRows | FrameRows) else None


class _TransformedRows(RowSource):
    """A stream of rows, transformed as they come."""

    def __init__(self, source: RowSource, lifted: RowTransformer) -> None:
        self.source, self.lifted = source, lifted
        self.name, self.n_rows, self.bag_ids = source.name, source.n_rows, source.bag_ids
        self.can_be_read_again = source.can_be_read_again
        self.columns = lifted._columns_out(lifted._transformed(source.head(1)).shape[1])
        self.named = self.columns != numbered_columns(len(self.columns))

    def chunks(self) -> Iterator[Block]:
        """Yield the rows of the source, transformed."""
        for block in self.source.blocks(_BLOCK_ROWS):
            yield block._replace(values=self.lifted._transformed(block.values))
