"""Rows on a cluster: Dask arrays and data frames, and files that the workers of a cluster read.

The rows stay where they are. Each part of them is summed by the worker that has it, sums meet in a tree (see
:mod:`uptonoise.engines.dask.runs`), and only they travel. Rows are drawn by workers too: each jumps ahead in the one
generator to the number of its first row, so that the same rows are drawn whatever the parts.
"""

from __future__ import annotations

import importlib
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.wording import shown
from uptonoise.engines.dask.runs import Run, added, merged, run_of
from uptonoise.engines.files import FileRows, GroupIds, Groups, Missing, TableFile
from uptonoise.rows import (
    CHUNK_ROWS,
    AnyAccumulator,
    ArrayRows,
    BagSample,
    Block,
    FrameRows,
    RowSource,
    as_column_names,
    as_frame,
    bag_keys,
    keyed_rows,
    numbered_columns,
    register_rows,
    rows_by_bag,
    smallest,
    with_weights,
)

_FAN_IN = 8
_PART_ROWS = 2**20  # of a file, at least
_MOST_PARTS = 20_000  # of files: more would keep the scheduler busy for longer than the workers
_PATIENCE = 60.0  # seconds without any worker before giving up
_ANSWER = 10.0  # seconds that a scheduler has to answer
_GLANCE = 1.0  # seconds between two looks at the cluster


def scan_dask(X: Any, *, columns: Sequence[str] | None = None, by: str | None = None, name: str = "X") -> RowSource:
    """Return the rows of a Dask collection, or of files that the workers of a Dask cluster read.

    Sums over these rows are made where the rows are. It is needed for `columns` and `by`, and for files; a Dask array
    or data frame by itself can be given wherever rows can.

    Parameters
    ----------
    X : Dask DataFrame, Series or Array, or RowSource of files
        Of files (:func:`~uptonoise.scan_parquet`, :func:`~uptonoise.scan_csv`) each worker reads some, by the same
        paths, so that all must see the same file system.
    columns : sequence of str, optional
        The columns to use, in this order; by default all, which must then be numeric.
    by : str, optional
        The column that says which group each row belongs to; the rows are then bags, one a group, and rows of a bag may
        lie in any partition.
    name : str
        What messages call the rows.

    Returns
    -------
    RowSource
        It can be read any number of times.

    Examples
    --------
    >>> import dask.array as da
    >>> import uptonoise as un
    >>> rows = da.random.default_rng(0).normal(size=(10_000, 2), chunks=(1_000, 2))
    >>> un.Sketch([[1.0, 2.0]]).update(un.scan_dask(rows))
    Sketch(10,000 rows, 1 frequency, 2 columns: x0, x1)
    """
    if isinstance(X, FileRows):
        if columns is not None or by is not None:
            raise ValueError(
                "columns and by must be given to what opens the files, such as scan_parquet; got them here"
            )
        return _of_files(X)
    if not _is_collection(X):
        raise ValueError(
            f"X must be a Dask array or data frame, or the rows of files as scan_parquet gives them; got a "
            f"{type(X).__name__}"
        )
    if isinstance(X, _imported("dask.delayed").Delayed):  # which claims to have every attribute
        raise ValueError(
            f"{name} must be a Dask array or data frame; got a Dask Delayed. Use dd.from_delayed or da.from_delayed"
        )
    if hasattr(X, "npartitions") and hasattr(X, "to_delayed") and hasattr(X, "_meta") and not hasattr(X, "chunks"):
        return _of_frame(X, columns, by, name)
    if hasattr(X, "chunks") and hasattr(X, "rechunk"):
        return _of_array(X, columns, by, name)
    raise ValueError(f"{name} must be a Dask array or data frame; got a Dask {type(X).__name__}")


