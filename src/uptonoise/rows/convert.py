"""Any input as a row source: arrays, tensors, frames, iterators of them, and the types that others register."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.rows.block import Block
from uptonoise.rows.derived import with_weights
from uptonoise.rows.matching import aligned
from uptonoise.rows.memory import ArrayRows, FrameRows, as_frame, check_numeric, frame_values, is_frame, is_series
from uptonoise.rows.source import HEAD_ROWS, RowSource
from uptonoise.rows.suspicious import ScaleWatch

# Packages that register types of input. They are loaded for the first input that is not a plain array.
_REGISTERING = ("uptonoise.bags", "uptonoise.engines")


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
    """Teach :func:`as_rows` another type of input; the type that was registered last is tried first.

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
    >>> from uptonoise.rows import ArrayRows, as_rows, register_rows
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


def _registered(X: Any) -> _Converter | None:
    """Return what was registered for the type of an input."""
    for package in _REGISTERING:
        import_module(package)
    return next((converter for converter in _CONVERTERS if converter.matches(X)), None)


def grouping(X: Any) -> Callable[[Any, str, Sequence[str] | None], RowSource] | None:
    """Return what makes bags of a table whose type was registered with a way to do so; None for others."""
    registered = _registered(X)
    return None if registered is None else registered.group


def as_rows(X: Any, *, name: str | None = None, weights: Any = None) -> RowSource:
    """Return `X` as a :class:`RowSource`.

    Parameters
    ----------
    X : array, tensor, frame, series, iterator of these, Bags, or RowSource
        Rows are observations; a 1-D input is one column. A list of arrays and a 3-D array are bags.
    name : str, optional
        The name of the argument, for messages. A source with a name of its own, such as a path, keeps it.
    weights : array of shape (n_rows,) or str, optional
        A weight for each row, or the name of the column that holds them.

    Returns
    -------
    RowSource
        The rows, with the names of their columns and, where it is known, their number.

    Examples
    --------
    >>> from uptonoise.rows import as_rows
    >>> as_rows([1.0, 2.0, 3.0]).n_rows
    3
    """
    source: RowSource
    called = RowSource.name if name is None else name
    if isinstance(X, RowSource):
        source = X if X.name != RowSource.name or name in (None, X.name) else X.renamed(called)
    elif isinstance(X, np.ndarray) and X.ndim < 3 and X.dtype != object:
        source = ArrayRows(X, called)
    elif registered := _registered(X):
        source = registered.convert(X, called)
    elif isinstance(X, str | os.PathLike):
        raise ValueError(
            f"{called} is a path, {os.fspath(X)!r}; give scan_csv or scan_parquet of it, which read the file"
        )
    elif is_frame(X):
        source = FrameRows(as_frame(X, called), called)
    elif is_series(X):
        column = as_frame(X, called)
        check_numeric(column, called)
        source = ArrayRows(frame_values(column, called), called)
    else:
        source = IteratorRows(X, called) if isinstance(X, Iterator) else ArrayRows(X, called)
    return source if weights is None else with_weights(source, weights)


def one_sample(X: Any, name: str | None = None, weights: Any = None) -> RowSource:
    """Return `X` as a row source that is a single sample; bags are an error.

    Examples
    --------
    >>> from uptonoise.rows import one_sample
    >>> one_sample([[1.0, 2.0]]).columns
    ('x0', 'x1')
    """
    source = as_rows(X, name=name, weights=weights)
    _refuse_bags(source, "one sample")
    return source


def two_samples(X: Any, Y: Any, weights: tuple[Any, Any] = (None, None)) -> tuple[RowSource, RowSource]:
    """Return two samples, with weights or without, as row sources with the same columns in the same order.

    Examples
    --------
    >>> import pandas as pd
    >>> from uptonoise.rows import two_samples
    >>> left, right = two_samples(pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [2], "a": [1]}))
    >>> right.columns, next(right.blocks(9)).values
    (('a', 'b'), array([[1., 2.]]))
    """
    if X is Y and isinstance(X, Iterator):
        raise same_iterator("X and Y")
    left, right = one_sample(X, "X", weights[0]), one_sample(Y, "Y", weights[1])
    return left, aligned(right, left)


def same_iterator(names: str) -> ValueError:
    """Return the error about an iterator that stands in two places: each would get a part of its chunks."""
    return ValueError(f"{names} must be different iterators; got the same one, which can be read only once")


def _refuse_bags(source: RowSource, expected: str) -> None:
    if source.bag_ids is not None:
        raise ValueError(
            f"{source.name} must be {expected}; got {counted(len(source.bag_ids), 'bag')} (a Bags, a list of arrays or "
            "a 3-D array). Give one of its bags, or the rows of all in one array"
        )


class IteratorRows(RowSource):
    """The rows of an iterator of chunks, each a sample by itself; it can be read once.

    If the scale is taken from its first part, the pass compares the other rows with that part.
    """

    can_be_read_again = False

    def __init__(self, chunks: Iterator[Any], name: str = "X") -> None:
        self.name = name
        self._rest: list[Iterator[Any]] = [chunks]  # empty once it is read, also in copies of this source
        self._ahead: list[Any] = []
        self._watch: list[ScaleWatch] = []
        for first in chunks:
            self._ahead.append(first)
            source = as_rows(first, name=f"{name} (chunk 0)")
            self.columns, self.named = source.columns, source.named
            return
        raise ValueError(f"{name} is an iterator without any chunk; at least one row is needed")

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks; a second pass is an error, since the iterator is then empty."""
        rest = self._unread()
        self._rest.clear()

        def remaining() -> Iterator[Any]:
            while self._ahead:
                yield self._ahead.pop(0)  # so that nothing holds it longer than needed
            yield from rest

        watch = self._watch[-1] if self._watch else None
        for block in self._rows_of(remaining()):
            if watch is not None:
                watch.see(block)
            yield block
        if watch is not None:
            watch.warn(self.columns, self.name)

    def head(self, n_rows: int = HEAD_ROWS) -> Floats:
        """Return the first rows, and keep the chunks that hold them for the pass that is to come."""
        return self.checked(Block(self._first_rows(n_rows)[:n_rows])).values

    def first_part(self, n_rows: int) -> NDArray[Any]:
        """Return the first chunks, of at least `n_rows` rows where there are so many, as they come."""
        first = self._first_rows(n_rows)
        self._watch.append(ScaleWatch(first))
        return first

    def _first_rows(self, n_rows: int) -> NDArray[Any]:
        def remembered() -> Iterator[Any]:
            yield from list(self._ahead)
            for chunk in self._unread():
                self._ahead.append(chunk)
                yield chunk

        blocks: list[Block] = []
        n_held = 0
        for block in self._rows_of(remembered()):
            blocks.append(block)
            n_held += len(block.values)
            if n_held >= n_rows:
                break
        if not n_held:
            raise self.no_rows()
        return Block.concatenated(blocks).values

    def _unread(self) -> Iterator[Any]:
        if not self._rest:
            raise ValueError(
                f"{self.name} is an iterator and has been read already; give the chunks again, or an array, a frame or "
                "another source that can be read more than once"
            )
        return self._rest[0]

    def _rows_of(self, chunks: Iterable[Any]) -> Iterator[Block]:
        for number, chunk in enumerate(chunks):
            source = as_rows(chunk, name=f"{self.name} (chunk {number})")
            _refuse_bags(source, "a chunk of rows")
            yield from aligned(source, self).chunks()
