"""Sources made of other sources: some of the columns, weights, differences of rows, rows sorted by bag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.rows.arrays import as_real_array
from uptonoise.rows.block import CHUNK_ROWS, Block
from uptonoise.rows.keys import keyed_rows
from uptonoise.rows.record import SourceRecord
from uptonoise.rows.source import HEAD_ROWS, RowSource

Missing = Literal["error", "drop"]
"""What becomes of a row that has a missing value."""

_WINDOW_ELEMENTS = 2**24  # numbers that are held at most to sort rows by bag
_WINDOW_ROWS_PER_BAG = 16  # rows of each bag, on average, that are enough


def select_columns(source: RowSource, columns: Sequence[str]) -> RowSource:
    """Return the same rows with some of the columns, in this order."""
    return source.selected(columns) or SelectedRows(source, columns)


def with_weights(source: RowSource, weights: Any) -> RowSource:
    """Return the same rows with weights: an array beside them, or the name of the column that holds them.

    Examples
    --------
    >>> from uptonoise.rows import as_rows, with_weights
    >>> next(with_weights(as_rows([1.0, 2.0]), [3, 4]).blocks(2)).weights
    array([3., 4.])
    """
    here = WeightColumnRows if isinstance(weights, str) else WeightedRows
    return source.weighted(weights) or here(source, weights)


def without_missing(source: RowSource) -> RowSource:
    """Return the same rows without those that have a missing value (NaN).

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.rows import as_rows, read_rows, without_missing
    >>> read_rows(without_missing(as_rows([1.0, np.nan, 2.0]))).ravel()
    array([1., 2.])
    """
    complete = source.complete()
    if complete is None and source.is_remote:
        raise ValueError(f'missing must be "error" for {source.name}, whose rows are on a cluster; drop rows there')
    return complete or CompleteRows(source)


def difference(left: RowSource, right: RowSource) -> RowSource:
    """Return the differences of corresponding rows of two sources, which have the same number of rows."""
    return left.minus(right) or _DifferenceRows(left, right)


class DerivedRows(RowSource):
    """A source that says of itself what the source below it says, with other columns or weights."""

    def __init__(self, source: RowSource) -> None:
        self.source = source
        self.name, self.columns, self.named = source.name, source.columns, source.named
        self.n_rows, self.bag_ids, self.bags_in_order = source.n_rows, source.bag_ids, source.bags_in_order
        self.can_be_read_again, self.weights = source.can_be_read_again, source.weights
        self.is_weighted = source.is_weighted or source.weights is not None
        self.ids_are_local = source.ids_are_local

    def head(self, n_rows: int = HEAD_ROWS) -> Floats:
        """Return the first rows of the source, with what is other here."""
        return self._derived(self.source.head(n_rows))

    def first_part(self, n_rows: int) -> NDArray[Any]:
        """Return the first part of the source, with what is other here."""
        return self._derived(self.source.first_part(n_rows))

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """Return the rows with these increasing numbers."""
        return self._derived(self.source.take(rows))

    def complete(self) -> RowSource | None:
        """Return the same rows without missing values, where the source below has a way of its own."""
        complete = self.source.complete()
        if complete is None:
            return None
        derived = copy(self)
        derived.source, derived.n_rows = complete, None
        return derived

    def record(self) -> SourceRecord:
        """Return what the source below has left out."""
        return self.source.record()

    def _derived(self, values: NDArray[Any]) -> NDArray[Any]:
        return values


class SelectedRows(DerivedRows):
    """The same rows with some of the columns, or with the columns in another order."""

    def __init__(self, source: RowSource, columns: Sequence[str]) -> None:
        super().__init__(source)
        self.columns = tuple(columns)
        places = {column: place for place, column in enumerate(source.columns)}
        self._order = [places[column] for column in columns]

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks of the source with these columns."""
        for chunk in self.source.chunks():
            yield chunk._replace(values=self._derived(chunk.values))

    def sampled(self, n_rows: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Return these columns of the rows that the source samples."""
        keys, values = self.source.sampled(n_rows, generator)
        return keys, self._derived(values)

    def _derived(self, values: NDArray[Any]) -> NDArray[Any]:
        return values[:, self._order]


class CompleteRows(DerivedRows):
    """The same rows without those that have a missing value."""

    def __init__(self, source: RowSource) -> None:
        super().__init__(source)
        self.n_rows = None
        self._n_dropped, self._gaps = 0, np.zeros(len(self.columns), dtype=np.int64)

    def chunks(self) -> Iterator[Block]:
        """Yield the complete rows of each chunk."""
        self._n_dropped, self._gaps = 0, np.zeros(len(self.columns), dtype=np.int64)
        for chunk in self.source.chunks():
            missing = np.isnan(chunk.values)
            kept = ~missing.any(axis=1)
            if kept.all():
                yield chunk
                continue
            self._n_dropped += int(np.count_nonzero(~kept))
            self._gaps += np.count_nonzero(missing, axis=0)
            yield chunk.at(kept)

    def head(self, n_rows: int = HEAD_ROWS) -> Floats:
        """Return the first complete rows; those of what is read once, as far as its first part has them."""
        if self.can_be_read_again:
            return RowSource.head(self, n_rows)
        return self.checked(Block(self.first_part(n_rows)[:n_rows])).values

    def first_part(self, n_rows: int) -> NDArray[Any]:
        """Return the complete rows of the first part."""
        values = self.source.first_part(n_rows)
        complete: NDArray[Any] = values[~np.isnan(values).any(axis=1)]
        if not len(complete):
            raise self.no_rows()
        return complete

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """Return some of the complete rows."""
        return RowSource.take(self, rows)

    def record(self) -> SourceRecord:
        """Return how many rows the last pass has left out."""
        gaps = {name: count for name, count in zip(self.columns, self._gaps.tolist(), strict=True) if count}
        return self.source.record()._replace(n_dropped=self._n_dropped, gaps=gaps)


class WeightedRows(DerivedRows):
    """The same rows, each with a weight from an array beside them."""

    weights: NDArray[Any]

    def __init__(self, source: RowSource, weights: Any) -> None:
        super().__init__(source)
        self.weights = as_real_array(weights, "weights")
        if self.weights.ndim != 1:
            raise ValueError(f"weights must be one number for each row; got an array of shape {self.weights.shape}")
        if self.n_rows is not None:
            self._check_length(self.n_rows)
        positive = self.weights[self.weights > 0]
        self.is_weighted = source.is_weighted or not (len(positive) and positive.min() == positive.max())

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks of the source with their weights."""
        start = 0
        for chunk in self.source.chunks():
            stop = start + len(chunk.values)
            if stop > len(self.weights):
                self._check_length(stop)
            yield chunk._replace(weights=self.weights[start:stop])
            start = stop
        self._check_length(start)

    def _check_length(self, n_rows: int) -> None:
        if len(self.weights) != n_rows:
            raise ValueError(
                f"weights must have one entry for each row of {self.name} ({n_rows}); got {len(self.weights)}"
            )


class WithoutColumn(DerivedRows):
    """The same rows with one column taken out, which has another role: "weights" or "clusters"."""

    def __init__(self, source: RowSource, column: str, role: str) -> None:
        super().__init__(source)
        if not source.named or column not in source.columns:
            known = f"the columns {list(source.columns)[:20]}" if source.named else "no column names"
            raise ValueError(f"{role}={column!r} must name a column of {source.name}, which has {known}")
        self.place_taken = source.columns.index(column)
        self.columns = tuple(other for other in source.columns if other != column)
        if not self.columns:
            raise ValueError(f"{source.name} has no column left beside the {role} {column!r}")

    def _derived(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.delete(values, self.place_taken, axis=1)


class WeightColumnRows(WithoutColumn):
    """The same rows with one column taken out as their weights."""

    def __init__(self, source: RowSource, column: str) -> None:
        super().__init__(source, column, "weights")
        self.is_weighted = True

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks of the source, the weights beside the values."""
        for chunk in self.source.chunks():
            yield chunk._replace(values=self._derived(chunk.values), weights=chunk.values[:, self.place_taken])

    def sampled(self, n_rows: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Sample in one pass over all rows, since only they tell the weights."""
        return keyed_rows(self.blocks(CHUNK_ROWS), len(self.columns), n_rows, generator)


class _DifferenceRows(RowSource):
    """Row i of a source minus row i of another source."""

    def __init__(self, left: RowSource, right: RowSource) -> None:
        self.left, self.right = left, right
        self.name, self.columns, self.named = f"{left.name} - {right.name}", left.columns, left.named
        self.n_rows = left.n_rows
        self.can_be_read_again = left.can_be_read_again and right.can_be_read_again

    def chunks(self) -> Iterator[Block]:
        for left, right in zip(self.left.blocks(CHUNK_ROWS), self.right.blocks(CHUNK_ROWS), strict=True):
            yield Block(left.values - right.values)


class RowsByBag(DerivedRows):
    """The same rows in another order: within each window of many rows, the rows of a bag lie together.

    Sums by bag then touch the sum of each bag once for several of its rows. Where the sums of all bags do not fit into
    a cache, that is most of the time.
    """

    def chunks(self) -> Iterator[Block]:
        """Yield many rows at a time, sorted by bag; more of them where there are more bags."""
        held: list[Block] = []
        count = 0
        most = max(1, _WINDOW_ELEMENTS // (len(self.columns) + 2))
        for chunk in self.source.chunks():
            if chunk.bags is None:  # which whoever sums by bag refuses
                yield chunk
                continue
            held.append(chunk)
            count += len(chunk.values)
            if count >= min(most, _WINDOW_ROWS_PER_BAG * len(self.bag_ids if self.bag_ids is not None else ())):
                yield _sorted_by_bag(held)
                held, count = [], 0
        if held:
            yield _sorted_by_bag(held)


def _sorted_by_bag(held: list[Block]) -> Block:
    """Return rows sorted by bag, and empty the list that they came in to free its memory."""
    bags = np.concatenate([np.asarray(block.bags) for block in held])
    weights = None if held[0].weights is None else np.concatenate([np.asarray(block.weights) for block in held])
    values = np.empty((len(bags), held[0].values.shape[1]))
    np.concatenate([block.values for block in held], out=values)
    held.clear()
    # The rows of a matrix with one entry for each row of the data, at its bag: to sort these is to count.
    places = np.arange(len(bags), dtype=np.int32), np.ones(len(bags), dtype=np.int8)
    order = scipy.sparse.coo_array((places[1], (bags, places[0]))).tocsr().indices
    return Block(values.take(order, axis=0), None if weights is None else weights[order], bags[order])
