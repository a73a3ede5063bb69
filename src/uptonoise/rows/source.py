"""RowSource: what every input becomes before anything is computed from it.

A source is a sample seen as a stream: the names of its columns, the number of rows where it is known, and blocks of
values, weights and bag numbers. All checks of values and weights are here.

:meth:`RowSource.fold` cuts the rows into blocks of a fixed size, computes on all cores, and adds the parts in the order
of the rows. Neither the chunks in which the rows came nor the number of threads changes a single bit of the result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.threads import ordered_map, single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.wording import shown
from uptonoise.rows.arrays import check_whole_numbers
from uptonoise.rows.block import CHUNK_ROWS, AnyAccumulator, Block, chunk_rows
from uptonoise.rows.keys import bag_keys, keyed_rows, rows_by_bag
from uptonoise.rows.record import SourceRecord

HEAD_ROWS = 1_000
_AT_ONCE_BYTES = 1 << 30  # of all parts that threads compute at a time
_SMALLEST_WEIGHT, _LARGEST_WEIGHT = 1e-100, 1e100  # squares and sums of such weights neither vanish nor overflow


class RowSource(ABC):
    """A sample as a stream of rows.

    A subclass sets the attributes and defines :meth:`chunks`. Checks, blocks of equal size and threads come from here.
    An engine that keeps its rows elsewhere also overrides :meth:`fold`, and `selected`, `weighted` and `minus`.

    Attributes
    ----------
    name : str
        The argument that the rows came from, for messages.
    columns : tuple of str
        The names of the columns; ``x0``, ``x1``, ... where the input had none.
    named : bool
        Whether the names came with the input. Named columns are matched by name, others by position.
    n_rows : int or None
        The number of rows; None if it is not known before all have been read.
    weights : array of shape (n_rows,) or None
        The weights, where they are known without reading the rows.
    can_be_read_again : bool
        Whether a second pass over the rows is possible.
    bag_ids : sequence or None
        The ids of the bags in the order of their numbers; None for a single sample.
    bags_in_order : bool
        Whether the rows of each bag lie together, and the bags in the order of their numbers.
    is_weighted : bool
        Whether rows have weights, also where only a pass over the rows tells them.
    is_remote : bool
        Whether the rows lie in other processes, where sums are computed too; what needs all rows here is then refused.
    ids_are_local : bool
        Whether the ids of bags are mere numbers, which mean nothing beside those of another sample.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.rows import as_rows
    >>> source = as_rows(np.arange(10.0).reshape(5, 2))
    >>> source.columns, source.n_rows
    (('x0', 'x1'), 5)
    >>> [block.values.shape for block in source.blocks(2)]
    [(2, 2), (2, 2), (1, 2)]
    """

    name: str = "X"
    columns: tuple[str, ...]
    named: bool = False
    n_rows: int | None = None
    weights: NDArray[Any] | None = None
    can_be_read_again: bool = True
    bag_ids: Sequence[Any] | NDArray[Any] | None = None
    bags_in_order: bool = False
    is_remote: bool = False
    is_weighted: bool = False
    ids_are_local: bool = False

    @abstractmethod
    def chunks(self) -> Iterator[Block]:
        """Yield all rows in order, in chunks of any size and of any real dtype."""

    def blocks(
        self, size: int, *, first_size: int | None = None, first_row: int = 0, check: bool = True
    ) -> Iterator[Block]:
        """Yield all rows in order, in blocks of `size` rows, which know the number of their first row.

        The last block may be shorter. Blocks are checked, and float64, unless `check` is False. Rows that are a part of
        a larger source are cut where that source would be cut: the first block has `first_size` rows, and rows are
        counted from `first_row`.
        """
        wanted, held, pieces, is_empty = first_size or size, 0, [], True
        for chunk in self.chunks():
            start, n_chunk = 0, len(chunk.values)
            while start < n_chunk:
                stop = min(n_chunk, start + wanted - held)
                pieces.append(chunk if stop - start == n_chunk else chunk.at(slice(start, stop)))
                held += stop - start
                start = stop
                if held == wanted:
                    block, pieces = Block.concatenated(pieces)._replace(first_row=first_row), []
                    yield self.checked(block) if check else block
                    first_row, wanted, held, is_empty = first_row + held, size, 0, False
        if pieces:
            block = Block.concatenated(pieces)._replace(first_row=first_row)
            yield self.checked(block) if check else block
        elif is_empty:
            raise self.no_rows()

    def fold(self, accumulator: AnyAccumulator) -> AnyAccumulator:
        """Feed all rows to `accumulator` and return it; threads compute its parts, which are added in order."""
        blocks = self.blocks(accumulator.block_rows, check=False)  # which threads do
        with single_threaded_blas():
            part_bytes = max(accumulator.part_bytes, 16 * accumulator.block_rows * len(self.columns))
            most = max(1, _AT_ONCE_BYTES // max(1, part_bytes))
            for part in ordered_map(lambda block: accumulator.part(self.checked(block)), blocks, most):
                accumulator.add(part)
        return accumulator

    def check(self) -> None:
        """Raise where a value or a weight is not allowed, for those who have no other use of the rows."""
        for _ in ordered_map(self.checked, self.blocks(chunk_rows(len(self.columns)), check=False)):
            pass

    def head(self, n_rows: int = HEAD_ROWS) -> Floats:
        """Return the values of the first rows, at most `n_rows`; a later pass still sees them."""
        return next(self.blocks(n_rows)).values

    def first_part(self, n_rows: int) -> NDArray[Any]:
        """Return about the first `n_rows` rows as they come, from which the scale of what is read once is taken."""
        return next(self.blocks(n_rows, check=False)).values

    def resident(self) -> Any:
        """Return all rows where they are, as float64: an array, unless an engine keeps them elsewhere."""
        return read_rows(self)

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """Return the values of the rows with these increasing numbers."""
        taken = [np.empty((0, len(self.columns)))]
        for block in self.blocks(chunk_rows(len(self.columns))):
            start, stop = np.searchsorted(rows, [block.first_row, block.first_row + len(block.values)])
            taken.append(block.values[rows[start:stop] - block.first_row])
        return np.concatenate(taken)

    def renamed(self, name: str) -> Self:
        """Return the same rows under another name."""
        renamed = copy(self)
        renamed.name = name
        return renamed

    def selected(self, columns: Sequence[str]) -> RowSource | None:
        """Return the same rows with some of the columns; None where the source has no way of its own."""
        return None

    def weighted(self, weights: Any) -> RowSource | None:
        """Return the same rows with weights, an array or a column; None where the source has no way of its own."""
        return None

    def clustered(self, column: str) -> RowSource | None:
        """Return the same rows as bags, by a column of ids; None where the source has no way of its own."""
        return None

    def minus(self, other: RowSource) -> RowSource | None:
        """Return the differences of corresponding rows; None where the source has no way of its own."""
        return None

    def complete(self) -> RowSource | None:
        """Return the same rows without those that have missing values; None where there is no own way."""
        return None

    def record(self) -> SourceRecord:
        """Return which rows and columns the last pass has left out."""
        return SourceRecord()

    def sampled(self, n_rows: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the `n_rows` smallest of random keys, one for each row, and the values of those rows.

        Keys are generated in the order of the rows, so that nothing else decides which rows are chosen.
        """
        n_all, weights = self.n_rows, self.weights
        if n_all is None:
            return keyed_rows(self.blocks(chunk_rows(len(self.columns))), len(self.columns), n_rows, generator)
        numbers = (  # of rows, in place of rows: only those that are chosen are read
            Block(
                np.arange(start, min(n_all, start + CHUNK_ROWS))[:, None],
                None if weights is None else weights[start : start + CHUNK_ROWS],
            )
            for start in range(0, n_all, CHUNK_ROWS)
        )
        keys, rows = keyed_rows(numbers, 1, n_rows, generator)
        return keys, self.take(rows[:, 0].astype(np.int64))

    def sampled_by_bag(self, n_rows: int, seed: int) -> list[Floats]:
        """Return at most `n_rows` rows of each bag, sampled without replacement in one pass."""
        return rows_by_bag(bag_keys(self.blocks(chunk_rows(len(self.columns))), len(self.columns), n_rows, seed))

    def checked(self, block: Block) -> Block:
        """Return a block as float64; raise where a value is not finite, or a weight is not allowed."""
        with np.errstate(over="ignore"):  # what is too large for float64 becomes infinite, and is refused
            values = np.ascontiguousarray(block.values, dtype=np.float64)
        finite = np.isfinite(values)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            value = "NaN (a missing value)" if np.isnan(values[row, column]) else f"{values[row, column]}"
            raise ValueError(
                f"{self.name} must be finite; got {value} in {self.place(block, row)}, column "
                f"{self.columns[column]!r}. Drop or fill such rows first"
            )
        if block.values.dtype.kind in "iu":
            check_whole_numbers(block.values, self.name, self.columns)
        weights = block.weights
        if weights is not None:
            weights = np.ascontiguousarray(weights, dtype=np.float64)
            allowed = ((weights >= _SMALLEST_WEIGHT) & (weights <= _LARGEST_WEIGHT)) | (weights == 0)
            if not allowed.all():
                row = int(np.argmin(allowed))
                raise ValueError(
                    f"weights must be 0, or between {_SMALLEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}; got {weights[row]:g} "
                    f"for {self.place(block, row)} of {self.name}"
                )
        return Block(values, weights, block.bags, block.first_row)

    def place(self, block: Block, row: int) -> str:
        """Return where a row of a block is, in words."""
        bag = "" if block.bags is None or self.bag_ids is None else f" (bag {shown(self.bag_ids[block.bags[row]])})"
        return f"row {block.first_row + row}{bag}"

    def no_rows(self) -> ValueError:
        """Return the error about a sample without rows."""
        return ValueError(f"{self.name} has no rows; at least one is needed")


def read_rows(source: RowSource) -> Floats:
    """Return all rows of a source in memory, for tests that look at them more than once.

    Examples
    --------
    >>> from uptonoise.rows import as_rows, read_rows
    >>> read_rows(as_rows(iter([[1.0, 2.0], [3.0]])))
    array([[1.],
           [2.],
           [3.]])
    """
    return np.concatenate([block.values for block in source.blocks(CHUNK_ROWS)])
