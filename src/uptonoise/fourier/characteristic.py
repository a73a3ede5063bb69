"""The empirical characteristic function, phi(w) = mean_i exp(i w.x_i): of a sample, or of every bag.

The phase, phi/abs(phi), does not see additive symmetric noise with a positive characteristic function: that noise
multiplies phi by a positive number. Where abs(phi) is no larger than its own sampling error, the phase is noise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from uptonoise._util.typing import Complex, Floats, Precision
from uptonoise._util.warning import warn
from uptonoise._util.wording import counted, shown
from uptonoise.fourier.cosine_sine import CosineSine, as_complex
from uptonoise.fourier.docs import described
from uptonoise.fourier.frequencies import as_frequencies
from uptonoise.fourier.sums import BagSums, SampleSum
from uptonoise.rows import RowsByBag, as_rows

_TOLERATED_SHARE_IN_BAGS = 0.1


class UnreliablePhaseWarning(UserWarning):
    """The phase was taken where the characteristic function is no larger than its sampling error."""


@described
def ecf(X: Any, frequencies: Any, weights: Any = None, *, precision: Precision = "fast") -> Complex:
    """Return the empirical characteristic function, phi(w) = mean_i exp(i w.x_i).

    {of_sample}

    Examples
    --------
    The characteristic function of the standard normal distribution is exp(-w^2 / 2):

    >>> import numpy as np
    >>> import uptonoise as un
    >>> X = np.random.default_rng(0).normal(size=(100_000, 1))
    >>> phi = un.ecf(X, [[0.0], [1.0], [2.0]])
    >>> np.allclose(phi, np.exp([0, -1 / 2, -2]), atol=0.01)
    True
    """
    return characteristic_function(X, frequencies, weights, precision=precision).phi


@described
def phase(X: Any, frequencies: Any, weights: Any = None, *, precision: Precision = "fast") -> Complex:
    """Return the phase function phi/abs(phi), which Gaussian and similar noise does not change; 0 where phi is 0.

    Additive noise does not change it where the noise is independent, symmetric, and has a positive characteristic
    function: Gaussian, Laplace, Cauchy, Student t. Wide uniform noise can turn it round.

    It warns when abs(phi) is below its sampling error at some frequency of a sample (for bags, at more than a tenth of
    them): the phase there is noise.

    {of_sample}

    {examples}
    >>> X = rng.exponential(size=(100_000, 1))
    >>> noisy = X + rng.laplace(size=X.shape)
    >>> W = [[0.5], [1.0]]
    >>> np.allclose(un.ecf(X, W), un.ecf(noisy, W), atol=0.02)
    False
    >>> np.allclose(un.phase(X, W), un.phase(noisy, W), atol=0.02)
    True
    """
    characteristic = characteristic_function(X, frequencies, weights, precision=precision)
    warn_where_unreliable(characteristic, "X")
    return unit(characteristic.phi)


class Characteristic(NamedTuple):
    """The characteristic function of a sample (or of each bag), with the sum of the weights and of their squares."""

    phi: Complex
    weight: Floats
    weight_squares: Floats

    @property
    def effective_size(self) -> Floats:
        """The number of equally weighted rows with the same sampling error."""
        return np.asarray(self.weight**2 / self.weight_squares)

    @property
    def sampling_error(self) -> Floats:
        """The size of phi where there is only noise: 1/sqrt(n), n the effective number of rows."""
        return np.sqrt(self.weight_squares) / self.weight


def characteristic_function(
    X: Any, frequencies: Any, weights: Any = None, *, precision: Precision = "fast"
) -> Characteristic:
    """Return the characteristic function together with what its sampling error needs."""
    source = as_rows(X, weights=weights)
    ids: Any = source.bag_ids
    try:
        fitting = as_frequencies(frequencies, len(source.columns))
    except ValueError as error:
        if ids is None:
            raise
        read = f"{source.name} was read as {counted(len(ids), 'bag')} of {counted(len(source.columns), 'column')}"
        raise ValueError(f"{error}; {read}") from None
    features = CosineSine(fitting, precision, source.name)
    if ids is None:
        feature_sum, total, total_squares = source.fold(SampleSum(features)).total()
        if total == 0:
            raise ValueError(f"weights of {source.name} must not all be 0")
        return Characteristic(as_complex(feature_sum / total), np.asarray(total), np.asarray(total_squares))
    in_order = source if source.bags_in_order or source.is_remote else RowsByBag(source)
    sums = in_order.fold(BagSums(features, len(ids), source.bags_in_order))
    sums.trim(len(ids))  # a stream knows only now
    phi, weight = sums.phi_sums, sums.weight
    if (weight == 0).any():
        bag = ids[int(np.argmin(weight))]
        raise ValueError(f"weights of {source.name} must not all be 0 in a bag; they are in bag {shown(bag)}")
    parts = phi.view(np.float64)  # real and imaginary, which are divided faster than complex numbers
    parts /= weight[:, None]
    return Characteristic(phi, weight, sums.weight_squares)


def unit(phi: Complex, amplitude: Floats | None = None) -> Complex:
    """Return phi/abs(phi), and 0 where phi is 0; `amplitude` is abs(phi) for those who have it."""
    amplitude = np.abs(phi) if amplitude is None else amplitude
    return np.divide(phi, amplitude, out=np.zeros_like(phi), where=amplitude > 0)


def warn_where_unreliable(characteristic: Characteristic, name: str) -> None:
    """Warn when phi is below its sampling error: at any frequency of a sample, or at a tenth of those of bags.

    Features of many small bags always hold some unreliable phases, and a model can live with a few; a distance cannot.
    """
    # A single row has amplitude 1 and sampling error 1, up to rounding.
    unreliable = np.abs(characteristic.phi) < (1 - 1e-6) * characteristic.sampling_error[..., None]
    if unreliable.mean() <= (0 if unreliable.ndim == 1 else _TOLERATED_SHARE_IN_BAGS):
        return
    where = f"{unreliable.sum()} of {unreliable.size} frequencies" + (" of bags" if unreliable.ndim > 1 else "")
    warn(
        f"the phase of {name} is not reliable at {where}: abs(phi) is below its sampling error 1/sqrt(n) there. "
        "Use lower frequencies (a larger scale) or more rows",
        UnreliablePhaseWarning,
    )
