"""What bent phases take off the mean and variance of T, at the second order of their errors.

S is the sine of an angle times both amplitudes, and its covariance is taken across a phase that both samples tell. So
where errors of phi are not small against phi, S^2 over its variance is smaller than 1 on average. With v_X and v_Y the
variances of both phases at a frequency, in radians squared, r the variance of rows along the phase over that across it,
and v = 4 v_X v_Y / (v_X + v_Y), it is 1 - v (3 + r)/4 on average, and its variance is smaller by 6 v. For T with the
inverse K of R + lam these are

    mean        sum over w of   v (3 + r)/4 (KR)_ww
    variance    sum over w of   3 v [(KR)_ww (RKR)_ww / R_ww + (KRKR)_ww]

Where phi is nothing but error this ends: there S^2 over its variance is a third on average, so no frequency takes off
more than two thirds of its mean, and eight ninths of its variance.

All arrays may have leading dimensions, one test each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.twosample.phase.pair import SampleMoments

ALL_ERROR = 1 / 3
"""The mean of S^2 over its estimated variance where phi is nothing but error."""

_MOST_ERROR = 10.0  # beyond which nothing changes any more
_TINY = np.finfo(np.float64).tiny


class Bending(NamedTuple):
    """What bent phases take off at each frequency, as shares of the mean and of half of the variance of S^2."""

    of_mean: Floats
    of_variance: Floats

    @classmethod
    def of(cls, left: SampleMoments, right: SampleMoments) -> Bending:
        """Return that of two samples at the same frequencies."""
        errors = []  # the variances of phi across its phase and along it, over its square
        for sample in (left, right):
            m, amplitudes = sample.phi.shape[-1], np.maximum(np.abs(sample.phi), _TINY)
            cosine, sine = sample.phi.real / amplitudes, sample.phi.imag / amplitudes
            variances, mixed = np.linalg.diagonal(sample.covariance), np.linalg.diagonal(sample.covariance[..., :m, m:])
            crossed = 2 * cosine * sine * mixed
            across = sine**2 * variances[..., :m] + cosine**2 * variances[..., m:] - crossed
            along = cosine**2 * variances[..., :m] + sine**2 * variances[..., m:] + crossed
            squares = np.maximum(sample.size[..., None] * amplitudes**2, _TINY)
            errors.append([np.minimum(np.maximum(part, 0.0) / squares, _MOST_ERROR) for part in (across, along)])
        (v_X, u_X), (v_Y, u_Y) = errors
        both = np.maximum(v_X + v_Y, _TINY)
        of_X, of_Y = v_X / both, v_Y / both
        v, v_r = 4 * of_X * v_Y, 4 * of_X * of_Y * (u_X + u_Y)
        return cls(np.minimum((3 * v + v_r) / 4, 1 - ALL_ERROR), np.minimum(3 * v, 1 - ALL_ERROR**2))
