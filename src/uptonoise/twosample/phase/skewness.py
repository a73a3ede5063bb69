"""What skewed rows add to the mean and variance of T, at the second order.

With u_i what row i adds to z, so that z = sum u_i, an error of the covariance of z comes with z itself where third
moments are not 0: the covariance of z_a and of the estimate of H_bc is K_abc = sum E(u_a u_b u_c). Under the null
hypothesis z is Gaussian with the covariance H, and T = z'(I + E)^-1 z with E the error of H. Expanded in E up to its
square, with all that third moments contribute, T has in units of the pairs t_ij = u_i'u_j and s_ij = u_i'H u_j

    mean        sum over i, j of        t_ij^3 + t_ii t_jj t_ij
    variance    sum over i, j of   16 t_ij^2 s_ij + 4 t_ii t_jj s_ij + 12 t_ii s_jj t_ij - 4 t_ij^3 - 4 t_ii t_jj t_ij

more than without skewness. For one direction of skewness g these are 2 g^2/n and 24 g^2/n, as is known of the squared t
statistic. A pair i = j would add noise, and is left out.

A small sample tells little about its own third moments. So the rows are those of the larger sample, as if they were of
the smaller one: under the null hypothesis both have the same signal, and noise makes the smaller one's phi shorter by
the ratio of both amplitudes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Complex, Floats
from uptonoise.twosample.phase.pair import SampleMoments


class Skewness(NamedTuple):
    """What is added to the mean and variance of T, before these are divided by c and its square."""

    mean: Floats
    variance: Floats


NOT_SKEWED: Skewness = Skewness(np.zeros(()), np.zeros(()))


def borrowed_rows(rows: Complex | None, large: SampleMoments, small: SampleMoments, across: Complex) -> Floats | None:
    """Return what the rows of the larger sample would move S by, if they were as many as those of the smaller one.

    `rows` has exp(i w.x) of the larger sample's rows, and `across` the directions in which the smaller one's move S.
    """
    if rows is None:
        return None
    amplitudes = np.abs(large.phi)
    shorter = np.divide(np.abs(small.phi), amplitudes, out=np.ones_like(amplitudes), where=amplitudes > 0)
    return np.asarray(((rows - large.phi) * across.conj()).imag * (np.minimum(shorter, 1) / small.size))


def skewness_of_rows(u: Floats, H: Floats, size: Floats) -> Skewness:
    """Return what rows add, of which there are `size`, like those in `u`, of shape (N, r); H has r variances."""
    t, s = u @ u.T, (u * H) @ u.T
    t_own, s_own = t.diagonal(), s.diagonal()
    towards_t, towards_s = t_own @ u, s_own @ u
    squares = t * t
    cubes = np.vdot(squares, t) - np.sum(t_own**3)
    mixed = np.vdot(squares, s) - np.sum(t_own**2 * s_own)
    own = towards_t @ towards_t - np.sum(t_own**3)
    own_s = towards_t @ towards_s - np.sum(t_own**2 * s_own)
    own_H = towards_t @ (H * towards_t) - np.sum(t_own**2 * s_own)
    variance = 16 * mixed + 4 * own_H + 12 * own_s - 4 * cubes - 4 * own
    pairs = (size / len(u)) ** 2
    return Skewness(*(np.maximum(pairs * added, 0.0) for added in (cubes + own, variance)))
