"""Rows of this machine that stream to a GPU through pinned memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from uptonoise._util.threads import n_threads, ordered_map
from uptonoise._util.typing import Floats
from uptonoise.engines.gpu.features import Bounds, as_vector
from uptonoise.engines.gpu.folds import DeviceBlock, DeviceRows
from uptonoise.rows import Block, RowSource, with_weights

_BUFFER_BYTES = 2**26  # of one of the two pinned buffers
_LEAST_ROWS = 1_024  # of a buffer


class StreamedRows(DeviceRows):
    """Rows of this machine that pass through a GPU, one pinned buffer after the other, whenever sums are computed."""

    def __init__(self, source: RowSource, device: torch.device) -> None:
        self.source, self.device = source, device
        self.name, self.columns, self.named = source.name, source.columns, source.named
        self.n_rows, self.bag_ids = source.n_rows, source.bag_ids
        self.can_be_read_again = source.can_be_read_again
        self.weights, self.is_weighted = source.weights, source.weights is not None

    def clustered(self, column: str) -> RowSource | None:
        """Return the rows of this machine as bags, by one of the columns: sums by cluster are made here."""
        return self.source.clustered(column)

    def weighted(self, weights: Any) -> RowSource:
        """Return the same rows with a weight each."""
        return StreamedRows(with_weights(self.source, weights), self.device)

    def chunks(self) -> Iterator[Block]:
        """Yield the rows where they are."""
        return self.source.chunks()

    def head(self, n_rows: int = 1_000) -> Floats:
        """Return the values of the first rows, at most `n_rows`."""
        return self.source.head(n_rows)

    def first_part(self, n_rows: int) -> NDArray[Any]:
        """Return the first part of the source below."""
        return self.source.first_part(n_rows)

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """Return the values of the rows with these increasing numbers."""
        return self.source.take(rows)

    def place(self, block: Block, row: int) -> str:
        """Return where a row is, in the words of the source below."""
        return self.source.place(block, row)

    def device_blocks(self) -> Iterator[DeviceBlock]:
        """Yield the rows as they arrive: while the device works on one buffer, the other one is filled."""
        n_rows, buffers = self._buffers()
        for number, block in enumerate(self.source.blocks(n_rows, check=False)):
            yield buffers[number % 2].filled(block)

    def _buffers(self) -> tuple[int, list[_Buffer]]:
        """Return two buffers and the number of rows that each holds: fewer where the device has little memory."""
        n_rows = max(_LEAST_ROWS, _BUFFER_BYTES // (8 * len(self.columns)))
        while n_rows > _LEAST_ROWS:
            try:
                return n_rows, [_Buffer(n_rows, len(self.columns), self.device) for _ in range(2)]
            except torch.OutOfMemoryError:
                n_rows //= 2
            torch.cuda.empty_cache()
        return n_rows, [_Buffer(n_rows, len(self.columns), self.device) for _ in range(2)]


class _Buffer:
    """Pinned memory of this machine and as much on the device."""

    def __init__(self, n_rows: int, n_columns: int, device: torch.device) -> None:
        self.device = device
        self._is_cuda = device.type == "cuda"
        self._here = torch.empty(n_rows * n_columns, dtype=torch.float64, pin_memory=self._is_cuda)
        self._there = torch.empty(n_rows * n_columns, dtype=torch.float64, device=device)
        self._copied = torch.cuda.Event() if self._is_cuda else None  # type: ignore[no-untyped-call]

    def filled(self, block: Block) -> DeviceBlock:
        """Return the rows of a block on the device; they are valid until the next call."""
        values = block.values
        dtype = torch.float32 if values.dtype == np.float32 else torch.float64
        here, there = (buffer.view(dtype)[: values.size].view(values.shape) for buffer in (self._here, self._there))
        if self._copied is not None:
            self._copied.synchronize()  # the last copy from this buffer may still be under way
        to, size = here.numpy(), -(-len(values) // n_threads())
        places = [slice(start, start + size) for start in range(0, len(values), size)]
        for _ in ordered_map(lambda place: np.copyto(to[place], values[place]), places):
            pass  # by all threads: one alone is slower than the way to the device
        there.copy_(here, non_blocking=True)
        if self._copied is not None:
            self._copied.record()
        weights, bags, numbers = block.weights, None, None
        if block.bags is not None:
            order = (
                np.arange(len(values)) if (np.diff(block.bags) >= 0).all() else np.argsort(block.bags, kind="stable")
            )
            by_bag = block.bags[order]
            if not np.array_equal(by_bag, block.bags):
                there = there[torch.from_numpy(order).to(self.device)]
                weights = None if weights is None else weights[order]
            starts = np.concatenate([[0], np.flatnonzero(np.diff(by_bag)) + 1])
            bags, numbers = Bounds.of(np.append(starts, len(by_bag)), self.device), by_bag[starts]
        weights_there = None if weights is None else as_vector(weights, self.device)
        return DeviceBlock(block.first_row, there, weights_there, bags, numbers)
