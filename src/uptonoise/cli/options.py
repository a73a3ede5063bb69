"""The options of the commands: each that several commands have is declared here, once.

A dataclass below is a group of options. :func:`command` gives a command the single options of each group among its
parameters, and the command gets the group. This module imports nothing heavy, so that ``--help`` is quick.
"""

from __future__ import annotations

import functools
import inspect
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_type_hints

import typer

from uptonoise._util.errors import command_line_text
from uptonoise._util.wording import printable

_COMMAND_LINE: ContextVar[str | None] = ContextVar("command line", default=None)
_CANNOT = 2  # the exit code where something is wrong

WHICH = "Which rows and columns"
FILES = "How files are read"
ANSWER = "The answer"

# An option in one of the panels of --help; its text names the default where people need it.
rows_option = functools.partial(typer.Option, show_default=False, rich_help_panel=WHICH)
files_option = functools.partial(typer.Option, show_default=False, rich_help_panel=FILES)
answer_option = functools.partial(typer.Option, show_default=False, rich_help_panel=ANSWER)

FILES_HELP = "A file, folder or pattern of files"
FILE_HELP = f"{FILES_HELP}, or - for standard input."

Columns = Annotated[
    list[str] | None, rows_option("--columns", "-c", metavar="A,B", help="Columns to use, if not all of numbers.")
]
Weights = Annotated[str | None, rows_option(metavar="COLUMN", help="The column with the weights of rows.")]
Cluster = Annotated[
    str | None,
    rows_option(metavar="COLUMN", help="The column of ids of units, such as patients, whose rows belong together."),
]
Seed = Annotated[int, answer_option(metavar="N", help="The seed of all random numbers; default: 0.", min=0)]
Quiet = Annotated[bool, answer_option("--quiet", "-q", help="Print the answer only, and no progress bar.")]
Scheduler = Annotated[str | None, files_option(metavar="ADDRESS", help="A Dask cluster that reads the files.")]
Frequencies = Annotated[
    int | None, answer_option("--frequencies", metavar="N", help="Most frequencies; fewer is faster.", min=1)
]
Report = Annotated[Path | None, answer_option(metavar="FILE", help="Write a page with pictures (.html).")]

Missing = StrEnum("Missing", ["error", "drop"])
Categories = StrEnum("Categories", {"leave_out": "leave-out", "one_hot": "one-hot"})
Format = StrEnum("Format", ["csv", "parquet", "arrow", "numpy", "excel"])


@dataclass(frozen=True)
class Reading:
    """How files are read."""

    exclude: Annotated[list[str] | None, rows_option(metavar="A,B", help="Columns to leave out.")] = None
    categories: Annotated[
        Categories, rows_option("--categories", metavar="one-hot", help="Use columns of text as 0 and 1.")
    ] = Categories.leave_out
    missing: Annotated[
        Missing, rows_option("--missing", metavar="error|drop", help="What to do with missing values.")
    ] = Missing.error
    max_dropped: Annotated[
        float,
        rows_option(
            metavar="PART", help="Stop where a larger part of the rows is left out; default: 0.1.", min=0, max=1
        ),
    ] = 0.1
    header: Annotated[bool | None, files_option("--header/--no-header", help="Whether the first line has names.")] = (
        None
    )
    delimiter: Annotated[str | None, files_option(metavar="MARK", help="What separates values: ; tab blank.")] = None
    decimal: Annotated[str, files_option(metavar="MARK", help="The decimal mark; default: a point.")] = "."
    comment: Annotated[str | None, files_option(metavar="MARK", help="Skip lines that start with this.")] = None
    encoding: Annotated[str, files_option(metavar="NAME", help="The encoding of text; default: utf-8.")] = "utf-8"
    format: Annotated[
        Format | None, files_option("--format", metavar="NAME", help="csv, parquet, arrow, numpy or excel.")
    ] = None
    sheet: Annotated[str | None, files_option(metavar="NAME", help="The sheet of Excel, if not the first.")] = None

    @property
    def coding(self) -> Any:
        """What becomes of columns of text, as the engines call it."""
        return None if self.categories is Categories.leave_out else self.categories.value

    def text_options(self) -> dict[str, Any]:
        """Return how text is to be read, as the engines call it."""
        named = {"tab": "\t", "\\t": "\t", "blank": " ", "blanks": " "}
        return {
            "delimiter": named.get(self.delimiter or "", self.delimiter),
            "decimal": self.decimal,
            "encoding": self.encoding,
            "header": self.header,
            "comment": self.comment,
            "format": None if self.format is None else self.format.value,
            "sheet": self.sheet,
        }

    def chosen(self) -> dict[str, str]:
        """Return the options that differ from their defaults, for the record."""
        chosen = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                text = ", ".join(value) if isinstance(value, list) else str(value)
                chosen[field.name.replace("_", "-")] = text.lower() if isinstance(value, bool) else text
        return chosen