@contextmanager
def connected(address: str, timeout: float = _ANSWER) -> Iterator[Any]:
    """Connect to the scheduler of a Dask cluster, so that work goes there within this context.

    Parameters
    ----------
    address : str
        Such as ``tcp://10.0.0.1:8786``.
    timeout : float
        How many seconds the scheduler, and then at least one worker, has to answer.

    Examples
    --------
    >>> from uptonoise.engines import connected
    >>> with connected("tcp://127.0.0.1:9", timeout=0.2):
    ...     pass
    Traceback (most recent call last):
        ...
    ConnectionError: no Dask scheduler answers at tcp://127.0.0.1:9 within 0.2 s; check the address, and whether ...
    """
    distributed = _imported("distributed")
    try:
        client = distributed.Client(address, timeout=timeout)
    except (OSError, TimeoutError, ValueError) as error:
        if isinstance(error, ValueError):
            raise ValueError(f"the scheduler's address must be such as tcp://10.0.0.1:8786; got {address!r}") from None
        raise ConnectionError(
            f"no Dask scheduler answers at {address} within {timeout:g} s; check the address, and whether it is running"
        ) from None
    try:
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError:
            raise ConnectionError(
                f"the Dask scheduler at {address} has no worker after {timeout:g} s; start one with: dask worker "
                f"{address}"
            ) from None
        yield client
    finally:
        client.close()


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError('rows on a cluster need Dask: pip install "uptonoise[dask]"') from None


