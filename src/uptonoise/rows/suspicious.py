"""Values that may not be what they seem: codes for missing values, and a stream whose scale changes on its way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.warning import warn
from uptonoise._util.wording import counted
from uptonoise.rows.block import Block
from uptonoise.rows.keys import keyed_rows

_NINES = [sign * value for value in (99, 999, 9_999, 99_999, 999_999, 999.9, 99.99, 999.99) for sign in (1, -1)]
_LIMITS = [-(2**15), 2**15 - 1, 2**16 - 1, -(2**31), 2**31 - 1, 2**32 - 1, -999.25]
_FILLS = [sign * value for value in (1e10, 1e20, 1e30, 1e34, 1e35, 1e36, 1e37, 9.96921e36) for sign in (1, -1)]
_FLOAT32 = [
    sign * float(np.float32(value)) for value in (1e20, 9.96921e36, np.finfo(np.float32).max) for sign in (1, -1)
]
CODES = np.unique([*_NINES, *_LIMITS, *_FILLS, *_FLOAT32])
"""Numbers that often stand for a missing value."""

_KEPT = 500  # rows of a stream that tell its scale
_OTHER_SCALE = 3.0  # how many times another scale is another one
_NAMES_IN_MESSAGE = 5


class SuspiciousValuesWarning(UserWarning):
    """Values may not be what they seem: a code for missing values, or a stream whose later rows have another scale."""


def warn_of_codes(rows: Floats, columns: Sequence[str], name: str) -> None:
    """Warn where a number that often stands for a missing value lies far from all others of its column."""
    if len(rows) < 2:
        return
    extremes = np.stack([rows.min(axis=0), rows.max(axis=0)])
    for place in np.flatnonzero(np.isin(extremes, CODES).any(axis=0)).tolist():
        column = rows[:, place]
        others = column[~np.isin(column, CODES)]
        if not len(others):
            continue
        low, high = float(others.min()), float(others.max())
        for code in np.unique(extremes[:, place]).tolist():
            # Half the range each, as the whole range of huge numbers may not be one.
            gap = max(low / 2 - code / 2, code / 2 - high / 2)
            if code in CODES and high > low and gap > high / 2 - low / 2:
                warn(
                    f"{name} has {counted(int(np.count_nonzero(column == code)), 'value')} of {code:g} in the column "
                    f"{columns[place]!r}, far from all others ({low:.3g} to {high:.3g}). If {code:g} stands for a "
                    "missing value, leave such rows out first",
                    SuspiciousValuesWarning,
                )


class ScaleWatch:
    """Compares the first part of a stream, from which its scale was taken, with all of its rows."""

    def __init__(self, first: NDArray[np.floating]) -> None:
        self._n_first, self._n_rows, n_columns = len(first), 0, first.shape[1]
        finite = Block(first[np.isfinite(first).all(axis=1)])
        self._first = keyed_rows([finite], n_columns, _KEPT, np.random.default_rng(0))[1]
        self._generator = np.random.default_rng(1)
        self._kept = np.empty(0), np.empty((0, n_columns))

    def see(self, block: Block) -> None:
        """Keep some of the next rows."""
        self._n_rows += len(block.values)
        plain = Block(block.values)
        self._kept = keyed_rows([plain], plain.values.shape[1], _KEPT, self._generator, self._kept)

    def warn(self, columns: Sequence[str], name: str) -> None:
        """Warn where the scale of the first part is not that of all rows."""
        kept = self._kept[1][np.isfinite(self._kept[1]).all(axis=1)]
        if self._n_rows <= self._n_first or not len(kept) or not len(self._first):
            return
        first, whole = _spreads(self._first), _spreads(kept)
        differs = (np.maximum(first, whole) > _OTHER_SCALE * np.minimum(first, whole)) & (whole > 0)
        if differs.any():
            named = ", ".join(columns[place] for place in np.flatnonzero(differs)[:_NAMES_IN_MESSAGE])
            warn(
                f"the first {self._n_first:,} rows of {name}, which decided the scale of the frequencies, have another "
                f"scale than all {self._n_rows:,} (columns {named}): differences may be missed. Give the rows in "
                "random order, or a source that can be read again",
                SuspiciousValuesWarning,
            )


def _spreads(rows: Floats) -> Floats:
    """Return the median distance from the median in each column; of the other values where most are equal."""
    with np.errstate(over="ignore"):
        apart = np.abs(rows - np.median(rows, axis=0))
    spreads = np.median(apart, axis=0)
    for column in np.flatnonzero(spreads == 0):
        others = apart[:, column][apart[:, column] > 0]
        spreads[column] = np.median(others) if len(others) else 0.0
    return spreads
