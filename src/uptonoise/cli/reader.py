"""How commands read files: which columns, as rows or as sketches, and what was left out."""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import uptonoise as un
from uptonoise._util.files import check_readable, copy_pipe, is_pipe
from uptonoise._util.results import changed
from uptonoise._util.wording import printable
from uptonoise.cli.options import Answer, Reading, Units, split_columns
from uptonoise.engines import Choice, OpenFiles, categories_of, chosen_columns, connected, scan_dask
from uptonoise.rows import (
    NOT_CHOSEN,
    BlockedRows,
    InputRecord,
    SelectedRows,
    as_rows,
    check_dropped,
    check_known,
    dependence_on_column,
    split_name,
)

if TYPE_CHECKING:
    from uptonoise.rows import RowSource

STANDARD_INPUT = "-"
_OF_ROWS = (un.DependentRowsWarning, un.SharedClustersWarning, un.SuspiciousValuesWarning, un.FewerFrequenciesWarning)
_SHOWN_STANDARD_INPUT = "standard input"
_CANDIDATES = 5  # columns of text that may hold ids
AnyComparison = TypeVar("AnyComparison", un.Comparison, un.GroupComparison)


@contextmanager
def opened(
    columns: list[str] | None,
    reading: Reading,
    answer: Answer,
    scheduler: str | None = None,
    units: Units | None = None,
) -> Iterator[Reader]:
    """Give a reader, at work on a Dask cluster where there is one."""
    if scheduler is not None:  # Dask's own log would only be in the way of one clear line
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with nullcontext() if scheduler is None else connected(scheduler), ExitStack() as stack:
        reader = Reader(columns, reading, answer, units or Units(), stack, on_cluster=scheduler is not None)
        try:
            yield reader
        except ValueError as error:  # which speaks of standard input or a pipe, not of the file that it was copied into
            error.args = tuple(reader.named(str(part)) for part in error.args)
            if hasattr(error, "problem"):
                error.problem = reader.named(error.problem)
            raise
        for note in () if answer.in_words else reader.warnings:  # in words, they are part of the answer
            print(f"uptonoise: warning: {printable(note)}", file=sys.stderr)


