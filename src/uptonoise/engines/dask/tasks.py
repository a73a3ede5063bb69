"""What workers do with a part of the rows: open it, count, sum, sample; and how results of parts are merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.wording import shown
from uptonoise.engines.dask.cluster import dask_module
from uptonoise.engines.dask.runs import Run, merged, run_of
from uptonoise.engines.files import FileRows, GroupIds, Groups, NoGroupError, TableFile
from uptonoise.rows import (
    CHUNK_ROWS,
    ArrayRows,
    BagSample,
    Block,
    FrameRows,
    Missing,
    RowSource,
    as_frame,
    bag_keys,
    keyed_rows,
    with_weights,
)


@dataclass(frozen=True)
class Opening:
    """How a worker turns a part into rows: which columns, groups and weights, and what to do with missing values."""

    name: str
    columns: tuple[str, ...]
    named: bool
    by: str | None = None
    weights: str | None = None
    missing: Missing = "error"

    def rows(self, data: Any, place: str, ids: Sequence[Any] = ()) -> RowSource:
        """Return the rows of a part, whose groups are numbered as `ids` says, and new ones after those."""
        columns = self.columns if self.weights is None else (*self.columns, self.weights)
        source: RowSource
        if isinstance(data, TableFile):
            source = FileRows([data], str(data.path), columns=columns, by=self.by, missing=self.missing, progress=False)
            if self.by is not None:
                source.groups.add(ids)
            source.may_be_empty = True  # another part has rows
        elif isinstance(data, np.ndarray):
            source = ArrayRows(data if data.ndim == 2 else data[:, None], self.name, self.columns)
        else:
            source = _PartitionRows(data, self.name, columns, self.by, place, GroupIds(ids))
        return source if self.weights is None else with_weights(source, self.weights)


class _PartitionRows(RowSource):
    """The rows of one partition of a Dask DataFrame, a pandas frame."""

    def __init__(
        self, frame: Any, name: str, columns: tuple[str, ...], by: str | None, place: str, groups: GroupIds
    ) -> None:
        lacking = [column for column in (*columns, *([] if by is None else [by])) if column not in frame.columns]
        if lacking:
            there = ", ".join(map(repr, list(frame.columns)[:20]))
            raise ValueError(f"{place} of {name} has no column {lacking[0]!r}; its columns are {there}")
        self.name, self.columns, self.named = name, columns, True
        self._rows = FrameRows(as_frame(frame[list(columns)], f"{place} of {name}"), f"{place} of {name}")
        self.n_rows = len(frame)
        self.groups, self._place_of_part = groups, place
        self.bag_ids = None if by is None else groups.ids
        self._numbers = None if by is None or not len(frame) else self._numbered(frame[by], by)

    def chunks(self) -> Iterator[Block]:
        """Yield the rows with the numbers of their bags."""
        start = 0
        for block in self._rows.chunks():
            stop = start + len(block.values)
            yield block._replace(bags=None if self._numbers is None else self._numbers[start:stop])
            start = stop

    def _numbered(self, column: Any, by: str) -> NDArray[np.int64]:
        """Return the number of each row's bag."""
        codes, keys = dask_module("pandas").factorize(column)
        where = f"the column {by!r} of {self.name}"
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            raise ValueError(
                f"a group is missing in {where}, in row {row} of {self._place_of_part}; drop such rows first"
            )
        plain = keys.tolist()
        # Nobody knows whether 1 and "1" are the same group.
        text = next((key for key in plain if isinstance(key, str)), None)
        other = next((key for key in plain if not isinstance(key, str)), None)
        if text is not None and other is not None:
            raise ValueError(
                f"{where} ({self._place_of_part}) must hold groups of one kind; got {text!r} (text) and {other!r} (a "
                f"{type(other).__name__}). Convert it with .astype(str) or .astype(int)"
            )
        try:
            return self.groups.numbered(Groups(plain, codes))
        except NoGroupError as error:
            raise ValueError(f"{where} must hold groups, as text or whole numbers; got {shown(error.key)}") from None


def count_rows(opening: Opening, place: str, data: Any) -> tuple[int, int]:
    """Return how many rows a part has, and how many were left out."""
    if isinstance(data, TableFile):
        source: Any = opening.rows(data, place)
        kept = sum(len(block.values) for block in source.chunks())
        return kept, int((source.source if opening.weights is not None else source).n_dropped)
    return len(data), 0


