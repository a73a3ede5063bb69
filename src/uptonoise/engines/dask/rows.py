"""Rows on a cluster: each part is summed by the worker that has it, and only sums travel.

Sums meet in a tree (see :mod:`uptonoise.engines.dask.runs`). Rows are sampled by workers too: each jumps ahead in the
one generator to the number of its first row, so that the same rows are chosen whatever the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.engines.dask import tasks
from uptonoise.engines.dask.cluster import computed, dask_module, is_collection, merged_tree, shared_value, task_key
from uptonoise.engines.dask.runs import added
from uptonoise.engines.dask.tasks import Opening
from uptonoise.engines.files import GroupIds, TableFile
from uptonoise.rows import CHUNK_ROWS, AnyAccumulator, Block, RowSource, SourceRecord, keyed_rows, rows_by_bag

_NOTHING_LEFT_OUT = SourceRecord()


class Part(NamedTuple):
    """Some consecutive rows: what a worker turns into them, and what messages call it."""

    data: Any
    place: str


class RemoteRows(RowSource):
    """Rows in parts that other processes hold or read."""

    is_remote = True

    def __init__(
        self,
        parts: Sequence[Part],
        opening: Opening,
        sizes: Sequence[int] | None = None,
        record: SourceRecord = _NOTHING_LEFT_OUT,
    ) -> None:
        self.name, self.columns, self.named = opening.name, opening.columns, opening.named
        self.groups = GroupIds()
        self.bag_ids = None if opening.by is None else self.groups.ids
        self.n_dropped: int | None = None  # rows with missing values that were left out, once they were counted
        self._record = record
        self._parts, self._opening = list(parts), opening
        self._known_sizes = None if sizes is None else list(sizes)
        self.is_weighted = opening.weights is not None

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """The number of rows, which are counted when it is first asked for."""
        return sum(self._sizes)

    @property
    def _sizes(self) -> list[int]:
        if self._known_sizes is None:
            counts = computed(self._each(tasks.count_rows))
            self._known_sizes = [kept for kept, _ in counts]
            self.n_dropped = sum(dropped for _, dropped in counts)
        return self._known_sizes

    @property
    def _ranges(self) -> list[range]:
        stops = np.cumsum(self._sizes).tolist()
        return list(map(range, [0, *stops[:-1]], stops))

    def selected(self, columns: Sequence[str]) -> RowSource:
        """Return the same rows with some of the columns; the workers select."""
        new = copy(self)
        new._opening, new.columns = replace(self._opening, columns=tuple(columns)), tuple(columns)
        return new

    def clustered(self, column: str) -> RowSource:
        """Return the same rows as bags, by one of the columns; of files, by any that they have."""
        left = tuple(other for other in self.columns if other != column)
        in_files = all(isinstance(part.data, TableFile) for part in self._parts)
        if not self.named or not left or (column not in self.columns and not in_files):
            raise ValueError(f"clusters={column!r} must name a column of {self.name}, which has {list(self.columns)}")
        new = copy(self)
        new.groups = GroupIds()
        new.bag_ids = new.groups.ids
        new._opening, new.columns = replace(self._opening, columns=left, by=column), left
        return new

    def weighted(self, weights: Any) -> RowSource:
        """Return the same rows with one of the columns as weights."""
        if not isinstance(weights, str):
            raise ValueError(
                f"weights of {self.name}, whose rows are on a cluster, must be the name of the column that holds them; "
                f"got a {type(weights).__name__}"
            )
        if not self.named or weights not in self.columns:
            raise ValueError(f"weights={weights!r} must name a column of {self.name}, which has {list(self.columns)}")
        left = tuple(column for column in self.columns if column != weights)
        if not left:
            raise ValueError(f"{self.name} has no column left beside the weights {weights!r}")
        new = copy(self)
        new._opening, new.columns = replace(self._opening, columns=left, weights=weights), left
        new.is_weighted = True
        return new

    def record(self) -> SourceRecord:
        """Return how many rows were left out."""
        return self._record._replace(n_read=self.n_rows + (self.n_dropped or 0), n_dropped=self.n_dropped or 0)

    def chunks(self) -> Iterator[Block]:
        """Yield the rows, one part at a time; they travel here."""
        self._check_not_empty()
        for number, size in enumerate(self._sizes):
            if size:
                block, ids = computed(self._each(tasks.values_of, [number]))[0]
                numbers = self.groups.add(ids)
                yield block if block.bags is None else block._replace(bags=numbers[block.bags])

    def head(self, n_rows: int = 1_000) -> Floats:
        """Return the first rows, at most `n_rows`."""
        values: list[Floats] = []
        for number in range(len(self._parts)):
            left = n_rows - sum(map(len, values))
            if left <= 0:
                break
            values += computed(self._each(tasks.head_of, [number], [(left,)]))
        rows = np.concatenate(values or [np.empty((0, len(self.columns)))])
        if not len(rows):
            raise self.no_rows()
        return rows

    def minus(self, other: RowSource) -> RowSource | None:
        """Return the differences of rows, each part where this source has it; the rows of the other source travel."""
        if not isinstance(other, RemoteRows):
            return None
        parts = [(number, rows) for number, rows in enumerate(self._ranges) if rows]
        arguments = []
        for _, rows in parts:
            there, shared = [], []
            for place, others in enumerate(other._ranges):
                start, stop = max(rows.start, others.start), min(rows.stop, others.stop)
                if start < stop:
                    there.append(place)
                    shared.append((range(start - others.start, stop - others.start),))
            arguments.append(tuple(other._each(tasks.take_rows, there, shared)))
        differences = self._each(tasks.subtract_rows, [number for number, _ in parts], arguments)
        sizes = [len(rows) for _, rows in parts]
        opening = Opening(f"{self.name} - {other.name}", self.columns, self.named)
        return RemoteRows([Part(part, f"part {number}") for number, part in enumerate(differences)], opening, sizes)

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """Return the values of the rows with these increasing numbers; only they travel."""
        ranges = self._ranges
        wanted = [rows[slice(*np.searchsorted(rows, [here.start, here.stop]))] - here.start for here in ranges]
        numbers = [number for number, here in enumerate(wanted) if len(here)]
        values = computed(self._each(tasks.take_rows, numbers, [(wanted[number],) for number in numbers]))
        return np.concatenate([np.empty((0, len(self.columns))), *values])

    def fold(self, accumulator: AnyAccumulator) -> AnyAccumulator:
        """Sum each part where it is, and add the sums in a tree."""
        self._check_not_empty()
        ids = self.groups.ids if accumulator.needs_known_bags else []
        shared = shared_value((accumulator.empty(), list(ids)))
        runs = self._each(tasks.fold_part, None, [(rows, shared) for rows in self._ranges])
        run = computed([merged_tree(runs, tasks.merge_runs, shared)])[0]
        self.groups.add(run.ids)
        return added(accumulator, run)

    def sampled(self, n_rows: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw rows as other sources do; each worker jumps ahead in the generator to its first row."""
        bits = generator.bit_generator
        if not isinstance(bits, np.random.PCG64):  # which cannot jump, or draws otherwise
            if self._opening.weights is None:
                return super().sampled(n_rows, generator)
            return keyed_rows(self.blocks(CHUNK_ROWS), len(self.columns), n_rows, generator)
        self._check_not_empty()
        state = bits.state
        samples = self._each(tasks.sample_part, None, [(rows, n_rows, state) for rows in self._ranges])
        keys, values = computed([merged_tree(samples, partial(tasks.merge_samples, n_rows))])[0]
        tasks.jump(bits, self.n_rows)
        return keys, values

    def sampled_by_bag(self, n_rows: int, seed: int) -> list[Floats]:
        """Draw rows of each bag as other sources do; the rows of each bag in each part are counted first."""
        self._check_not_empty()
        counts = computed(self._each(tasks.count_bags, None, [(rows,) for rows in self._ranges]))
        before: dict[int, int] = {}
        earlier = []
        for ids, sizes in counts:
            numbers = self.groups.add(ids).tolist()
            earlier.append({number: before.get(number, 0) for number in numbers})
            for number, size in zip(numbers, sizes, strict=True):
                before[number] = before.get(number, 0) + size
        shared = shared_value(list(self.groups.ids))
        arguments = [
            (rows, n_rows, seed, before_part, shared) for rows, before_part in zip(self._ranges, earlier, strict=True)
        ]
        sample = merged_tree(self._each(tasks.sample_bags, None, arguments), partial(tasks.merge_bag_samples, n_rows))
        return rows_by_bag(computed([sample])[0])

    def _check_not_empty(self) -> None:
        if not self.n_rows:
            raise self.no_rows()

    def _each(
        self,
        function: Callable[..., Any],
        numbers: Sequence[int] | None = None,
        arguments: Sequence[tuple[Any, ...]] | None = None,
    ) -> list[Any]:
        """Return, not yet computed, what a function makes of each part (or of those with these numbers)."""
        delayed = dask_module("dask").delayed
        chosen = range(len(self._parts)) if numbers is None else numbers
        calls = []
        for place, number in enumerate(chosen):
            part, more = self._parts[number], () if arguments is None else arguments[place]
            plain = [argument for argument in more if not is_collection(argument)]
            remote = [argument for argument in more if is_collection(argument)]
            call = partial(function, self._opening, part.place, *plain)
            if is_collection(part.data):
                remote = [part.data, *remote]
            else:
                call = partial(call, part.data)
            calls.append(delayed(call, pure=False, traverse=False)(*remote, dask_key_name=task_key(function.__name__)))
        return calls
