"""FileRows: the rows of files with named columns, as one sample or as bags.

A :class:`TableFile` knows one format: which columns a file has, and how to read some of them a piece at a time.
Everything that is the same for all formats is here: which columns are used, that all files have them, missing and
infinite values, groups, and the progress bar.
"""

from __future__ import annotations

import datetime
import importlib
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.errors import hinted
from uptonoise._util.progress import Progress
from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.rows import Block, RowSource, as_column_names

PIECE_ROWS = 65_536
Missing = Literal["error", "drop"]
_LISTED = 20  # names in a message
_TABLE_LENGTH = 2**25  # of integers, for a table of their numbers


def arrow(module: str = "pyarrow") -> Any:
    """Return a module of pyarrow, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError('reading files needs pyarrow: pip install "uptonoise[io]"') from None


def one_line(error: BaseException) -> str:
    r"""Return the first line of a library's message: the rest is for its own developers.

    Examples
    --------
    >>> from uptonoise.engines.files.tables import one_line
    >>> one_line(ValueError("cut short.\nDetail: in reader.cc"))
    'cut short'
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(". ")


class Groups(NamedTuple):
    """The groups of some rows: distinct keys, and for each row the place of its key, -1 where it has none.

    Without codes the keys are those of the rows themselves, integers of which none is missing.
    """

    keys: list[Any] | NDArray[np.int64]
    codes: NDArray[Any] | None

    def missing(self, n_rows: int) -> NDArray[np.bool_]:
        """Tell which of the rows have no group."""
        return np.zeros(n_rows, dtype=bool) if self.codes is None else self.codes < 0

    def at(self, kept: NDArray[np.bool_]) -> Groups:
        """Return the groups of some of the rows."""
        if self.codes is None:
            return Groups(np.asarray(self.keys)[kept], None)
        return Groups(self.keys, self.codes[kept])


