"""Samples in an order that only their values decide: neither the order of rows, columns or samples nor units matter.

Tests that sample random numbers assign them to rows, columns and samples by their places. On samples in this order the
same numbers always fall to the same rows, so that a test gives the same answer however the samples were handed over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.fourier import lengths_and_order
from uptonoise.twosample.samples import Samples

_DIGITS = 9  # that rounding does not change


class Canonical(NamedTuple):
    """Samples in their own order, and the way back.

    Of values by column in the last axis, ``values.take(places, axis=-1) * units`` are in the order and the units that
    the columns came in.
    """

    samples: Samples
    is_swapped: bool
    places: NDArray[np.intp]  # of the columns, in the order that they came in
    units: Floats  # of the columns as they came, 1 where values were not divided


def canonical(samples: Samples, *, keep_columns: bool = False, keep_units: bool = True) -> Canonical:
    """Return samples of independent rows in their own order; those of clusters as they are.

    Parameters
    ----------
    samples : Samples
        The samples as they were handed over.
    keep_columns : bool
        Whether columns stay where they are, as where frequencies were given for them.
    keep_units : bool
        Whether values stay as they are; otherwise they are divided by the length of their column.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.canonical import canonical
    >>> from uptonoise.twosample.samples import Samples
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 5, 2))
    >>> first = canonical(Samples(X, Y, ("a", "b"))).samples
    >>> second = canonical(Samples(1_000 * Y[::-1, ::-1], 1_000 * X[:, ::-1], ("b", "a"))).samples
    >>> np.allclose(1_000 * first.X, second.X)
    True
    """
    d = len(samples.columns)
    if samples.clusters is not None:
        return Canonical(samples, False, np.arange(d), np.ones(d))
    # The keys are computed in this machine's memory; a tensor itself stays where it is.
    values: list[Floats] = [
        rows if isinstance(rows, np.ndarray) else np.asarray(rows.cpu().numpy(), dtype=np.float64)
        for rows in (samples.X, samples.Y)
    ]
    lengths, order = lengths_and_order(values)
    if keep_columns:
        order = np.arange(d)
    # Sums and differences of rows may be equal up to rounding, which units change.
    rounded = [np.round(rows / lengths, _DIGITS) for rows in values]
    # The sort keys of rows: sums over columns of powers of their ranks among all rows.
    pooled = np.concatenate(rounded)
    sums = np.zeros((len(pooled), 2))
    for column in pooled.T:
        _, ranks = np.unique(column, return_inverse=True)
        share = (ranks + 1) / (ranks.max() + 1)
        sums += np.stack([share**3, share], axis=1)
    keys = np.split(np.round(sums, _DIGITS), [len(rounded[0])])
    # Rows with the same keys, such as (1, 2) and (2, 1) among whole numbers, are sorted by their columns.
    places = [
        np.lexsort((*rows[:, order[::-1]].T, *of_sample.T)) for rows, of_sample in zip(rounded, keys, strict=True)
    ]
    X, Y = (rows[at][:, order] for rows, at in zip((samples.X, samples.Y), places, strict=True))
    units = np.ones(d)
    if not keep_units:
        units, X, Y = lengths, X / lengths[order], Y / lengths[order]
    # X is the second sample where it is the larger one, or, of two equally large ones, that with the larger ranks.
    means = [np.round(of_sample.mean(axis=0), _DIGITS).tolist() for of_sample in keys]
    is_swapped = (samples.sizes[0], means[0]) > (samples.sizes[1], means[1])
    columns = tuple(samples.columns[place] for place in order)
    ordered = Samples(Y, X, columns) if is_swapped else Samples(X, Y, columns)
    return Canonical(ordered, is_swapped, np.argsort(order), units)
