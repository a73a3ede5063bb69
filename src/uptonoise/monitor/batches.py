"""What a batch becomes: tables with the columns of the monitor, and units of evidence.

A batch is compared with a reference, with another stream, or row by row with the same objects elsewhere. Its rows are
taken in random order: files are often sorted, and players would learn the order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.monitor.now import Now
from uptonoise.monitor.reading import Missing, Table, arranged, read_table
from uptonoise.monitor.reference import Reference, numbers_to
from uptonoise.monitor.units import Units

_BATCH = 2  # marks the random numbers of a batch, beside those of the features


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
    if not paired:
        return mine, theirs
    if len(mine.values) != len(theirs.values):
        raise ValueError(
            f"batch and other must have the same number of rows where they are paired; got {len(mine.values)} and "
            f"{len(theirs.values)}"
        )
    complete = np.isfinite(mine.values).all(axis=1) & np.isfinite(theirs.values).all(axis=1)
    if missing != "drop" or complete.all():
        return mine, theirs
    note = f"{counted(int((~complete).sum()), 'pair')} with missing values left out"
    ids = None if mine.clusters is None else mine.clusters[complete]
    kept = mine._replace(values=mine.values[complete], clusters=ids, notes=(*mine.notes, note))
    return kept, theirs._replace(values=theirs.values[complete])


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


def given_pairs(batch: Table, other: Table, seed: Sequence[int]) -> Units:
    """Return the differences of rows that belong together, in random order; pairs in one cluster are one unit."""
    z, generator = batch.values - other.values, np.random.default_rng(seed)
    if batch.clusters is None:
        return Units(_shuffled(z, generator))
    clusters = _clusters(batch.clusters, generator)
    return _units((z[rows] for rows in clusters), z.shape, len(clusters))


def random_pairs(batch: Table, reference: Reference, seed: Sequence[int]) -> tuple[Units, Reference]:
    """Return the differences of the rows of a batch and rows of a reference, and the reference without them.

    A cluster of the batch meets one cluster of the reference, row by row as far as the smaller one goes; or as many
    rows as it has, where the reference has no clusters. What the reference is too short for is left out.
    """
    x = batch.values
    if batch.clusters is None and reference.bounds is None:
        # Making a generator takes longer than all else with a single row.
        x = x if batch.is_own else x.copy()
        z, reference = reference.subtracted(_shuffled(x, np.random.default_rng(seed)) if len(x) > 1 else x)
        return Units(z), reference
    generator = np.random.default_rng(seed)
    mine = _clusters(numbers_to(len(x)) if batch.clusters is None else batch.clusters, generator)
    if reference.bounds is not None:
        theirs, reference = reference.clusters(len(mine))
    else:
        ends = np.cumsum(mine.sizes, dtype=np.int64)
        theirs, reference = reference.runs(ends if reference.reuse else ends[ends <= reference.n_left])

    def differences() -> Iterator[Floats]:
        for rows, right in zip(mine, theirs, strict=False):
            n = min(len(rows), len(right))
            yield x[rows[:n]] - right[generator.permutation(len(right))[:n]]

    return _units(differences(), x.shape, len(mine)), reference


def _shuffled(rows: Floats, generator: np.random.Generator) -> Floats:
    """Return rows in the order of a random permutation, in place: a copy would take as much memory again."""
    generator.shuffle(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).reshape(-1))
    return rows


@dataclass(frozen=True, eq=False)
class _Clusters:
    """The places of the rows by cluster, where each cluster begins, and the order in which clusters are taken."""

    rows: NDArray[np.integer[Any]]
    bounds: NDArray[np.int64]
    order: NDArray[np.integer[Any]]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each cluster has, in the order in which they are taken."""
        return np.asarray(np.diff(self.bounds)[self.order])

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[NDArray[np.integer[Any]]]:
        # Not all at once: an array for each of millions of clusters is far larger than their rows.
        return (self.rows[self.bounds[place] : self.bounds[place + 1]] for place in self.order)


def _clusters(numbers: NDArray[np.integer[Any]], generator: np.random.Generator) -> _Clusters:
    """Return the places of the rows of each cluster; clusters, and rows within them, in random order."""
    rows = numbers_to(len(numbers))
    generator.shuffle(rows)
    rows = rows[np.argsort(numbers[rows], kind="stable")]
    bounds = np.append(np.flatnonzero(np.diff(numbers[rows], prepend=-1)), len(rows))
    order = numbers_to(len(bounds) - 1)
    generator.shuffle(order)
    return _Clusters(rows, bounds, order)


def _units(differences: Iterator[Floats], shape: tuple[int, ...], most: int) -> Units:
    """Return the differences of clusters, of which there are at most so many, with rows as `shape` has them at most."""
    z, starts = np.empty(shape), np.empty(most, dtype=np.int64)
    n_units = stop = 0
    for part in differences:
        starts[n_units] = stop
        z[stop : stop + len(part)] = part
        n_units, stop = n_units + 1, stop + len(part)
    return Units(z[:stop], starts[:n_units]) if n_units else Units.none(shape[1])
