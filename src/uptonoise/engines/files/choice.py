"""Which columns of files are measurements that can be compared, and why the others are left out.

Text, columns that only one of the files has, indices, dates and constants are left out, each with its reason. Where
that leaves less than a person would expect, it is an error that names the option to go on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from uptonoise._util.errors import hinted
from uptonoise._util.wording import counted
from uptonoise.engines.files.columns import categories_of, check_excluded, quoted
from uptonoise.engines.files.table import TableFile
from uptonoise.rows import NOT_CHOSEN, Coding, check_coding, expanded, left_out_text, no_measurement

if TYPE_CHECKING:
    from uptonoise.engines.files.formats import OpenFiles

CONSTANT = "constant"
EXCLUDED = "excluded"
_NAMES_IN_MESSAGE = 8


class Choice(NamedTuple):
    """The columns to use, None for all of files that name none, and those that are left out with the reason.

    A column of text that is used as columns of 0 and 1 has its categories here.
    """

    columns: list[str] | None
    left_out: dict[str, str]
    categories: Mapping[str, tuple[str, ...]] = {}


def chosen_columns(
    inputs: Sequence[OpenFiles],
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    kept_apart: Sequence[str] = (),
    categories: Coding | None = None,
) -> Choice:
    r"""Choose the columns of one input, or those that several inputs share.

    Parameters
    ----------
    inputs : sequence of OpenFiles
        The files of each sample.
    columns : sequence of str, optional
        The columns to use; by default all that can be measurements.
    exclude : sequence of str
        Columns to leave out.
    kept_apart : sequence of str
        Columns with another role, such as weights or groups; they are neither used nor left out.
    categories : {None, "one-hot"}
        Whether columns of text are left out, or are used as columns of 0 and 1, one for each category.

    Returns
    -------
    Choice

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from uptonoise.engines import OpenFiles, chosen_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.csv")
    ...     _ = path.write_text("id,site,energy\n7,north,1.5\n9,south,2\n")
    ...     chosen_columns([OpenFiles(path)], exclude=[])
    Choice(columns=['energy'], left_out={'site': 'text', 'id': 'looks like an index'}, categories={})
    """
    check_coding(categories)
    firsts = [given.files[0] for given in inputs]
    files = [file for given in inputs for file in given.files]
    check_excluded(files, columns, exclude)
    if any(file.named != firsts[0].named for file in firsts):
        return Choice(None if columns is None else list(columns), {})
    names = dict.fromkeys(name for file in firsts for name in file.data_names if name not in kept_apart)
    apart = (*exclude, *kept_apart)
    coding = () if categories is None else names if columns is None else columns
    texts = [name for name in coding if name not in apart and all(_kind_of_text(f, name) == "text" for f in firsts)]
    _check_marks(firsts, texts)
    coded = categories_of(files, texts)
    if columns is not None:
        others = {name: EXCLUDED if name in exclude else NOT_CHOSEN for name in names if name not in columns}
        return Choice(expanded(columns, coded), others, coded)
    left_out = {name: EXCLUDED for name in names if name in exclude}
    shared = _shared(inputs, [name for name in names if name not in exclude], left_out)
    left_out.update({name: CONSTANT for name, known in coded.items() if len(known) < 2})
    coded = {name: known for name, known in coded.items() if len(known) > 1}
    numeric = _numeric(inputs, [name for name in shared if name not in coded], left_out, needed=not coded)
    used = _measured(firsts, files, numeric, left_out)
    _check_enough(inputs, used or list(coded), numeric, left_out, apart)
    kept = {*used, *coded}
    return Choice(expanded([name for name in shared if name in kept], coded), left_out, coded)


def _kind_of_text(file: TableFile, name: str) -> str:
    """Return what a column without numbers holds, in a word; nothing for a column of numbers."""
    return file.not_numbers.get(name, "").partition(" (")[0]


def _shared(inputs: Sequence[OpenFiles], names: list[str], left_out: dict[str, str]) -> list[str]:
    """Return the columns that all inputs have."""
    known = [set(given.files[0].data_names) for given in inputs]
    in_all = set.intersection(*known)
    shared = [name for name in names if name in in_all]
    if not shared and len(inputs) > 1:
        some = [", ".join(given.files[0].data_names[:_NAMES_IN_MESSAGE]) for given in inputs]
        raise ValueError(
            f"{inputs[0].name} and {inputs[1].name} have no common columns: {some[0]} and {some[1]}. "
            "The first line of a file must name its columns"
        )
    for given, here in zip(inputs, known, strict=True):
        left_out.update({name: f"only in {given.name}" for name in names if name not in in_all and name in here})
    return shared


def _numeric(inputs: Sequence[OpenFiles], shared: list[str], left_out: dict[str, str], *, needed: bool) -> list[str]:
    """Return the columns that hold numbers in at least one input.

    A column of text in all of them is no measurement. Text in only one of them is a mistake, which the reader tells.
    """
    firsts = [given.files[0] for given in inputs]
    texts = {name: _kind_of_text(firsts[0], name) for name in shared if all(name in f.not_numbers for f in firsts)}
    _check_marks(firsts, texts)
    left_out.update({name: kind for name, kind in texts.items() if name not in left_out})
    if needed and len(texts) == len(shared):
        where = inputs[0].name if len(inputs) == 1 else f"{inputs[0].name} and {inputs[1].name}"
        common = "column" if len(inputs) == 1 else "common column"
        example = next((f"; {name!r} holds {firsts[0].not_numbers[name]}" for name in texts), "")
        raise ValueError(f"{where} {'has' if len(inputs) == 1 else 'have'} no {common} of numbers{example}")
    return [name for name in shared if name not in texts]


def _check_marks(files: Sequence[TableFile], texts: Iterable[str]) -> None:
    """Raise where text is numbers with another decimal mark, or with marks for thousands."""
    for name, file in itertools.product(texts, files):
        what, options = file.not_numbers[name], file.options_to_read.get(name)
        if options:
            problem = f"{file.path}: the column {name!r} looks like numbers with another decimal mark, {what}"
            raise hinted(ValueError, problem, "{decimal} reads it", **options)
        if name in file.maybe_thousands:
            problem = f"{file.path}: the column {name!r} may hold decimals or thousands, {what}"
            hint = "{decimal} reads decimals; thousands must be written without a mark; {exclude} leaves the column out"
            raise hinted(ValueError, problem, hint, decimal="," if "," in what else ".", exclude=[name])


def _measured(
    firsts: Sequence[TableFile], files: Sequence[TableFile], numeric: list[str], left_out: dict[str, str]
) -> list[str]:
    """Return the columns that are neither empty nor indices nor dates nor constant."""
    samples = [file.first_values([name for name in numeric if name not in file.not_numbers]) for file in firsts]
    in_all = set.intersection(*(set(file.names) for file in files))
    used, candidates = [], []
    for name in numeric:
        values = [sample[name] for sample in samples if name in sample]
        reasons = {no_measurement(name, column) for column in values}
        reason = reasons.pop() if len(reasons) == 1 and len(values) == len(firsts) else None
        if reason is None and any(len(column) and np.isnan(column).all() for column in values):
            reason = "no values in the first rows"
        if reason is not None:
            left_out[name] = reason
            continue
        used.append(name)
        seen = [column for column in values if len(column)]
        if len(seen) == len(firsts) and name in in_all and np.ptp(np.concatenate(seen)) == 0:
            candidates.append(name)
    constant = set(_constant(files, candidates))
    left_out.update({name: CONSTANT for name in used if name in constant})
    return [name for name in used if name not in constant]


def _constant(files: Sequence[TableFile], candidates: list[str]) -> list[str]:
    """Return the columns that have one value in all rows; all files are read until another value comes."""
    values: dict[str, float] = {}
    for piece in itertools.chain.from_iterable(file.pieces(candidates) for file in files if candidates):
        for name, column in zip(candidates, piece.values.T, strict=True):
            first = values.setdefault(name, float(column[0]) if len(column) else np.nan)
            if len(column) and not bool((column == first).all()):
                values[name] = np.nan
        if np.isnan(list(values.values())).all():
            return []
    return [name for name, value in values.items() if not np.isnan(value)]


def _check_enough(
    inputs: Sequence[OpenFiles], used: list[str], numeric: list[str], left_out: dict[str, str], apart: Sequence[str]
) -> None:
    """Raise where more columns of numbers are left out than a person would expect."""
    where = " and ".join(given.name for given in inputs)
    kept, numbers = set(used), set(numeric)
    dropped = {name: left_out[name] for name in numeric if name not in kept}
    if not used:
        problem = f"{where}: no column of numbers seems to be a measurement: {left_out_text(dropped)}"
        raise hinted(ValueError, problem, "{columns} takes them as such", columns=list(dropped))
    if len(dropped) > len(numeric) / 2:
        problem = f"{where}: {len(dropped)} of {counted(len(numeric), 'column')} of numbers would be left out: "
        raise hinted(ValueError, problem + left_out_text(dropped), "{columns} goes on without them", columns=used)
    firsts = [given.files[0] for given in inputs]
    alone = [[name for name in f.data_names if name not in f.not_numbers and name not in apart] for f in firsts]
    fewest = min(alone, key=len)
    lost = [name for name in fewest if name not in numbers]
    if len(lost) > len(fewest) / 2:
        problem = (
            f"{where}: {len(lost)} of {counted(len(fewest), 'column')} of numbers would be left out, as only one of "
            f"the files has them: {quoted(lost)}"
        )
        raise hinted(ValueError, problem, "give them the same names, or go on with {columns}", columns=used)
