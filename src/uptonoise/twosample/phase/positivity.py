"""Positivity: whether the noise that would explain a difference could have a positive characteristic function.

Equal phases say that X - Y is symmetric, and no more: any two symmetric distributions about one centre pass. Noise with
a positive characteristic function asks for more, that at every frequency w

    C(w) = Re(phi_X conj phi_Y) = c_X c_Y + s_X s_Y >= 0        (c, s: the means of cos(w.x) and sin(w.x))

C is linear in the means of each sample. With C_X and C_Y the covariances of [cos, sin] over rows, J_X = [c_Y, s_Y] and
J_Y = [c_X, s_X], one pair per frequency,

    Cov(C) = J_X C_X J_X' / n + J_Y C_Y J_Y' / k        t = max over w of -C(w) / se(w)

Nothing under the null hypothesis makes t larger than all C being 0, so t is compared with the same maximum of draws of
a centred t distribution with the correlations of C and min(n, k) - 1 degrees of freedom. A frequency leaves both maxima

- where C is beyond doubt positive: the largest score is not there (Chernozhukov, Chetverikov and Kato 2019);
- where neither amplitude is above chance. If both phi are 0 the score is a normal number times abs(phi_X) over the root
  of abs(phi_X)^2 + abs(phi_Y)^2: given that X is above chance, Y is as it was, and the score less than normal. To ask
  that *both* be above chance would pick, at a loud X and a silent Y, large errors of Y: that loses the significance
  level.

A cosine that is the same in all n rows may still differ in about 1/n of all possible rows; so the variance
over rows of a sample's part of C, which is at most abs(phi)^2 with phi the other sample's, counts as no less than
abs(phi)^2 / n.

Up to a shift, phi_X conj phi_Y is turned by w times the error of the shift, which is a lot at high frequencies. So it
is first turned towards the positive numbers, as far as that error may have turned it away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from uptonoise._util.typing import Floats
from uptonoise.twosample.phase.pair import SampleMoments
from uptonoise.twosample.result import SMALLEST_PVALUE

POSITIVITY_SHARE = 0.1  # of the significance level, that positivity has beside the phases
_SEED = 0
_DRAWS = 999
_CLEAR = 8.0  # standard errors above 0: twice what the maximum of hundreds of scores reaches once in thousands
_CHANCE = 4.0  # of n abs(phi)^2, which is exponential with mean 1 where phi is 0


class Positivity(NamedTuple):
    """How far C is below 0: the largest score, its p-value, and the score -C/se of every frequency.

    `merged` is the p-value of phases and positivity together, valid however they depend.
    """

    statistic: float
    pvalue: float
    scores: Floats
    merged: float


def positivity_test(
    of_phases: float, left: SampleMoments, right: SampleMoments, doubt: Floats | None = None
) -> Positivity:
    """Test whether Re(phi_X conj phi_Y) is at least 0 at every frequency, beside phases with a p-value of their own.

    Where neither sample varies at a frequency, it has score 0 and no part in the test. Where a shift was fitted,
    `doubt` is how far its error may turn phases, in radians. The draws have the same seed for all samples.
    """
    of_X, of_Y = left.phi, right.phi
    if doubt is not None:
        angles = np.angle(of_X * of_Y.conj())
        turns = np.exp(1j * np.sign(angles) * np.minimum(np.abs(angles), doubt))
        of_X, of_Y = of_X / turns, of_Y * turns
    product = left.phi.real * of_Y.real + left.phi.imag * of_Y.imag
    parts, heard = [], np.zeros(len(product), dtype=bool)
    for sample, of_other in ((left, of_Y), (right, of_X)):
        influences = sample.projected(of_other.real, of_other.imag)
        missing = np.maximum(np.abs(of_other) ** 2 / sample.size - np.diag(influences), 0)
        parts.append((influences + np.diag(missing)) / sample.size)
        heard |= (sample.phi.real**2 + sample.phi.imag**2) * sample.size > _CHANCE
    covariance = parts[0] + parts[1]
    errors = np.sqrt(np.diag(covariance))
    scores = np.divide(-product, errors, out=np.zeros(len(product)), where=errors > 0)
    compared = (errors > 0) & (scores > -_CLEAR) & heard
    if not compared.any():
        return Positivity(float(scores.max()), 1.0, scores, min(1.0, of_phases / (1 - POSITIVITY_SHARE)))
    generator, statistic = np.random.default_rng(_SEED), float(scores[compared].max())
    freedom = max(float(np.minimum(left.size, right.size)) - 1, 1.0)
    scaled = covariance[np.ix_(compared, compared)] / np.outer(errors[compared], errors[compared])
    w, V = np.linalg.eigh(scaled)
    normal = generator.standard_normal((_DRAWS, len(w))) @ (V * np.sqrt(np.maximum(w, 0))).T
    largest = normal.max(axis=1) / np.sqrt(generator.chisquare(freedom, _DRAWS) / freedom)
    resampled = (1 + np.count_nonzero(largest >= statistic)) / (1 + _DRAWS)
    # Draws cannot tell how small a p-value is; where it is that small the sum is close, and never too small.
    pvalue = float(np.maximum(min(resampled, len(w) * stdtr(freedom, -statistic)), SMALLEST_PVALUE))
    merged = min(1.0, of_phases / (1 - POSITIVITY_SHARE), pvalue / POSITIVITY_SHARE)
    return Positivity(statistic, pvalue, scores, merged)


def quick_pvalues(of_phases: Floats, left: SampleMoments, right: SampleMoments) -> Floats:
    """Return the p-values of a sample and many others, phases and positivity together, in little time.

    Positivity counts by the sum over frequencies alone, which is at most too large.
    """
    product = left.phi.real * right.phi.real + left.phi.imag * right.phi.imag
    variances, heard = np.zeros_like(product), np.zeros(product.shape, dtype=bool)
    for sample, other in ((left, right), (right, left)):
        m, a, b, size = sample.phi.shape[-1], other.phi.real, other.phi.imag, sample.size[..., None]
        cos, sin = (np.linalg.diagonal(sample.covariance[..., part, part]) for part in (slice(m), slice(m, None)))
        both = np.linalg.diagonal(sample.covariance[..., :m, m:])
        influences = a**2 * cos + b**2 * sin + 2 * a * b * both
        variances = variances + np.maximum(influences, (a**2 + b**2) / size) / size
        heard = heard | ((sample.phi.real**2 + sample.phi.imag**2) * size > _CHANCE)
    errors = np.sqrt(variances)
    scores = np.divide(-product, errors, out=np.zeros_like(product), where=errors > 0)
    compared = (errors > 0) & (scores > -_CLEAR) & heard
    largest = np.where(compared, scores, -np.inf).max(axis=-1)
    freedom = np.maximum(np.minimum(left.size, right.size) - 1, 1.0)
    of_positivity = np.count_nonzero(compared, axis=-1) * stdtr(freedom, np.where(np.isinf(largest), 0.0, -largest))
    of_positivity = np.where(np.isinf(largest), 1.0, np.maximum(of_positivity, SMALLEST_PVALUE))
    merged = np.minimum(of_phases / (1 - POSITIVITY_SHARE), of_positivity / POSITIVITY_SHARE)
    return np.asarray(np.minimum(1.0, merged))
