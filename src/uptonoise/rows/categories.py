"""Columns of text as columns of 0 and 1, one for each category (one-hot).

The column ``colour=red`` is 1 where ``colour`` is red, and 0 where it is something else. Of two categories one column
tells all, so that the other one is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import narwhals as nw

from uptonoise._util.errors import hinted
from uptonoise._util.validation import checked_columns, checked_text
from uptonoise.rows.convert import grouping
from uptonoise.rows.memory import TEXT_TYPES, as_frame, is_frame

Coding = Literal["one-hot"]
MOST_CATEGORIES = 50


def check_coding(categories: Any) -> None:
    """Raise on an unknown treatment of columns of text."""
    if categories is not None and not (isinstance(categories, str) and categories == "one-hot"):
        raise ValueError(f'categories must be None or "one-hot"; got {categories!r}')


class SeenCategories:
    """The categories of columns of text, as they are seen in one sample after another.

    Examples
    --------
    >>> from uptonoise.rows import SeenCategories
    >>> seen = SeenCategories()
    >>> seen.add("colour", ["red", "blue", "red"], "a.csv")
    >>> seen.add("colour", ["green"], "b.csv")
    >>> seen.sorted()
    {'colour': ('blue', 'green', 'red')}
    """

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = {}

    def add(self, column: str, categories: Iterable[str], where: str) -> None:
        """Add the categories of a column; raise where there are too many to be categories."""
        seen = self._seen.setdefault(column, set())
        seen.update(categories)
        if len(seen) > MOST_CATEGORIES:
            some = ", ".join(map(repr, sorted(seen)[:3]))
            problem = (
                f"{where}: the column {column!r} has more than {MOST_CATEGORIES} categories, such as {some}; it may "
                "hold names or remarks"
            )
            raise hinted(ValueError, problem, "leave it out with {exclude}, or merge categories", exclude=[column])

    def add_column(self, frame: nw.DataFrame[Any], column: str, where: str) -> None:
        """Add the categories of a column of a frame."""
        self.add(column, map(str, frame.get_column(column).drop_nulls().unique().to_list()), where)

    def sorted(self) -> dict[str, tuple[str, ...]]:
        """Return the categories of each column in alphabetical order, whatever the order of rows and samples."""
        return {column: tuple(sorted(seen)) for column, seen in self._seen.items()}


def coded_names(column: str, categories: Sequence[str]) -> list[str]:
    """Return the names of the columns of 0 and 1: one for each category, of two categories only the last.

    Examples
    --------
    >>> from uptonoise.rows import coded_names
    >>> coded_names("sex", ["f", "m"]), coded_names("colour", ["blue", "green", "red"])
    (['sex=m'], ['colour=blue', 'colour=green', 'colour=red'])
    """
    told = categories[1:] if len(categories) == 2 else categories
    return [f"{column}={category}" for category in told]


def split_name(name: str, columns: Iterable[str]) -> tuple[str, str] | None:
    """Return the column and the category that a name such as ``colour=red`` stands for; None where it has none.

    Examples
    --------
    >>> from uptonoise.rows import split_name
    >>> split_name("a=b=c", ["x", "a=b"]), split_name("y=1", ["x"])
    (('a=b', 'c'), None)
    """
    for column in columns:
        if column and name.startswith(f"{column}="):
            return column, name[len(column) + 1 :]
    return None


def categories_in(columns: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns and categories that names such as ``colour=red`` stand for, where only the names are known.

    Examples
    --------
    >>> from uptonoise.rows import categories_in
    >>> categories_in(["x", "colour=blue", "colour=red"])
    {'colour': ('blue', 'red')}
    """
    seen: dict[str, tuple[str, ...]] = {}
    for column, mark, category in (name.partition("=") for name in columns):
        if column and mark:
            seen[column] = (*seen.get(column, ()), category)
    return seen


