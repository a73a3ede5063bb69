"""Samples of rows from one source or from several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.rows.keys import smallest
from uptonoise.rows.source import RowSource


def sample_rows(sources: Sequence[RowSource], n_rows: int, generator: np.random.Generator) -> Floats:
    """Return the values of at most `n_rows` rows, sampled without replacement from all sources together.

    If the number of rows is known beforehand, only the chosen rows are read. Otherwise, one pass keeps the best so far.
    The choice is the same.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.rows import as_rows, sample_rows
    >>> X = np.arange(100.0)
    >>> known = sample_rows([as_rows(X)], 3, np.random.default_rng(0))
    >>> streamed = sample_rows([as_rows(iter([X[:40], X[40:]]))], 3, np.random.default_rng(0))
    >>> np.array_equal(known, streamed)
    True
    """
    samples = [source.sampled(n_rows, generator) for source in sources]
    keys, values = (np.concatenate(fields) for fields in zip(*samples, strict=True))
    kept = smallest(keys, n_rows)
    with_weight = kept[np.isfinite(keys[kept])]
    return values[with_weight if len(with_weight) else kept]


def some_rows(source: RowSource, n_rows: int, generator: np.random.Generator) -> Floats:
    """Return a few rows to look at before a pass over all: a random sample, or the first rows of what is read once."""
    return sample_rows([source], n_rows, generator) if source.can_be_read_again else source.head(n_rows)
