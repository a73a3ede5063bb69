"""All that changes in a monitor, in one place, and what people read of it."""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.monitor.history import History
from uptonoise.monitor.process import Process
from uptonoise.monitor.reading import Table
from uptonoise.monitor.reference import Reference
from uptonoise.monitor.settings import Settings
from uptonoise.monitor.state import MonitorState

_KEPT = 10_000  # names of batches, and digests of their values


class Seen(NamedTuple):
    """Short numbers of names and of values, in the order in which they came. Nothing is changed in place."""

    names: tuple[int, ...] = ()
    values: tuple[int, ...] = ()

    def has_name(self, name: str, version: str = "") -> bool:
        """Tell whether a batch with this name, and of this version where one is given, was seen."""
        return _number(name + version) in self.names

    def with_batch(self, name: str, version: str, digest: str) -> Seen:
        """Return what was seen after one more batch; raise where it was seen before.

        An empty name, or an empty digest, is not looked at. The version of a batch is remembered with its name.
        """
        names, values = self.names, self.values
        if name:
            if self.has_name(name):
                raise ValueError(f"the batch {name!r} was compared before; every batch counts once")
            versions = [_number(name + version)] if version else []
            names = (*names, _number(name), *versions)[-_KEPT:]
        if digest:
            if _number(digest) in values:
                label = f"batch {name!r}" if name else "this batch"
                raise ValueError(
                    f"the values of {label} were compared before, perhaps under another name; every batch counts once"
                )
            values = (*values, _number(digest))[-_KEPT:]
        return Seen(names, values)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


class Now(NamedTuple):
    """All that changes, so that an update takes effect at once or not at all."""

    columns: tuple[str, ...] = ()
    named: bool = False
    reference: Reference | None = None
    process: Process | None = None
    spreads: Floats | None = None
    history: History = History()
    state: MonitorState | None = None
    seen: Seen = Seen()
    last_time: float = -math.inf
    rows_used: int = 0


def judged(
    now: Now, settings: Settings, mine: Table, n_compared: int, *, number: int, name: str, time: str
) -> MonitorState:
    """Return what is known after a batch."""
    process, reference, d, n_rows = now.process, now.reference, len(now.columns), len(mine.values)
    assert process is not None
    before, evidence, n_memories = now.state, process.evidence, len(process.bettor.memories)
    leader = int(np.argmax(evidence.money))
    alarm = evidence.highest >= math.log(settings.threshold)
    # The leader's rise began after the batch at whose end it had least.
    first, since = (number, int(evidence.low_batches[leader]) + 1) if alarm else (None, None)
    if before is not None and before.alarm:
        alarm, first, since = True, before.alarm_batch, before.since
    differences = errors = np.full(d, np.nan)
    if process.moments is not None:
        differences, errors = process.moments.estimates(leader % n_memories, process.up_to_offset)
    # Columns whose own players have enough, by Bonferroni's inequality.
    own, needed = evidence.of_groups(n_memories)[-d:], math.log(d * settings.threshold)
    notes = list(mine.notes)
    if n_compared < n_rows and reference is not None and not reference.n_left:
        notes.append(f"{counted(n_rows - n_compared, 'row')} not compared: the reference is used up")
    elif n_compared < n_rows:
        notes.append(f"{counted(n_rows - n_compared, 'row')} without a partner not compared")
    if reference is not None and reference.n_passes:
        notes.append(f"pass {reference.n_passes + 1} over the reference: the guarantee is weaker")
    return MonitorState(
        batch=number,
        name=name,
        time=time,
        alarm=alarm,
        alarm_batch=first,
        since=since,
        log_wealth=evidence.total,
        threshold=settings.threshold,
        pvalue=min(1.0, math.exp(-evidence.highest)) if settings.guarantee == "probability" else None,
        rows=n_rows,
        rows_used=now.rows_used,
        units=evidence.n_units,
        rows_left=None if reference is None else reference.n_left,
        columns=now.columns,
        differing=tuple(column for column, wealth in zip(now.columns, own, strict=True) if wealth >= needed),
        differences=differences,
        standard_errors=errors,
        notes=tuple(notes),
    )
