"""Samples of rows from one source or from several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.rows.block import Block
from uptonoise.rows.keys import keyed_rows
from uptonoise.rows.source import RowSource

SCALE_ROWS = 200
"""How many rows of a sample are enough for its scale."""

_FIRST_NUMBERS = 2**22  # numbers that are held of what can be read only once, for its scale


def sample_rows(sources: Sequence[RowSource], n_rows: int, generator: np.random.Generator) -> Floats:
    """Return the values of at most `n_rows` rows, sampled without replacement from all sources together.

    If the number of rows is known beforehand, only the chosen rows are read. Otherwise, one pass keeps the best so far.
    The choice is the same.
    """
    samples = [source.sampled(n_rows, generator) for source in sources]
    keys, values = (np.concatenate(fields) for fields in zip(*samples, strict=True))
    kept = np.sort(np.argsort(keys)[:n_rows])  # the smallest keys of all samples, in the order of the rows
    with_weight = kept[np.isfinite(keys[kept])]
    return values[with_weight if len(with_weight) else kept]


def some_rows(source: RowSource, n_rows: int, generator: np.random.Generator) -> Floats:
    """Return a few rows to look at before a pass over all: at random; of what is read once, from its first part."""
    if source.can_be_read_again:
        return sample_rows([source], n_rows, generator)
    first = source.checked(Block(source.first_part(max(n_rows, _FIRST_NUMBERS // len(source.columns)))))
    if source.weights is not None:
        first = first._replace(weights=source.weights[: len(first.values)])
    return keyed_rows([first], len(source.columns), n_rows, generator)[1]
