"""Learning where two samples differ as Jitkrittum et al. (2016) do: gradient ascent on the power until it converges.

Locations start from normal distributions with the mean and the covariance of each sample (eigenvalues to the power 0.9,
so that none lies far out), half of them from each. The width starts from the best of 40 widths about the median
distance, by the power of the test that the noncentrality L says. Then, in step t with gradients G of L in the locations
V and g in the width s,

    V += 0.1 G / (|G| sqrt(t))        s += 0.01 sign(g) min(|g|, 1) / sqrt(t)

until L changes by no more than 0.001, or for 400 steps. These are the constants of the authors' public code; the
covariance of the features has a tiny ridge here, as it may be singular.
"""

from __future__ import annotations

import numpy as np
import scipy
from scipy.special import chdtri, chndtr

from uptonoise._util.typing import Floats
from uptonoise.twosample.paper.locations import Bumps, noncentrality

_RIDGE = 1e-5
_ALPHA = 0.05  # of the test whose power chooses the first width
_SHRUNK = 0.9
_WIDTH_POWERS = np.linspace(-2.5, 2.5, 40)  # of 2: the squared width goes from 1/32 to 32 times the squared median
_MEDIAN_ROWS = 1_000
_LOCATION_STEP, _WIDTH_STEP, _LARGEST_GRADIENT = 0.1, 0.01, 1.0
_MOST_STEPS, _LEAST_CHANGE = 400, 1e-3


def ascend_bumps(X: Floats, Y: Floats, n_locations: int, generator: np.random.Generator) -> Bumps:
    """Return the bumps that gradient ascent ends with on these rows."""
    rows = np.concatenate([X, Y])
    centre = rows.mean(axis=0)
    rows = rows - centre
    theta = _first(rows, len(X), n_locations, generator)
    theta = _ascended(theta, rows, len(X), n_locations)
    d = rows.shape[1]
    return Bumps(theta[:-1].reshape(n_locations, d) + centre, np.full(d, np.exp(theta[-1])))


def _first(rows: Floats, n: int, n_locations: int, generator: np.random.Generator) -> Floats:
    half = n_locations // 2
    samples = [(rows[:n], half), (rows[n:], n_locations - half)] if half else [(rows, 1)]
    V = []
    for sample, count in samples:  # from a normal distribution with its mean and nearly its covariance
        values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(sample.T)))
        scales = np.maximum(values, 0.0) ** (_SHRUNK / 2)
        V.append(sample.mean(axis=0) + (generator.standard_normal((count, len(values))) * scales) @ vectors.T)
    distances = scipy.spatial.distance.pdist(rows[generator.permutation(len(rows))[:_MEDIAN_ROWS]])
    median = float(np.median(distances)) or float(distances.mean()) or 1.0
    starts = [np.append(np.concatenate(V), np.log(median) + power * np.log(2)) for power in _WIDTH_POWERS]
    effects = [noncentrality(start, rows, n, n_locations, _RIDGE)[0] for start in starts]
    powers = 1 - chndtr(chdtri(n_locations, _ALPHA), n_locations, np.maximum(effects, 1e-12))
    return starts[int(np.argmax(np.round(powers, 3)))]  # of widths with the same power, the smallest


def _ascended(theta: Floats, rows: Floats, n: int, n_locations: int) -> Floats:
    before = -np.inf
    for step in range(1, _MOST_STEPS + 1):
        value, gradient = noncentrality(theta, rows, n, n_locations, _RIDGE)
        if abs(value - before) <= _LEAST_CHANGE:
            break
        before = value
        by_location, width = gradient[:-1], float(np.exp(theta[-1]))
        by_width = float(gradient[-1]) / width
        length = float(np.linalg.norm(by_location)) or 1.0
        moved = theta[:-1] + _LOCATION_STEP * by_location / length / np.sqrt(step)
        change = _WIDTH_STEP * np.sign(by_width) * min(abs(by_width), _LARGEST_GRADIENT) / np.sqrt(step)
        theta = np.append(moved, np.log(max(width + change, 0.5 * width)))
    return theta
