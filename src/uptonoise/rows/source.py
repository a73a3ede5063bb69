"""Rows: what every input becomes before anything is computed from it.

A :class:`RowSource` is a sample seen as a stream: the names of its columns, the number of rows where it is known, and
blocks of (values, weights or None, bag numbers or None). Arrays, torch tensors, pandas, polars and pyarrow
frames, and iterators of them become one through :func:`as_rows`; other modules add their own types with
:func:`register_rows`. All checks of input rows live here.

Everything downstream is a sum over rows. An :class:`Accumulator` says how a block is summed, and
:meth:`RowSource.fold` runs it over blocks of a fixed size, on all cores, adding the parts in the order of the rows:
neither the chunks that the rows came in nor the number of threads changes a single bit of the result.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from uptonoise._util.threads import ordered_map, single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted, shown

_FRAME_CHUNK_ROWS = 65_536
_HEAD_ROWS = 1_000
_WINDOW_ELEMENTS = 2**24  # numbers that are held to put rows in order
_WINDOW_OF_A_BAG = 16  # rows of each bag, on average, are enough
_SMALLEST_WEIGHT, _LARGEST_WEIGHT = 1e-100, 1e100  # their squares and sums are numbers still


class Block(NamedTuple):
    """Some rows in the order of the source: values (n, d), their weights, and the number of each row's bag.

    In a block that was checked, `first_row` is the number of its first row in the whole source.
    """

    values: NDArray[Any]
    weights: NDArray[Any] | None = None
    bags: NDArray[np.int64] | None = None
    first_row: int = 0

    def part(self, start: int, stop: int) -> Block:
        """Return the rows from `start` to `stop` as views."""
        fields = (None if field is None else field[start:stop] for field in self[:3])
        return Block(*fields, first_row=self.first_row + start)  # type: ignore[arg-type, misc]


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


class RowSource(ABC):
    """A sample as a stream of rows.

    A subclass sets the attributes and says how to get its :meth:`chunks`; checks, blocks of equal size and threads
    come from here.

    Attributes
    ----------
    name : str
        The argument that the rows came from, for messages.
    columns : tuple of str
        The names of the columns; ``x0``, ``x1``, ... where the input had none.
    named : bool
        Whether the names came with the input. Named columns are matched by name, others by position.
    n_rows : int or None
        The number of rows, None where only reading them all tells.
    can_be_read_again : bool
        Whether a second pass over the rows is possible.
    bag_ids : sequence or None
        The ids of the bags in the order of their numbers; None for one sample.
    bags_in_order : bool
        Whether the rows of each bag lie together, and the bags in the order of their numbers.
    is_remote : bool
        Whether the rows lie in other processes, where sums are made too; what needs all rows here is then refused.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.rows.source import as_rows
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
    can_be_read_again: bool = True
    bag_ids: Sequence[Any] | NDArray[Any] | None = None
    bags_in_order: bool = False
    is_remote: bool = False

    @abstractmethod
    def chunks(self) -> Iterator[Block]:
        """Yield all rows in order, in pieces of any size and of any real dtype."""

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield all rows in order, checked, as float64, in blocks of `size` (the last one may be shorter)."""
        for first_row, block in self._numbered_blocks(size):
            yield self._checked(first_row, block)

    def fold(self, accumulator: AnyAccumulator) -> AnyAccumulator:
        """Feed all rows to `accumulator` and return it; threads compute its parts, which are added in order."""

        def part(numbered: tuple[int, Block]) -> Any:
            return accumulator.part(self._checked(*numbered))

        with single_threaded_blas:
            for one in ordered_map(part, self._numbered_blocks(accumulator.block_rows)):
                accumulator.add(one)
        return accumulator

    def check(self) -> None:
        """Raise where a row is not finite, for those who have no other use of the rows."""
        self.fold(_NoSum())

    def head(self, n_rows: int = _HEAD_ROWS) -> Floats:
        """Return the values of the first rows, at most `n_rows`; a later pass still sees them."""
        return next(self.blocks(n_rows)).values

    def resident(self) -> Any:
        """Return all rows where they are, as float64: an array, unless an engine keeps them elsewhere."""
        return read_rows(self)

    def take(self, rows: NDArray[np.int64]) -> Floats:
        """Return the values of the rows with these increasing numbers."""
        found = [np.empty((0, len(self.columns)))]
        first_row = 0
        for block in self.blocks(_FRAME_CHUNK_ROWS):
            here = rows[np.searchsorted(rows, first_row) : np.searchsorted(rows, first_row + len(block.values))]
            found.append(block.values[here - first_row])
            first_row += len(block.values)
        return np.concatenate(found)

    def selected(self, columns: Sequence[str]) -> RowSource:
        """Return the same rows with some of the columns, in this order."""
        return SelectedRows(self, columns)

    def weighted(self, weights: Any) -> RowSource:
        """Return the same rows with weights: an array beside them, or the name of the column that holds them."""
        if isinstance(weights, str):
            return WeightColumnRows(self, weights)
        return WeightedRows(self, _checked_weights(weights))

    def minus(self, other: RowSource) -> RowSource:
        """Return the differences of the rows of this source and those of another one, which has as many."""
        return _DifferenceRows(self, other)

    def drawn(self, n_rows: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the `n_rows` smallest of random keys, one a row, and the values of those rows.

        Keys are drawn in the order of the rows, so that nothing else decides which rows win.
        """
        if self.n_rows is None or isinstance(self, WeightColumnRows):
            return drawn_in_passing(self.blocks(_FRAME_CHUNK_ROWS), len(self.columns), n_rows, generator)
        weights = getattr(self, "weights", None)
        keys, rows = np.empty(0), np.empty(0, dtype=np.int64)
        for start in range(0, self.n_rows, _FRAME_CHUNK_ROWS):
            stop = min(self.n_rows, start + _FRAME_CHUNK_ROWS)
            new = _keys(stop - start, None if weights is None else weights[start:stop], generator)
            keys, rows = np.append(keys, new), np.append(rows, np.arange(start, stop))
            kept = smallest(keys, n_rows)
            keys, rows = keys[kept], rows[kept]
        return keys, self.take(rows)

    def drawn_of_bags(self, n_rows: int, seed: int) -> list[Floats]:
        """Return at most `n_rows` rows of each bag, drawn without replacement in one pass."""
        return by_bag(picked_of_bags(self.blocks(_FRAME_CHUNK_ROWS), len(self.columns), n_rows, seed, {}))

    def checked_blocks(self, size: int, first_size: int, first_row: int) -> Iterator[Block]:
        """Yield checked blocks as :meth:`blocks` does, the first one of another size; messages count from `first_row`.

        So rows that are a part of a larger source can be cut where that one would be cut.
        """
        for row, block in self._numbered_blocks(size, first_size):
            yield self._checked(first_row + row, block)

    def _numbered_blocks(self, size: int, first_size: int | None = None) -> Iterator[tuple[int, Block]]:
        """Cut and join chunks into blocks of `size` rows, each with the number of its first row."""
        first_row, held, pieces = 0, 0, []
        later, size = size, first_size or size
        for chunk in self.chunks():
            start, n_chunk = 0, len(chunk.values)
            while start < n_chunk:
                stop = min(n_chunk, start + size - held)
                pieces.append(chunk.part(start, stop))
                held += stop - start
                start = stop
                if held == size:
                    yield first_row, joined(pieces)
                    first_row, held, pieces, size = first_row + held, 0, [], later
        if pieces:
            yield first_row, joined(pieces)
        elif first_row == 0:
            raise ValueError(f"{self.name} has no rows; at least one is needed")

    def _checked(self, first_row: int, block: Block) -> Block:
        with np.errstate(over="ignore"):  # what is too large for float64 becomes infinite, and is refused
            values = np.ascontiguousarray(block.values, dtype=np.float64)
        finite = np.isfinite(values)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            found, place = _said(values[row, column]), self._place(first_row, block, row)
            raise ValueError(
                f"{self.name} must be finite; got {found} in {place}, column {self.columns[column]!r}. "
                "Drop or fill such rows first"
            )
        weights = block.weights
        if weights is not None:
            weights = np.ascontiguousarray(weights, dtype=np.float64)
            good = ((weights >= _SMALLEST_WEIGHT) & (weights <= _LARGEST_WEIGHT)) | (weights == 0)
            if not good.all():
                row = int(np.argmin(good))
                raise ValueError(
                    f"weights must be 0, or between {_SMALLEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}; got {weights[row]:g} "
                    f"for {self._place(first_row, block, row)} of {self.name}"
                )
        return Block(values, weights, block.bags, first_row)

    def _place(self, first_row: int, block: Block, row: int) -> str:
        """Return where a row of a block is, in words."""
        bag = "" if block.bags is None or self.bag_ids is None else f" (bag {shown(self.bag_ids[block.bags[row]])})"
        return f"row {first_row + row}{bag}"


