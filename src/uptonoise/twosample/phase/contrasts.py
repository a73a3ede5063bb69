"""The skewness of each column: combinations of its frequencies that a shift hardly moves.

At low frequencies a shift of one sample by t turns the phase of a column by w t, and a difference of k in the third
cumulant by -k w^3/6. S turns by as much times both amplitudes a(w). So in each column the weights

    g(w) = a(w) (w^3 - b w)        b = sum a^2 w^4 / sum a^2 w^2

give a sum of S that a difference in skewness moves most, and a shift hardly at all. These sums, one per column, are far
fewer than the frequencies: what most signals differ in is tested without what the other directions add to the noise.

Where noise hides the signal, abs(phi) is error, and S is large where the weights are. So a frequency counts only where
both amplitudes are several times their sampling errors; a column without two of them has no such sum.
"""

from __future__ import annotations

import numpy as np

from uptonoise._util.typing import Floats

_TINY = np.finfo(np.float64).tiny


def skewness_contrasts(frequencies: Floats, amplitudes: Floats) -> Floats:
    """Return weights of S, one column each for the columns with two frequencies of their own or more.

    Parameters
    ----------
    frequencies : array of shape (m, d)
        Frequencies, those on one column among them.
    amplitudes : array of shape (..., m)
        The products of both samples' amplitudes; 0 where one is not heard.

    Returns
    -------
    array of shape (..., m, q)

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.twosample.phase.contrasts import skewness_contrasts
    >>> w = np.array([[0.2], [0.4], [0.6]])
    >>> g = skewness_contrasts(w, np.ones(3))
    >>> float(abs(g[:, 0] @ w[:, 0]).round(12)), bool(g[:, 0] @ w[:, 0] ** 3 > 0)
    (0.0, True)
    """
    own = np.where(np.count_nonzero(frequencies, axis=1)[:, None] == 1, frequencies, 0.0)
    own = own[:, np.count_nonzero(own, axis=0) > 1]
    w = own / np.maximum(np.abs(own).max(axis=0), _TINY)
    a = amplitudes[..., None] / np.maximum(amplitudes.max(axis=-1)[..., None, None], _TINY)
    of_shift, of_skewness = a * w, a * w**3
    length = np.maximum(np.sum(of_shift**2, axis=-2, keepdims=True), _TINY)
    return np.asarray(of_skewness - of_shift * (np.sum(of_shift * of_skewness, axis=-2, keepdims=True) / length))