class Piece(NamedTuple):
    """Some rows of a file: values (n, d), NaN where one is missing; groups; and the part of the file read so far."""

    values: Floats
    groups: Groups | None
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
    named : bool
        Whether the file itself names them.
    n_rows : int or None
        The number of rows, where it is known without reading them.
    first_row : str
        Which row has the number 1, for messages.
    """

    path: Path
    names: tuple[str, ...]
    data_names: tuple[str, ...]
    named: bool = True
    n_rows: int | None = None
    first_row: str = "the first is 1"

    @abstractmethod
    def not_numbers(self) -> dict[str, str]:
        """Return the columns that cannot be used as numbers, each with what it holds instead."""

    @abstractmethod
    def not_groups(self) -> dict[str, str]:
        """Return the columns that cannot say which group a row belongs to, each with what it holds instead."""

    def group_kind(self, name: str) -> str | None:
        """Return what the groups of a column are, in words; None where only the rows tell."""
        return None

    def split(self, n_rows: int) -> Sequence[TableFile]:
        """Return the file in parts of consecutive rows, about `n_rows` or more, that can be read by themselves."""
        return [self]

    @abstractmethod
    def pieces(self, columns: Sequence[str], by: str | None) -> Generator[Piece, None, None]:
        """Yield these columns of all rows, at most `PIECE_ROWS` at a time; the file is closed when this ends."""

    def row(self, number: int) -> str:
        """Return how messages call the row with this number, counted from 0."""
        return f"row {number + 1:,} ({self.first_row})"


class FileRows(RowSource):
    """The rows of files that have the same columns, one file after the other.

    Attributes
    ----------
    n_dropped : int or None
        How many rows with missing values the last pass over all rows has left out; None before the first one.
    """

    may_be_empty: bool = False

    def __init__(
        self,
        files: Sequence[TableFile],
        name: str,
        *,
        columns: Sequence[str] | None,
        by: str | None,
        missing: Missing,
        progress: bool | None,
    ) -> None:
        if missing not in get_args(Missing):
            raise ValueError(f'missing must be "error" or "drop"; got {missing!r}')
        self.name = name
        self.named = files[0].named
        self.columns = _used_columns(files[0], columns, by)
        for file in files:
            _check_file(file, files[0], self.columns, by, columns is not None)
        self.n_dropped: int | None = None
        self.groups = GroupIds()
        self.bag_ids = None if by is None else self.groups.ids
        self.files, self.by, self.missing = files, by, missing
        self._progress, self._drops = progress, missing == "drop"
        self._path, self._label = name, f"reading {name}"  # whoever takes the rows may give them another name
        counts = [file.n_rows for file in files if file.n_rows is not None]
        self.n_rows = sum(counts) if len(counts) == len(files) and not self._drops else None

    def chunks(self) -> Iterator[Block]:
        """Yield all rows, some thousand at a time; one file is open at a time."""
        with (
            Progress(self._label, self.n_rows, self._progress) as progress,
            closing(self._pass(progress)) as blocks,
        ):
            yield from blocks

    def head(self, n_rows: int = 1_000) -> Floats:
        """Return the values of the first rows, at most `n_rows`; no more than their pieces are read."""
        found: list[Floats] = []
        with closing(self._pass(Progress(self._label, show=False))) as blocks:
            for block in blocks:
                found.append(block.values)
                if sum(map(len, found)) >= n_rows:
                    break
        return np.ascontiguousarray(np.concatenate(found)[:n_rows])

    def _pass(self, progress: Progress) -> Generator[Block, None, None]:
        sizes = [file.path.stat().st_size for file in self.files]
        n_kept = n_read = done = 0
        for size, file in zip(sizes, self.files, strict=True):
            first_row = 0
            with closing(file.pieces(self.columns, self.by)) as pieces:
                for piece in pieces:
                    block = self._block(file, first_row, piece)
                    first_row += len(piece.values)
                    n_kept += len(block.values)
                    progress.advance(len(piece.values), (done + piece.fraction * size) / sum(sizes))
                    if len(block.values):
                        yield block
            n_read += first_row
            done += size
        self.n_dropped = n_read - n_kept
        if not n_kept and not self.may_be_empty:
            dropped = f" without a missing value ({counted(n_read, 'row')} with one)" if n_read else ""
            raise ValueError(f"{self._path} has no rows{dropped}; at least one is needed")

    def _block(self, file: TableFile, first_row: int, piece: Piece) -> Block:
        """Return the complete rows of a piece; raise where a value is infinite, or missing and not to be dropped."""
        values, groups = piece.values, piece.groups
        finite = np.isfinite(values)
        kept: NDArray[np.bool_] = np.asarray(finite.all(axis=1))
        if groups is not None:
            kept &= ~groups.missing(len(values))
        if not kept.all():
            self._check_gaps(file, first_row, piece, finite)
            values = values[kept]
            groups = None if groups is None else groups.at(kept)
        if groups is None:
            return Block(values)
        return Block(values, None, self._numbered(file, first_row, groups, np.flatnonzero(kept)))

    def _check_gaps(self, file: TableFile, first_row: int, piece: Piece, finite: NDArray[np.bool_]) -> None:
        values, groups = piece.values, piece.groups
        wrong = np.isinf(values) if self._drops else ~finite
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            place = f"{file.row(first_row + row)}, column {self.columns[column]!r}"
            if np.isnan(values[row, column]):
                raise _missing_value(file, place)
            raise ValueError(f"{file.path}: must be finite; got {values[row, column]} in {place}. Take such rows out")
        if groups is not None and not self._drops:
            row = int(np.argmax(groups.missing(len(values))))
            raise _missing_value(file, f"{file.row(first_row + row)}, column {self.by!r}")

    def _numbered(self, file: TableFile, first_row: int, groups: Groups, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        try:
            return self.groups.numbered(groups)
        except _NoGroupError as error:
            row = rows[np.argmax(np.asarray(groups.codes) == error.code)]
            raise ValueError(
                f"{file.path}: the column {self.by!r} must hold groups, as text or whole numbers; got {error.key!r} "
                f"in {file.row(first_row + row)}"
            ) from None


def _missing_value(file: TableFile, place: str) -> ValueError:
    problem = f"{file.path}: a value is missing in {place}"
    return hinted(ValueError, problem, "fill it, or leave such rows out with {missing}", missing="drop")


class _NoGroupError(Exception):
    def __init__(self, key: Any, code: int) -> None:
        self.key, self.code = key, code


class GroupIds:
    """The ids of groups, numbered as they appear; the numbers stay the same in later passes.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.engines.files.tables import GroupIds, Groups
    >>> groups = GroupIds(["a"])
    >>> groups.numbered(Groups(["b", "a"], np.array([1, 0, 0]))), groups.ids
    (array([0, 1, 1]), ['a', 'b'])
    """

    def __init__(self, ids: Iterable[str | int] = ()) -> None:
        self.ids: list[Any] = []
        self._numbers: dict[str | int, int] = {}
        self._has_text = False
        # The numbers of integers from the lowest one on, -1 where there is none, of the first so many ids.
        self._table: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._lowest = self._in_table = 0
        self.add(ids)

    def add(self, ids: Iterable[str | int]) -> NDArray[np.int64]:
        """Return the numbers of some ids; those that are new get the next ones."""
        self._know_all()
        return np.array([self._number(group) for group in ids], dtype=np.int64)

    def numbered(self, groups: Groups) -> NDArray[np.int64]:
        """Return the number of each row's group."""
        if groups.codes is None:
            return self._of_integers(np.asarray(groups.keys))
        self._know_all()
        known: list[int | None] = list(map(self._numbers.get, groups.keys))
        if None in known:
            codes, first_rows = np.unique(groups.codes, return_index=True)
            for code in codes[np.argsort(first_rows)].tolist():
                if known[code] is None:
                    group = _group_id(groups.keys[code])
                    if group is None:
                        raise _NoGroupError(groups.keys[code], code)
                    known[code] = self._number(group)
        numbers: NDArray[np.int64] = np.array([-1 if number is None else number for number in known], dtype=np.int64)
        return np.asarray(numbers[groups.codes])

    def _of_integers(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of integers, by a table where they lie close together."""
        low, high = (int(keys.min()), int(keys.max())) if len(keys) else (0, 0)
        if self._has_text or not self._has_room(low, high):
            distinct, codes = np.unique(keys, return_inverse=True)
            return self.numbered(Groups(distinct.tolist(), codes))
        numbers = self._table[keys - self._lowest].astype(np.int64)
        is_new = numbers < 0
        if is_new.any():
            fresh, first_rows = np.unique(keys[is_new], return_index=True)
            self.ids.extend(fresh[np.argsort(first_rows)].tolist())
            self._fill_table()
            numbers = self._table[keys - self._lowest].astype(np.int64)
        return numbers

    def _has_room(self, low: int, high: int) -> bool:
        """Tell whether a table reaches from the lowest to the highest integer, after making it longer if it may be."""
        if len(self._table):
            low, high = min(low, self._lowest), max(high, self._lowest + len(self._table) - 1)
        elif self.ids:
            low, high = min(low, min(self.ids)), max(high, max(self.ids))
        if high - low >= _TABLE_LENGTH:
            return False
        if not len(self._table) or low < self._lowest or high >= self._lowest + len(self._table):
            self._table = np.full(min(_TABLE_LENGTH, 2 * (high - low + 1)), -1, dtype=np.int32)
            self._lowest, self._in_table = low, 0
        if self._in_table < len(self.ids):
            self._fill_table()
        return True

    def _fill_table(self) -> None:
        new = np.array(self.ids[self._in_table :], dtype=np.int64)
        self._table[new - self._lowest] = np.arange(self._in_table, len(self.ids))
        self._in_table = len(self.ids)

    def _know_all(self) -> None:
        """Let the dictionary know the ids that the table has brought."""
        for number in range(len(self._numbers), len(self.ids)):
            self._numbers[self.ids[number]] = number

    def _number(self, group: str | int) -> int:
        # A column of a text file that looked like whole numbers so far turns out to be text.
        if isinstance(group, str) and not self._has_text:
            self._has_text = True
            self.ids[:] = map(str, self.ids)
            self._numbers = {group: number for number, group in enumerate(self.ids)}
        group = str(group) if self._has_text else group
        number = self._numbers.setdefault(group, len(self.ids))
        if number == len(self.ids):
            self.ids.append(group)
        return number


def _group_id(key: Any) -> str | int | None:
    """Return a key of a group as text or a whole number, None where it is neither."""
    if isinstance(key, str | int):
        return key
    if isinstance(key, float) and key.is_integer():
        return int(key)
    return str(key) if isinstance(key, datetime.date | datetime.time) else None


def _used_columns(file: TableFile, columns: Sequence[str] | None, by: str | None) -> tuple[str, ...]:
    """Return the columns to use: those that were chosen, or all but `by`."""
    _check_distinct(file)
    if columns is None:
        used = tuple(name for name in file.data_names if name != by)
        if not used:
            raise ValueError(f"{file.path} has no column{'' if by is None else f' beside by={by!r}'}; one is needed")
        return used
    used = as_column_names(columns, "columns")
    if not used:
        raise ValueError("columns must name at least one column; got none")
    if by in used:
        raise ValueError(f"by={by!r} says which group a row belongs to; take it out of columns")
    return used


def _check_distinct(file: TableFile) -> None:
    named = [name for name in file.names if name]
    twice = sorted({name for name in named if named.count(name) > 1}) if len(set(named)) < len(named) else []
    if twice:
        raise ValueError(f"{file.path} must have distinct column names; more than once: {_listed(twice)}. Rename them")


def _check_file(file: TableFile, first: TableFile, used: Sequence[str], by: str | None, chosen: bool) -> None:
    """Raise where a file lacks a column that is used, or a column cannot be used."""
    _check_distinct(file)
    wanted = [*used, *([] if by is None else [by])]
    present, expected = set(file.names), set(wanted)
    lacking = [name for name in wanted if name not in present]
    if lacking and (chosen or file is first):
        raise ValueError(f"{file.path} has no column {_listed(lacking)}; its columns are {_listed(file.names)}")
    extra = [] if chosen else [name for name in file.data_names if name not in expected]
    if lacking or extra:
        differs = [f"lacks {_listed(lacking)}"] * bool(lacking) + [f"has also {_listed(extra)}"] * bool(extra)
        raise ValueError(
            f"{file.path} must have the columns of {first.path}; it {' and '.join(differs)}. Name the columns to use "
            "with columns=[...], or give only files that agree"
        )
    _check_kinds(file, first, used, by, chosen)


def _check_kinds(file: TableFile, first: TableFile, used: Sequence[str], by: str | None, chosen: bool) -> None:
    wrong = file.not_numbers()
    for name in used:
        if name in wrong:
            raise ValueError(_not_numbers_message(file, name, wrong, by, chosen))
    if by is not None and by in file.not_groups():
        raise ValueError(
            f"{file.path}: the column {by!r} must hold groups, as text or whole numbers; it holds "
            f"{file.not_groups()[by]}"
        )
    if by is not None and file.group_kind(by) != first.group_kind(by):
        raise ValueError(
            f"{file.path}: the column {by!r} must hold {first.group_kind(by)}, as in {first.path}; it holds "
            f"{file.group_kind(by)}. Convert one of them, so that the same group has the same id everywhere"
        )


def _not_numbers_message(file: TableFile, name: str, wrong: dict[str, str], by: str | None, chosen: bool) -> str:
    what = f"the column {name!r}" if name else f"column {file.names.index(name) + 1}, which has no name,"
    usable = [other for other in file.data_names if other not in wrong and other != by]
    if not usable:
        return f"{file.path}: {what} holds {wrong[name]}, and no other column holds numbers"
    if chosen:
        return f"{file.path}: {what} must hold numbers; it holds {wrong[name]}"
    return f"{file.path}: {what} holds {wrong[name]}; name the columns to use, as columns=[{_listed(usable)}]"


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f", ... ({len(names)} in all)" if len(names) > _LISTED else ""
    return ", ".join(map(repr, names[:_LISTED])) + more
