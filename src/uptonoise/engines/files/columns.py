"""Which columns of files are used, whether all files have them, and columns of text as columns of 0 and 1."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import closing

import numpy as np

from uptonoise._util.errors import hinted
from uptonoise._util.typing import Floats
from uptonoise.engines.files.table import Piece, TableFile
from uptonoise.rows import SeenCategories, as_column_names, split_name

_NAMES_IN_MESSAGE = 20


def used_columns(
    files: Sequence[TableFile], columns: Sequence[str] | None, by: str | None, exclude: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the columns to use: the chosen ones, or all but `by` and those that are excluded.

    Raise where a file lacks one, or has no numbers in it.
    """
    first, is_chosen = files[0], columns is not None
    if np.size(exclude):  # which is 1 for what is no list
        check_excluded(files, columns, exclude)
    used = (
        tuple(name for name in first.data_names if name != by and name not in exclude)
        if columns is None
        else as_column_names(columns, "columns")
    )
    if not used and not is_chosen:
        raise ValueError(f"{first.path} has no column{'' if by is None else f' beside by={by!r}'}; one is needed")
    if not used:
        raise ValueError("columns must name at least one column; got none")
    if by in used:
        raise ValueError(f"by={by!r} says which group a row belongs to; take it out of columns")
    wanted = used if by is None else (*used, by)
    expected = {*wanted, *exclude}
    for file in files:
        present, named = set(file.names), [name for name in file.names if name]
        if len(set(named)) < len(named):
            twice = quoted(sorted({name for name in named if named.count(name) > 1}))
            raise ValueError(f"{file.path} must have distinct column names; more than once: {twice}. Rename them")
        lacking = [name for name in wanted if name not in present]
        if lacking and (is_chosen or file is first):
            raise ValueError(f"{file.path} has no column {quoted(lacking)}; its columns are {quoted(file.names)}")
        extra = [] if is_chosen else [name for name in file.data_names if name not in expected]
        if lacking or extra:
            differs = [f"lacks {quoted(lacking)}"] * bool(lacking) + [f"has also {quoted(extra)}"] * bool(extra)
            raise hinted(
                ValueError,
                f"{file.path} must have the columns of {first.path}; it {' and '.join(differs)}",
                "name the columns to use with {columns}, or give only files that agree",
                columns=[name for name in used if name in present],
            )
        for name in used:
            if name in file.not_numbers:
                raise _no_numbers(file, name, by, is_chosen)
        if by is not None:
            _check_groups(file, first, by)
    return used


def check_excluded(files: Sequence[TableFile], columns: Sequence[str] | None, exclude: Sequence[str]) -> None:
    """Raise where a column to leave out is in no file, or is chosen as well."""
    both = [name for name in as_column_names(exclude, "exclude") if name in (columns or ())]
    if both:
        raise ValueError(f"columns and exclude must differ; both have {quoted(both)}")
    known = {name for file in files for name in file.names}
    unknown = [name for name in exclude if name not in known]
    if unknown:
        raise ValueError(
            f"exclude must name columns of {files[0].path}; got {quoted(unknown)}, its columns are "
            f"{quoted(files[0].names)}"
        )


def _check_groups(file: TableFile, first: TableFile, by: str) -> None:
    problem = f"{file.path}: the column {by!r} must hold"
    if by in file.not_groups:
        raise ValueError(f"{problem} groups, as text or whole numbers; it holds {file.not_groups[by]}")
    expected, kind = first.group_kinds.get(by), file.group_kinds.get(by)
    if kind != expected:
        raise ValueError(
            f"{problem} {expected}, as in {first.path}; it holds {kind}. Convert one of them, so that the same group "
            "has the same id everywhere"
        )


def _no_numbers(file: TableFile, name: str, by: str | None, is_chosen: bool) -> ValueError:
    what = f"the column {name!r}" if name else f"column {file.names.index(name) + 1}, which has no name,"
    problem = f"{file.path}: {what} holds {file.not_numbers[name]}"
    options = file.options_to_read.get(name)
    if options:
        return hinted(ValueError, problem, f"{{{next(iter(options))}}} reads it", **options)
    usable = [other for other in file.data_names if other not in file.not_numbers and other != by]
    if not usable:
        return ValueError(f"{problem}, and no other column holds numbers")
    if is_chosen:
        return ValueError(f"{file.path}: {what} must hold numbers; it holds {file.not_numbers[name]}")
    return hinted(ValueError, problem, "name the columns to use, as {columns}", columns=usable[:_NAMES_IN_MESSAGE])


def quoted(names: Iterable[str]) -> str:
    """Return names in quotes, cut where they are many."""
    names = list(names)
    more = f", ... ({len(names)} in all)" if len(names) > _NAMES_IN_MESSAGE else ""
    return ", ".join(map(repr, names[:_NAMES_IN_MESSAGE])) + more


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
