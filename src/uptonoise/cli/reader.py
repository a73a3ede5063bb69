"""How commands read files: which columns, as rows or as sketches, and what was left out."""

from __future__ import annotations

import logging
import sys
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

import uptonoise as un
from uptonoise._util.wording import counted
from uptonoise.cli.options import Answer, Reading, Units
from uptonoise.engines import OpenFiles, connected, scan_dask
from uptonoise.rows import BlockedRows, as_rows, dependence_on_column

if TYPE_CHECKING:
    from uptonoise.rows import RowSource

_NAMES_IN_MESSAGE = 8
_NAMES_IN_NOTE = 20
_CANDIDATES = 5  # columns of text that may hold ids


@contextmanager
def opened(
    columns: list[str] | None,
    reading: Reading,
    answer: Answer,
    scheduler: str | None = None,
    units: Units | None = None,
) -> Iterator[Reader]:
    """Give a reader, at work on a Dask cluster where there is one, and tell at the end what it left out."""
    if scheduler is not None:  # Dask's own log would only be in the way of one clear line
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with nullcontext() if scheduler is None else connected(scheduler):
        reader = Reader(columns, reading, answer, on_cluster=scheduler is not None)
        reader.set_units(units or Units())
        yield reader
        reader.print_notes()


class Reader:
    """Reads files as the options say, and remembers which sources it opened."""

    def __init__(self, columns: list[str] | None, reading: Reading, answer: Answer, *, on_cluster: bool) -> None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(reading.delimiter or "", reading.delimiter)
        self.columns = columns
        self.format: dict[str, Any] = {
            "delimiter": delimiter,
            "decimal": reading.decimal,
            "encoding": reading.encoding,
        }
        self.missing: Any = reading.missing.value
        self.progress = None if answer.in_words else False
        self.quiet = answer.quiet
        self.on_cluster = on_cluster
        self.sources: list[Any] = []
        self._opened: dict[str, OpenFiles] = {}
        self.notes: list[str] = []
        self.units = Units()
        self.text_columns: list[str] = []  # of both files, which are not compared
        self.number_columns: list[str] | None = None

    def set_units(self, units: Units) -> None:
        """Say which rows belong together."""
        if units.cluster is not None and units.block is not None:
            raise ValueError("give --cluster or --block, not both")
        if units.block is not None and self.on_cluster:
            raise ValueError("--block is for files that are read here; use --cluster with --scheduler")
        self.units = units

    def rows(self, path: str, columns: Sequence[str] | None = None, by: str | None = None) -> RowSource:
        """Open the rows of a file: in groups, in clusters or blocks where these were asked for, or one by one."""
        by = self.units.cluster if by is None else by
        source: RowSource = self.files(path).rows(
            columns=columns or self.columns, by=by, missing=self.missing, progress=self.progress
        )
        if self.on_cluster:
            source = scan_dask(source)
        self.sources.append(source)
        return source if self.units.block is None or by is not None else BlockedRows(source, self.units.block)

    @contextmanager
    def noting_warnings(self) -> Iterator[None]:
        """Make notes of warnings about the rows."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            if issubclass(warning.category, un.DependentRowsWarning | un.SharedClustersWarning):
                self.notes.append(f"warning: {warning.message}")
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)

    def units_in_text(self, first: str, second: str, names: tuple[str, str]) -> tuple[str, ...]:
        """Return which columns of text look like the ids of units, where none were named."""
        if self.on_cluster or self.units != Units():
            return ()
        signs = []
        for path, name in zip((first, second), names, strict=True):
            for column in self.text_columns[:_CANDIDATES]:
                source: RowSource = self.files(path).rows(
                    columns=self.number_columns, by=column, missing="drop", progress=False
                )
                sign = dependence_on_column(source.renamed(name), column)
                signs += [] if sign is None else [str(sign)]
        self.notes += [f"warning: {sign}" for sign in signs]
        return tuple(signs)

    def files(self, path: str) -> OpenFiles:
        """Return the files of a path, whose first rows are looked at once."""
        if path not in self._opened:
            self._opened[path] = OpenFiles(path, **self.format)
        return self._opened[path]

    def sketched(
        self, path: str, weights: str | None, like: un.Sketch | None, seed: int, frequencies: int | None = None
    ) -> un.Sketch:
        """Return the sketch of a file, with the frequencies of another sketch or with its own."""
        if like is None:
            source = self.rows(path, self.with_column(self.columns, weights))
            weighted = as_rows(source, weights=weights)
            empty = un.Sketch.for_samples(weighted, n_frequencies=frequencies, random_state=seed)
            return empty.update(weighted)
        if frequencies is not None:
            raise ValueError("--frequencies must be left out with --like, which brings its own")
        if self.columns is not None and list(self.columns) != list(like.columns):
            raise ValueError(f"--columns must be left out with --like, which has {', '.join(like.columns)}")
        columns = list(like.columns) if like.named else None
        return un.Sketch.like(like).update(self.rows(path, self.with_column(columns, weights)), weights=weights)

    def pair(self, first: str, second: str, weights: str | None) -> tuple[Any, Any]:
        """Return both samples, each rows or a sketch; rows beside a sketch become a sketch like it."""
        sketches = [un.Sketch.load(path) if _is_sketch(path) else None for path in (first, second)]
        known = sketches[0] or sketches[1]
        if known is None:
            columns = self.with_column(self.columns or self._common(first, second, weights), weights)
            return self.rows(first, columns), self.rows(second, columns)
        if weights is not None and None not in sketches:
            raise ValueError("--weights is for rows; sketches have theirs already")
        if self.columns is not None:
            known = known.select(self.columns)
            sketches = [None if sketch is None else sketch.select(self.columns) for sketch in sketches]
        left, right = sketches
        if left is not None and right is not None and not np.array_equal(left.frequencies, right.frequencies):
            raise ValueError(
                f"{first} and {second} have different frequencies; make the second sketch with --like {first}"
            )
        return left or self.sketched(first, weights, known, 0), right or self.sketched(second, weights, known, 0)

    def numeric(self, path: str, by: str) -> list[str] | None:
        """Return the columns of a file that hold numbers, beside that of its groups."""
        described = self.files(path).described_columns()
        if self.columns is not None or described is None or by not in described:
            return self.columns
        units = (by, self.units.cluster)
        kept = [name for name, wrong in described.items() if wrong is None and name not in units]
        self._note_left_out("not numbers", [name for name in described if name not in (*kept, *units)])
        return kept or None

    def _common(self, first: str, second: str, weights: str | None) -> list[str] | None:
        """Return the columns that both files have and that hold numbers in at least one; None if they have no names.

        A column of text in both files is no measurement. Text in only one of them is a mistake, which the reader tells.
        """
        left, right = (self.files(path).described_columns() for path in (first, second))
        if left is None or right is None:
            return None
        common = [name for name in left if name in right and name not in (weights, self.units.cluster)]
        if not common:
            some = [", ".join(list(columns)[:_NAMES_IN_MESSAGE]) for columns in (left, right)]
            raise ValueError(
                f"{first} and {second} have no common columns: {some[0]} and {some[1]}. "
                "The first line of a file must name its columns"
            )
        text = [name for name in common if left[name] is not None and right[name] is not None]
        if len(text) == len(common):
            raise ValueError(
                f"{first} and {second} have no common column of numbers; {text[0]!r} holds {left[text[0]]}"
            )
        known = (*common, weights, self.units.cluster)
        self._note_left_out("not in both files", [name for name in (*left, *right) if name not in known])
        self._note_left_out("not numbers", text)
        self.text_columns, self.number_columns = text, [name for name in common if name not in text]
        return self.number_columns

    def _note_left_out(self, why: str, names: list[str]) -> None:
        if names and not self.quiet:
            shown = ", ".join(name or "(without a name)" for name in names[:_NAMES_IN_NOTE])
            self.notes.append(f"left out, {why}: {shown}")

    @staticmethod
    def with_column(columns: Sequence[str] | None, name: str | None) -> list[str] | None:
        """Return the columns with one more, where they are chosen and it is not among them."""
        if columns is None or name is None or name in columns:
            return None if columns is None else list(columns)
        return [*columns, name]

    def print_notes(self) -> None:
        """Print on stderr which columns and how many rows were left out."""
        dropped = [
            f"{counted(source.n_dropped, 'row')} of {source.name} left out for missing values"
            for source in self.sources
            if source.n_dropped
        ]
        for note in (*self.notes, *dropped):
            print(f"uptonoise: {note}", file=sys.stderr)


def _is_sketch(path: str) -> bool:
    """Tell whether a file is a sketch, by its content."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return {"header.npy", "scatter.npy"} <= set(archive.namelist())
