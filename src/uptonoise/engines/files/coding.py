"""Columns of text in files as columns of 0 and 1, one for each category."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.engines.files.table import Piece, TableFile
from uptonoise.rows import SeenCategories, split_name

TEXT = "text"


class CodedFile(TableFile):
    """A file some of whose columns are 0 and 1: ``colour=red`` is 1 where the file's ``colour`` is red.

    A value that is missing is missing in all columns of its categories.
    """

    def __init__(self, file: TableFile, coded: dict[str, tuple[str, str]]) -> None:
        self._file, self._coded = file, coded
        self.path, self.named, self.n_rows, self.is_text = file.path, file.named, file.n_rows, file.is_text
        self.rows_before, self.first_row, self.notes = file.rows_before, file.first_row, file.notes
        self.not_numbers, self.not_groups, self.group_kinds = file.not_numbers, file.not_groups, file.group_kinds
        self.options_to_read = file.options_to_read
        self.names, self.data_names = (*file.names, *coded), file.data_names
        self.origins = {name: column for name, (column, _) in coded.items()}

    def first_values(self, names: Sequence[str]) -> dict[str, Floats]:
        """Return the first values of columns of numbers, and of those of 0 and 1."""
        coded = super().first_values([name for name in names if name in self._coded])
        return coded | self._file.first_values([name for name in names if name not in self._coded])

    def split(self, n_rows: int) -> Sequence[TableFile]:
        """Return parts of consecutive rows that have the same columns."""
        return [CodedFile(part, self._coded) for part in self._file.split(n_rows)]

    def pieces(self, columns: Sequence[str], groups: Sequence[str] = ()) -> Generator[Piece, None, None]:
        """Yield the pieces of the file, with columns of 0 and 1 where these were asked for."""
        plain = [name for name in columns if name not in self._coded]
        words = list(dict.fromkeys(self._coded[name][0] for name in columns if name in self._coded))
        with closing(self._file.pieces(plain, [*words, *groups])) as pieces:
            for piece in pieces:
                labels = dict(zip(words, piece.groups, strict=False))
                values = np.empty((len(columns), len(piece.values)))
                numbers = iter(piece.values.T)
                for place, name in enumerate(columns):
                    if name not in self._coded:
                        values[place] = next(numbers)
                        continue
                    column, category = self._coded[name]
                    keys, codes = labels[column]
                    is_category = [float(str(key) == category) for key in np.asarray(keys, dtype=object).tolist()]
                    # A missing value has the code -1, which is the last.
                    values[place] = is_category if codes is None else np.array([*is_category, np.nan])[codes]
                yield piece._replace(values=values.T, groups=piece.groups[len(words) :])


def with_coded_columns(file: TableFile, columns: Sequence[str]) -> TableFile:
    """Return a file that has all of these columns, where those that it lacks are categories of its columns."""
    places = {name: split_name(name, file.names) for name in columns if name not in file.names}
    coded = {name: place for name, place in places.items() if place is not None}
    return CodedFile(file, coded) if coded else file


def categories_of(files: Sequence[TableFile], columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the categories of columns of text that any of the files has, in one pass over these columns."""
    seen = SeenCategories()
    for file in files if columns else ():
        with closing(file.pieces([], columns)) as pieces:
            for piece in pieces:
                for column, (keys, codes) in zip(columns, piece.groups, strict=True):
                    used = set(range(len(keys)) if codes is None else codes.tolist())
                    seen.add(column, {str(keys[place]) for place in used if place >= 0}, str(file.path))
    return seen.sorted()