def values_of(opening: Opening, place: str, data: Any) -> tuple[Block, list[Any]]:
    """Return all rows of a part, and the ids of its bags."""
    source = opening.rows(data, place)
    return Block.concatenated(list(source.chunks())), list(source.bag_ids or [])


def head_of(opening: Opening, place: str, n_rows: int, data: Any) -> Floats:
    """Return the first rows of a part."""
    values = [np.empty((0, len(opening.columns)))]
    source = opening.rows(data, place)
    for block in source.chunks():
        values.append(np.asarray(block.values, dtype=np.float64))
        if sum(map(len, values)) >= n_rows:
            break
    return np.concatenate(values)[:n_rows]


def take_rows(opening: Opening, place: str, rows: NDArray[np.int64] | range, data: Any) -> Floats:
    """Return the rows of a part with these numbers."""
    return opening.rows(data, place).take(np.asarray(rows))


def subtract_rows(opening: Opening, place: str, data: Any, *others: Floats) -> Floats:
    """Return the rows of a part minus those of others, which come in pieces."""
    rows = Block.concatenated(list(opening.rows(data, place).chunks())).values
    return np.asarray(rows - np.concatenate(others))


def fold_part(opening: Opening, place: str, rows: range, data: Any, shared: Any) -> Run:
    """Return the sums over a part, which has `rows` of all rows."""
    accumulator, ids = shared
    return run_of(opening.rows(data, place, ids), rows.start, rows.stop, accumulator)


def merge_runs(shared: Any, *runs: Run) -> Run:
    """Return the sums over consecutive parts."""
    return merged(runs, shared[0])


def _checked_blocks(opening: Opening, place: str, data: Any, rows: range, ids: Sequence[Any] = ()) -> Any:
    """Return the source of a part, and its checked blocks."""
    source = opening.rows(data, place, ids)
    return source, source.blocks(CHUNK_ROWS, first_row=rows.start) if rows else iter(())


def sample_part(opening: Opening, place: str, rows: range, n_rows: int, state: Any, data: Any) -> tuple[Floats, Floats]:
    """Return rows of a part by the keys that one pass over all rows would give them."""
    bits = np.random.PCG64()
    bits.state = state
    jump(bits, rows.start)
    source, blocks = _checked_blocks(opening, place, data, rows)
    return keyed_rows(blocks, len(source.columns), n_rows, np.random.Generator(bits))


def merge_samples(n_rows: int, *samples: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the rows of several samples with the smallest keys."""
    keys, values = (np.concatenate(fields) for fields in zip(*samples, strict=True))
    kept = np.sort(np.argsort(keys)[:n_rows])
    return keys[kept], values[kept]


def count_bags(opening: Opening, place: str, rows: range, data: Any) -> tuple[list[Any], list[int]]:
    """Return the ids of the bags of a part, and how many rows of each it has."""
    source, blocks = _checked_blocks(opening, place, data, rows)
    counts = np.zeros(0, dtype=np.int64)
    for block in blocks:
        here = np.bincount(block.bags, minlength=len(source.bag_ids))
        here[: len(counts)] += counts
        counts = here
    return list(source.bag_ids), counts.tolist()


def sample_bags(
    opening: Opening, place: str, rows: range, n_rows: int, seed: int, earlier: dict[int, int], data: Any, ids: Any
) -> BagSample:
    """Return rows of the bags of a part."""
    source, blocks = _checked_blocks(opening, place, data, rows, ids)
    return bag_keys(blocks, len(source.columns), n_rows, seed, earlier)


def merge_bag_samples(n_rows: int, *samples: BagSample) -> BagSample:
    """Return the rows of several samples of bags with the smallest keys."""
    return reduce(lambda best, sample: best.best(sample, n_rows), samples)


def jump(bits: np.random.PCG64, n_draws: int) -> None:
    """Move a generator on by so many numbers, as if they had been sampled as floats."""
    before = bits.state
    bits.advance(n_draws)
    after = bits.state
    after["has_uint32"], after["uinteger"] = before["has_uint32"], before["uinteger"]  # which a jump would drop
    bits.state = after