def _is_collection(X: Any) -> bool:
    """Tell a Dask collection, without importing Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


register_rows(
    _is_collection,
    lambda X, name: scan_dask(X, name=name),
    lambda X, by, columns: scan_dask(X, by=by, columns=columns),
)


@dataclass(frozen=True)
class _Opening:
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
            source = _QuietFileRows(
                [data], str(data.path), columns=columns, by=self.by, missing=self.missing, progress=False
            )
            source.groups.add(ids)
        elif isinstance(data, np.ndarray):
            source = ArrayRows(data if data.ndim == 2 else data[:, None], self.name, self.columns)
        else:
            source = _PartitionRows(data, self.name, columns, self.by, place, GroupIds(ids))
        return source if self.weights is None else with_weights(source, self.weights)


class _QuietFileRows(FileRows):
    """Rows of a file that may be none: another part has some."""

    may_be_empty = True


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
        codes, keys = _imported("pandas").factorize(column)
        where = f"the column {by!r} of {self.name}"
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            raise ValueError(
                f"a group is missing in {where}, in row {row} of {self._place_of_part}; drop such rows first"
            )
        plain = keys.tolist()
        _check_one_kind(plain, f"{where} ({self._place_of_part})")
        try:
            return self.groups.numbered(Groups(plain, codes))
        except Exception as error:
            key = getattr(error, "key", None)
            if key is None:
                raise
            raise ValueError(f"{where} must hold groups, as text or whole numbers; got {shown(key)}") from None


def _check_one_kind(keys: list[Any], where: str) -> None:
    """Raise where ids are both text and numbers: nobody knows whether 1 and "1" are the same group."""
    text = next((key for key in keys if isinstance(key, str)), None)
    other = next((key for key in keys if not isinstance(key, str)), None)
    if text is not None and other is not None:
        raise ValueError(
            f"{where} must hold groups of one kind; got {text!r} (text) and {other!r} (a {type(other).__name__}). "
            "Convert it with .astype(str) or .astype(int)"
        )


class _Part(NamedTuple):
    """Some consecutive rows: what a worker turns into them, and what messages call it."""

    data: Any
    place: str


class RemoteRows(RowSource):
    """Rows in parts that other processes hold or read.

    Attributes
    ----------
    n_dropped : int or None
        How many rows with missing values were left out; None before they were counted.
    """

    is_remote = True

    def __init__(self, parts: Sequence[_Part], opening: _Opening, sizes: Sequence[int] | None = None) -> None:
        self.name, self.columns, self.named = opening.name, opening.columns, opening.named
        self.groups = GroupIds()
        self.bag_ids = None if opening.by is None else self.groups.ids
        self.n_dropped: int | None = None
        self._parts, self._opening = list(parts), opening
        self._known_sizes = None if sizes is None else list(sizes)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """The number of rows, which are counted when it is first asked for."""
        return sum(self._sizes)

    @property
    def _sizes(self) -> list[int]:
        if self._known_sizes is None:
            counts = _computed(self._each(_count))
            self._known_sizes = [kept for kept, _ in counts]
            self.n_dropped = sum(dropped for _, dropped in counts)
        return self._known_sizes

    @property
    def _ranges(self) -> list[tuple[int, int]]:
        stops = np.cumsum(self._sizes).tolist()
        return list(zip([0, *stops[:-1]], stops, strict=True))

    def selected(self, columns: Sequence[str]) -> RowSource:
        """Return the same rows with some of the columns; the workers select."""
        new = copy(self)
        new._opening, new.columns = replace(self._opening, columns=tuple(columns)), tuple(columns)
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
        return new

    def chunks(self) -> Iterator[Block]:
        """Yield the rows, one part at a time; they travel here."""
        self._check_not_empty()
        for number, size in enumerate(self._sizes):
            if size:
                block, ids = _computed(self._each(_values, [number]))[0]
                numbers = self.groups.add(ids)
                yield block if block.bags is None else block._replace(bags=numbers[block.bags])

    def head(self, n_rows: int = 1_000) -> Floats:
        """Return the first rows, at most `n_rows`."""
        found: list[Floats] = []
        for number in range(len(self._parts)):
            left = n_rows - sum(map(len, found))
            if left <= 0:
                break
            found += _computed(self._each(_head, [number], [(left, len(self.columns))]))
        rows = np.concatenate(found or [np.empty((0, len(self.columns)))])
        if not len(rows):
            raise ValueError(f"{self.name} has no rows; at least one is needed")
        return rows

    def minus(self, other: RowSource) -> RowSource | None:
        """Return the differences of rows, each part where this source has it; the rows of the other one travel."""
        if not isinstance(other, RemoteRows):
            return None
        places, pieces = self._ranges, []
        for start, stop in places:
            there = [number for number, (a, b) in enumerate(other._ranges) if a < stop and start < b]
            bounds = [(max(start, a) - a, min(stop, b) - a) for a, b in (other._ranges[number] for number in there)]
            pieces.append(other._each(_slice, there, bounds))
        numbers = [number for number, (start, stop) in enumerate(places) if start < stop]
        parts = self._each(_subtract, numbers, [tuple(pieces[number]) for number in numbers])
        sizes = [places[number][1] - places[number][0] for number in numbers]
        opening = _Opening(f"{self.name} - {other.name}", self.columns, self.named)
        return RemoteRows([_Part(part, f"part {number}") for number, part in enumerate(parts)], opening, sizes)

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """Return the values of the rows with these increasing numbers; only they travel."""
        bounds = self._ranges
        wanted = [rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)] - start for start, stop in bounds]
        numbers = [number for number, one in enumerate(wanted) if len(one)]
        found = _computed(self._each(_take, numbers, [(wanted[number],) for number in numbers]))
        return np.concatenate([np.empty((0, len(self.columns))), *found])

    def fold(self, accumulator: AnyAccumulator) -> AnyAccumulator:
        """Sum each part where it is, and add the sums in a tree."""
        self._check_not_empty()
        ids = self.groups.ids if accumulator.needs_known_bags else []
        shared = _shared((accumulator.empty(), list(ids)))
        runs = self._each(_fold, None, [(start, stop, shared) for start, stop in self._ranges])
        run = _computed([_tree(runs, partial(_merge_runs, shared=shared))])[0]
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
        drawn = self._each(_draw, None, [(start, stop, n_rows, state) for start, stop in self._ranges])
        keys, values = _computed([_tree(drawn, partial(_merge_drawn, n_rows=n_rows))])[0]
        _jump(bits, self.n_rows)
        return keys, values

    def sampled_by_bag(self, n_rows: int, seed: int) -> list[Floats]:
        """Draw rows of each bag as other sources do; the rows of each bag in each part are counted first."""
        self._check_not_empty()
        counts = _computed(self._each(_count_bags, None, [(start, stop) for start, stop in self._ranges]))
        before: dict[int, int] = {}
        earlier = []
        for ids, sizes in counts:
            numbers = self.groups.add(ids).tolist()
            earlier.append({number: before.get(number, 0) for number in numbers})
            for number, size in zip(numbers, sizes, strict=True):
                before[number] = before.get(number, 0) + size
        shared = _shared(list(self.groups.ids))
        arguments = [
            (start, stop, n_rows, seed, one, shared) for (start, stop), one in zip(self._ranges, earlier, strict=True)
        ]
        picked = _tree(self._each(_pick, None, arguments), partial(_merge_bag_samples, n_rows=n_rows))
        return rows_by_bag(_computed([picked])[0])

    def _check_not_empty(self) -> None:
        if not self.n_rows:
            raise ValueError(f"{self.name} has no rows; at least one is needed")

    def _each(
        self,
        function: Callable[..., Any],
        numbers: Sequence[int] | None = None,
        arguments: Sequence[tuple[Any, ...]] | None = None,
    ) -> list[Any]:
        """Return, not yet computed, what a function makes of each part (or of those with these numbers)."""
        delayed = _imported("dask").delayed
        chosen = range(len(self._parts)) if numbers is None else numbers
        made = []
        for place, number in enumerate(chosen):
            part, more = self._parts[number], () if arguments is None else arguments[place]
            plain = [one for one in more if not _is_collection(one)]
            remote = [one for one in more if _is_collection(one)]
            call = partial(function, self._opening, part.place, *plain)
            data = part.data if _is_collection(part.data) else None
            if data is None:
                call = partial(_with_data, call, part.data)
            task = delayed(call, pure=False, traverse=False)
            made.append(task(*([] if data is None else [data]), *remote, dask_key_name=_key(function.__name__)))
        return made


def _with_data(call: Callable[..., Any], data: Any, *more: Any) -> Any:
    return call(data, *more)


def _count(opening: _Opening, place: str, data: Any) -> tuple[int, int]:
    """Return how many rows a part has, and how many were left out."""
    if isinstance(data, TableFile):
        source: Any = opening.rows(data, place)
        kept = sum(len(block.values) for block in source.chunks())
        return kept, int((source.source if opening.weights is not None else source).n_dropped)
    return len(data), 0


def _values(opening: _Opening, place: str, data: Any) -> tuple[Block, list[Any]]:
    source = opening.rows(data, place)
    return Block.concatenated(list(source.chunks())), list(source.bag_ids or [])


def _head(opening: _Opening, place: str, n_rows: int, n_columns: int, data: Any) -> Floats:
    found = [np.empty((0, n_columns))]
    source = opening.rows(data, place)
    for block in source.chunks():
        found.append(np.asarray(block.values, dtype=np.float64))
        if sum(map(len, found)) >= n_rows:
            break
    return np.concatenate(found)[:n_rows]


def _take(opening: _Opening, place: str, rows: NDArray[np.int64], data: Any) -> Floats:
    return opening.rows(data, place).take(rows)


def _slice(opening: _Opening, place: str, start: int, stop: int, data: Any) -> Floats:
    return opening.rows(data, place).take(np.arange(start, stop))


def _subtract(opening: _Opening, place: str, data: Any, *others: Floats) -> Floats:
    rows = Block.concatenated(list(opening.rows(data, place).chunks())).values
    return np.asarray(rows - np.concatenate(others))


def _fold(opening: _Opening, place: str, start: int, stop: int, data: Any, shared: Any) -> Run:
    accumulator, ids = shared
    return run_of(opening.rows(data, place, ids), start, stop, accumulator)


def _merge_runs(runs: list[Run], shared: Any) -> Run:
    return merged(runs, shared[0])


def _blocks(opening: _Opening, place: str, data: Any, start: int, stop: int, ids: Sequence[Any] = ()) -> Any:
    """Return the source of a part, and its checked blocks."""
    source = opening.rows(data, place, ids)
    return source, source.blocks(CHUNK_ROWS, first_row=start) if start < stop else iter(())


def _draw(
    opening: _Opening, place: str, start: int, stop: int, n_rows: int, state: Any, data: Any
) -> tuple[Floats, Floats]:
    bits = np.random.PCG64()
    bits.state = state
    _jump(bits, start)
    source, blocks = _blocks(opening, place, data, start, stop)
    return keyed_rows(blocks, len(source.columns), n_rows, np.random.Generator(bits))


def _merge_drawn(drawn: list[tuple[Floats, Floats]], n_rows: int) -> tuple[Floats, Floats]:
    keys, values = (np.concatenate(fields) for fields in zip(*drawn, strict=True))
    kept = smallest(keys, n_rows)
    return keys[kept], values[kept]


def _count_bags(opening: _Opening, place: str, start: int, stop: int, data: Any) -> tuple[list[Any], list[int]]:
    source, blocks = _blocks(opening, place, data, start, stop)
    counts = np.zeros(0, dtype=np.int64)
    for block in blocks:
        here = np.bincount(block.bags, minlength=len(source.bag_ids))
        here[: len(counts)] += counts
        counts = here
    return list(source.bag_ids), counts.tolist()


def _pick(
    opening: _Opening,
    place: str,
    start: int,
    stop: int,
    n_rows: int,
    seed: int,
    earlier: dict[int, int],
    data: Any,
    ids: list[Any],
) -> BagSample:
    source, blocks = _blocks(opening, place, data, start, stop, ids)
    return bag_keys(blocks, len(source.columns), n_rows, seed, earlier)


def _merge_bag_samples(picked: list[BagSample], n_rows: int) -> BagSample:
    best = picked[0]
    for one in picked[1:]:
        best = best.best(one, n_rows)
    return best


def _jump(bits: np.random.PCG64, n_draws: int) -> None:
    """Move a generator on by so many numbers, as if they had been drawn as floats."""
    before = bits.state
    bits.advance(n_draws)
    after = bits.state
    after["has_uint32"], after["uinteger"] = before["has_uint32"], before["uinteger"]  # which a jump would drop
    bits.state = after


class _Constant:
    """Something that every task needs, made once: the graph has one copy of it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self) -> Any:
        return self.value


