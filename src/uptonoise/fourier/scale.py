"""The length scale of data: the median distance between rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_flag, positive_int
from uptonoise.fourier.distances import middle_distances, squared_distances_of_pairs
from uptonoise.rows import RowSource, aligned, as_rows, refuse_one_iterator_twice, sample_rows


def median_scale(
    *samples: Any, per_column: bool = False, max_rows: int = 1_000, random_state: RandomState = 0
) -> float | Floats:
    """Return the length scale of the data by the median heuristic: sqrt(median squared distance / 2).

    Parameters
    ----------
    *samples : array, frame, Bags, or RowSource
        One sample, several (their rows are taken together), or bags.
    per_column : bool
        One length for each column instead of one for all.
    max_rows : int
        The maximum number of rows that are sampled; 1,000 give the median to a few percent.
    random_state : None, int, Generator or RandomState
        The seed of that sample. It is fixed by default, so that the same data have the same scale.

    Returns
    -------
    float, or array of shape (d,)
        Where more than half of the distances are 0, because most rows are equal, the median is of the others. A
        constant column among others gets 1.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> X = np.random.default_rng(0).normal(size=(5_000, 1))
    >>> print(f"{un.median_scale(X):.1f} {un.median_scale(10 * X, 10 * X + 1):.0f}")
    0.7 7
    """
    if not samples:
        raise ValueError("samples must be at least one sample; got none")
    refuse_one_iterator_twice(samples, "samples")
    names = sample_names(samples)
    sources = [as_rows(sample, name=name) for sample, name in zip(samples, names, strict=True)]
    sources = [aligned(source, sources[0]) for source in sources]
    n_rows = positive_int(max_rows, "max_rows")
    if n_rows < 2:
        raise ValueError(f"max_rows must be at least 2; got {max_rows}")
    rows = sample_rows(sources, n_rows, as_generator(random_state))
    if len(rows) < 2:
        raise ValueError(f"{names[0]} must have at least 2 rows for a distance between them; got {len(rows)}")
    if not checked_flag(per_column, "per_column"):
        return _median_length(_with_rare_rows(sources, rows, slice(None)))
    columns = [_with_rare_rows(sources, rows, [column]) for column in range(rows.shape[1])]
    if all((column == column[0]).all() for column in columns):
        raise _no_scale(names[0])
    return np.array([_median_length(column) if (column != column[0]).any() else 1.0 for column in columns])


def sample_names(samples: tuple[Any, ...]) -> list[str]:
    """Return how messages call samples that came as one argument or several."""
    return ["X"] if len(samples) == 1 else [f"samples[{number}]" for number in range(len(samples))]


def _with_rare_rows(sources: list[RowSource], rows: Floats, columns: Any) -> Floats:
    """Return these columns of the rows; where all sampled rows are equal, with the first rows that differ."""
    picked = rows[:, columns]
    if (picked != picked[0]).any() or not all(source.can_be_read_again for source in sources):
        return picked
    others = [picked[:1]]
    for source in sources:
        for block in source.blocks(65_536):
            values = block.values[:, columns]
            others.append(values[(values != picked[0]).any(axis=1)][: len(rows)])
            if sum(map(len, others)) > len(rows):
                return np.concatenate(others)
    return np.concatenate(others)


def _median_length(rows: Floats) -> float:
    """Return sqrt(median squared distance / 2) of rows; where it is 0, that of rows that are not equal."""
    if not (rows != rows[0]).any():
        raise _no_scale("the samples")
    # In units of the range, the squares of huge and of tiny numbers stay inside float64.
    smallest = np.finfo(np.float64).smallest_subnormal
    unit = max(float((rows.max(axis=0) / 2 - rows.min(axis=0) / 2).max()), smallest)
    rows = rows / unit
    median = float(np.mean(middle_distances(rows[:, 0]) ** 2)) if rows.shape[1] == 1 else 0.0
    if median == 0:
        squares = squared_distances_of_pairs(rows)
        median = float(np.median(squares)) or float(np.median(squares[squares > 0]))
    return max(float(unit * np.sqrt(median / 2)), smallest)


def _no_scale(name: str) -> ValueError:
    return ValueError(f"all rows of {name} are equal, so there is no scale; give a length instead")
