"""Groups of rows: the ids in a column, numbered as they appear."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_LONGEST_TABLE = 2**25  # of integers, for a table of their numbers


class Groups(NamedTuple):
    """The groups of some rows: distinct keys, and for each row the place of its key, -1 where it has none.

    Without codes the keys are those of the rows themselves, integers of which none is missing.
    """

    keys: list[Any] | NDArray[np.int64]
    codes: NDArray[Any] | None

    def missing(self, n_rows: int) -> NDArray[np.bool_]:
        """Tell which of the rows have no group."""
        return np.zeros(n_rows, dtype=bool) if self.codes is None else self.codes < 0


class NoGroupError(Exception):
    """A key that is no group."""

    def __init__(self, key: Any, code: int) -> None:
        self.key, self.code = key, code


class GroupIds:
    """The ids of groups, numbered as they appear; the numbers stay the same in later passes.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.engines.files.groups import GroupIds, Groups
    >>> groups = GroupIds(["a"])
    >>> groups.numbered(Groups(["b", "a"], np.array([1, 0, 0]))), groups.ids
    (array([0, 1, 1]), ['a', 'b'])
    """

    def __init__(self, ids: Sequence[str | int] = ()) -> None:
        self.ids: list[Any] = []
        self._numbers: dict[str | int, int] = {}
        self._has_text = False
        # The numbers of integers from the lowest one on, -1 where there is none, of the first so many ids.
        self._table: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._lowest = self._in_table = 0
        if ids:
            self.add(ids)

    def add(self, ids: Sequence[str | int]) -> NDArray[np.int64]:
        """Return the numbers of some ids; those that are new get the next ones."""
        return self.numbered(Groups(list(ids), np.arange(len(ids))))

    def numbered(self, groups: Groups) -> NDArray[np.int64]:
        """Return the number of each row's group."""
        if groups.codes is None:
            return self._numbered_integers(np.asarray(groups.keys))
        for number in range(len(self._numbers), len(self.ids)):  # which the table has brought
            self._numbers[self.ids[number]] = number
        known: list[int | None] = list(map(self._numbers.get, groups.keys))
        if None in known:
            codes, first_rows = np.unique(groups.codes, return_index=True)
            for code in codes[np.argsort(first_rows)].tolist():
                if known[code] is None:
                    known[code] = self._number(groups.keys[code], code)
        numbers: NDArray[np.int64] = np.array([-1 if number is None else number for number in known], dtype=np.int64)
        return np.asarray(numbers[groups.codes])

    def _numbered_integers(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of integers, by a table where they lie close together."""
        low, high = (int(keys.min()), int(keys.max())) if len(keys) else (0, 0)
        if len(self._table):
            low, high = min(low, self._lowest), max(high, self._lowest + len(self._table) - 1)
        elif self.ids and not self._has_text:
            low, high = min(low, min(self.ids)), max(high, max(self.ids))
        if self._has_text or high - low >= _LONGEST_TABLE:
            distinct, codes = np.unique(keys, return_inverse=True)
            return self.numbered(Groups(distinct.tolist(), codes))
        if not len(self._table) or low < self._lowest or high >= self._lowest + len(self._table):
            self._table = np.full(min(_LONGEST_TABLE, 2 * (high - low + 1)), -1, dtype=np.int32)
            self._lowest, self._in_table = low, 0
        while True:
            new = np.array(self.ids[self._in_table :], dtype=np.int64)
            self._table[new - self._lowest] = np.arange(self._in_table, len(self.ids))
            self._in_table = len(self.ids)
            numbers = self._table[keys - self._lowest].astype(np.int64)
            is_new = numbers < 0
            if not is_new.any():
                return numbers
            fresh, first_rows = np.unique(keys[is_new], return_index=True)
            self.ids.extend(fresh[np.argsort(first_rows)].tolist())

    def _number(self, key: Any, code: int) -> int:
        """Return the number of a key as text or a whole number; a new one gets the next number."""
        group = int(key) if isinstance(key, float) and key.is_integer() else key
        if isinstance(key, datetime.date | datetime.time):
            group = str(key)
        if not isinstance(group, str | int):
            raise NoGroupError(key, code)
        # A column of a text file that looked like whole numbers so far turns out to be text.
        if isinstance(group, str) and not self._has_text:
            self._has_text = True
            self.ids[:] = map(str, self.ids)
            self._numbers = {group: number for number, group in enumerate(self.ids)}
        group = str(group) if self._has_text else group
        number = self._numbers.setdefault(group, len(self.ids))
        if number == len(self.ids):
            self.ids.append(group)
        return number
