"""How ``uptonoise fit`` and ``predict`` read bags: by one column or several, with numbers or classes as labels.

Rows are read more than once: first the column that tells bags, and others that tell classes or groups, then the values,
each of which goes to its place. So a large file takes the memory of its values and of one number per row. What would
take more than about 2 GB is refused before any work. The models themselves have no such bounds: who has the memory fits
in Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import uptonoise as un
from uptonoise._util.wording import counted
from uptonoise.bags import LabelsOfBags, offsets_of
from uptonoise.cli.reader import with_column
from uptonoise.engines import Choice
from uptonoise.rows import CHUNK_ROWS, RowSource, chunk_rows

if TYPE_CHECKING:
    from uptonoise.cli.reader import Reader

_MOST_BAGS = 1_000_000  # whose ids are Python objects
_MOST_BYTES = 1_400_000_000  # of values, and of the number of each row's bag
_MODEL_BYTES = 1_400_000_000  # beside what is loaded before, and noisy copies of a run of bags
_COPIES = 5  # of the bags in which the best model learns: one as it is, the others noisy; of many bags there are 3
_FEW_BAGS, _COPIES_OF_MANY = 3_000, 3
_LANDMARKS = 1_000
_MATRICES = 8  # of the products of features
_RIDGE_NUMBERS = 1_000  # of each bag
_LINEAR = (250, 77)  # features that linear models learn from, about, and more for each column: counted for 1 to 300

Numbers = NDArray[np.int32]  # as many as rows, so half of the usual size counts


class Roles(NamedTuple):
    """The columns that tell bags, labels and groups; `classes` says that labels are classes and no numbers."""

    by: Sequence[str]
    label: str | None = None
    classes: bool = False
    group: str | None = None


class _Keys(NamedTuple):
    """The entries of a column, and which of them each row has."""

    codes: Numbers
    entries: list[Any]

    @classmethod
    def of(cls, source: RowSource) -> _Keys:
        """Read those by which the rows of a source are grouped."""
        ids: Any = source.bag_ids
        pieces: list[Numbers] = []
        for block in source.blocks(chunk_rows(len(source.columns))):
            pieces.append(np.asarray(block.bags, dtype=np.int32))
            if len(ids) > _MOST_BAGS:  # as where a column of values was taken for one of ids
                raise ValueError(
                    f"{source.name} must have at most {_MOST_BAGS:,} bags; got more. Does --by name the column of ids?"
                )
        return cls(np.concatenate(pieces), list(ids))

    def of_bags(self, numbers: Numbers, ids: NDArray[Any], name: str) -> NDArray[Any]:
        """Return the entry of each bag, or raise where its rows have different ones."""
        entries, labels = _objects(self.entries), LabelsOfBags(ids, name)
        for here in _pieces(len(numbers)):
            labels.add(entries[self.codes[here]], numbers[here])
        return labels.values


def read_bags(reader: Reader, path: str, choice: Choice, roles: Roles) -> tuple[un.Bags, NDArray[Any] | None]:
    """Return bags with their labels, and the group of each bag where groups are asked for."""
    numeric = roles.label is not None and not roles.classes
    if numeric:
        choice = with_column(choice, roles.label)
    first, *others = (reader.rows(path, choice, name) for name in roles.by)
    keys = _Keys.of(first)
    numbers, seen = _renumbered((keys.codes[here] for here in _pieces(len(keys.codes))), len(keys.codes))
    entries: list[Any] = [keys.entries[code] for code in seen]
    if others:  # ids are tuples then
        entries = [(entry,) for entry in entries]
    for keys in map(_Keys.of, others):
        n_entries = len(keys.entries)
        both = (numbers[here].astype(np.int64) * n_entries + keys.codes[here] for here in _pieces(len(numbers)))
        numbers, seen = _renumbered(both, len(numbers))
        entries = [(*entries[code // n_entries], keys.entries[code % n_entries]) for code in seen]
    ids = _objects(entries)

    def keys_of_bags(name: str) -> NDArray[Any]:
        return _Keys.of(reader.rows(path, choice, name)).of_bags(numbers, ids, name)

    labels = keys_of_bags(roles.label) if roles.label is not None and roles.classes else None
    groups = None if roles.group is None else keys_of_bags(roles.group)
    del reader.sources[1:]  # which are the same rows again
    of_bags = LabelsOfBags(ids, roles.label) if roles.label is not None and numeric else None
    columns = tuple(name for name in first.columns if of_bags is None or name != roles.label)
    if not columns:
        raise ValueError(f"{path} has no column beside the label {roles.label!r}")
    n_bytes = len(numbers) * (8 * len(columns) + 4)
    if n_bytes > _MOST_BYTES:
        raise ValueError(
            f"{path} holds {n_bytes / 1e9:.1f} GB of numbers, of which {_MOST_BYTES / 1e9:.1f} GB fit into memory; "
            "choose columns, or split the file"
        )
    offsets, start = offsets_of(np.bincount(numbers)), 0
    values, free = np.empty((len(numbers), len(columns))), offsets[:-1].copy()
    kept = np.array([first.columns.index(name) for name in columns])
    for block in first.blocks(chunk_rows(len(first.columns))):
        here = numbers[start : start + len(block.values)]
        start += len(here)
        if of_bags is not None and roles.label is not None:
            of_bags.add(block.values[:, first.columns.index(roles.label)], here)
        # Each row goes to the first free place of its bag.
        order = np.argsort(here, kind="stable")
        bags, first_rows, sizes = np.unique(here[order], return_index=True, return_counts=True)
        places = np.arange(len(here)) + np.repeat(free[bags] - first_rows, sizes)
        values[places] = block.values[np.ix_(order, kept)]
        free[bags] += sizes
    return un.Bags._in_order(values, offsets, ids, labels if of_bags is None else of_bags.values, columns, True), groups


def _renumbered(pieces: Iterable[NDArray[np.integer[Any]]], n_rows: int) -> tuple[Numbers, list[int]]:
    """Return codes of rows as numbers in the order of first rows, and the code of each number."""
    known: dict[int, int] = {}
    numbers, start = np.empty(n_rows, dtype=np.int32), 0
    for piece in pieces:
        codes, first_rows, places = np.unique(piece, return_index=True, return_inverse=True)
        order = np.argsort(first_rows)
        of_codes = np.empty(len(codes), dtype=np.int32)
        of_codes[order] = [known.setdefault(code, len(known)) for code in codes[order].tolist()]
        numbers[start : start + len(piece)] = of_codes[places]
        start += len(piece)
    return numbers, list(known)


def _pieces(n_rows: int) -> Iterator[slice]:
    return (slice(start, start + CHUNK_ROWS) for start in range(0, n_rows, CHUNK_ROWS))


def _objects(entries: Sequence[Any]) -> NDArray[Any]:
    """Return entries as an array of objects, tuples too."""
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def check_fit(n_bags: int, shape: tuple[int, ...], *, is_best: bool) -> None:
    """Raise where a model of so many bags, whose rows have this shape, takes more memory than there should be.

    Examples
    --------
    >>> from uptonoise.cli.bag_reader import check_fit
    >>> check_fit(1_000, (100_000, 3), is_best=True)
    >>> check_fit(100_000, (1_000_000, 2), is_best=True)
    Traceback (most recent call last):
        ...
    ValueError: --model best takes about 8 GB for 100,000 bags with 2 columns; give ...
    """
    n_copies = n_bags * (_COPIES if n_bags < _FEW_BAGS else _COPIES_OF_MANY)
    n_bytes = _bytes(n_copies if is_best else n_bags, shape, is_best=is_best)
    if is_best:
        n_bytes += 8 * _MATRICES * (_LINEAR[0] + _LINEAR[1] * shape[1]) ** 2
    if n_bytes > _MODEL_BYTES:
        what, other = ("--model best", ", or --model plrr") if is_best else ("the model", "")
        raise ValueError(
            f"{what} takes about {n_bytes / 1e9:.0f} GB for {n_bags:,} bags with {counted(shape[1], 'column')}; give "
            f"fewer bags or columns{other}"
        )


def check_predict(n_bags: int, shape: tuple[int, ...], *, is_best: bool) -> None:
    """Raise where predictions of so many bags take more memory than there should be."""
    n_bytes = _bytes(n_bags, shape, is_best=is_best)
    if n_bytes > _MODEL_BYTES:
        raise ValueError(
            f"predictions take about {n_bytes / 1e9:.0f} GB for {n_bags:,} bags with {counted(shape[1], 'column')}; "
            "split the file"
        )


def _bytes(n_bags: int, shape: tuple[int, ...], *, is_best: bool) -> int:
    """Return about how many bytes rows and features of bags take, and of the best model the kernel with landmarks."""
    n_rows, d = shape
    linear = _LINEAR[0] + _LINEAR[1] * d
    of_bag = 300 + 159 * d + 2 * linear + 2 * min(_LANDMARKS, n_bags) if is_best else _RIDGE_NUMBERS
    return 8 * (n_rows * d + n_bags * of_bag)