def _shared(value: Any) -> Any:
    return _imported("dask").delayed(_Constant(value), pure=False, traverse=False)(dask_key_name=_key("shared"))


def _key(name: str) -> str:
    """Return a new key for a task, whose first words the dashboard of the cluster shows."""
    return f"uptonoise-{name.strip('_').replace('_', '-')}-{uuid.uuid4().hex}"


class _Merging:
    """A step of a tree: the results of several tasks are one."""

    def __init__(self, merge: Callable[..., Any], has_shared: bool) -> None:
        self.merge, self.has_shared = merge, has_shared

    def __call__(self, *results: Any) -> Any:
        if self.has_shared:
            return self.merge(list(results[1:]), shared=results[0])
        return self.merge(list(results))


def _tree(items: list[Any], merge: partial[Any]) -> Any:
    """Return, not yet computed, all items merged in their order, some at a time."""
    delayed = _imported("dask").delayed
    shared = merge.keywords.get("shared")
    step = _Merging(merge if shared is None else merge.func, shared is not None)
    task = delayed(step, pure=False, traverse=False)
    first = [] if shared is None else [shared]
    while True:
        starts = range(0, len(items), _FAN_IN)
        items = [task(*first, *items[at : at + _FAN_IN], dask_key_name=_key("merge")) for at in starts]
        if len(items) == 1:
            return items[0]


