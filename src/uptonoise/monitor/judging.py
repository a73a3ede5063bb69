"""From the process to what people read."""

from __future__ import annotations

import math

import numpy as np

from uptonoise._util.wording import counted
from uptonoise.monitor.now import Now
from uptonoise.monitor.process import Process
from uptonoise.monitor.reading import Table
from uptonoise.monitor.reference import Reference
from uptonoise.monitor.settings import Settings
from uptonoise.monitor.state import MonitorState


def judged(
    now: Now, settings: Settings, mine: Table, n_compared: int, *, number: int, name: str, time: str
) -> MonitorState:
    """Return what is known after a batch."""
    process, reference = now.process, now.reference
    assert process is not None
    before, evidence = now.state, process.evidence
    alarm = evidence.highest >= math.log(settings.threshold)
    first = number if alarm else None
    since = evidence.rising_since if alarm else None
    if before is not None and before.alarm:
        alarm, first, since = True, before.alarm_batch, before.since
    nothing = np.full(len(now.columns), np.nan)
    differences, errors = nothing, nothing
    if process.moments is not None:
        memory = evidence.leader % len(process.bettor.memories)
        differences, errors = process.moments.estimates(memory, process.up_to_offset)
    by_probability = settings.guarantee == "probability"
    return MonitorState(
        batch=number,
        name=name,
        time=time,
        alarm=alarm,
        alarm_batch=first,
        since=since,
        log_wealth=evidence.total,
        threshold=settings.threshold,
        pvalue=min(1.0, math.exp(-evidence.highest)) if by_probability else None,
        rows=len(mine.values),
        rows_used=now.rows_used,
        units=evidence.n_units,
        rows_left=None if reference is None else reference.n_left,
        columns=now.columns,
        differing=_differing(process, now.columns, settings),
        differences=differences,
        standard_errors=errors,
        notes=(*mine.notes, *_notes(reference, len(mine.values) - n_compared)),
    )


def _notes(reference: Reference | None, n_unused: int) -> list[str]:
    """Return what to say about rows that were not compared, and about a reference that is used again."""
    notes = []
    if n_unused and reference is not None and not reference.n_left:
        notes.append(f"{counted(n_unused, 'row')} not compared: the reference is used up")
    elif n_unused:
        notes.append(f"{counted(n_unused, 'row')} without a partner not compared")
    if reference is not None and reference.n_passes:
        notes.append(f"pass {reference.n_passes + 1} over the reference: the guarantee is weaker")
    return notes


def _differing(process: Process, columns: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    """Return the columns whose own players have enough, by Bonferroni's inequality."""
    groups = process.evidence.of_groups(len(process.bettor.memories))
    own = groups[-len(columns) :]
    needed = math.log(len(columns) * settings.threshold)
    return tuple(column for column, wealth in zip(columns, own, strict=True) if wealth >= needed)
