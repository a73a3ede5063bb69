"""The record of an input: how many rows were read and used, which columns, and why others were left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from uptonoise._util.errors import hinted
from uptonoise._util.results import Result
from uptonoise._util.wording import counted

NOT_CHOSEN = "not chosen"
_NAMES_IN_LINE = 20


class FileStamp(NamedTuple):
    """A file that was read: where it is, what it is called, its bytes, and when it was last changed."""

    path: str
    name: str
    size: int
    modified: int  # nanoseconds

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """Return the stamp of a file as it is now."""
        status = path.stat()
        return cls(str(path), str(path), status.st_size, status.st_mtime_ns)

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the size."""
        return {"name": self.name, "size": self.size}


class SourceRecord(NamedTuple):
    """What a source of rows knows about itself after a pass: rows and columns that it left out, notes, and its files.

    `gaps` has the number of missing values of each column that has any, over the rows that were left out. `suspected`
    has the columns that look like indices or dates and that nobody chose by name, each with the reason.
    """

    n_read: int = 0
    n_dropped: int = 0
    gaps: Mapping[str, int] = {}
    left_out: Mapping[str, str] = {}
    notes: Sequence[str] = ()
    suspected: Mapping[str, str] = {}
    files: Sequence[FileStamp] = ()
    categories: Mapping[str, Sequence[str]] = {}


def check_dropped(name: str, record: SourceRecord, most: float) -> None:
    """Raise where more than the part `most` of the rows was left out.

    Examples
    --------
    >>> from uptonoise.rows import SourceRecord, check_dropped
    >>> check_dropped("a.csv", SourceRecord(n_read=10, n_dropped=1), 0.1)
    """
    part = record.n_dropped / max(record.n_read, 1)
    if part > most:
        where = ", ".join(sorted(record.gaps, key=lambda column: -record.gaps[column])[:3])
        problem = (
            f"{name}: {record.n_dropped:,} of {counted(record.n_read, 'row')} have missing values"
            f"{f' (most in {where})' if where else ''} and would be left out"
        )
        hint = "leave such columns out with {exclude}, or go on with {max_dropped}"
        raise hinted(ValueError, problem, hint, exclude=None, max_dropped=f"{math.ceil(part * 100) / 100:g}")


@dataclass(frozen=True, eq=False, kw_only=True)
class SampleRecord(Result):
    """The rows of one sample.

    Attributes
    ----------
    name : str
        What the sample is called.
    n_read, n_used, n_dropped : int
        The number of rows that were read, that were used, and that were left out for missing values.
    gaps : dict
        For each column with missing values, the number of left-out rows that lack it.
    """

    name: str
    n_read: int
    n_used: int
    n_dropped: int
    gaps: dict[str, int]

    @property
    def sentence(self) -> str:
        """How many rows were used, and why others were not."""
        if not self.n_dropped:
            return f"{self.name}: all {counted(self.n_used, 'row')}"
        by_column = sorted(self.gaps.items(), key=lambda item: -item[1])
        where = f" in {_listed(f'{name} ({count:,})' for name, count in by_column)}" if by_column else ""
        dropped = f"{self.n_dropped:,} left out, missing values{where}"
        return f"{self.name}: {self.n_used:,} of {counted(self.n_read, 'row')} ({dropped})"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class InputRecord(Result):
    """What of the input was used and what was not: ``result.input`` of a comparison.

    Attributes
    ----------
    samples : tuple of SampleRecord
        The rows of each sample: read, used, left out.
    columns : tuple of str
        The columns that were used.
    left_out : dict
        Each column that was not used, with the reason.
    notes : tuple of str
        What was noticed about the files, such as decimal commas or a row of units.
    settings : dict
        How the files were read, where that was chosen.
    files : tuple of FileStamp
        The files that were read.
    categories : dict
        Each column of text that was used as columns of 0 and 1, with its categories.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 200))
    >>> X[3] = np.nan
    >>> un.compare(X, Y, missing="drop").input
    rows      X: 199 of 200 rows (1 left out, missing values in x0 (1)); Y: all 200 rows
    columns   x0
    """

    samples: tuple[SampleRecord, ...] = ()
    columns: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    files: tuple[FileStamp, ...] = ()
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, names: Sequence[str], sizes: Sequence[int], columns: Sequence[str], records: Sequence[SourceRecord]
    ) -> InputRecord:
        """Return the record of samples with these names and numbers of used rows."""
        samples = []
        for name, size, record in zip(names, sizes, records, strict=True):
            dropped, gaps = record.n_dropped, {column: int(count) for column, count in record.gaps.items()}
            samples.append(SampleRecord(name=name, n_read=size + dropped, n_used=size, n_dropped=dropped, gaps=gaps))
        left_out = {column: why for record in records for column, why in record.left_out.items()}
        notes = tuple(dict.fromkeys(note for record in records for note in record.notes))
        suspected = {column: why for record in records for column, why in record.suspected.items() if column in columns}
        if suspected:
            notes += (f"used as measurements: {left_out_text(suspected)}; leave out what is none",)
        files = tuple(dict.fromkeys(file for record in records for file in record.files))
        categories = {column: tuple(known) for record in records for column, known in record.categories.items()}
        return cls(
            samples=tuple(samples),
            columns=tuple(columns),
            left_out=left_out,
            notes=notes,
            files=files,
            categories=categories,
        )

    @property
    def n_dropped(self) -> int:
        """The number of rows that were left out."""
        return sum(sample.n_dropped for sample in self.samples)

    @property
    def is_partial(self) -> bool:
        """Whether there is more to say than the numbers of rows and the columns."""
        return bool(self.n_dropped or self.left_out or self.notes or self.categories)

    def lines(self) -> list[tuple[str, str]]:
        """Return the record in words, as pairs of a label and a text."""
        lines = [("rows", "; ".join(sample.sentence for sample in self.samples)), ("columns", _listed(self.columns))]
        if self.categories:
            texts = []
            for column, known in self.categories.items():
                zero = f", 0 is {known[0]}" if len(known) == 2 else ""
                meaning = f"{len(known)} categories" if len(known) > 2 else f"1 is {known[-1]}{zero}"
                texts.append(f"{column} ({meaning})")
            lines.append(("one-hot", "; ".join(texts)))
        if self.left_out:
            lines.append(("left out", left_out_text(self.left_out)))
        return lines + [("note", note) for note in self.notes]

    def __repr__(self) -> str:
        return "\n".join(f"{label:10}{text}" for label, text in self.lines())


def left_out_text(left_out: Mapping[str, str]) -> str:
    """Return columns with the reasons, one reason after the other.

    Examples
    --------
    >>> from uptonoise.rows import left_out_text
    >>> left_out_text({"id": "looks like an index", "site": "text", "name": "text"})
    'id (looks like an index); site, name (text)'
    """
    by_reason: dict[str, list[str]] = {}
    for column, why in left_out.items():
        by_reason.setdefault(why, []).append(column or "a column without a name")
    return "; ".join(f"{_listed(columns)} ({why})" for why, columns in by_reason.items())


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _NAMES_IN_LINE} more" if len(names) > _NAMES_IN_LINE else ""
    return ", ".join(names[:_NAMES_IN_LINE]) + more
