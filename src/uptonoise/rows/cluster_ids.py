"""Which rows belong together: ids of clusters as people give them, and the numbers that sums know them by.

An id is a whole number or a text; a date counts as its text. Numbers follow the order in which ids first appear, so
that rows lie together by cluster exactly where the numbers of consecutive rows never go down.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from uptonoise._util.validation import positive_int
from uptonoise._util.wording import counted, shown
from uptonoise.rows.arrays import as_real_array, is_tensor, object_array, plain_array
from uptonoise.rows.memory import is_series

Ids = NDArray[Any]


class BlockIds(np.ndarray):
    """Ids of blocks of consecutive rows, as :func:`blocks` makes them: they mean nothing in another sample."""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return what is computed from ids as plain numbers."""
        return np.asarray(array)[()]


def blocks(n_rows: int, size: int) -> BlockIds:
    """Return the ids of blocks of consecutive rows: clusters for rows that depend on their neighbours in time.

    A block should be long against the time over which rows are alike: a week of hours for weather that lasts some days.

    Parameters
    ----------
    n_rows : int
        The number of rows of the sample.
    size : int
        The number of rows in a block. The last block has what is left.

    Returns
    -------
    array of int, of shape (n_rows,)

    Examples
    --------
    >>> import uptonoise as un
    >>> un.blocks(7, 3).tolist()
    [0, 0, 0, 1, 1, 1, 2]
    """
    positive_int(n_rows, "n_rows")
    positive_int(size, "size")
    if size > n_rows:
        raise ValueError(f"size must be at most the number of rows, {n_rows:,}; got a block of {counted(size, 'row')}")
    return (np.arange(n_rows) // size).view(BlockIds)


def numbered(ids: Ids) -> tuple[Ids, NDArray[np.int64], bool]:
    """Return distinct ids in the order of their first rows, each row's number, and whether equal ids lie together."""
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))  # of runs of equal ids
    heads = np.asarray(ids[starts])
    if heads.dtype == object:
        places: dict[Any, int] = {}
        of_runs = np.array([places.setdefault(cluster, len(places)) for cluster in heads.tolist()], dtype=np.int64)
        distinct = object_array(list(places))
    else:
        values, first, inverse = np.unique(heads, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        distinct, of_runs = values[order], rank[inverse]
    return distinct, np.repeat(of_runs, np.diff(np.append(starts, len(ids)))), len(distinct) == len(heads)


def as_ids(clusters: Any, name: str = "clusters") -> Ids:
    """Return ids as an array of whole numbers or of texts, or raise with what is wrong.

    Examples
    --------
    >>> from uptonoise.rows.cluster_ids import as_ids
    >>> as_ids([1.0, 2.0]), as_ids(["a", "b"])
    (array([1, 2]), array(['a', 'b'], dtype=object))
    """
    if isinstance(clusters, np.ndarray):
        values = clusters
    elif is_tensor(clusters):
        values = as_real_array(clusters.cpu(), name)
    elif is_series(clusters):
        series = nw.from_native(clusters, series_only=True)
        values, is_null = np.asarray(series.to_numpy()), series.is_null().to_numpy().astype(bool)
        if is_null.any():
            values = values.astype(object)
            values[is_null] = None
    elif isinstance(clusters, str | bytes) or not isinstance(clusters, Iterable):
        raise ValueError(f"{name} must be one id for each row; got {clusters!r}")
    else:
        values = plain_array(list(clusters))
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"{name} must be one id for each row; got an array of shape {values.shape}")
    if values.dtype == object:
        missing = np.array([value is None or value != value for value in values.tolist()], dtype=bool)
    else:
        missing = np.isnan(values) if values.dtype.kind in "fMm" else np.zeros(1, dtype=bool)
    if missing.any():
        some = counted(int(np.count_nonzero(missing)), "id")
        raise ValueError(
            f"{name} must have an id for every row; {some} missing, the first in row {np.argmax(missing)}. Fill or "
            "drop such rows first"
        )
    return _whole_or_text(values, name)


def _whole_or_text(values: NDArray[Any], name: str) -> Ids:
    """Return ids of which none is missing as whole numbers, or as texts; raise where they are neither, or both."""
    entries = values.tolist() if values.dtype == object else []
    is_text = [isinstance(entry, str) for entry in entries]
    if entries and all(isinstance(entry, int | float | np.integer | np.floating) for entry in entries):
        has_float = any(isinstance(entry, float | np.floating) for entry in entries)
        values = values.astype(np.float64 if has_float else np.int64)
    kind = values.dtype.kind
    if kind == "f" and (values != np.rint(values)).any():
        row = int(np.argmax(values != np.rint(values)))
        raise ValueError(f"{name} must be ids, whole numbers or text; got {shown(values[row])} in row {row}")
    if kind in "iubf":
        return values if isinstance(values, BlockIds) else values.astype(np.int64, copy=False)
    if kind not in "OUMmT":
        raise ValueError(f"{name} must be ids, whole numbers or text; got an array of dtype {values.dtype}")
    if any(is_text) and not all(is_text):
        first, other = entries[0], entries[is_text.index(not is_text[0])]
        raise ValueError(
            f"{name} must be of one type; got {first!r} ({type(first).__name__}) and {other!r} "
            f"({type(other).__name__}). Convert one, so that the same unit has the same id everywhere"
        )
    return values if any(is_text) else values.astype(str).astype(object)


def cluster_hashes(ids: Sequence[Any] | Ids) -> NDArray[np.uint64]:
    """Return 64-bit hashes of ids as text, sorted: the same on every machine.

    Two sketches keep these to tell whether they hold the same cluster, at 8 bytes for each. That a million clusters and
    another million seem to share one by chance has a probability of 5e-8.
    """
    texts = (str(cluster).encode() for cluster in (ids.tolist() if isinstance(ids, np.ndarray) else ids))
    digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.sort(np.frombuffer(digests, dtype="<u8").astype(np.uint64))
