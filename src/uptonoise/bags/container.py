"""Bags: many samples of different sizes in one ragged container.

The rows of all bags lie in one contiguous array; bag i is ``values[offsets[i]:offsets[i + 1]]``. Slicing gives what
scikit-learn expects of X: ``cross_val_score``, ``GridSearchCV``, ``train_test_split`` and Pipelines work on bags.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.validation import checked_text
from uptonoise._util.wording import counted, shown
from uptonoise.bags.given import (
    checked_ids,
    checked_key,
    concatenated_ids,
    gathered_rows,
    is_bag_list,
    offsets_of,
    one_for_each_bag,
    places_of_ids,
    raw_values,
    read_only,
    with_keys,
)
from uptonoise.bags.long_table import LabelsOfBags, read_long_table
from uptonoise.bags.rows import BagRows
from uptonoise.rows import (
    CHUNK_ROWS,
    RowSource,
    aligned,
    as_column_names,
    as_rows,
    object_array,
    read_rows,
    register_rows,
)


class Bags:
    """Many samples, each with its own number of rows, all with the same columns.

    Parameters
    ----------
    bags : list of arrays or frames, 3-D array, dict, ``frame.groupby(...)``, or Bags
        Each bag is a sample: rows are observations, and a 1-D array is one column. Frames are matched by the names of
        their columns. In a 3-D array the first axis is the bag. The keys of a dict are the ids, and so are those of a
        groupby of pandas or polars, whose key columns are left out.
    ids : sequence, optional
        A distinct id for each bag; by default the keys, or 0, 1, ... where there are none.
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
    >>> bags[1].shape, bags["b"].shape
    ((5, 2), (5, 2))
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
            own_ids = bags.ids if ids is None else checked_ids(ids, len(bags))
            self._set(bags.values, bags.offsets, own_ids, bags.labels, bags.columns, bags.named)
        else:
            keys, samples = with_keys(bags)
            self._gather(samples, "bags", keys if ids is None else ids)
        if labels is not None:
            self.labels = read_only(one_for_each_bag("labels", labels, len(self)))
        if columns is not None:
            self.columns, self.named = as_column_names(columns, "columns", self.n_columns), True

    def _gather(self, bags: Any, name: str, ids: Sequence[Any] | None = None) -> Bags:
        """Put the rows of all bags into one array, and check them."""
        values, sizes, columns, named = gathered_rows(bags, name)
        own_ids = np.arange(len(sizes)) if ids is None else checked_ids(ids, len(sizes))
        if (sizes == 0).any():
            raise ValueError(
                f"{name} must have at least one row in each bag; bag {shown(own_ids[np.argmin(sizes)])} has no rows"
            )
        if values.dtype not in (np.float32, np.float64):  # float32 stays, to save memory
            values = values.astype(np.float64)
        self._set(values, offsets_of(sizes), own_ids, None, columns, named)
        BagRows(self, name).check()
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
        self.values, self.offsets, self.ids = read_only(values), read_only(offsets), read_only(ids)
        self.labels = None if labels is None else read_only(labels)
        self.columns, self.named = columns, named
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(*(state[name] for name in ("values", "offsets", "ids", "labels", "columns", "named")))

    @classmethod
    def from_long(
        cls, frame: Any, by: str | Sequence[str], values: str | Sequence[str] | None = None, label: str | None = None
    ) -> Bags:
        """Return the bags of a long table: one row per observation, and a column with the id of its bag.

        Parameters
        ----------
        frame : data frame
            pandas, polars or pyarrow. Rows of one bag need not be adjacent; they keep their order.
        by : str or sequence of str
            The column with the ids of the bags, or several, such as ``["station", "day"]``: then ids are tuples. Bags
            come in the order in which their ids first appear.
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
        kept, numbers, bag_ids, labels = read_long_table(frame, by, values, label)
        rows = as_rows(kept, name="frame")
        return cls._sorted(read_rows(rows), numbers, bag_ids, labels, rows.columns, True)

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
        blocks = list(source.blocks(CHUNK_ROWS))
        if source.bag_ids is None or any(block.bags is None for block in blocks):
            raise ValueError(f"{source.name} must say which row is in which bag, as a source made with by= does")
        values = np.concatenate([block.values for block in blocks])
        numbers = np.concatenate([block.bags for block in blocks])
        ids = object_array(list(source.bag_ids))
        labels, columns = None, source.columns
        if label is not None:
            if label not in columns:
                raise ValueError(f"label={label!r} must be a column of {source.name}, which has {list(columns)}")
            place = columns.index(label)
            labels = LabelsOfBags(ids, label).add(values[:, place], numbers)
            values, columns = np.delete(values, place, axis=1), (*columns[:place], *columns[place + 1 :])
            if not columns:
                raise ValueError(f"{source.name} has no column beside the label {label!r}")
        return cls._sorted(values, numbers, ids, labels, columns, source.named)

    @classmethod
    def _sorted(cls, values: NDArray[Any], numbers: NDArray[np.int64], *others: Any) -> Bags:
        """Return the bags of rows that lie in any order; the rows of each bag keep theirs."""
        return cls._in_order(values[np.argsort(numbers, kind="stable")], offsets_of(np.bincount(numbers)), *others)

    @classmethod
    def _in_order(cls, values: NDArray[Any], offsets: NDArray[np.int64], *others: Any) -> Bags:
        """Return the bags of rows that lie bag by bag, and start at the offsets."""
        return cls.__new__(cls)._set(values, offsets, *others)

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
        values = np.concatenate([raw_values(aligned(source, sources[0])) for source in sources])
        labels = [part.labels for part in parts]
        if len({own is None for own in labels}) > 1:
            raise ValueError("parts must either all have labels or none; got both")
        offsets, ids = offsets_of(np.concatenate([part.sizes for part in parts])), [part.ids for part in parts]
        all_labels = None if labels[0] is None else concatenated_ids(labels)  # type: ignore[arg-type]
        return cls._in_order(values, offsets, concatenated_ids(ids), all_labels, parts[0].columns, parts[0].named)

    def _runs(self, n_values: int) -> Iterator[Bags]:
        """Yield consecutive bags with at most so many values together, or one that has more, as views."""
        start, n_rows = 0, n_values // self.n_columns
        while start < len(self):
            stop = max(start + 1, int(np.searchsorted(self.offsets, self.offsets[start] + n_rows, side="right")) - 1)
            first, last = self.offsets[[start, stop]]
            labels = None if self.labels is None else self.labels[start:stop]
            offsets = self.offsets[start : stop + 1] - first
            yield self._in_order(
                self.values[first:last], offsets, self.ids[start:stop], labels, self.columns, self.named
            )
            start = stop

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
        """Return one bag's array for a place or an id, and a Bags for a slice, places, a mask or a list of ids.

        Integers are places; ids are strings, or tuples where bags are told by several columns.
        """
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        key = places_of_ids(key, self.ids)
        if isinstance(key, numbers.Integral) and not isinstance(key, bool | np.bool_):
            if not -len(self) <= int(key) < len(self):
                raise IndexError(f"there are {counted(len(self), 'bag')}; got the number {key}")
            number = int(key) % len(self)
            return self.values[self.offsets[number] : self.offsets[number + 1]]
        picked = np.arange(len(self))[checked_key(key)]
        if len(picked) == 0:
            raise ValueError("the selection holds no bag; at least one is needed")
        offsets = offsets_of(self.sizes[picked])
        # Row r of the result comes from where its bag starts, as far on as r is from the start of its new place.
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[picked] - offsets[:-1], self.sizes[picked])
        labels = None if self.labels is None else self.labels[picked]
        return self._in_order(self.values[rows], offsets, self.ids[picked], labels, self.columns, self.named)

    def to_frame(self, backend: Any = None, *, by: str = "bag", label: str = "label") -> Any:
        """Return a long table: one row per observation, with the id of its bag, and its label where there are any.

        Parameters
        ----------
        backend : str or module, optional
            What narwhals calls the backend: "pandas" (default), "polars" or "pyarrow".
        by, label : str
            The names of the columns for ids and labels.

        Examples
        --------
        >>> import uptonoise as un
        >>> un.Bags({"a": [[1.0], [2.0]], "b": [[3.0]]}, columns=["size"]).to_frame()
          bag  size
        0   a   1.0
        1   a   2.0
        2   b   3.0
        """
        import narwhals as nw

        if not isinstance(backend, str | ModuleType | None):
            raise ValueError(f'backend must be "pandas", "polars", "pyarrow" or one of these modules; got {backend!r}')
        checked_text(by, "by")
        checked_text(label, "label")
        table: dict[str, Any] = {by: np.repeat(self.ids, self.sizes)}
        if self.labels is not None:
            table[label] = np.repeat(self.labels, self.sizes)
        if set(table) & set(self.columns):
            raise ValueError(f"by and label must not be names of columns, {list(self.columns)}; got {by!r}, {label!r}")
        table |= {name: column.copy() for name, column in zip(self.columns, self.values.T, strict=True)}
        chosen: Any = "pandas" if backend is None else backend
        return nw.from_dict(table, backend=chosen).to_native()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bags):
            return NotImplemented
        names = ("offsets", "ids", "values", "labels")
        same = all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)
        return same and self.columns == other.columns

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


register_rows(
    lambda X: isinstance(X, Bags) or is_bag_list(X),
    lambda X, name: BagRows(X if isinstance(X, Bags) else Bags.__new__(Bags)._gather(X, name), name),
)