class Reader:
    """Reads files as the options say, and remembers which sources it opened."""

    def __init__(
        self,
        columns: list[str] | None,
        reading: Reading,
        answer: Answer,
        units: Units,
        stack: ExitStack,
        *,
        on_cluster: bool,
    ) -> None:
        if units.cluster is not None and units.block is not None:
            raise ValueError("give --cluster or --block, not both")
        if units.block is not None and on_cluster:
            raise ValueError("--block is for files that are read here; use --cluster with --scheduler")
        self.columns, self.reading = columns, reading
        self.exclude = split_columns(reading.exclude, "--exclude") or []
        self.missing: Any = reading.missing.value
        self.progress = None if answer.in_words else False
        self.on_cluster, self.units = on_cluster, units
        self.sources: list[Any] = []
        self.notes: list[str] = []
        self.warnings: list[str] = []
        self.most_values: int | None = None  # of a file whose rows are held in memory
        self.choice = Choice(None, {})
        self._stack = stack
        self._copies: dict[str, str] = {}
        self._opened: dict[str, OpenFiles] = {}

    def rows(self, path: str, choice: Choice, by: str | None = None, called: Sequence[str] | None = None) -> RowSource:
        """Open the rows of a file: in groups, in clusters or blocks where these were asked for, or one by one."""
        by = self.units.cluster if by is None else by
        rows = self.files(path).rows(
            columns=choice.columns,
            exclude=() if choice.columns is not None else self.exclude,
            left_out=choice.left_out,
            by=by,
            missing=self.missing,
            progress=self.progress,
            called=called,
        )
        rows.most_values = self.most_values
        source: RowSource = scan_dask(rows) if self.on_cluster else rows
        self.sources.append(source)
        return source if self.units.block is None or by is not None else BlockedRows(source, self.units.block)

    @contextmanager
    def noting_warnings(self) -> Iterator[None]:
        """Make notes of warnings about the rows."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            if issubclass(warning.category, _OF_ROWS):
                self.warnings.append(str(warning.message))
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)

    def units_in_text(self, first: str, second: str, names: tuple[str, str]) -> tuple[str, ...]:
        """Return which columns of text look like the ids of units, where none were named."""
        if self.on_cluster or self.units != Units():
            return ()
        signs = []
        texts = [name for name, why in self.choice.left_out.items() if why == "text" and name]
        for path, name in zip((first, second), names, strict=True):
            for column in texts[:_CANDIDATES]:
                source: RowSource = self.files(path).rows(
                    columns=self.choice.columns, by=column, missing="drop", progress=False
                )
                sign = dependence_on_column(source.renamed(name), column)
                signs += [] if sign is None else [str(sign)]
        self.warnings += signs
        return tuple(signs)

    def files(self, path: str) -> OpenFiles:
        """Return the files of a path, whose first rows are looked at once."""
        if path not in self._opened:
            if path == STANDARD_INPUT or is_pipe(path):
                self._opened[path] = self._copied(path)
            else:
                self._opened[path] = OpenFiles(path, **self.reading.text_options())
        return self._opened[path]

    def _copied(self, given: str) -> OpenFiles:
        """Keep standard input, or what comes through a pipe, in a file, since it must be read more than once."""
        shown = _SHOWN_STANDARD_INPUT if given == STANDARD_INPUT else given
        copy = Path(self._stack.enter_context(tempfile.TemporaryDirectory())) / "copy"
        self._copies[str(copy)] = shown
        with copy.open("wb") as file:
            if given == STANDARD_INPUT:
                shutil.copyfileobj(sys.stdin.buffer, file)
            else:
                copy_pipe(given, file)
        options = self.reading.text_options()
        options["format"] = options["format"] or "csv"
        files = OpenFiles(copy, **options)
        files.name = shown
        for table in files.files:
            table.notes = [self.named(note) for note in table.notes]
        return files

    def named(self, text: str) -> str:
        """Return a text with the names of what was copied instead of those of the copies."""
        for copy, shown in self._copies.items():
            text = text.replace(copy, shown)
        return text

    def choose(self, *paths: str, kept_apart: Sequence[str | None] = ()) -> Choice:
        """Return the columns that all files have and that can be measurements."""
        apart = [name for name in (*kept_apart, self.units.cluster) if name is not None]
        files = [self.files(path) for path in paths]
        self.choice = chosen_columns(files, self.columns, self.exclude, apart, self.reading.coding)
        return self.choice

    def sketched(
        self, path: str, weights: str | None, like: un.Sketch | None, seed: int, frequencies: int | None = None
    ) -> un.Sketch:
        """Return the sketch of a file, with the frequencies of another sketch or with its own."""
        if like is None:
            source = self.rows(path, with_column(self.choose(path, kept_apart=[weights]), weights))
            weighted = as_rows(source, weights=weights)
            return un.Sketch.for_samples(weighted, n_frequencies=frequencies, random_state=seed).update(weighted)
        if frequencies is not None:
            raise ValueError("--frequencies must be left out with --like, which brings its own")
        if self.columns is not None and list(self.columns) != list(like.columns):
            raise ValueError(f"--columns must be left out with --like, which has {', '.join(like.columns)}")
        columns = list(like.columns) if like.named else []
        # A file may have categories that a sketch with columns of 0 and 1 does not know.
        files = self.files(path).files
        places = [split_name(name, files[0].names) for name in columns if name not in files[0].names]
        check_known(categories_of(files, list(dict.fromkeys(place[0] for place in places if place))), columns, path)
        choice = with_column(Choice(columns or None, {}), weights)
        return un.Sketch.like(like).update(self.rows(path, choice), weights=weights)

    def pair(self, first: str, second: str, weights: str | None) -> tuple[Any, Any]:
        """Return both samples, each rows or a sketch; rows beside a sketch become a sketch like it."""
        if first == second == STANDARD_INPUT:
            raise ValueError("only one of the two files can be standard input; got - twice")
        sketches = [un.Sketch.load(path) if _is_sketch(path) else None for path in (first, second)]
        known = sketches[0] or sketches[1]
        if known is None:
            choice = with_column(self.choose(first, second, kept_apart=[weights]), weights)
            return self.rows(first, choice), self.rows(second, choice)
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

    def column_pair(self, path: str, first: list[str], second: list[str], *, paired: bool) -> tuple[Any, Any]:
        """Return some columns of a file as one sample, and as many others as the other sample."""
        if self.columns is not None or self.exclude:
            raise ValueError("--columns and --exclude must be left out with --column-a and --column-b, which choose")
        if len(first) != len(second):
            raise ValueError(f"--column-a and --column-b must name as many columns; got {len(first)} and {len(second)}")
        called = [left if left == right else f"{left} / {right}" for left, right in zip(first, second, strict=True)]
        if not paired:
            self.notes.append(
                "both samples come from the same rows, and are compared as if they were independent; --paired "
                "compares them row by row"
            )
            left, right = (self.rows(path, Choice(columns, {}), called=called) for columns in (first, second))
            return left, right
        both = self.rows(path, Choice(list(dict.fromkeys([*first, *second])), {}))
        samples = SelectedRows(both, first), SelectedRows(both, second)
        for sample in samples:
            sample.columns = tuple(called)
        return samples

    def finished(self, comparison: AnyComparison, answer: Answer, files: Sequence[str]) -> AnyComparison:
        """Return a comparison whose record has the options too; raise where too many rows were left out."""
        for source in self.sources:
            check_dropped(source.name, source.record(), self.reading.max_dropped)
        settings = {"files": ", ".join(files)}
        if self.columns is not None:
            settings["columns"] = ", ".join(self.columns)
        stamps = (stamp._replace(name=self._copies.get(stamp.path, stamp.name)) for stamp in comparison.input.files)
        record = replace(
            comparison.input,
            settings=settings | self.reading.chosen(),
            notes=(*comparison.input.notes, *self.notes),
            categories=dict(self.choice.categories),
            files=tuple(stamps),
        )
        if answer.quiet and not answer.as_json:
            _print_notes(record)
        return changed(comparison, input=record)

    def print_notes(self) -> None:
        """Print on stderr which rows and columns were left out, after a check that rows are not too many."""
        records = [source.record() for source in self.sources]
        for source, of_source in zip(self.sources, records, strict=True):
            check_dropped(source.name, of_source, self.reading.max_dropped)
        sizes = [record.n_read - record.n_dropped for record in records]
        record = InputRecord.of([source.name for source in self.sources], sizes, (), records)
        _print_notes(replace(record, categories=dict(self.choice.categories)))


def with_column(choice: Choice, name: str | None) -> Choice:
    """Return the columns with one more, where they are chosen and it is not among them."""
    if choice.columns is None or name is None or name in choice.columns:
        return choice
    return choice._replace(columns=[*choice.columns, name])


def _print_notes(record: InputRecord) -> None:
    unasked = {name: why for name, why in record.left_out.items() if why != NOT_CHOSEN}
    for label, text in replace(record, left_out=unasked).lines():
        if label != "columns" and (label != "rows" or record.n_dropped):
            print(f"uptonoise: {label}: {printable(text)}", file=sys.stderr)


def _is_sketch(path: str) -> bool:
    """Tell whether a file is a sketch, by its content."""
    if path == STANDARD_INPUT or is_pipe(path) or not Path(path).exists() or Path(path).is_dir():
        return False
    check_readable(path)
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return {"header.npy", "scatter.npy"} <= set(archive.namelist())