class _NoSum(Accumulator[None]):
    """Nothing of the rows but their check."""

    block_rows = _FRAME_CHUNK_ROWS

    def part(self, block: Block) -> None:
        return None


def joined(pieces: list[Block]) -> Block:
    """Return consecutive rows as one block."""
    if len(pieces) == 1:
        return pieces[0]
    values, weights, bags = (
        None if field[0] is None else np.concatenate(field) for field in zip(*(one[:3] for one in pieces), strict=True)
    )
    return Block(values, weights, bags, pieces[0].first_row)  # type: ignore[arg-type]


def _said(value: float) -> str:
    return "NaN (a missing value)" if np.isnan(value) else f"{value}"


class ArrayRows(RowSource):
    """The rows of an array in memory; nothing is copied but one block at a time."""

    def __init__(
        self, values: NDArray[Any], name: str = "X", columns: Sequence[str] | None = None, bag_ids: Any = None
    ) -> None:
        self.values = values
        self.name = name
        self.named = columns is not None
        self.columns = tuple(columns) if columns is not None else numbered_columns(values.shape[1])
        self.n_rows = len(values)
        self.bag_ids = bag_ids

    def chunks(self) -> Iterator[Block]:
        """Yield the whole array."""
        yield Block(self.values)


class FrameRows(RowSource):
    """The rows of a data frame that narwhals knows, turned into numbers some thousand rows at a time."""

    def __init__(self, frame: nw.DataFrame[Any], name: str = "X") -> None:
        _check_numeric(frame, name)
        self.frame = frame
        self.name = name
        # A pandas frame made of an array has the columns 0, 1, ...: positions, not names.
        names: list[Any] = list(frame.columns)
        self.named = names != list(range(len(names)))
        self.columns = as_column_names(names, name)
        self.n_rows = len(frame)

    def chunks(self) -> Iterator[Block]:
        """Yield the frame in slices of many rows."""
        for start in range(0, len(self.frame), _FRAME_CHUNK_ROWS):
            yield Block(frame_values(self.frame[start : start + _FRAME_CHUNK_ROWS]))


