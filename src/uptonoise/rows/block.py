"""Blocks of rows, and sums over them.

Everything that the library computes from rows is a sum over blocks. An :class:`Accumulator` says what a block
contributes; :meth:`uptonoise.rows.RowSource.fold` runs it over all rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, Generic, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

CHUNK_ROWS = 65_536
"""How many rows are held at once where nothing else decides."""

_CHUNK_VALUES = 1 << 22


def chunk_rows(n_columns: int) -> int:
    """Return how many rows of so many columns are held at once: fewer where rows are long.

    Examples
    --------
    >>> from uptonoise.rows import chunk_rows
    >>> chunk_rows(4), chunk_rows(1_000)
    (65536, 4194)
    """
    return max(1, min(CHUNK_ROWS, _CHUNK_VALUES // max(n_columns, 1)))


class Block(NamedTuple):
    """Consecutive rows of a source: values (n, d), weights, and the number of each row's bag.

    `first_row` is the number of the first row in the whole source; chunks, which sources yield, do not know it.
    """

    values: NDArray[Any]
    weights: NDArray[Any] | None = None
    bags: NDArray[np.int64] | None = None
    first_row: int = 0

    def at(self, rows: slice | NDArray[Any]) -> Block:
        """Return some of the rows, which do not know their numbers; of a slice as views."""
        return Block(
            self.values[rows],
            None if self.weights is None else self.weights[rows],
            None if self.bags is None else self.bags[rows],
        )

    @staticmethod
    def concatenated(blocks: Sequence[Block]) -> Block:
        """Return consecutive blocks as one."""
        if len(blocks) == 1:
            return blocks[0]
        values, weights, bags = (
            None if field[0] is None else np.concatenate(field)
            for field in zip(*(block[:3] for block in blocks), strict=True)
        )
        return Block(values, weights, bags, blocks[0].first_row)  # type: ignore[arg-type]


Part = TypeVar("Part")


class Accumulator(ABC, Generic[Part]):
    """A sum over rows: what a block contributes, and how contributions are combined.

    Threads compute parts in any order; they are added in the order of the rows. A total is a part again, so totals of
    consecutive ranges of rows, computed elsewhere, can be added in the same way.

    A subclass sets `block_rows` and defines :meth:`part`. By default the sum is kept in `added`, and :meth:`plus`
    combines two parts. A subclass that keeps its sum in another way overrides `add`, `total` and `empty`.

    Attributes
    ----------
    block_rows : int
        The number of rows per block. It belongs to the sum and never depends on the machine.
    part_bytes : int
        About how much memory it takes to compute a part; where that is much, few threads do so at a time.
    needs_known_bags : bool
        Whether :meth:`part` needs the final numbers of the bags, not numbers that :meth:`renumbered` changes later.
    added : part, or None
        The sum of the parts so far; None before the first.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.rows import Accumulator, as_rows
    >>> class Total(Accumulator):
    ...     block_rows = 2
    ...     def part(self, block):
    ...         return block.values.sum(axis=0)
    >>> as_rows(np.arange(6.0).reshape(3, 2)).fold(Total()).total()
    array([6., 9.])
    """

    block_rows: int
    part_bytes: int = 0
    needs_known_bags: bool = False
    added: Part | None = None

    @abstractmethod
    def part(self, block: Block) -> Part:
        """Return what the block contributes, without changing the accumulator."""

    def plus(self, left: Part, right: Part) -> Part:
        """Return the sum of two parts; `left` comes from earlier rows."""
        return left + right  # type: ignore[operator, no-any-return]

    def add(self, part: Part) -> None:
        """Add the part of the next block, or the total of the next blocks."""
        self.added = part if self.added is None else self.plus(self.added, part)

    def total(self) -> Part:
        """Return the sum of all parts so far, as a part."""
        return cast(Part, self.added)

    def empty(self) -> Self:
        """Return the same accumulator before anything was added; it is small, and can be sent to other machines."""
        empty = copy(self)
        empty.added = None
        return empty

    def renumbered(self, part: Part, numbers: NDArray[np.int64]) -> Part:
        """Return a part in which bag i is called ``numbers[i]``; a part that knows no bags does not change."""
        return part


AnyAccumulator = TypeVar("AnyAccumulator", bound=Accumulator[Any])
