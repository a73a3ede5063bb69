"""A file with columns: what every format tells about itself, and how its rows are read a piece at a time."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.engines.files.groups import Groups

SAMPLE_ROWS = 1_000  # the first rows, which tell what the columns hold


def arrow(module: str = "pyarrow") -> Any:
    """Return a module of pyarrow, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError('reading files needs pyarrow: pip install "uptonoise[io]"') from None


def first_line(error: BaseException) -> str:
    r"""Return the first line of a library's message: the rest is for its own developers.

    Examples
    --------
    >>> from uptonoise.engines.files.table import first_line
    >>> first_line(ValueError("cut short.\nDetail: in reader.cc"))
    'cut short'
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(". ")


class Piece(NamedTuple):
    """Some rows of a file: values (n, d), NaN where one is missing; groups; and the part of the file read so far."""

    values: Floats
    groups: tuple[Groups, ...]
    fraction: float


class TableFile(ABC):
    """A file with columns.

    Attributes
    ----------
    path : Path
        Where it is.
    names : tuple of str
        The names of its columns.
    data_names : tuple of str
        Those that are used where none are chosen.
    not_numbers, not_groups : dict
        The columns that cannot be used as numbers, and those that cannot say which group a row belongs to, each with
        what it holds instead.
    group_kinds : dict
        What the groups of a column are, in words, where its type tells it.
    options_to_read : dict
        The option that would make numbers of a column that holds none, where there is such an option.
    maybe_thousands : set
        The columns of text that may be numbers with a mark for thousands, such as 1,500.
    is_text : bool
        Whether all that it holds is text, also groups that are numbers.
    origins : dict
        The column of the file that a column of 0 and 1 for a category is made of.
    named : bool
        Whether the file itself names its columns.
    n_rows : int or None
        The number of rows, where it is known without reading them.
    rows_before : int
        How many rows of the file lie before those that are meant here.
    first_row : str
        Which row has the number 1, for messages.
    notes : sequence of str
        What was noticed about the file, in words.
    """

    path: Path
    names: tuple[str, ...]
    data_names: tuple[str, ...]
    not_numbers: dict[str, str]
    not_groups: Mapping[str, str] = {}
    group_kinds: Mapping[str, str] = {}
    options_to_read: Mapping[str, dict[str, str]] = {}
    maybe_thousands: Collection[str] = ()
    is_text: bool = False
    origins: Mapping[str, str] = {}
    named: bool = True
    n_rows: int | None = None
    rows_before: int = 0
    first_row: str = "the first is 1"
    notes: Sequence[str] = ()

    def first_values(self, names: Sequence[str]) -> dict[str, Floats]:
        """Return the first values of columns of numbers; NaN where one is missing."""
        with closing(self.pieces(names)) as pieces:
            piece = next(pieces, None)
        values = np.empty((0, len(names))) if piece is None else piece.values[:SAMPLE_ROWS]
        return dict(zip(names, values.T, strict=True))

    def split(self, n_rows: int) -> Sequence[TableFile]:
        """Return the file in parts of consecutive rows, about `n_rows` or more, that can be read by themselves."""
        return [self]

    @abstractmethod
    def pieces(self, columns: Sequence[str], groups: Sequence[str] = ()) -> Generator[Piece, None, None]:
        """Yield columns of all rows as numbers and as groups, at most `chunk_rows` at a time; then close the file."""

    def row(self, number: int) -> str:
        """Return how messages call the row with this number, counted from 0."""
        return f"row {self.rows_before + number + 1:,} ({self.first_row})"