class ChunkRows(RowSource):
    """The rows of an iterator of chunks, each a sample by itself; it can be read once."""

    can_be_read_again = False

    def __init__(self, chunks: Iterator[Any], name: str = "X") -> None:
        self.name = name
        self._rest = chunks
        self._ahead: list[Any] = []
        self._is_read = False
        try:
            first = next(chunks)
        except StopIteration:
            raise ValueError(f"{name} is an iterator without any chunk; at least one row is needed") from None
        self._ahead.append(first)
        source = as_rows(first, name=f"{name} (chunk 0)")
        self.columns, self.named = source.columns, source.named

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks; a second pass is an error, since the iterator is then empty."""
        if self._is_read:
            raise ValueError(
                f"{self.name} is an iterator and has been read already; give the chunks again, or an array, a frame or "
                "another source that can be read more than once"
            )
        self._is_read = True
        yield from self._pass(_draining(self._ahead, self._rest))

    def head(self, n_rows: int = _HEAD_ROWS) -> Floats:
        """Return the first rows, and keep the chunks that hold them for the pass that is to come."""
        found: list[Block] = []
        for block in self._pass(_remembering(self._ahead, self._rest)):
            found.append(block)
            if sum(len(one.values) for one in found) >= n_rows:
                break
        if not any(len(one.values) for one in found):
            raise ValueError(f"{self.name} has no rows; at least one is needed")
        return self._checked(0, joined(found).part(0, n_rows)).values

    def _pass(self, chunks: Iterable[Any]) -> Iterator[Block]:
        for number, chunk in enumerate(chunks):
            source = as_rows(chunk, name=f"{self.name} (chunk {number})")
            _refuse_bags(source, "a chunk of rows")
            yield from aligned(source, self).chunks()


def _draining(ahead: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    while ahead:
        yield ahead.pop(0)
    yield from rest


def _remembering(ahead: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    yield from list(ahead)
    for chunk in rest:
        ahead.append(chunk)
        yield chunk


class _Derived(RowSource):
    """A source with other columns or weights than the one below it."""

    def __init__(self, source: RowSource) -> None:
        self.source = source
        self.name, self.columns, self.named = source.name, source.columns, source.named
        self.n_rows, self.bag_ids, self.bags_in_order = source.n_rows, source.bag_ids, source.bags_in_order
        self.can_be_read_again = source.can_be_read_again

    def head(self, n_rows: int = _HEAD_ROWS) -> Floats:
        return self._derived(self.source.head(n_rows))

    def take(self, rows: NDArray[np.int64]) -> Floats:
        return self._derived(self.source.take(rows))

    def _derived(self, values: Floats) -> Floats:
        return values


class SelectedRows(_Derived):
    """The same rows with their columns picked or put in another order."""

    def __init__(self, source: RowSource, columns: Sequence[str]) -> None:
        super().__init__(source)
        self.columns = tuple(columns)
        self._order = [source.columns.index(column) for column in columns]

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks of the source with these columns."""
        for chunk in self.source.chunks():
            yield chunk._replace(values=self._derived(chunk.values))

    def _derived(self, values: NDArray[Any]) -> NDArray[Any]:
        return values[:, self._order]


