"""The rows of bags as a row source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.wording import shown
from uptonoise.rows import CHUNK_ROWS, ArrayRows, Block


class BagRows(ArrayRows):
    """The rows of :class:`uptonoise.Bags`, one bag after the other, with the number of each row's bag."""

    bags_in_order = True

    def __init__(self, bags: Any, name: str = "X") -> None:
        super().__init__(bags.values, name, bags.columns, bag_ids=bags.ids)
        self.named, self.offsets = bags.named, bags.offsets
        # Bags that were given no ids are called 0, 1, ..., as those of every other sample.
        self.ids_are_local = bags.ids.dtype.kind == "i" and np.array_equal(bags.ids, np.arange(len(bags.ids)))

    def chunks(self) -> Iterator[Block]:
        """Yield views of the rows, with bag numbers made for one chunk at a time."""
        return self.blocks(CHUNK_ROWS, check=False) if len(self.values) else iter(())

    def blocks(
        self, size: int, *, first_size: int | None = None, first_row: int = 0, check: bool = True
    ) -> Iterator[Block]:
        """Yield views of `size` rows each: where all rows are at hand, blocks need not be joined from chunks."""
        n_rows = len(self.values)
        if n_rows == 0:
            raise self.no_rows()
        start, stop = 0, first_size or size
        while start < n_rows:
            block = Block(self.values[start:stop], None, self.bags_of(start, min(stop, n_rows)), first_row + start)
            yield self.checked(block) if check else block
            start, stop = stop, stop + size

    def bags_of(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the number of the bag of each row from `start` to `stop`."""
        first, last = np.searchsorted(self.offsets, [start, stop - 1], side="right") - 1
        return np.repeat(np.arange(first, last + 1), np.diff(np.clip(self.offsets[first : last + 2], start, stop)))

    def place(self, block: Block, row: int) -> str:
        """Return where a row of a block is: by its number in its bag."""
        number = int(np.searchsorted(self.offsets, block.first_row + row, side="right")) - 1
        in_bag = block.first_row + row - self.offsets[number]
        return f"row {in_bag} of bag {shown(self.bag_ids[number])}"  # type: ignore[index]