def _computed(tasks: list[Any]) -> list[Any]:
    """Compute tasks on the cluster that this process is connected to, or by Dask's threads where there is none."""
    if not tasks:
        return []
    client = _client()
    if client is None:
        return list(_imported("dask").compute(*tasks))
    distributed = _imported("distributed")
    futures: list[Any] = []
    try:
        futures = client.compute(tasks)
        _await(futures, client)
        return list(client.gather(futures))
    except distributed.KilledWorker as error:
        raise ConnectionError(
            f"workers of the cluster died again and again over the same rows ({error.task}), most often for want of "
            "memory; give them more of it, or smaller partitions"
        ) from None
    except (CancelledError, distributed.comm.CommClosedError):
        raise _lost() from None
    finally:
        _cancelled(client, futures)


def _client() -> Any:
    """Return the client of this process, None where there is none."""
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def _await(futures: list[Any], client: Any) -> None:
    """Wait for all futures, or for the first that fails; raise where nobody is left who works on them."""
    distributed = _imported("distributed")
    last_seen = time.monotonic()
    while any(future.status == "pending" for future in futures):
        if any(future.status == "error" for future in futures):
            return
        if client.status not in ("running", "newly-created"):
            if client.status == "closed" or time.monotonic() - last_seen > _PATIENCE:
                raise _lost()
        elif client.nthreads():
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > _PATIENCE:
            raise ConnectionError(
                f"the Dask cluster at {client.scheduler.address} has had no worker for {_PATIENCE:g} s; start workers, "
                "and run it again"
            )
        try:
            distributed.wait(futures, timeout=_GLANCE)
        except TimeoutError:
            continue


