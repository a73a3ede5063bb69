"""How reliable the phase of each bag is at each frequency; unreliable phases are shrunk towards their mean.

The phase theta of a bag of N rows at a frequency w where abs(phi) = A has an error of about

    s^2 = (1 - Re(phi(2w) exp(-2i theta))) / (2 N A^2)  ~  (1 - A^4) / (2 N A^2)

radians squared. Here phi(2w) is that of normal rows, which is right for all rows of finite variance at low frequencies,
and for all rows where A is small; in between s^2 is 0.65 to 1.3 times that of other rows. The observed A^2 is too large
by about 1/N, and by more where A is 0: so 1.5/N is subtracted. The rest is mixed with the mean square amplitude of all
bags, which counts as a third of a row; that is all that is known of a bag of one row.

Phases u = phi/abs(phi) that vary by tau^2 between bags, about the mean mu, are shrunk towards it by their reliability:

    u'  =  mu + k (u - mu)        k  =  tau^2 / (tau^2 + s^2)

A model of u' has learnt how reliable the bags of fit are, and should use phases of bags of other sizes in the same way:
so s^2 is computed as if N were no smaller than in the smallest of those bags, and no larger than in the largest. That a
bag has fewer rows is taken into account by the prediction: see :mod:`uptonoise.learning.steadiness`. With that, s^2 is
also bounded by what nine in ten of those bags have: a model that has learnt from phases with similar k must not be
given phases of which some keep k = 1 and others nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Complex, Floats
from uptonoise.fourier import unit

_MOST_BAGS = 20_000  # to learn from; of more bags, only every second, third, ... is used
_CHANCE = 1.5  # over N: subtracted from the squared amplitude
_LEAST_LEFT = 0.25  # of 1 - chance/N
_PRIOR_ROWS = 0.3
_LEAST_AMPLITUDE = 1e-3  # squared, of all bags together
_LEAST_SPREAD = 0.02  # of the variance of phases that errors cannot explain away
_KNOWN = 0.9  # of the errors of the fitted bags are not larger than the bound
_SOFT_WEIGHT = 0.05  # radians squared: how much more a bag counts whose phases have no error


class Reliability(NamedTuple):
    """What is learnt from bags, one number per frequency."""

    mean: Complex  # phase, mu
    spread: Floats  # the variance of phases between bags, tau^2
    amplitude: Floats  # squared, the mean
    rows: Floats  # the fewest and the most that count, of shape (2,)
    largest: Floats  # s^2 that counts

    @classmethod
    def learnt(cls, phi: Complex, sizes: Floats, *, bounded: bool = False) -> Reliability:
        """Learn from the characteristic functions of bags, of shape (n, m), and their numbers of rows."""
        rows = np.array([sizes.min(), sizes.max()])
        step = -(-len(phi) // _MOST_BAGS)
        phi, sizes = phi[::step], sizes[::step]
        count, amplitudes = sizes[:, None], np.abs(phi)
        several = count > 1
        squares = np.sum(np.where(several, count * amplitudes**2 - 1, 0), axis=0)
        amplitude = np.clip(squares / max(float(np.sum(np.where(several, count - 1, 0))), 1.0), _LEAST_AMPLITUDE, 1.0)
        errors = _squared_errors(amplitudes, sizes, amplitude, rows)
        known = np.minimum(errors, 1.0)
        weights = 1 / (_SOFT_WEIGHT + known)
        weights /= weights.sum(axis=0)
        phases = unit(phi, amplitudes)
        mean = np.sum(weights * phases, axis=0)
        variance = np.sum(weights * np.abs(phases - mean) ** 2, axis=0)
        spread = np.maximum(variance - np.sum(weights * known, axis=0), _LEAST_SPREAD * variance)
        spread = np.maximum(spread, np.finfo(np.float64).tiny)
        largest = np.quantile(errors, _KNOWN, axis=0) if bounded else np.full(len(mean), np.inf)
        return cls(mean, spread, amplitude, rows, largest)

    def shrunk(self, phi: Complex, sizes: Floats) -> Complex:
        """Return the phases of bags, shrunk towards the mean by their reliability."""
        amplitudes = np.abs(phi)
        errors = _squared_errors(amplitudes, sizes, self.amplitude, self.rows)
        phases = unit(phi, amplitudes)
        # Phases that turn at random average to 0 and not to their mean: what they lose beyond the bound is given back.
        bags, frequencies = np.nonzero(errors > self.largest)  # few, or none
        lost = -np.expm1(-0.5 * (errors[bags, frequencies] - self.largest[frequencies]))
        phases[bags, frequencies] += lost * self.mean[frequencies]
        np.minimum(errors, self.largest, out=errors)
        errors += self.spread
        np.divide(self.spread, errors, out=errors)
        phases -= self.mean
        phases *= errors
        phases += self.mean
        return phases

    def kept(self, phi: Complex, sizes: Floats) -> Floats:
        """Return how much of its distance from the mean each phase keeps: k."""
        errors = np.minimum(_squared_errors(np.abs(phi), sizes, self.amplitude, self.rows), self.largest)
        return np.asarray(self.spread / (self.spread + errors))


def _squared_errors(amplitudes: Floats, sizes: Floats, amplitude: Floats, rows: Floats) -> Floats:
    """Return the variance of each phase, in radians squared, as if all bags had rows within a range.

    `amplitudes` are those of each bag, and `amplitude` is the mean square of all.
    """
    count = sizes[:, None]
    # In place: with many bags more time would go to the memory of results in between than to the arithmetic.
    squares = amplitudes**2
    squares -= _CHANCE / count
    np.maximum(squares, 0, out=squares)
    squares /= np.maximum(1 - _CHANCE / count, _LEAST_LEFT)
    squares *= count
    squares += _PRIOR_ROWS * amplitude
    squares /= count + _PRIOR_ROWS
    np.clip(squares, np.finfo(np.float64).tiny, 1.0, out=squares)
    # A point mass has no error at all, and a bag of a few equal rows is not known to be one.
    errors = squares**2
    np.subtract(1, errors, out=errors)
    errors += 1e-3 / count
    squares *= 2 * np.clip(count, *rows)
    errors /= squares
    return np.asarray(errors)
