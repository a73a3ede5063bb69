"""Where tests up to noise look: frequencies on single columns, on pairs of columns, and on all of them.

Dense directions die in high dimension: abs(phi) is a product over columns, and a dense unit vector gives each column
too little frequency to show its skewness. Frequencies on one column see its margin whatever the other columns do;
frequencies on two and on all columns see dependence.
"""

from __future__ import annotations

import numpy as np

from uptonoise.rows import Floats

_RADII = (0.3, 0.6, 1.0)


def column_frequencies(lengths: Floats, radii: tuple[float, ...] = _RADII) -> Floats:
    """Return every radius on every column, in units of one over the column's length.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.designs import column_frequencies
    >>> column_frequencies(np.array([1.0, 10.0]), radii=(0.5,))
    array([[0.5 , 0.  ],
           [0.  , 0.05]])
    """
    return np.concatenate([radius * np.diag(1 / lengths) for radius in radii])


def joint_frequencies(n_frequencies: int, lengths: Floats, generator: np.random.Generator) -> Floats:
    """Draw frequencies on two random columns and on all columns in turn, with folded normal radii.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.designs import joint_frequencies
    >>> np.count_nonzero(joint_frequencies(4, np.ones(5), np.random.default_rng(0)), axis=1)
    array([2, 5, 2, 5])
    """
    d = len(lengths)
    directions = generator.standard_normal((n_frequencies, d))
    for row in range(0, n_frequencies, 2):
        outside = generator.permutation(d)[2:]
        directions[row, outside] = 0
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = np.abs(generator.standard_normal((n_frequencies, 1)))
    return radii * directions / lengths
