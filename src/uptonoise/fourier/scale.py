"""The length scale of data: the median distance between rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_flag, positive_int
from uptonoise.fourier.lengths import middle_distances
from uptonoise.rows import aligned, as_rows, same_iterator, sample_rows

_FEW_COLUMNS = 16
_AT_ONCE = 65_536  # rows in which others are looked for, where all that were sampled are equal


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
    iterators = [id(sample) for sample in samples if isinstance(sample, Iterator)]
    if len(set(iterators)) < len(iterators):
        raise same_iterator("samples")
    names = ["X"] if len(samples) == 1 else [f"samples[{number}]" for number in range(len(samples))]
    sources = [as_rows(sample, name=name) for sample, name in zip(samples, names, strict=True)]
    sources = [aligned(source, sources[0]) for source in sources]
    n_rows = positive_int(max_rows, "max_rows")
    if n_rows < 2:
        raise ValueError(f"max_rows must be at least 2; got {max_rows}")
    rows = sample_rows(sources, n_rows, seeded_generator(random_state)[0])
    if len(rows) < 2:
        raise ValueError(f"{names[0]} must have at least 2 rows for a distance between them; got {len(rows)}")
    checked_flag(per_column, "per_column")
    columns: list[Any] = [[column] for column in range(rows.shape[1])] if per_column else [slice(None)]
    again = sources if all(source.can_be_read_again for source in sources) else []
    lengths = []
    for some in columns:
        of_samples = (block.values[:, some] for source in again for block in source.blocks(_AT_ONCE))
        lengths.append(median_length(rows[:, some], of_samples))
    if np.isnan(lengths).all():
        name = names[0] if per_column else "the samples"
        raise ValueError(f"all rows of {name} are equal, so there is no scale; give a length instead")
    return np.where(np.isnan(lengths), 1.0, lengths) if per_column else float(lengths[0])


def median_length(rows: Floats, samples: Iterable[Floats]) -> float:
    """Return sqrt(median squared distance / 2) of rows that were taken from samples; NaN where all rows are equal.

    Where all rows that were taken are equal, the first rows of the samples that differ join them. Where the median is
    0, it is that of rows that are not equal.
    """
    if (rows == rows[0]).all():
        found = [rows[:1]]
        for values in (sample[at : at + _AT_ONCE] for sample in samples for at in range(0, len(sample), _AT_ONCE)):
            found.append(values[(values != rows[0]).any(axis=1)][: len(rows)])
            if sum(map(len, found)) > len(rows):
                break
        rows = np.concatenate(found)
    if (rows == rows[0]).all():
        return np.nan
    # In units of the range, the squares of huge and of tiny numbers stay inside float64.
    smallest = np.finfo(np.float64).smallest_subnormal
    unit = max(float((rows.max(axis=0) / 2 - rows.min(axis=0) / 2).max()), smallest)
    rows = rows / unit
    median = float(np.mean(middle_distances(rows[:, 0]) ** 2)) if rows.shape[1] == 1 else 0.0
    if median == 0:
        if rows.shape[1] > _FEW_COLUMNS:
            squares = scipy.spatial.distance.pdist(rows, "sqeuclidean")
        else:  # the same to the last bit, without scipy.spatial, which takes longer to load than this
            of_columns = np.ascontiguousarray(rows.T)
            squares, at = np.empty(len(rows) * (len(rows) - 1) // 2), 0
            for first in range(len(rows) - 1):
                differences = of_columns[:, first + 1 :] - of_columns[:, first : first + 1]
                differences *= differences
                differences.sum(axis=0, out=squares[at : at + differences.shape[1]])
                at += differences.shape[1]
        median = float(np.median(squares)) or float(np.median(squares[squares > 0]))
    return max(float(unit * np.sqrt(median / 2)), smallest)