def expanded(columns: Iterable[str], categories: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the columns with those of 0 and 1 in the place of those that have categories."""
    return [
        name
        for column in columns
        for name in (coded_names(column, categories[column]) if column in categories else [column])
    ]


def coded_samples(
    samples: Sequence[Any], names: Sequence[str], apart: Sequence[Any] = (), columns: Sequence[str] | None = None
) -> tuple[list[Any], dict[str, tuple[str, ...]]]:
    """Return samples whose columns of text are columns of 0 and 1, the same ones in all frames, and the categories.

    Samples that are no frames are returned as they are.

    Parameters
    ----------
    samples, names : sequence
        The samples and what messages call them.
    apart : sequence
        Columns with another role, such as weights or groups, which stay as they are; what is no name is passed over.
    columns : sequence of str, optional
        The columns to look at; by default all.
    """
    kept = {name for name in apart if isinstance(name, str)}
    seen = SeenCategories()
    frames: list[nw.DataFrame[Any] | None] = []
    for sample, name in zip(samples, names, strict=True):
        if not is_frame(sample) or grouping(sample):
            frames.append(None)
            continue
        frames.append(frame := as_frame(sample, name))
        for column, kind in frame.schema.items():
            if kind in TEXT_TYPES and column not in kept and (columns is None or column in columns):
                seen.add_column(frame, column, name)
    categories = seen.sorted()
    coded = [
        sample if frame is None else coded_frame(frame, expanded(frame.columns, categories)).to_native()
        for sample, frame in zip(samples, frames, strict=True)
    ]
    return coded, categories


def two_coded(
    X: Any, Y: Any, categories: Coding, weights: Any = (), clusters: Any = None
) -> tuple[Any, Any, dict[str, tuple[str, ...]]]:
    """Return two samples with columns of 0 and 1 in the place of text, and the categories."""
    check_coding(categories)
    apart = [clusters, *(weights if isinstance(weights, tuple | list) else ())]
    (X, Y), known = coded_samples((X, Y), ("X", "Y"), apart)
    return X, Y, known


def coded_frame(frame: nw.DataFrame[Any], names: Sequence[str]) -> nw.DataFrame[Any]:
    """Return these columns of a frame; those that it has not are columns of 0 and 1, with gaps for missing values."""
    known = set(frame.columns)
    parts: list[Any] = []
    for name in names:
        place = None if name in known else split_name(name, frame.columns)
        if place is None:
            parts.append(nw.col(name))
            continue
        text = nw.col(place[0]).cast(nw.String)
        is_category = nw.when(text == place[1]).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
        parts.append(nw.when(~text.is_null()).then(is_category).otherwise(nw.lit(None, nw.Float64)).alias(name))
    return frame.select(parts)


def one_hot(*samples: Any, columns: Sequence[str] | None = None) -> Any:
    """Return frames whose columns of text are columns of 0 and 1, one for each category, the same ones in all frames.

    The column ``colour=red`` is 1 where ``colour`` is red. Of two categories one column tells all. A missing value is
    missing in all columns of its categories.

    Parameters
    ----------
    *samples : frame
        pandas, polars or pyarrow; the same categories are taken for all of them.
    columns : sequence of str, optional
        The names that the columns must get, in this order, such as ``sketch.columns`` of another site. By default all
        columns are kept, and every column of text gets the categories that any of the frames has.

    Returns
    -------
    frame, or list of frames
        One for each sample.

    Examples
    --------
    >>> import pandas as pd
    >>> import uptonoise as un
    >>> X = pd.DataFrame({"x": [0.5, 1.5], "colour": ["red", "blue"]})
    >>> Y = pd.DataFrame({"x": [2.5, 3.5], "colour": ["red", "green"]})
    >>> X, Y = un.one_hot(X, Y)
    >>> list(X.columns), X["colour=red"].tolist()
    (['x', 'colour=blue', 'colour=green', 'colour=red'], [1.0, 0.0])
    """
    if not samples:
        raise ValueError("samples must be at least one frame; got none")
    names = [f"sample {number + 1}" for number in range(len(samples))]
    for sample, name in zip(samples, names, strict=True):
        if not is_frame(sample) or grouping(sample):
            raise ValueError(f"{name} must be a frame of pandas, polars or pyarrow; got a {type(sample).__name__}")
    if columns is None:
        coded = coded_samples(samples, names)[0]
    else:
        wanted = [checked_text(column, "columns") for column in checked_columns(columns, "columns")]
        coded = [_coded_like(as_frame(sample, name), name, wanted) for sample, name in zip(samples, names, strict=True)]
    return coded[0] if len(coded) == 1 else coded


def _coded_like(frame: nw.DataFrame[Any], name: str, columns: Sequence[str]) -> Any:
    places = {column: split_name(column, frame.columns) for column in columns if column not in frame.columns}
    unknown = [column for column, place in places.items() if place is None]
    if unknown:
        raise ValueError(f"{name} has no column for {unknown[0]!r}; its columns are {list(frame.columns)[:20]}")
    seen = SeenCategories()
    for column in dict.fromkeys(place[0] for place in places.values() if place):
        seen.add_column(frame, column, name)
    check_known(seen.sorted(), columns, name)
    return coded_frame(frame, columns).to_native()


def check_known(categories: Mapping[str, Sequence[str]], columns: Sequence[str], name: str) -> None:
    """Raise where a sample has categories for which there is no column of 0 and 1.

    One column alone is that of two categories, so that a second category is known.
    """
    for column, seen in categories.items():
        told = [place[1] for place in (split_name(name, [column]) for name in columns) if place is not None]
        unknown = [category for category in seen if category not in told]
        if len(unknown) > (1 if len(told) == 1 else 0):
            raise ValueError(
                f"{name}: the column {column!r} has the category {unknown[0]!r}, for which there is no column; there "
                f"are {', '.join(told)}. Both samples need the same categories"
            )
