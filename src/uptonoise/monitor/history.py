"""The timeline of a monitor, in bounded memory.

Where it becomes long, every second batch is left out of it, then every second of the rest, and so on: it always holds
between one and two thousand batches, equally spaced, and the last one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from uptonoise._util.results import Result
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.monitor.state import MonitorState

_MOST = 2_000


class Line(NamedTuple):
    """What the timeline keeps of a batch."""

    batch: int
    name: str
    time: str
    rows: int
    rows_used: int
    log_wealth: float
    pvalue: float
    alarm: bool
    difference: float


@dataclass(frozen=True, eq=False, repr=False)
class History(Result):
    """The batches that a monitor has seen, as a table.

    Attributes
    ----------
    lines : tuple of Line
        One per batch: its number, name and time, its rows and all rows so far, the logarithm of the wealth, the
        anytime-valid p-value, whether there is an alarm, and the largest difference of a column in SD.
    every : int
        The timeline has every batch, every second one, every fourth one, ...
    threshold : float
        The wealth that raises the alarm.
    since : int or None
        An estimate of the first batch that differs, once there is an alarm.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> monitor = un.Monitor(rng.normal(size=1_000), random_state=0)
    >>> for night in range(3):
    ...     state = monitor.update(rng.normal(size=100), name=f"night {night}")
    >>> monitor.history.to_frame()["name"].tolist()
    ['night 0', 'night 1', 'night 2']
    """

    lines: tuple[Line, ...] = ()
    every: int = 1
    threshold: float = np.inf
    since: int | None = None

    def with_state(self, state: MonitorState) -> History:
        """Return the timeline with one more batch."""
        every, lines = self.every, self.lines
        if lines and lines[-1].batch % every:  # it was there as the last one only
            lines = lines[:-1]
        if len(lines) >= _MOST:
            every *= 2
            lines = tuple(line for line in lines if line.batch % every == 0)
        line = Line(*(getattr(state, name) for name in Line._fields))
        line = line if state.pvalue is not None else line._replace(pvalue=math.nan)
        return replace(self, lines=(*lines, line), every=every, since=state.since)

    def column(self, name: str) -> list[Any]:
        """Return one value of all lines."""
        return [getattr(line, name) for line in self.lines]

    def floats(self, name: str) -> Floats:
        """Return one value of all lines as an array."""
        return np.array(self.column(name), dtype=float)

    def table(self) -> dict[str, Sequence[Any]]:
        """Return one row per batch."""
        return {name: self.column(name) for name in Line._fields}

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        if not self.lines:
            return "History of no batches"
        last = self.lines[-1]
        spaced = "" if self.every == 1 else f", every {self.every}th shown"
        return f"History: batch 1 to {last.batch:,}{spaced}, {counted(last.rows_used, 'row')} compared"
