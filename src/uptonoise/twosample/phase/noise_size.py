"""How much noisier one sample is than another, column by column, from the amplitudes of characteristic functions.

Phases are free of noise; amplitudes are where it goes. Where the signals agree and the noise is Gaussian, of variance
sigma_X^2 and sigma_Y^2 in a column, at a frequency w on that column alone

    L(w) = log|phi_X|^2 - log|phi_Y|^2 = -w^2 (sigma_X^2 - sigma_Y^2)

which is a line in w^2 through 0, whatever the signal and wherever the samples lie. With u = (n |phi|^2 - 1) / (n - 1),
which has the mean |phi|^2 over samples of n rows, C the covariance of [cos, sin] over rows, J = [2 c/u, 2 s/u], and the
squares of C taken one by one and added up over the four pairs of a cosine or sine at one frequency and at another,

    log|phi|^2 = log u + v/2        Cov = J C J' / n + 2 C^2 / (n^2 u u')        v = diag Cov

where v/2 is what the logarithm costs the mean; the second part of Cov counts where the first vanishes, as for rows that
take two values. The slope is one of generalised least squares with a ridge, and its variance that of a sandwich: with
x = -w^2, the two samples' Cov added up to D R D with correlations R, and k frequencies,

    g = D^-1 (R + lam k)^-1 D^-1 x        slope = g'L / g'x        variance = g' D R D g / (g'x)^2

A large ridge costs little precision, and keeps weights that come from the data from choosing what chance made of them.
For the same reason only frequencies take part where the errors of both logarithms are small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from uptonoise._util.random import RandomState
from uptonoise._util.results import Result
from uptonoise._util.threads import single_threaded_blas
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_number
from uptonoise.twosample.docs import explained
from uptonoise.twosample.phase.offset import fitted_shift, why_no_shift
from uptonoise.twosample.phase.pair import Pair, SampleMoments, as_sketches
from uptonoise.twosample.phase.test import phase_pvalue

NEEDS_SINGLE_COLUMNS = "the frequencies must include some on a single column, as those of Sketch.for_samples do"
_LARGEST_ERROR = 0.2  # of log|phi|^2 at a frequency that takes part
_RIDGE = 0.3  # over the number of frequencies
_ROUNDING = 1e-6  # of log|phi|^2: cosines and sines are good to 1e-7
_SHOWN = 10


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ExtraNoise(Result):
    """How much noisier X is than Y: the outcome of :func:`extra_noise`.

    Attributes
    ----------
    variances : array of shape (d,)
        The variance of the noise of X less that of the noise of Y, in each column; negative where Y is noisier.
    standard_errors : array of shape (d,)
        Their standard errors. Infinite, and the variance 0, where the rows say nothing about a column: at none of its
        frequencies are both amplitudes well above their sampling error. 0 where a column is constant in both samples.
    columns : tuple of str
        The names of the columns.
    sizes : tuple of int
        The numbers of rows of X and Y.
    freedom : float
        Degrees of freedom of the standard errors: the effective number of clusters of the sample that has fewer, less
        one; infinite where rows are independent.
    phase_pvalue : float or None
        Whether the signals agree, up to noise and a shift: the p-value of :func:`phase_test`. Where it is small, the
        amplitudes differ for more than noise. None where there are too few rows or frequencies for it.
    """

    variances: Floats
    standard_errors: Floats
    columns: tuple[str, ...]
    sizes: tuple[int, int]
    phase_pvalue: float | None
    freedom: float = math.inf

    def interval(self, level: float = 0.95) -> Floats:
        """Return the confidence interval of each column's variance, of shape (d, 2); by Student's t for clusters.

        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> X, Y = np.random.default_rng(0).normal(size=(2, 1_000))
        >>> low, high = un.extra_noise(X, Y).interval(0.99)[0]
        >>> bool(low < 0 < high)
        True
        """
        checked_number(level, "level", above=True, most=1.0)
        probability = (1 + level) / 2
        quantile = ndtri(probability) if math.isinf(self.freedom) else stdtrit(self.freedom, probability)
        reach = float(quantile) * self.standard_errors
        return np.stack([self.variances - reach, self.variances + reach], axis=1)

    def __repr__(self) -> str:
        lines = ["Variance of the noise of X less that of Y, with standard errors"]
        lines += [f"  {self._column_text(column)}" for column in range(min(len(self.columns), _SHOWN))]
        if len(self.columns) > _SHOWN:
            lines.append(f"  ... and {len(self.columns) - _SHOWN} more columns")
        lines.append(f"  X has {self.sizes[0]:,} rows, Y has {self.sizes[1]:,}")
        if self.phase_pvalue is not None and self.phase_pvalue <= 0.05:
            lines.append(f"  the signals differ too (phase test: p = {self.phase_pvalue:.2g}): do not read it as noise")
        return "\n".join(lines)

    def _column_text(self, column: int) -> str:
        name, variance, error = self.columns[column], self.variances[column], self.standard_errors[column]
        if np.isinf(error):
            return f"{name}: unknown, no frequency is reliable"
        low, high = self.interval()[column]
        noisier = "neither is clearly noisier"
        if error > 0 and (low > 0 or high < 0):
            noisier = "X is noisier" if low > 0 else "Y is noisier"
        digits = f".{1 - math.floor(math.log10(error))}f" if 1e-4 < error < 10 else ".3g"  # two digits of the error
        return f"{name}: {variance:+{digits}} +- {error:{digits}}, {noisier}"


@explained
def extra_noise(
    X: Any,
    Y: Any,
    *,
    weights: tuple[Any, Any] = (None, None),
    clusters: Any = None,
    frequencies: Any = None,
    random_state: RandomState = 0,
) -> ExtraNoise:
    """Estimate how much noisier X is than Y in each column, as a variance with its standard error.

    It compares amplitudes, so the samples may lie in different places. It assumes that the signals agree, which the
    phase test can check, and that the noise is Gaussian and independent of the signal. For other noise the result is
    the variance of the Gaussian noise that damps the characteristic function most alike: less than the variance where
    tails are heavy, and a finite number where there is no variance.

    Parameters
    ----------
    X, Y : array, tensor, frame, iterator of these, RowSource, or Sketch
        The two samples; or two sketches with the same frequencies, as :meth:`Sketch.for_samples
        <uptonoise.Sketch.for_samples>` and :meth:`Sketch.like <uptonoise.Sketch.like>` make them. Only frequencies on
        a single column are used.
    weights : pair of arrays or str, optional
        Weights for the rows of X and of Y, or the names of the columns that hold them.
    clusters : pair of arrays, or str, optional
        Which rows belong together, as for :func:`phase_test`.
    frequencies : array of shape (m, d), optional
        Frequencies in place of those of the phase test; two sketches bring theirs.
    random_state : None, int, Generator or RandomState
        The seed of the frequencies.

    Returns
    -------
    ExtraNoise

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(2)
    >>> X, Y = rng.exponential(size=(2, 2_000, 2))
    >>> X[:, 0] += rng.normal(scale=0.7, size=2_000)
    >>> un.extra_noise(X, Y)
    Variance of the noise of X less that of Y, with standard errors
      x0: +0.45... +- 0.0..., X is noisier
      x1: -0.00... +- 0.0..., neither is clearly noisier
      X has 2,000 rows, Y has 2,000
    """
    left, right, _ = as_sketches(X, Y, weights, frequencies, random_state, clusters)
    with single_threaded_blas():  # for matrices as small as these more threads only wait for each other
        signals_agree = phase_pvalue(fitted_shift(left, right)) if why_no_shift(left, right) is None else None
        return noise_difference(Pair.of(left, right), signals_agree)


def noise_difference(pair: Pair, signals_agree: float | None) -> ExtraNoise:
    """Return the extra noise of a pair, beside the p-value of the phases up to a shift where it is known."""
    place, d = pair.blocks.largest, pair.X.n_columns
    there = pair.X.frequencies != 0
    on_columns = there & (there.sum(axis=1) == 1)[:, None]  # which lie on a single column, and on which one
    if not on_columns.any():
        raise ValueError(NEEDS_SINGLE_COLUMNS)
    frequencies = pair.X.frequencies[place]
    (log_X, cov_X), (log_Y, cov_Y) = (_log_amplitudes(sample.at(place)) for sample in (pair.left, pair.right))
    largest = np.maximum(np.diag(cov_X), np.diag(cov_Y))
    used = on_columns[place] & (largest < _LARGEST_ERROR**2)[:, None]
    slopes, errors = np.zeros(d), np.full(d, np.inf)
    for column in np.flatnonzero(used.any(axis=0)):
        own = used[:, column]
        x, covariance = -(frequencies[own, column] ** 2), (cov_X + cov_Y)[np.ix_(own, own)]
        sd = np.sqrt(np.maximum(np.diag(covariance), _ROUNDING**2))
        correlations = covariance / np.outer(sd, sd)
        factors = np.linalg.solve(correlations + _RIDGE * len(x) * np.eye(len(x)), x / sd) / sd
        factors /= factors @ x
        slopes[column] = factors @ (log_X - log_Y)[own]
        errors[column] = math.sqrt(max(float(factors @ covariance @ factors), 0.0))
    slopes[errors == 0] = 0.0  # what rounding leaves of columns that are constant in both
    return ExtraNoise(
        variances=slopes,
        standard_errors=errors,
        columns=pair.columns,
        sizes=pair.sizes,
        phase_pvalue=signals_agree,
        freedom=max(1.0, min(pair.X.effective_size, pair.Y.effective_size) - 1) if pair.is_clustered else math.inf,
    )


def _log_amplitudes(sample: SampleMoments) -> tuple[Floats, Floats]:
    """Return log|phi|^2 without its bias, and the covariance of its errors."""
    m, n = len(sample.phi), sample.size
    squares = np.maximum(sample.squared_amplitudes, 1e-9)  # the error of such a frequency keeps it from taking part
    C = sample.covariance**2
    second = (C[:m, :m] + C[:m, m:] + C[m:, :m] + C[m:, m:]) / np.outer(squares, squares)
    covariance = sample.projected(2 * sample.phi.real / squares, 2 * sample.phi.imag / squares) / n + 2 * second / n**2
    return np.log(squares) + np.diag(covariance) / 2, covariance
