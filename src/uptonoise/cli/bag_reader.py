"""How ``uptonoise fit`` and ``predict`` read bags: by one column or several, with numbers or classes as labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import uptonoise as un
from uptonoise.bags import labels_of_bags
from uptonoise.cli.reader import with_column
from uptonoise.engines import Choice
from uptonoise.rows import CHUNK_ROWS

if TYPE_CHECKING:
    from uptonoise.cli.reader import Reader


class Roles(NamedTuple):
    """The columns that tell bags, labels and groups; `classes` says that labels are classes and no numbers."""

    by: Sequence[str]
    label: str | None = None
    classes: bool = False
    group: str | None = None


class _KeyedRows(NamedTuple):
    """The rows of a file, and which entry of a column each row has."""

    values: NDArray[Any]
    columns: tuple[str, ...]
    codes: NDArray[np.int64]
    entries: list[Any]

    @property
    def keys(self) -> NDArray[Any]:
        """The entry of each row."""
        entries = np.empty(len(self.entries), dtype=object)
        entries[:] = self.entries
        return entries[self.codes]


def read_bags(reader: Reader, path: str, choice: Choice, roles: Roles) -> tuple[un.Bags, NDArray[Any] | None]:
    """Return bags with their labels, and the group of each bag where groups are asked for.

    Each column that tells bags, classes or groups is read in a pass of its own over the same rows.
    """
    if roles.label is not None and not roles.classes:
        choice = with_column(choice, roles.label)
    first, *others = (_keyed_rows(reader, path, choice, name) for name in roles.by)
    codes, ids = _bag_numbers([first, *others])
    values, columns, labels = first.values, first.columns, None
    if roles.label is not None and roles.classes:
        keys = _keyed_rows(reader, path, choice, roles.label).keys
        labels = labels_of_bags(keys, codes, ids, roles.label)
    elif roles.label is not None:
        place = columns.index(roles.label)
        labels = labels_of_bags(values[:, place], codes, ids, roles.label)
        values, columns = np.delete(values, place, axis=1), (*columns[:place], *columns[place + 1 :])
        if not columns:
            raise ValueError(f"{path} has no column beside the label {roles.label!r}")
    groups = None
    if roles.group is not None:
        groups = labels_of_bags(_keyed_rows(reader, path, choice, roles.group).keys, codes, ids, roles.group)
    del reader.sources[1:]  # which are the same rows again
    return un.Bags._sorted(values, codes, ids, labels, columns, True), groups


def _keyed_rows(reader: Reader, path: str, choice: Choice, name: str) -> _KeyedRows:
    source = reader.rows(path, choice, name)
    blocks = list(source.blocks(CHUNK_ROWS))
    codes = np.concatenate([np.asarray(block.bags) for block in blocks])
    ids: Any = source.bag_ids
    return _KeyedRows(np.concatenate([block.values for block in blocks]), source.columns, codes, list(ids))


def _bag_numbers(keyed: Sequence[_KeyedRows]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the number of each row's bag, in the order of first rows, and the ids: tuples of several columns."""
    pairs = list(zip(*(rows.codes.tolist() for rows in keyed), strict=True))
    numbers: dict[tuple[int, ...], int] = {}
    codes = np.array([numbers.setdefault(pair, len(numbers)) for pair in pairs])
    ids = np.empty(len(numbers), dtype=object)
    names = [tuple(rows.entries[code] for rows, code in zip(keyed, pair, strict=True)) for pair in numbers]
    ids[:] = names if len(keyed) > 1 else [name[0] for name in names]
    return codes, ids
