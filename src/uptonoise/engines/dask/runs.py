"""Runs: sums over a part of the rows that meet as if all rows had been summed at once.

A sum is made of blocks, cut at multiples of a fixed number of rows: :meth:`RowSource.fold`. A part of a
source starts and ends anywhere, so of its first and its last block it has only some rows. It sums the blocks that it
has as a whole and keeps the rows before and after them, fewer than a block each. Where two neighbours meet, the rows
between their sums are a block, which is then added in its place. So the blocks, and what each of them adds, are those
of one pass over all rows, whatever the parts; only the order in which their sums are added is another, and with it the
last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from uptonoise._util.threads import single_threaded_blas
from uptonoise.engines.files import GroupIds
from uptonoise.rows import Accumulator, AnyAccumulator, Block, RowSource


class Run(NamedTuple):
    """What is known of the rows from number `start` to the one before `stop`."""

    start: int
    stop: int
    head: list[Block]  # the rows before the first whole block; all of them where no block starts or ends among them
    total: Any  # the sum of the whole blocks, as a part of an accumulator; None where there is none
    tail: list[Block]  # the rows after the last whole block
    ids: list[Any]  # of the bags that the numbers in this run mean; empty for one sample


def run_of(source: RowSource, start: int, stop: int, accumulator: Accumulator[Any]) -> Run:
    """Return the run of a source that holds the rows from `start` to `stop` of a larger one."""
    size = accumulator.block_rows
    total = accumulator.empty()
    head: list[Block] = []
    tail: list[Block] = []
    is_summed = False
    before = _boundary(start, size) - start
    if start < stop:
        with single_threaded_blas():
            row = start
            for block in source.blocks(size, first_size=before or size, first_row=start):
                if row == start and before:
                    head.append(block)
                elif len(block.values) == size:
                    total.add(total.part(block))
                    is_summed = True
                else:
                    tail.append(block)
                row += len(block.values)
    return Run(start, stop, head, total.total() if is_summed else None, tail, list(source.bag_ids or []))


def merged(runs: Sequence[Run], accumulator: Accumulator[Any]) -> Run:
    """Return one run of consecutive ones."""
    size = accumulator.block_rows
    total = accumulator.empty()
    groups = GroupIds(runs[0].ids)
    start, stop, head, first, tail, _ = runs[0]
    is_summed = first is not None
    if is_summed:
        total.add(first)
    with single_threaded_blas():
        for right in runs[1:]:
            right = _renumbered(right, groups, accumulator)
            if _boundary(start, size) > stop:  # no block has ended yet
                head = head + right.head
            else:
                tail = tail + right.head
                if sum(len(block.values) for block in tail) == size:
                    total.add(total.part(Block.concatenated(tail)))
                    is_summed, tail = True, []
            if right.total is not None:
                total.add(right.total)
                is_summed = True
            tail = tail + right.tail
            stop = right.stop
    return Run(start, stop, head, total.total() if is_summed else None, tail, groups.ids)


def added(accumulator: AnyAccumulator, run: Run) -> AnyAccumulator:
    """Add a run of all rows, from the first one, to an accumulator, with the last block, which may be shorter."""
    if run.total is not None:
        accumulator.add(run.total)
    with single_threaded_blas():
        if run.tail:
            accumulator.add(accumulator.part(Block.concatenated(run.tail)))
    return accumulator


def _boundary(row: int, size: int) -> int:
    """Return the first row from `row` on that starts a block."""
    return -(-row // size) * size


def _renumbered(run: Run, groups: GroupIds, accumulator: Accumulator[Any]) -> Run:
    """Return a run with its bags numbered as all groups are."""
    if not run.ids:
        return run
    numbers = groups.add(run.ids)
    if (numbers == range(len(numbers))).all():
        return run

    def with_numbers(blocks: list[Block]) -> list[Block]:
        return [block._replace(bags=numbers[block.bags]) for block in blocks]

    total = None if run.total is None else accumulator.renumbered(run.total, numbers)
    return run._replace(head=with_numbers(run.head), total=total, tail=with_numbers(run.tail))
