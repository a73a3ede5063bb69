"""A Gaussian kernel matrix as a product of two thin ones: K = F F', as far as its rank is small.

In one or two columns the kernel of thousands of rows has a rank of some dozens, up to rounding. A pivoted Cholesky
decomposition (Fine and Scheinberg 2001) takes the row with the largest error into F until no diagonal entry of
K - F F' is above the tolerance. That bounds every entry of it, since K - F F' is positive semi-definite.
"""

from __future__ import annotations

import numpy as np

from uptonoise._util.typing import Floats

_TOLERANCE = 1e-8  # of entries of the kernel, which are at most 1; other kernel matrices here are of float32
_MOST_COLUMNS = 2
_LEAST_SAVING = 12  # rows per column of F from which on the product with F is cheaper than that with K


def kernel_factor(rows: Floats) -> Floats | None:
    """Return F of shape (n_rows, rank) with F F' = exp(-|x - y|^2 / 2) for all pairs of rows; None where it is wide.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.paper.low_rank import kernel_factor
    >>> rows = np.random.default_rng(0).normal(size=(600, 1))
    >>> F = kernel_factor(rows)
    >>> bool(np.abs(F @ F.T - np.exp(-((rows - rows.T) ** 2) / 2)).max() < 1e-7), F.shape[1] < 40
    (True, True)
    """
    n_rows, d = rows.shape
    most = n_rows // _LEAST_SAVING
    if d > _MOST_COLUMNS:
        return None
    columns, errors = np.empty((most, n_rows)), np.ones(n_rows)
    for rank in range(most):
        pivot = int(errors.argmax())
        if errors[pivot] <= _TOLERANCE:
            return columns[:rank].T
        column = np.exp(-0.5 * np.sum((rows - rows[pivot]) ** 2, axis=1))
        column -= columns[:rank, pivot] @ columns[:rank]
        columns[rank] = column / np.sqrt(errors[pivot])
        errors -= columns[rank] ** 2
    return None