def _lost() -> ConnectionError:
    return ConnectionError(
        "the connection to the Dask scheduler was lost; check whether it is running, and run it again"
    )


def _cancelled(client: Any, futures: list[Any]) -> None:
    """Take back work that nobody waits for any more."""
    waiting = [future for future in futures if future.status == "pending"]
    if waiting and client.status == "running":
        client.cancel(waiting)


def _of_files(source: FileRows) -> RemoteRows:
    """Return the rows of files, in parts that workers read."""
    rows = max(_PART_ROWS, sum(file.n_rows or 0 for file in source.files) // _MOST_PARTS)
    parts = [copy(part) for file in source.files for part in file.split(rows)]
    for part in parts:
        part.path = part.path.absolute()
    opening = _Opening(source.name, source.columns, source.named, source.by, missing=source.missing)
    sizes = [part.n_rows for part in parts if part.n_rows is not None]
    known = len(sizes) == len(parts) and source.missing == "error"
    return RemoteRows([_Part(part, str(part.path)) for part in parts], opening, sizes if known else None)


def _of_frame(X: Any, columns: Sequence[str] | None, by: str | None, name: str) -> RemoteRows:
    frame = X if hasattr(X, "columns") and hasattr(X, "merge") else X.to_frame(name=X.name or "x0")
    names = list(frame.columns)
    twice = sorted({str(one) for one in names if names.count(one) > 1})
    if twice:
        raise ValueError(f"{name} must have distinct column names; more than once: {', '.join(twice)}")
    if by is not None and by not in names:
        raise ValueError(f"by={by!r} must be a column of {name}, which has {names[:20]}")
    wanted = [one for one in names if one != by] if columns is None else list(columns)
    lacking = [one for one in wanted if one not in names]
    if lacking or not wanted or by in wanted:
        raise ValueError(f"columns must be some of {[one for one in names if one != by][:20]}; got {wanted}")
    used = as_column_names(wanted, name)
    FrameRows(as_frame(frame._meta[wanted], name), name)  # which says what is not numeric
    chosen = frame[[*wanted, *([] if by is None else [by])]]
    if list(map(str, wanted)) != wanted:
        chosen = chosen.rename(columns=dict(zip(wanted, used, strict=True)))
    parts = [_Part(data, f"partition {number}") for number, data in enumerate(chosen.to_delayed())]
    # A frame made of an array has the columns 0, 1, ...: positions, not names.
    named = wanted != list(range(len(wanted))) and not (frame is not X and X.name is None)
    return RemoteRows(parts, _Opening(name, used, named, by))


def _of_array(X: Any, columns: Sequence[str] | None, by: str | None, name: str) -> RemoteRows:
    if columns is not None or by is not None:
        raise ValueError(f"columns and by are for data frames; {name} is a Dask array, whose columns have no names")
    if X.ndim not in (1, 2) or (X.ndim == 2 and X.shape[1] == 0):
        raise ValueError(f"{name} must have rows and columns (or be one column); got a Dask array of shape {X.shape}")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers; got a Dask array of dtype {X.dtype}")
    if X.ndim == 2 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    sizes = X.chunks[0]
    parts = [_Part(data, f"chunk {number}") for number, data in enumerate(X.to_delayed().ravel())]
    opening = _Opening(name, numbered_columns(1 if X.ndim == 1 else X.shape[1]), False)
    return RemoteRows(parts, opening, None if np.isnan(sizes).any() else [int(size) for size in sizes])
