"""A file with columns: what every format tells about itself, and how its rows are read a piece at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.engines.files.groups import Groups

SAMPLE_ROWS = 1_000  # the first rows, which tell what the columns hold
NEEDS_ARROW = 'reading files needs pyarrow: pip install "uptonoise[io]"'


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
    """A file with columns: what it tells of itself when it is opened, and its rows, a piece at a time."""

    path: Path
    names: tuple[str, ...]  # of its columns
    data_names: tuple[str, ...]  # of those that are used where none are chosen
    named: bool = True  # whether the file itself names its columns
    is_text: bool = False  # whether all that it holds is text, also groups that are numbers
    n_rows: int | None = None  # where it is known without reading them
    rows_before: int = 0  # how many rows of the file lie before those that are meant here
    first_row: str = "the first is 1"  # which row has the number 1, for messages
    notes: Sequence[str] = ()  # what was noticed about the file, in words
    # The columns that cannot be used as numbers, and that cannot be groups, each with what it holds instead.
    not_numbers: dict[str, str]
    not_groups: Mapping[str, str] = {}
    group_kinds: Mapping[str, str] = {}  # what the groups of a column are, in words, where its type tells it
    options_to_read: Mapping[str, dict[str, str]] = {}  # which option would make numbers of a column that holds none
    maybe_thousands: Collection[str] = ()  # columns of text that may be numbers with a mark, such as 1,500
    origins: Mapping[str, str] = {}  # the column of the file that a column of 0 and 1 for a category is made of

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