class _DifferenceRows(RowSource):
    """Row i of one source less row i of another one."""

    def __init__(self, left: RowSource, right: RowSource) -> None:
        self.left, self.right = left, right
        self.name, self.columns, self.named = f"{left.name} - {right.name}", left.columns, left.named
        self.n_rows = left.n_rows
        self.can_be_read_again = left.can_be_read_again and right.can_be_read_again

    def chunks(self) -> Iterator[Block]:
        both = (source.blocks(_FRAME_CHUNK_ROWS) for source in (self.left, self.right))
        for left, right in zip(*both, strict=True):
            yield Block(left.values - right.values)


class RowsByBag(_Derived):
    """The same rows in another order: of many that follow each other, the rows of a bag lie together.

    Sums by bag then touch the sum of each bag once for several of its rows, and one bag's after the other's: where
    there are more bags than a cache holds, that is most of the time.
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
            if count >= min(most, _WINDOW_OF_A_BAG * len(self.bag_ids or ())):
                yield _sorted_by_bag(held)
                held, count = [], 0
        if held:
            yield _sorted_by_bag(held)


def _sorted_by_bag(held: list[Block]) -> Block:
    """Return rows sorted by bag, and let go of what they came in."""
    bags = np.concatenate([np.asarray(block.bags) for block in held])
    weights = None if held[0].weights is None else np.concatenate([np.asarray(block.weights) for block in held])
    values = np.empty((len(bags), held[0].values.shape[1]))
    np.concatenate([block.values for block in held], out=values)
    held.clear()
    # The rows of a matrix with one entry for each row of the data, at its bag: to sort these is to count.
    places = np.arange(len(bags), dtype=np.int32), np.ones(len(bags), dtype=np.int8)
    order = coo_array((places[1], (bags, places[0]))).tocsr().indices
    return Block(values.take(order, axis=0), None if weights is None else weights[order], bags[order])


class WeightedRows(_Derived):
    """The same rows with a weight each, from an array beside them."""

    def __init__(self, source: RowSource, weights: NDArray[Any]) -> None:
        super().__init__(source)
        self.weights = weights
        if self.n_rows is not None:
            self._check_length(self.n_rows)

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


class WeightColumnRows(_Derived):
    """The same rows with one column taken out as their weights."""

    def __init__(self, source: RowSource, column: str) -> None:
        super().__init__(source)
        if not source.named or column not in source.columns:
            known = f"the columns {list(source.columns)}" if source.named else "no column names"
            raise ValueError(f"weights={column!r} must name a column of {source.name}, which has {known}")
        self._weight = source.columns.index(column)
        self.columns = tuple(other for other in source.columns if other != column)
        if not self.columns:
            raise ValueError(f"{source.name} has no column left beside the weights {column!r}")

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks of the source, the weights beside the values."""
        for chunk in self.source.chunks():
            yield chunk._replace(values=self._derived(chunk.values), weights=chunk.values[:, self._weight])

    def _derived(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.delete(values, self._weight, axis=1)


class _Converter(NamedTuple):
    matches: Callable[[Any], bool]
    convert: Callable[[Any, str], RowSource]
    group: Callable[[Any, str, Sequence[str] | None], RowSource] | None


_CONVERTERS: list[_Converter] = []


def register_rows(
    matches: Callable[[Any], bool],
    convert: Callable[[Any, str], RowSource],
    group: Callable[[Any, str, Sequence[str] | None], RowSource] | None = None,
) -> None:
    """Teach :func:`as_rows` another type of input; what was taught last is asked first.

    Parameters
    ----------
    matches : callable
        ``matches(X)`` says, cheaply and without imports, whether `convert` is for X.
    convert : callable
        ``convert(X, name)`` returns the :class:`RowSource`; `name` is the argument, for messages.
    group : callable, optional
        ``group(X, by, columns)`` returns the rows of a table as bags, by the column that names each row's bag.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.rows.source import ArrayRows, as_rows, register_rows
    >>> class Readings:
    ...     def __init__(self, volts):
    ...         self.volts = volts
    >>> def is_readings(X):
    ...     return type(X).__name__ == "Readings"
    >>> register_rows(is_readings, lambda X, name: ArrayRows(X.volts[:, None], name, ["volts"]))
    >>> as_rows(Readings(np.ones(3))).columns
    ('volts',)
    """
    _CONVERTERS.insert(0, _Converter(matches, convert, group))


def grouped_rows(X: Any, by: str, columns: Sequence[str] | None) -> RowSource | None:
    """Return a table as rows that tell their bags, where its type was registered with a way to do so; None elsewhere.

    Examples
    --------
    >>> import pandas as pd
    >>> from uptonoise.rows.source import grouped_rows
    >>> grouped_rows(pd.DataFrame({"site": ["a"], "x": [1.0]}), "site", None) is None
    True
    """
    for converter in _CONVERTERS:
        if converter.group is not None and converter.matches(X):
            return converter.group(X, by, columns)
    return None


def as_rows(X: Any, *, name: str | None = None, weights: Any = None) -> RowSource:
    """Return `X` as a :class:`RowSource`.

    Parameters
    ----------
    X : array, tensor, frame, series, iterator of these, Bags, or RowSource
        Rows are observations; a 1-D input is one column. A list of arrays and a 3-D array are bags.
    name : str, optional
        The name of the argument, for messages; "X" for what has none yet.
    weights : array of shape (n_rows,) or str, optional
        A weight for each row, or the name of the column that holds them.

    Returns
    -------
    RowSource

    Examples
    --------
    >>> from uptonoise.rows.source import as_rows
    >>> as_rows([1.0, 2.0, 3.0]).n_rows
    3
    """
    if isinstance(X, RowSource):
        source = X
        source.name = source.name if name is None else name
    else:
        source = _unweighted(X, name or "X")
    return source if weights is None else source.weighted(weights)


def _unweighted(X: Any, name: str) -> RowSource:
    if isinstance(X, np.ndarray) and X.ndim < 3 and X.dtype != object:
        return ArrayRows(as_table(X, name), name)
    for converter in _CONVERTERS:
        if converter.matches(X):
            return converter.convert(X, name)
    if isinstance(X, str | os.PathLike):
        raise ValueError(
            f"{name} is a path, {os.fspath(X)!r}; give scan_csv or scan_parquet of it, which read the file"
        )
    if is_frame(X):
        return FrameRows(as_frame(X, name), name)
    if is_series(X):
        values = nw.from_native(X, series_only=True).to_frame()
        _check_numeric(values, name)
        return ArrayRows(frame_values(values), name)
    if isinstance(X, Iterator):
        return ChunkRows(X, name)
    return ArrayRows(as_table(X, name), name)


def two_samples(X: Any, Y: Any, weights: tuple[Any, Any] = (None, None)) -> tuple[RowSource, RowSource]:
    """Return two samples, with weights or without, as row sources with the same columns in the same order.

    Examples
    --------
    >>> import pandas as pd
    >>> from uptonoise.rows.source import two_samples
    >>> left, right = two_samples(pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [2], "a": [1]}))
    >>> right.columns, next(right.blocks(9)).values
    (('a', 'b'), array([[1., 2.]]))
    """
    refuse_one_iterator_twice([X, Y], "X and Y")
    left, right = (one_sample(*one) for one in zip((X, Y), (_called(X, "X"), _called(Y, "Y")), weights, strict=True))
    return left, aligned(right, left)


def _called(X: Any, name: str) -> str:
    """Return the name that a source has of its own, or that of the argument."""
    return X.name if isinstance(X, RowSource) and X.name != RowSource.name else name


def refuse_one_iterator_twice(samples: Sequence[Any], names: str) -> None:
    """Raise where an iterator stands in two places: each would get a part of its chunks."""
    iterators = [id(sample) for sample in samples if isinstance(sample, Iterator)]
    if len(set(iterators)) < len(iterators):
        raise ValueError(f"{names} must be different iterators; got the same one, which can be read only once")


def one_sample(X: Any, name: str | None = None, weights: Any = None) -> RowSource:
    """Return `X` as a row source that is one sample; bags are an error.

    Examples
    --------
    >>> from uptonoise.rows.source import one_sample
    >>> one_sample([[1.0, 2.0]]).columns
    ('x0', 'x1')
    """
    source = as_rows(X, name=name, weights=weights)
    _refuse_bags(source, "one sample")
    return source


class Columns(Protocol):
    """Anything that has columns: what it is called, their names, and whether these came with the input."""

    name: str
    columns: tuple[str, ...]
    named: bool


def read_rows(source: RowSource) -> Floats:
    """Return all rows of a source in memory, for tests that look at them more than once.

    Examples
    --------
    >>> from uptonoise.rows.source import as_rows, read_rows
    >>> read_rows(as_rows(iter([[1.0, 2.0], [3.0]])))
    array([[1.],
           [2.],
           [3.]])
    """
    return np.concatenate([block.values for block in source.blocks(_FRAME_CHUNK_ROWS)])


def aligned(source: RowSource, other: Columns) -> RowSource:
    """Return `source` with its columns in the order of `other`'s: by name where they are the same, else by position."""
    check_same_columns(source, other)
    if source.columns == other.columns or set(source.columns) != set(other.columns):
        return source
    return source.selected(other.columns)


def check_same_columns(given: Columns, other: Columns) -> None:
    """Raise where two samples do not have the same columns, whatever their order."""
    name, other_name = given.name, other.name
    if len(given.columns) != len(other.columns):
        raise ValueError(
            f"{name} must have the columns of {other_name}, {counted(len(other.columns), 'column')} {_listed(other)}; "
            f"got {len(given.columns)} {_listed(given)}"
        )
    if given.named and other.named and set(given.columns) != set(other.columns):
        missing = [column for column in other.columns if column not in given.columns]
        unknown = [column for column in given.columns if column not in other.columns]
        raise ValueError(
            f"{name} must have the columns of {other_name}; it lacks {missing} and has {unknown} instead. "
            "Select or rename columns so that both agree"
        )


def _listed(given: Columns) -> str:
    shown = ", ".join(given.columns[:8]) + (", ..." if len(given.columns) > 8 else "")
    return f"({shown})"


def sample_rows(sources: Sequence[RowSource], n_rows: int, generator: np.random.Generator) -> Floats:
    """Return the values of at most `n_rows` rows, drawn without replacement from all sources together.

    Every row gets a random key, and the smallest keys win: so the choice is the same whether the number of rows is
    known beforehand (then only the winners are read) or not (then one pass keeps the winners so far).

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.rows.source import as_rows, sample_rows
    >>> X = np.arange(100.0)
    >>> known = sample_rows([as_rows(X)], 3, np.random.default_rng(0))
    >>> streamed = sample_rows([as_rows(iter([X[:40], X[40:]]))], 3, np.random.default_rng(0))
    >>> np.array_equal(known, streamed)
    True
    """
    drawn = [source.drawn(n_rows, generator) for source in sources]
    keys = np.concatenate([one[0] for one in drawn])
    values = np.concatenate([one[1] for one in drawn])
    kept = smallest(keys, n_rows)
    weighing = kept[np.isfinite(keys[kept])]
    return values[weighing if len(weighing) else kept]


def some_rows(source: RowSource, n_rows: int, generator: np.random.Generator) -> Floats:
    """Return a few rows to look at before a pass over all: drawn at random, or the first ones of what is read once."""
    return sample_rows([source], n_rows, generator) if source.can_be_read_again else source.head(n_rows)


def drawn_in_passing(
    blocks: Iterable[Block], n_columns: int, n_rows: int, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the `n_rows` smallest of random keys, one a row, and the values of those rows, in one pass over blocks."""
    keys, values = np.empty(0), np.empty((0, n_columns))
    for block in blocks:
        new = _keys(len(block.values), block.weights, generator)
        keys, values = np.append(keys, new), np.concatenate([values, block.values])
        kept = smallest(keys, n_rows)
        keys, values = keys[kept], values[kept]
    return keys, values


class Picked(NamedTuple):
    """Rows drawn of each bag: their random keys, the numbers of their bags, and their values."""

    keys: Floats
    bags: NDArray[np.int64]
    values: Floats

    @classmethod
    def none(cls, n_columns: int) -> Picked:
        """Return no rows."""
        return cls(np.empty(0), np.empty(0, dtype=np.int64), np.empty((0, n_columns)))

    def best(self, other: Picked, n_rows: int) -> Picked:
        """Return the rows of both with the smallest keys, at most `n_rows` of each bag, in the order that they have."""
        keys, bags, values = (np.concatenate(fields) for fields in zip(self, other, strict=True))
        order = np.lexsort((keys, bags))
        first = np.searchsorted(bags[order], bags[order])
        kept = np.sort(order[np.arange(len(order)) - first < n_rows])
        return Picked(keys[kept], bags[kept], values[kept])


def picked_of_bags(blocks: Iterable[Block], n_columns: int, n_rows: int, seed: int, earlier: dict[int, int]) -> Picked:
    """Return at most `n_rows` rows of each bag in one pass over blocks.

    Each bag has a generator of its own, so that it does not matter what lies between its rows; `earlier` says how many
    rows of it came before these blocks.
    """
    generators: dict[int, np.random.Generator] = {}
    picked = Picked.none(n_columns)
    for block in blocks:
        assert block.bags is not None
        new = np.empty(len(block.bags))
        for bag in np.unique(block.bags).tolist():
            of_it = block.bags == bag
            if bag not in generators:
                bits = np.random.PCG64([seed, bag])
                generators[bag] = np.random.Generator(bits.advance(earlier.get(bag, 0)))
            new[of_it] = generators[bag].random(np.count_nonzero(of_it))
        picked = picked.best(Picked(new, block.bags, block.values), n_rows)
    return picked


def by_bag(picked: Picked) -> list[Floats]:
    """Return the rows of each bag."""
    order = np.argsort(picked.bags, kind="stable")
    bags = picked.bags[order]
    return np.split(picked.values[order], np.searchsorted(bags, np.arange(1, bags.max() + 1)))


def _keys(count: int, weights: NDArray[Any] | None, generator: np.random.Generator) -> Floats:
    """Return keys of which the smallest belong to rows drawn in proportion to their weights.

    Equal weights draw the same rows as none (Efraimidis and Spirakis 2006).
    """
    keys = -np.log1p(-generator.random(count))
    if weights is None:
        return keys
    # A weight that is no positive number is for the pass over all rows to judge.
    positive = np.asarray(weights, dtype=np.float64) > 0
    return np.asarray(np.divide(keys, weights, out=np.full(count, np.inf), where=positive))


def smallest(keys: Floats, count: int) -> NDArray[np.int64]:
    """Return the places of the smallest keys, in increasing order of place."""
    if len(keys) <= count:
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, count)[:count])


def as_column_names(names: Any, what: str, n_columns: int | None = None) -> tuple[str, ...]:
    """Return names as distinct strings, or raise; as many as are expected where that is known.

    Examples
    --------
    >>> from uptonoise.rows.source import as_column_names
    >>> as_column_names(["a", 1], "X")
    ('a', '1')
    """
    is_list = isinstance(names, Sequence | np.ndarray) and not isinstance(names, str)
    columns = tuple(map(str, names)) if is_list else ()
    if not is_list or len(set(columns)) != len(columns) or n_columns not in (None, len(columns)):
        wanted = "distinct column names" if n_columns is None else counted(n_columns, "distinct column name")
        raise ValueError(f"{what} must have {wanted}; got {names!r}")
    return columns


def numbered_columns(n_columns: int) -> tuple[str, ...]:
    """Return the names of columns that have none."""
    return tuple(f"x{number}" for number in range(n_columns))


def as_table(X: Any, name: str) -> NDArray[Any]:
    """Return `X` as a real 2-D array, one column where it is 1-D, without copying an array that is one.

    Examples
    --------
    >>> from uptonoise.rows.source import as_table
    >>> as_table([1, 2, 3], "X").shape
    (3, 1)
    """
    array = as_real_array(X, name)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have rows and columns (or be one column); got an array of {array.ndim} dimensions"
        )
    if array.shape[1] == 0:
        raise ValueError(f"{name} must have at least one column; got shape {array.shape}")
    return array


def as_real_array(X: Any, name: str) -> NDArray[Any]:
    """Return `X` as an array of real numbers, or raise with what is wrong."""
    if is_tensor(X):
        return tensor_values(X, name)
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise ValueError(f"{name} must be dense; got a sparse {type(X).__name__}. Call its .toarray() if that fits")
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        raise ValueError(f"{name} has masked entries, which are missing values; drop or fill them first")
    try:
        array = np.asarray(X)
    except (ValueError, TypeError, RuntimeError) as error:
        raise ValueError(f"{name} must be an array of numbers; got {_described(X)} ({error})") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers; got {_described(X)} of dtype {array.dtype}")
    return array


def _described(X: Any) -> str:
    return "None" if X is None else f"a {type(X).__name__}"


def _checked_weights(weights: Any) -> NDArray[Any]:
    array = as_real_array(weights, "weights")
    if array.ndim != 1:
        raise ValueError(f"weights must be one number for each row; got an array of shape {array.shape}")
    return array


def is_frame(X: Any) -> bool:
    """Tell whether narwhals (or pyarrow's record batches) make `X` a data frame."""
    if _is_record_batch(X):
        return True
    try:
        return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame | nw.LazyFrame)
    except nw.exceptions.NarwhalsError:  # a frame, but one that narwhals refuses: as_frame says why
        return True


def is_series(X: Any) -> bool:
    """Tell whether `X` is one column of a data frame."""
    return isinstance(nw.from_native(X, pass_through=True, series_only=True), nw.Series)


def is_tensor(X: Any) -> bool:
    """Tell whether `X` is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def tensor_values(X: Any, name: str) -> NDArray[Any]:
    """Return the values of a torch tensor in this machine's memory."""
    if X.device.type != "cpu":
        raise ValueError(f"{name} must be in this machine's memory; got a tensor on {X.device}. Call its .cpu() first")
    if X.is_complex() or X.is_quantized:
        raise ValueError(f"{name} must hold real numbers; got a tensor of dtype {X.dtype}")
    if str(X.layout) != "torch.strided":
        raise ValueError(f"{name} must be dense; got a tensor of layout {X.layout}. Call its .to_dense() if that fits")
    if X.dtype.itemsize < 4 and X.is_floating_point():
        X = X.float()  # numpy knows no bfloat16
    values: NDArray[Any] = X.detach().resolve_neg().numpy()
    return values


def _is_record_batch(X: Any) -> bool:
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(X, pyarrow.RecordBatch)


def as_frame(X: Any, name: str) -> nw.DataFrame[Any]:
    """Return a data frame of any kind as narwhals' own; a lazy one is collected."""
    if _is_record_batch(X):
        X = sys.modules["pyarrow"].Table.from_batches([X])
    try:
        frame = nw.from_native(X)
    except (TypeError, nw.exceptions.NarwhalsError) as error:
        raise ValueError(f"{name} must be a data frame with distinct column names; {error}") from None
    try:
        whole: nw.DataFrame[Any] = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    except Exception as error:  # whatever the engine of the lazy frame raises
        raise ValueError(f"{name} is a lazy frame that cannot be collected: {error}") from error
    return whole


def frame_values(frame: nw.DataFrame[Any]) -> Floats:
    """Return the values of a numeric frame as float64; missing ones become NaN."""
    values = np.empty(frame.shape)
    for number, column in enumerate(frame.iter_columns()):
        array = column.to_numpy()
        values[:, number] = array if array.dtype.kind in "biuf" else column.cast(nw.Float64).to_numpy()
    return values


def _check_numeric(frame: nw.DataFrame[Any], name: str) -> None:
    if not frame.columns:
        raise ValueError(f"{name} must have at least one column; got a data frame without columns")
    dtypes = frame.schema.items()
    wrong = [f"{column!r} ({dtype})" for column, dtype in dtypes if not (dtype.is_numeric() or dtype == nw.Boolean)]
    if wrong:
        raise ValueError(f"{name} must have numeric columns only; not numeric: {', '.join(wrong)}. Select the others")


def _refuse_bags(source: RowSource, expected: str) -> None:
    if source.bag_ids is not None:
        raise ValueError(
            f"{source.name} must be {expected}; got {counted(len(source.bag_ids), 'bag')} (a Bags, a list of arrays or "
            "a 3-D array). Give one of its bags, or the rows of all in one array"
        )
