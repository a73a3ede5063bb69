"""Bags: many samples of different sizes in one ragged container.

The rows of all bags lie in one contiguous array; bag i is ``values[offsets[i]:offsets[i + 1]]``. Slicing gives what
scikit-learn expects of X: ``cross_val_score``, ``GridSearchCV``, ``train_test_split`` and Pipelines work on bags.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted, shown
from uptonoise.rows import (
    ArrayRows,
    Block,
    RowSource,
    aligned,
    as_column_names,
    as_frame,
    as_real_array,
    as_rows,
    as_table,
    is_frame,
    is_series,
    is_tensor,
    numbered_columns,
    read_rows,
    register_rows,
    tensor_values,
)

_CHUNK_ROWS = 65_536


class Bags:
    """Many samples, each with its own number of rows, all with the same columns.

    Parameters
    ----------
    bags : list of arrays or frames, 3-D array, or Bags
        Each bag is a sample: rows are observations, and a 1-D array is one column. Frames are matched by the names of
        their columns. In a 3-D array the first axis is the bag.
    ids : sequence, optional
        A distinct id for each bag; 0, 1, ... by default.
    labels : sequence, optional
        A label for each bag; it goes along when bags are sliced.
    columns : sequence of str, optional
        The names of the columns, where the bags do not bring them.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        The rows of all bags, one bag after the other; read-only.
    offsets : array of shape (n_bags + 1,)
        Where each bag starts.
    ids, labels, sizes : array of shape (n_bags,)
        The id, the label (None if there are none) and the number of rows of each bag.
    columns : tuple of str
        The names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> bags = un.Bags([np.zeros((3, 2)), np.ones((5, 2)), np.ones((1, 2))], ids=["a", "b", "c"])
    >>> bags
    Bags(3 bags of 1 to 5 rows (median 3), 9 rows in all, 2 columns: x0, x1)
    >>> bags[1].shape
    (5, 2)
    >>> bags[[2, 0]].ids
    array(['c', 'a'], dtype='<U1')
    """

    values: NDArray[Any]
    offsets: NDArray[np.int64]
    ids: NDArray[Any]
    labels: NDArray[Any] | None
    columns: tuple[str, ...]
    named: bool

    def __init__(
        self,
        bags: Any,
        *,
        ids: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        if isinstance(bags, Bags):
            own_ids = bags.ids if ids is None else _checked_ids(ids, len(bags))
            self._set(bags.values, bags.offsets, own_ids, bags.labels, bags.columns, bags.named)
        else:
            self._gather(bags, "bags", ids)
        if labels is not None:
            self.labels = _read_only(_checked_labels(labels, len(self)))
        if columns is not None:
            self.columns, self.named = as_column_names(columns, "columns", self.n_columns), True

    def _gather(self, bags: Any, name: str, ids: Sequence[Any] | None = None) -> Bags:
        """Put the rows of all bags into one array."""
        values, sizes, columns, named = _all_rows(bags, name)
        names = np.arange(len(sizes)) if ids is None else _checked_ids(ids, len(sizes))
        if (sizes == 0).any():
            raise ValueError(
                f"{name} must have at least one row in each bag; bag {shown(names[np.argmin(sizes)])} has no rows"
            )
        self._set(_as_floats(values), _offsets(sizes), names, None, columns, named)
        for _ in BagRows(self, name).blocks(_CHUNK_ROWS):
            pass  # the check of every row is all that is wanted
        return self

    def _set(
        self,
        values: NDArray[Any],
        offsets: NDArray[np.int64],
        ids: NDArray[Any],
        labels: NDArray[Any] | None,
        columns: tuple[str, ...],
        named: bool,
    ) -> Bags:
        self.values, self.offsets, self.ids = _read_only(values), _read_only(offsets), _read_only(ids)
        self.labels = None if labels is None else _read_only(labels)
        self.columns, self.named = columns, named
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(*(state[name] for name in ("values", "offsets", "ids", "labels", "columns", "named")))

    @classmethod
    def from_long(
        cls, frame: Any, by: str, values: str | Sequence[str] | None = None, label: str | None = None
    ) -> Bags:
        """Return the bags of a long table: one row an observation, one column that says which bag it belongs to.

        Parameters
        ----------
        frame : data frame
            pandas, polars or pyarrow. Rows of one bag need not be adjacent; they keep their order.
        by : str
            The column with the ids of the bags. Bags come in the order in which their ids first appear.
        values : str or sequence of str, optional
            The columns to keep; by default all but `by` and `label`.
        label : str, optional
            A column with the label of the bag, which must be the same in all its rows.

        Returns
        -------
        Bags

        Examples
        --------
        >>> import pandas as pd
        >>> import uptonoise as un
        >>> cells = pd.DataFrame({"patient": ["p", "q", "p"], "size": [1.0, 2.0, 3.0], "ill": [1, 0, 1]})
        >>> bags = un.Bags.from_long(cells, by="patient", values=["size"], label="ill")
        >>> bags.ids, bags.labels, bags[0].ravel()
        (array(['p', 'q'], dtype=object), array([1, 0]), array([1., 3.]))
        """
        table = as_frame(frame, "frame") if is_frame(frame) else _refuse_frame(frame)
        kept = _value_columns(table, by, values, label)
        _check_columns_exist(table, [by, *([] if label is None else [label]), *kept])
        if len(table) == 0:
            raise ValueError("frame has no rows; at least one is needed")
        ids, numbers_of_rows = _numbered_by_first_row(_plain_column(table, by), by)
        rows = as_rows(table.select(nw.col(*kept)).to_native(), name="frame")
        by_bag = read_rows(rows)[np.argsort(numbers_of_rows, kind="stable")]
        labels = None if label is None else _label_of_bags(_plain_column(table, label), numbers_of_rows, ids, label)
        bags = cls.__new__(cls)
        return bags._set(by_bag, _offsets(np.bincount(numbers_of_rows)), ids, labels, rows.columns, True)

    @classmethod
    def from_rows(cls, source: RowSource, label: str | None = None) -> Bags:
        r"""Return the bags of a source that tells each row's bag, such as ``scan_csv(path, by="patient")``, in memory.

        Parameters
        ----------
        source : RowSource
            Rows of a bag may be anywhere; they keep their order.
        label : str, optional
            A column with the label of the bag, a number, which must be the same in all its rows.

        Returns
        -------
        Bags

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import uptonoise as un
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "cells.csv")
        ...     _ = path.write_text("patient,size,age\np,1.5,60\nq,2.5,70\np,3.5,60\n")
        ...     bags = un.Bags.from_rows(un.scan_csv(path, by="patient"), label="age")
        >>> bags.ids, bags.labels, bags[0].ravel()
        (array(['p', 'q'], dtype=object), array([60., 70.]), array([1.5, 3.5]))
        """
        if not isinstance(source, RowSource):
            kind = type(source).__name__
            raise ValueError(f"source must be rows that tell their bags, as scan_csv(path, by=...) does; got a {kind}")
        blocks = list(source.blocks(_CHUNK_ROWS))
        if source.bag_ids is None or any(block.bags is None for block in blocks):
            raise ValueError(f"{source.name} must say which row is in which bag, as a source made with by= does")
        values = np.concatenate([block.values for block in blocks])
        numbers = np.concatenate([block.bags for block in blocks])
        ids = np.empty(len(source.bag_ids), dtype=object)
        ids[:] = list(source.bag_ids)
        labels, columns = None, source.columns
        if label is not None:
            if label not in columns:
                raise ValueError(f"label={label!r} must be a column of {source.name}, which has {list(columns)}")
            place = columns.index(label)
            labels = _same_in_bags(values[:, place], numbers, ids, label)
            values, columns = np.delete(values, place, axis=1), (*columns[:place], *columns[place + 1 :])
            if not columns:
                raise ValueError(f"{source.name} has no column beside the label {label!r}")
        by_bag = values[np.argsort(numbers, kind="stable")]
        bags = cls.__new__(cls)
        return bags._set(by_bag, _offsets(np.bincount(numbers)), ids, labels, columns, source.named)

    @classmethod
    def concatenate(cls, parts: Iterable[Bags]) -> Bags:
        """Return the bags of all `parts`, one part after the other; columns are matched by name.

        Ids stay as they are, so that two parts with the same id give it twice.

        Examples
        --------
        >>> import uptonoise as un
        >>> a, b = un.Bags([[[1.0]], [[2.0]]], ids=["a", "b"]), un.Bags([[[3.0]]], ids=["c"])
        >>> un.Bags.concatenate([a, b]).ids
        array(['a', 'b', 'c'], dtype='<U1')
        """
        parts = list(parts) if isinstance(parts, Iterable) else [parts]
        if not parts or not all(isinstance(part, Bags) for part in parts):
            kinds = sorted({type(part).__name__ for part in parts})
            raise ValueError(f"parts must be Bags, at least one; got {', '.join(kinds) or 'none'}")
        sources = [as_rows(part, name=f"parts[{number}]") for number, part in enumerate(parts)]
        values = np.concatenate([_raw_values(aligned(source, sources[0])) for source in sources])
        labels = [part.labels for part in parts]
        if any(one is None for one in labels) and any(one is not None for one in labels):
            raise ValueError("parts must either all have labels or none; got both")
        bags = cls.__new__(cls)
        return bags._set(
            values,
            _offsets(np.concatenate([part.sizes for part in parts])),
            _joined([part.ids for part in parts]),
            None if labels[0] is None else _joined(labels),  # type: ignore[arg-type]
            parts[0].columns,
            parts[0].named,
        )

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each bag."""
        return np.diff(self.offsets)

    @property
    def shape(self) -> tuple[int]:
        """The number of bags, as the one axis that scikit-learn may slice."""
        return (len(self),)

    @property
    def n_columns(self) -> int:
        """The number of columns of every bag."""
        return len(self.columns)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """Return one bag's array for an integer, and a Bags for a slice, an index array or a mask."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        if isinstance(key, numbers.Integral) and not isinstance(key, bool | np.bool_):
            if not -len(self) <= int(key) < len(self):
                raise IndexError(f"there are {counted(len(self), 'bag')}; got the number {key}")
            number = int(key) % len(self)
            return self.values[self.offsets[number] : self.offsets[number + 1]]
        return self._picked(np.arange(len(self))[_checked_key(key)])

    def _picked(self, picked: NDArray[np.int64]) -> Bags:
        if len(picked) == 0:
            raise ValueError("the selection holds no bag; at least one is needed")
        offsets = _offsets(self.sizes[picked])
        # Row r of the result comes from where its bag starts, as far on as r is from the start of its new place.
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[picked] - offsets[:-1], self.sizes[picked])
        bags = type(self).__new__(type(self))
        labels = None if self.labels is None else self.labels[picked]
        return bags._set(self.values[rows], offsets, self.ids[picked], labels, self.columns, self.named)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bags):
            return NotImplemented
        same_labels = (self.labels is None) == (other.labels is None) and (
            self.labels is None or np.array_equal(self.labels, other.labels)  # type: ignore[arg-type]
        )
        return bool(
            same_labels
            and self.columns == other.columns
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.ids, other.ids)
            and np.array_equal(self.values, other.values)
        )

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            "Bags have different sizes and do not fit into one array: use bags.values (the rows of all bags) with "
            "bags.offsets, bags[i] (one bag), or a transformer that turns each bag into a vector"
        )

    def __repr__(self) -> str:
        smallest, largest = self.sizes.min(), self.sizes.max()
        sizes = counted(smallest, "row") if smallest == largest else f"{smallest} to {largest} rows"
        median = "" if smallest == largest else f" (median {np.median(self.sizes):g})"
        some = ", ".join(self.columns[:5]) + (", ..." if self.n_columns > 5 else "")
        return (
            f"Bags({counted(len(self), 'bag')} of {sizes}{median}, {counted(len(self.values), 'row')} in all, "
            f"{counted(self.n_columns, 'column')}: {some})"
        )


class BagRows(ArrayRows):
    """The rows of bags, with the number of each row's bag."""

    bags_in_order = True

    def __init__(self, bags: Bags, name: str = "X") -> None:
        super().__init__(bags.values, name, bags.columns, bag_ids=bags.ids)
        self.named = bags.named
        self.offsets = bags.offsets
        # Bags that were given no ids are called 0, 1, ..., as those of every other sample.
        self.ids_are_local = bags.ids.dtype.kind == "i" and np.array_equal(bags.ids, np.arange(len(bags)))

    def chunks(self) -> Iterator[Block]:
        """Yield views of the rows, with bag numbers made for one chunk at a time."""
        for start in range(0, len(self.values), _CHUNK_ROWS):
            stop = min(len(self.values), start + _CHUNK_ROWS)
            yield Block(self.values[start:stop], None, self.bags_of(start, stop))

    def bags_of(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the number of the bag of each row from `start` to `stop`."""
        first, last = np.searchsorted(self.offsets, [start, stop - 1], side="right") - 1
        bounds = np.clip(self.offsets[first : last + 2], start, stop)
        return np.repeat(np.arange(first, last + 1), np.diff(bounds))

    def _place(self, first_row: int, block: Block, row: int) -> str:
        number = int(np.searchsorted(self.offsets, first_row + row, side="right")) - 1
        return f"row {first_row + row - self.offsets[number]} of bag {shown(self.bag_ids[number])}"  # type: ignore[index]


def checked_weights(weights: Any, n_bags: int) -> Floats:
    """Return one weight for each bag; ones where none are given."""
    if weights is None:
        return np.ones(n_bags)
    values = as_real_array(weights, "sample_weight").astype(np.float64)
    if values.shape != (n_bags,):
        raise ValueError(f"sample_weight must have one weight for each of {n_bags} bags; got shape {values.shape}")
    if not (np.isfinite(values).all() and (values >= 0).all() and np.count_nonzero(values) >= 2):
        raise ValueError("sample_weight must be finite and not negative, and not zero for all bags but one")
    return values


def _is_bags(X: Any) -> bool:
    """Tell bags from one sample: a 3-D array, or a list (or array) of things that are samples themselves."""
    if isinstance(X, Bags):
        return True
    if isinstance(X, np.ndarray) and X.dtype == object:
        return X.ndim == 1 and len(X) > 0 and all(_is_sample(one) for one in X)
    if isinstance(X, np.ndarray) or is_tensor(X):
        return bool(X.ndim == 3)
    return isinstance(X, list | tuple) and len(X) > 0 and any(_is_sample(one) for one in X[:2])


def _is_sample(X: Any) -> bool:
    """Tell whether `X` holds rows: an array, a tensor, a frame, a series, a source, or a list of lists."""
    if isinstance(X, np.ndarray) or is_tensor(X):
        return bool(X.ndim > 0)
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], list | tuple)
    return isinstance(X, RowSource) or is_frame(X) or is_series(X)


def _as_bag_rows(X: Any, name: str) -> BagRows:
    return BagRows(X if isinstance(X, Bags) else Bags.__new__(Bags)._gather(X, name), name)


register_rows(_is_bags, _as_bag_rows)


def _all_rows(bags: Any, name: str) -> tuple[NDArray[Any], NDArray[np.int64], tuple[str, ...], bool]:
    """Return the rows of all bags, how many each bag has, the names of the columns, and whether these were given."""
    if is_tensor(bags):
        bags = tensor_values(bags, name)
    if isinstance(bags, np.ndarray) and bags.dtype != object:
        if bags.ndim != 3:
            raise ValueError(f"{name} must be a list of samples or a 3-D array; got an array of shape {bags.shape}")
        n_bags, n_rows, n_columns = bags.shape
        if n_bags and n_rows and n_columns:
            rows = as_table(bags.reshape(-1, n_columns), name).copy()  # the array may change later, bags do not
            return rows, np.full(n_bags, n_rows), numbered_columns(n_columns), False
    elif not isinstance(bags, Iterable) or isinstance(bags, str | dict) or is_frame(bags):
        raise ValueError(
            f"{name} must be a list of samples or a 3-D array; got a {type(bags).__name__}. "
            "For a long table with a column of ids use Bags.from_long"
        )
    sources = [as_rows(one, name=f"{name}[{number}]") for number, one in enumerate(bags)]
    if not sources:
        raise ValueError(f"{name} is empty; at least one bag is needed")
    tables = [_raw_values(aligned(source, sources[0])) for source in sources]
    sizes = np.array([len(table) for table in tables])
    return np.concatenate(tables), sizes, sources[0].columns, sources[0].named


def _raw_values(source: RowSource) -> NDArray[Any]:
    """Return all rows as they come; they are checked once all bags are together."""
    chunks = [chunk.values for chunk in source.chunks()]
    return chunks[0] if len(chunks) == 1 else np.concatenate(chunks or [np.empty((0, len(source.columns)))])


def _as_floats(values: NDArray[Any]) -> NDArray[Any]:
    """Return float64, or float32 where the rows came so, to save memory."""
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)])


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array = array.view()
    array.flags.writeable = False
    return array


def _checked_ids(ids: Sequence[Any] | NDArray[Any], n_bags: int) -> NDArray[Any]:
    array = _one_each("ids", ids, n_bags)
    try:
        seen: set[Any] = set()
        twice = [one for one in array.tolist() if one in seen or seen.add(one)]  # type: ignore[func-returns-value]
    except TypeError as error:
        raise ValueError(f"ids must be numbers, strings or other things that can be keys; {error}") from None
    if twice:
        raise ValueError(f"ids must be distinct; got {shown(twice[0])} more than once")
    return array


def _checked_labels(labels: Sequence[Any] | NDArray[Any], n_bags: int) -> NDArray[Any]:
    return _one_each("labels", labels, n_bags)


def _one_each(name: str, given: Sequence[Any] | NDArray[Any], n_bags: int) -> NDArray[Any]:
    """Return one entry for each bag as an array that changes none of them."""
    if isinstance(given, np.ndarray):
        array = given
    else:
        entries = list(given) if isinstance(given, Iterable) else [given]
        kinds = {type(one) for one in entries}
        if len(kinds) == 1 and not kinds & {list, tuple, dict, set}:
            array = np.asarray(entries)
        else:  # numpy would turn a number beside a string into a string, and a tuple into a row
            array = np.empty(len(entries), dtype=object)
            array[:] = entries
    _check_length(name, array, n_bags)
    return array


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate ids or labels; as objects where numpy would turn numbers into strings."""
    kinds = {array.dtype.kind for array in arrays}
    return np.concatenate([array.astype(object) for array in arrays] if len(kinds) > 1 else arrays)


def _check_length(name: str, given: NDArray[Any], n_bags: int) -> None:
    if given.shape != (n_bags,):
        raise ValueError(f"{name} must have one entry for each of the {n_bags} bags; got shape {given.shape}")


def _checked_key(key: Any) -> Any:
    if isinstance(key, slice):
        return key
    array = np.asarray(key) if not isinstance(key, tuple) else np.empty(())
    if array.ndim == 1 and (array.dtype.kind in "iub" or len(array) == 0):
        return array if len(array) else array.astype(np.int64)
    raise IndexError(f"bags are picked by an integer, a slice, an index array or a mask; got {key!r}")


def _refuse_frame(frame: Any) -> NoReturn:
    raise ValueError(f"frame must be a data frame (pandas, polars or pyarrow); got a {type(frame).__name__}")


def _value_columns(
    table: nw.DataFrame[Any], by: str, values: str | Sequence[str] | None, label: str | None
) -> list[str]:
    if values is None:
        kept = [column for column in table.columns if column not in (by, label)]
    elif isinstance(values, Sequence) and not isinstance(values, str):
        kept = list(values)
    else:
        kept = [values]
    if not kept or len(set(kept)) < len(kept):
        raise ValueError(f"values must be distinct columns of frame, at least one; got {kept}")
    return kept


def _plain_column(table: nw.DataFrame[Any], name: str) -> nw.Series[Any]:
    column = table.get_column(name)
    if column.dtype.is_nested():
        raise ValueError(f"column {name!r} must hold numbers, strings or dates; got {column.dtype}")
    return column


def _check_columns_exist(table: nw.DataFrame[Any], wanted: Sequence[str]) -> None:
    for column in wanted:
        if column not in table.columns:
            raise ValueError(f"frame has no column {column!r}; its columns are {list(table.columns)}")


def _numbered_by_first_row(by: nw.Series[Any], name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the ids in the order of their first rows, and the number of each row's bag."""
    values = by.to_numpy()
    _refuse_missing(values, by, name)
    if values.dtype == object:  # strings, or a mix that cannot be sorted
        numbers_of_ids: dict[Any, int] = {}
        codes = np.array([numbers_of_ids.setdefault(value, len(numbers_of_ids)) for value in values])
        ids = np.empty(len(numbers_of_ids), dtype=object)
        ids[:] = list(numbers_of_ids)
        return ids, codes
    ids, first_rows, codes = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first_rows)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return ids[order], place[codes]


def _label_of_bags(label: nw.Series[Any], bag_numbers: NDArray[np.int64], ids: NDArray[Any], name: str) -> NDArray[Any]:
    labels = label.to_numpy()
    _refuse_missing(labels, label, name)
    return _same_in_bags(labels, bag_numbers, ids, name)


def _same_in_bags(labels: NDArray[Any], bag_numbers: NDArray[np.int64], ids: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the label of each bag, or raise where its rows have different ones."""
    of_bags = labels[np.unique(bag_numbers, return_index=True)[1]]
    differs = labels != of_bags[bag_numbers]
    if differs.any():
        row = int(np.argmax(differs))
        bag = bag_numbers[row]
        raise ValueError(
            f"column {name!r} must have one label in each bag; bag {shown(ids[bag])} has {shown(of_bags[bag])} "
            f"and {shown(labels[row])}"
        )
    return of_bags


def _refuse_missing(values: NDArray[Any], series: nw.Series[Any], name: str) -> None:
    missing = series.is_null().to_numpy().astype(bool)
    if values.dtype.kind == "f":
        missing = missing | np.isnan(values)
    if missing.any():
        raise ValueError(
            f"frame has missing values in column {name!r}, first in row {int(np.argmax(missing))}; "
            "drop or fill such rows first"
        )