@dataclass(frozen=True)
class Units:
    """Which rows belong together."""

    cluster: Cluster = None
    block: Annotated[int | None, rows_option(metavar="N", help="Rows in a unit, such as 168 hours.", min=1)] = None


@dataclass(frozen=True)
class Answer:
    """Where the answer goes, and in which form."""

    force: Annotated[bool, answer_option("--force", help="Overwrite a file that exists.")] = False
    as_json: Annotated[bool, answer_option("--json", help="Print JSON.")] = False
    quiet: Quiet = False

    @property
    def in_words(self) -> bool:
        """Whether to print more than the answer itself."""
        return not (self.as_json or self.quiet)

    def check_output(self, option: str, path: Path | None, suffix: str) -> None:
        """Raise before any work where an output cannot be written."""
        from uptonoise._util.files import checked_target

        if path is None:
            return
        if path.suffix != suffix:
            raise ValueError(f"{option} must end with {suffix}; got {path}")
        checked_target(path, force=self.force)


@contextmanager
def recorded(arguments: Sequence[str]) -> Iterator[None]:
    """Remember the command line while it runs, for the record of the answer."""
    token = _COMMAND_LINE.set(shlex.join(["uptonoise", *arguments]))
    try:
        yield
    finally:
        _COMMAND_LINE.reset(token)


def command_line() -> dict[str, str]:
    """Return the command line that runs, as a setting; nothing where there is none."""
    given = _COMMAND_LINE.get()
    return {} if given is None else {"command": given}


def split_columns(columns: list[str] | None, option: str = "--columns") -> list[str] | None:
    """Return the names that an option such as ``--columns`` gives."""
    if not columns:
        return None
    names = [name.strip() for given in columns for name in given.split(",")]
    if not all(names):
        raise ValueError(f"{option} must be names separated by commas; got {', '.join(columns)!r}")
    return names


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of its groups, and let it end with one line where its input is at fault."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        of_group = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            option = parameter.replace(name=field.name, default=field.default, annotation=of_group[field.name])
            parameters.append(option.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(function)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        with_one_line_errors(functools.partial(function, **given))

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def with_one_line_errors(work: Callable[[], None]) -> None:
    """Do a command's work; print one line instead of a traceback where the input is at fault.

    A request to end (SIGTERM) passes through the code, so that it removes its temporary files.
    """

    def end(*_: object) -> NoReturn:
        raise SystemExit(128 + signal.SIGTERM)

    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, end) if is_main else None
    try:
        work()
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on, as in a pipe to head
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
        raise typer.Exit(0) from None
    except MemoryError:
        stop("not enough memory; give fewer columns (--columns)")
    except (ValueError, OSError, ImportError) as error:
        if isinstance(error, OSError) and error.strerror and error.filename is not None:
            stop(f"{error.filename}: {error.strerror}")
        stop(" ".join(command_line_text(error).split()) or type(error).__name__)
    except KeyboardInterrupt:
        stop("interrupted; nothing was written, run it again")
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, before)


def stop(message: str) -> NoReturn:
    """End with a line on stderr and the exit code of a failure."""
    print(f"uptonoise: {printable(message)}", file=sys.stderr)
    raise typer.Exit(_CANNOT)
