"""A file with columns: what every format tells about itself, and how its rows are read a piece at a time."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
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
    """Some rows of a file: values (n, d), NaN where one is missing; groups; and the part of the file read so far.

    Columns of text that were asked for come as groups too.
    """

    values: Floats
    groups: Groups | None
    fraction: float
    texts: tuple[Groups, ...] = ()


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
    named : bool
        Whether the file itself names them.
    n_rows : int or None
        The number of rows, where it is known without reading them.
    first_row : str
        Which row has the number 1, for messages.
    notes : sequence of str
        What was noticed about the file, in words.
    """

    path: Path
    names: tuple[str, ...]
    data_names: tuple[str, ...]
    named: bool = True
    n_rows: int | None = None
    first_row: str = "the first is 1"
    notes: Sequence[str] = ()

    @abstractmethod
    def not_numbers(self) -> dict[str, str]:
        """Return the columns that cannot be used as numbers, each with what it holds instead."""

    @abstractmethod
    def not_groups(self) -> dict[str, str]:
        """Return the columns that cannot say which group a row belongs to, each with what it holds instead."""

    def options_to_read(self, name: str) -> dict[str, str]:
        """Return the option that would make numbers of a column that holds none, where there is such an option."""
        return {}

    def may_have_thousands(self, name: str) -> bool:
        """Tell whether a column of text may be numbers with a mark for thousands, such as 1,500."""
        return False

    def first_values(self, names: Sequence[str]) -> dict[str, Floats]:
        """Return the first values of columns of numbers; NaN where one is missing."""
        with closing(self.pieces(names, None)) as pieces:
            piece = next(pieces, None)
        values = np.empty((0, len(names))) if piece is None else piece.values[:SAMPLE_ROWS]
        return dict(zip(names, values.T, strict=True))

    def group_kind(self, name: str) -> str | None:
        """Return what the groups of a column are, in words; None where only the rows tell."""
        return None

    def split(self, n_rows: int) -> Sequence[TableFile]:
        """Return the file in parts of consecutive rows, about `n_rows` or more, that can be read by themselves."""
        return [self]

    @abstractmethod
    def pieces(self, columns: Sequence[str], by: str | None, texts: Sequence[str] = ()) -> Generator[Piece, None, None]:
        """Yield these columns of all rows, at most `chunk_rows` at a time; the file is closed when this ends."""

    def origin(self, name: str) -> str:
        """Return the column of the file that a column is made of: itself, but for columns of categories."""
        return name

    def row(self, number: int) -> str:
        """Return how messages call the row with this number, counted from 0."""
        return f"row {number + 1:,} ({self.first_row})"
