"""Noise without rows: what noise in the data would make of characteristic functions.

Noise with the characteristic function g multiplies that of a bag of N rows by g(w) > 0, and adds an error, since each
row's wave is turned by its own noise. For Gaussian noise with variances z, one for each column, at the frequency w

    phi'  =  g phi + e        g = exp(-sum_j z_j w_j^2 / 2)

where e has a variance of (1 - g^2)/N. The errors at frequencies near each other are alike, and a model that takes them
for independent trusts in sums that do not help. So they are drawn as they arise: from a few rows x of any bag with
noise d of their own,

    e  =  sqrt(K/N) (mean_K exp(i w (x + d)) - g mean_K exp(i w x))        K = 16

So bags with any noise cost a few rows each, however many they have, and a model can be fitted against noise that its
bags do not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.bags import BagRows, Bags
from uptonoise.fourier import Characteristic, characteristic_function

_CHUNK_ROWS = 65_536
VIRTUAL_ROWS = 16
_CHUNK_BAGS = 4_096


def pooled_variances(bags: Bags) -> Floats:
    """Return the variance of each column over the rows of all bags.

    Examples
    --------
    >>> import uptonoise as un
    >>> from uptonoise.learning.augmentation import pooled_variances
    >>> pooled_variances(un.Bags([[[0.0, 1.0]], [[2.0, 1.0]]]))
    array([1., 0.])
    """
    centre = np.asarray(bags.values[0], dtype=np.float64)
    total, squares = np.zeros(bags.n_columns), np.zeros(bags.n_columns)
    for block in BagRows(bags).blocks(_CHUNK_ROWS):
        moved = block.values - centre
        total += moved.sum(axis=0)
        squares += (moved**2).sum(axis=0)
    n_rows = len(bags.values)
    return np.asarray(np.maximum(squares / n_rows - (total / n_rows) ** 2, 0.0))


def with_noise(
    found: Characteristic,
    frequencies: Floats,
    rows: NDArray[np.floating],
    variances: Floats,
    levels: Floats,
    generator: np.random.Generator,
) -> Characteristic:
    """Return the characteristic functions of bags with Gaussian noise, of another variance in each bag and column.

    Parameters
    ----------
    found : Characteristic
        That of the bags, of shape (n, m).
    frequencies : array of shape (m, d)
        Where.
    rows : array of shape (k, d)
        Rows of any bags, among which those are drawn that errors are made of.
    variances : array of shape (d,)
        The variance of the columns, by which noise is measured.
    levels : array of shape (n,)
        The noise level of each bag: each column's noise has a variance between 0 and this times that of the column.
    generator : numpy Generator
        Where noise is drawn from.

    Returns
    -------
    Characteristic

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.learning.augmentation import with_noise
    >>> from uptonoise.fourier import characteristic_function
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.exponential(size=(100_000, 1))
    >>> clean = characteristic_function(rows[None], [[1.0]])
    >>> noisy = with_noise(clean, np.array([[1.0]]), rows, np.ones(1), np.ones(1), rng)
    >>> turned = noisy.phi / clean.phi
    >>> bool(0.5 < turned[0, 0].real < 1), bool(abs(turned[0, 0].imag) < 0.02)
    (True, True)
    """
    n_bags, n_columns = len(found.phi), frequencies.shape[1]
    noise = generator.random((n_bags, n_columns)) * levels[:, None] * variances
    damping = np.exp(-0.5 * noise @ np.asarray(frequencies).T ** 2)
    phi = damping * found.phi
    for start in range(0, n_bags, _CHUNK_BAGS):
        part = slice(start, start + _CHUNK_BAGS)
        scales = np.sqrt(noise[part])[:, None]
        drawn = rows[generator.integers(len(rows), size=(len(scales), VIRTUAL_ROWS))]
        turned = characteristic_function(drawn + scales * generator.standard_normal(drawn.shape), frequencies).phi
        errors = turned - damping[part] * characteristic_function(drawn, frequencies).phi
        phi[part] += np.sqrt(VIRTUAL_ROWS / found.effective_size[part, None]) * errors
    return found._replace(phi=phi)


def means_with_noise(
    means: Floats, sizes: Floats, variances: Floats, levels: Floats, generator: np.random.Generator
) -> Floats:
    """Return what the same noise makes of the means of bags, of shape (n, d).

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.learning.augmentation import means_with_noise
    >>> means, sizes, variances, levels = np.zeros((1, 2)), np.array([4.0]), np.array([1.0, 0.0]), np.ones(1)
    >>> noisy = means_with_noise(means, sizes, variances, levels, np.random.default_rng(0))
    >>> bool(noisy[0, 0] != 0), float(noisy[0, 1])
    (True, 0.0)
    """
    noise = generator.random(means.shape) * levels[:, None] * variances
    return np.asarray(means + np.sqrt(noise / sizes[:, None]) * generator.standard_normal(means.shape))


def checked_levels(name: str, levels: Any) -> tuple[float, ...]:
    """Return noise levels, one or several, that are not negative."""
    given = levels if isinstance(levels, Sequence | np.ndarray) and not isinstance(levels, str) else (levels,)
    is_level = [isinstance(one, Real) and not isinstance(one, bool) and 0 <= float(one) < np.inf for one in given]
    if not given or not all(is_level):
        raise ValueError(f"{name} must be a noise level that is not negative, or several of them; got {levels!r}")
    return tuple(float(one) for one in given)


def checked_target(target: Any, highest: float) -> tuple[float, float]:
    """Return the range of noise levels to do well at; from 0 to `highest` where none is given."""
    wanted = (0.0, highest) if target is None else checked_levels("noise_target", target)
    if len(wanted) != 2 or wanted[0] > wanted[1]:
        raise ValueError(f"noise_target must be a range of noise levels, the smaller one first; got {target!r}")
    return wanted[0], wanted[1]


def check_no_target(target: Any) -> None:
    """Raise where a target is given and no noise to fit against."""
    if target is not None:
        raise ValueError("noise_target has no meaning without noise_augmentation; give both or none")
