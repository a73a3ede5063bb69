"""The reference: rows, or clusters of rows, that are taken in random order, each of them once.

A row that is used twice breaks the argument: after its first use something is known about it, and its second difference
is no longer symmetric given the past. So a finite reference ends. More rows may be added at any time; or the rows may
be used again, in a new order, with the weaker guarantee that ``docs/monitor.md`` describes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.monitor.reading import Table
from uptonoise.rows import CHUNK_ROWS


class Part(NamedTuple):
    """Rows that came together: how many, how many units they are, and a digest of them."""

    n_rows: int
    n_units: int
    digest: str


class Progress(NamedTuple):
    """How far a reference is used, for a file: see :class:`Reference`."""

    parts: tuple[Part, ...]
    used: int
    n_passes: int
    mixed: int


@dataclass(frozen=True, eq=False)
class Reference:
    """Rows of a reference and how far they are used. Nothing is changed in place."""

    values: Floats  # (n, d): sorted by cluster where there are clusters
    bounds: NDArray[np.int64] | None  # where each cluster begins, and the end; None where each row is a unit
    parts: tuple[Part, ...]  # what was given at first, and what was added
    seed: int  # from which the order is made
    reuse: bool  # whether to begin anew when all is used
    used: int  # units that were taken in this pass
    n_passes: int  # how often all units were taken before
    mixed: int  # parts that there were when this pass began; they are mixed, and later parts come after them
    order: NDArray[np.integer[Any]]  # in which units are taken

    @classmethod
    def new(cls, table: Table, seed: int, reuse: bool = False) -> Reference:
        """Return a reference of which nothing is used."""
        values, bounds, part = _sorted(table)
        return cls(values, bounds, (part,), seed, reuse, 0, 0, 1, _order((part,), seed, 0, 1))

    def extended(self, table: Table) -> Reference:
        """Return the reference with more rows, which are taken after those that are left."""
        values, bounds, part = _sorted(table)
        if (bounds is None) != (self.bounds is None):
            raise ValueError("the rows that are added must have clusters where the reference has, and only there")
        if self.bounds is not None and bounds is not None:
            bounds = _joined_bounds([self.bounds, bounds])
        parts = (*self.parts, part)
        return replace(
            self,
            values=np.concatenate([self.values, values]),
            bounds=bounds,
            parts=parts,
            order=_order(parts, self.seed, self.n_passes, self.mixed),
        )

    @property
    def n_left(self) -> int:
        """Units that were not taken in this pass."""
        return len(self.order) - self.used

    def subtracted(self, rows: Floats) -> tuple[Floats, Reference]:
        """Subtract the next rows from these, in place and as far as they go; return them, and the reference without."""
        places, reference = self._taken(len(rows))
        for start in range(0, len(places), CHUNK_ROWS):  # a copy of all would take as much memory again
            here = places[start : start + CHUNK_ROWS]
            rows[start : start + len(here)] -= self.values[here]
        return rows[: len(places)], reference

    def clusters(self, n: int) -> tuple[Iterator[Floats], Reference]:
        """Return the rows of the next clusters, at most `n`, and the reference without them."""
        assert self.bounds is not None
        places, reference = self._taken(n)
        bounds, values = self.bounds, self.values
        return (values[bounds[place] : bounds[place + 1]] for place in places), reference

    def runs(self, ends: NDArray[np.int64]) -> tuple[Iterator[Floats], Reference]:
        """Return the next rows in runs that end at `ends`, and the reference without them; each row is a unit."""
        places, reference = self._taken(int(ends[-1]) if len(ends) else 0)
        values, starts = self.values, np.append(0, ends)
        return (values[places[start:stop]] for start, stop in pairwise(starts.tolist())), reference

    def _taken(self, n: int) -> tuple[NDArray[np.integer[Any]], Reference]:
        if n <= self.n_left or not self.reuse:
            stop = min(self.used + n, len(self.order))
            return self.order[self.used : stop], replace(self, used=stop)
        n_passes, mixed = self.n_passes + 1, len(self.parts)
        order = _order(self.parts, self.seed, n_passes, mixed)
        rest, reference = replace(self, used=0, n_passes=n_passes, mixed=mixed, order=order)._taken(n - self.n_left)
        return np.concatenate([self.order[self.used :], rest]), reference

    @classmethod
    def resumed(cls, table: Table, seed: int, reuse: bool, progress: Progress) -> Reference:
        """Return rows as a reference that was used before; rows beyond those that it had then are added.

        Raises where the rows are others than those that were used.
        """
        ends = np.cumsum([part.n_rows for part in progress.parts])
        if table.clusters is not None and not table.is_own:
            table = table._replace(values=table.values.copy(), is_own=True)
        pieces = [
            _sorted(table._replace(values=values, clusters=clusters))
            for values, clusters in zip(
                np.split(table.values, ends),
                [None] * (len(ends) + 1) if table.clusters is None else np.split(table.clusters, ends),
                strict=True,
            )
        ]
        parts = [part for _, _, part in pieces]
        if parts[:-1] != list(progress.parts):
            raise ValueError(
                f"reference must be the one that the state was made with, {counted(int(ends[-1]), 'row')}, or that one "
                "with more rows after them; got other rows"
            )
        parts = parts if parts[-1].n_rows else parts[:-1]
        # Pieces of rows that are sorted in place lie one after the other still: no copy of all is needed.
        bounds = None
        if table.clusters is not None:
            bounds = _joined_bounds([bounds for _, bounds, _ in pieces if bounds is not None])
        order = _order(tuple(parts), seed, progress.n_passes, progress.mixed)
        _, used, n_passes, mixed = progress
        return cls(table.values, bounds, tuple(parts), seed, reuse, used, n_passes, mixed, order)

    @property
    def progress(self) -> Progress:
        """How far it is used, for a file."""
        return Progress(self.parts, self.used, self.n_passes, self.mixed)


def _order(parts: tuple[Part, ...], seed: int, n_passes: int, mixed: int) -> NDArray[np.integer[Any]]:
    """Return the order of the units in a pass: the first parts mixed, then each of the others."""
    sizes = [sum(part.n_units for part in parts[:mixed]), *(part.n_units for part in parts[mixed:])]
    bounds = np.cumsum([0, *sizes]).tolist()
    order = numbers_to(bounds[-1])
    for number, (start, stop) in enumerate(pairwise(bounds), mixed):
        np.random.default_rng([seed, number, n_passes]).shuffle(order[start:stop])
    return order


def numbers_to(n: int) -> NDArray[np.integer[Any]]:
    """Return 0 to n - 1, as small as they can be: there may be one for each value of a long reference.

    Shuffling them takes the same random numbers as ``permutation(n)``, and has the same result.

    Examples
    --------
    >>> from uptonoise.monitor.reference import numbers_to
    >>> numbers_to(3)
    array([0, 1, 2], dtype=int32)
    """
    return np.arange(n, dtype=np.int32 if n <= np.iinfo(np.int32).max else np.int64)


def _joined_bounds(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return where each cluster of consecutive parts begins, and where the last one ends."""
    firsts = np.cumsum([0, *(part[-1] for part in parts)])
    return np.append(0, np.concatenate([part[1:] + first for part, first in zip(parts, firsts, strict=False)]))


def _sorted(table: Table) -> tuple[Floats, NDArray[np.int64] | None, Part]:
    """Return rows by cluster, where each cluster begins, and what the rows are known by."""
    values, bounds, n_units = table.values, None, len(table.values)
    if table.clusters is not None:
        order = np.argsort(table.clusters, kind="stable")
        numbers = table.clusters[order]
        if table.is_own:
            for column in values.T:  # one at a time: a copy of all would take as much memory again
                column[:] = column[order]
        else:
            values = values[order]
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        bounds = np.append(starts, len(values))
        n_units = len(starts)
    return values, bounds, Part(len(values), n_units, digest(values, bounds))


def digest(*arrays: NDArray[np.generic] | None) -> str:
    """Return a short text that is another one for other values.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.monitor.reference import digest
    >>> digest(np.zeros(2)) == digest(np.zeros(2)), digest(np.zeros(2)) == digest(np.zeros(3))
    (True, False)
    """
    made = hashlib.blake2b(digest_size=12)
    for array in arrays:
        if array is not None:
            made.update(str(array.shape).encode())
            made.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return made.hexdigest()
