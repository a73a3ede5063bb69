"""What a batch becomes: tables with the columns of the monitor, and units of evidence."""

from __future__ import annotations

from typing import Any

import numpy as np

from uptonoise._util.wording import counted
from uptonoise.monitor.now import Now
from uptonoise.monitor.pairing import given_pairs, random_pairs
from uptonoise.monitor.reading import Missing, Table, arranged, read_table
from uptonoise.monitor.reference import Reference, digest
from uptonoise.monitor.units import Units

_BATCH = 2  # marks the random numbers of a batch, beside those of the features
_RECOGNISED = 10  # rows from which on a batch with the same values is the same batch


def batch_tables(
    now: Now, missing: Missing, batch: Any, other: Any, paired: bool, clusters: Any
) -> tuple[Table, Table | None]:
    """Return the rows of a batch, and of the other stream where there is no reference."""
    if (other is None) == (now.reference is None):
        wanted = "left out: this monitor has a reference" if other is not None else "given: there is no reference"
        raise ValueError(f"other must be {wanted}")
    if other is None:
        if paired:
            raise ValueError("paired is for two streams; this monitor has a reference")
        known = known_columns(now, batch)
        raw = read_table(batch, "batch", clusters, known)
        if known is not None:
            new = [str(name) for name in batch.columns if str(name) not in (*known, clusters)]
            raw = raw._replace(notes=(f"new columns, left out: {', '.join(new)}",) if new else ())
        return arranged(raw, now.columns, now.named, missing, "batch"), None
    given = clusters if isinstance(clusters, tuple) else (clusters, clusters if isinstance(clusters, str) else None)
    raw, raw_other = (read_table(*parts) for parts in ((batch, "batch", given[0]), (other, "other", given[1])))
    columns, named = (raw.columns, raw.named) if now.process is None else (now.columns, now.named)
    policy: Missing = "use" if paired and missing == "drop" else missing
    mine, theirs = (
        arranged(table, columns, named, policy, which) for table, which in ((raw, "batch"), (raw_other, "other"))
    )
    if paired:
        mine, theirs = _checked_pairs(mine, theirs, missing)
    return mine, theirs


def known_columns(now: Now, batch: Any) -> list[str] | None:
    """Return the watched columns that a frame has, where it has others too, which need not be numbers."""
    names = getattr(batch, "columns", None)
    if not now.named or names is None:
        return None
    listed = [str(name) for name in names]
    kept = [column for column in now.columns if column in listed]
    return kept if kept and len(kept) < len(listed) else None


def batch_units(
    now: Now, seed: int, mine: Table, theirs: Table | None, paired: bool, number: int
) -> tuple[Units, Reference | None]:
    """Return the units of evidence of a batch, and the reference without the rows that they took."""
    words = (seed, _BATCH, number)
    if theirs is None:
        assert now.reference is not None
        return random_pairs(mine, now.reference, words)
    if paired:
        return given_pairs(mine, theirs, words), None
    return random_pairs(mine, Reference.new(theirs, seed + number), words)[0], None


def batch_digest(mine: Table, theirs: Table | None) -> str:
    """Return what the values of a batch are recognised by; nothing where they are few, which may repeat by chance."""
    if len(mine.values) < _RECOGNISED:
        return ""
    return digest(mine.values, None if theirs is None else theirs.values)


def _checked_pairs(mine: Table, theirs: Table, missing: Missing) -> tuple[Table, Table]:
    """Return pairs of rows, without those that lack a value where they are to be left out."""
    if len(mine.values) != len(theirs.values):
        raise ValueError(
            f"batch and other must have the same number of rows where they are paired; got {len(mine.values)} and "
            f"{len(theirs.values)}"
        )
    if missing != "drop":
        return mine, theirs
    complete = np.isfinite(mine.values).all(axis=1) & np.isfinite(theirs.values).all(axis=1)
    if complete.all():
        return mine, theirs
    note = f"{counted(int((~complete).sum()), 'pair')} with missing values left out"
    clusters = None if mine.clusters is None else mine.clusters[complete]
    kept = mine._replace(values=mine.values[complete], clusters=clusters, notes=(*mine.notes, note))
    return kept, theirs._replace(values=theirs.values[complete])
