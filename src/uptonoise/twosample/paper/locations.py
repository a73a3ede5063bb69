"""Learning where two samples differ: locations V and a width s that maximise the ME statistic of a training part.

Columns are in units of their own robust scale, and k(x, v) = exp(-|x - v|^2 / (2 s^2)). With n rows of X and k of Y,
S the difference of the means of k(., V), M its covariance, and K = k(V, V), the maximum is of

    f(V, log s) = S' (M + R)^-1 S - a |V - V0|^2 / c^2 - b (log s - log s0)^2,    R = ridge (1/n + 1/k) K

c is the median-heuristic width per column. u' K u is the squared norm of the witness function u' k(., V) in the
kernel's space: unlike a multiple of the identity, R does not punish locations for being close to each other. With
F = k([X; Y], V), u = (M + R)^-1 S and, for row i, the signed weight

    q_i =  2/n - 2 u'(F_i - mean F_X) / (n (n - 1))    in X
    q_i = -2/k - 2 u'(F_i - mean F_Y) / (k (k - 1))    in Y

put E_ij = q_i u_j F_ij and B_jl = -ridge (1/n + 1/k) u_j u_l K_jl. The gradient of the first term is

    d/dv_j    = [sum_i E_ij (x_i - v_j) + 2 sum_l B_jl (v_l - v_j)] / s^2
    d/dlog s  = [sum_ij E_ij |x_i - v_j|^2 + sum_jl B_jl |v_j - v_l|^2] / s^2

S' M^-1 S is in units of its own sampling error, so the two penalties, which keep a small training part from fitting its
own rows, fade as it grows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from uptonoise._util.descent import descend
from uptonoise._util.typing import Floats

# Chosen by the power on held-out rows; docs/results/two-sample-tests.md tells what else was tried.
_RIDGE = 1e-3  # of the witness's norm
_PULL_OF_LOCATIONS = 10.0  # a
_PULL_OF_WIDTH = 30.0  # b
_START_WIDTH = 0.75  # s0, in median-heuristic widths
_OTHER_WIDTHS = (0.25, 4.0)  # further starts, in units of s0
_N_STARTS = 8
_N_ITERATIONS = 3  # more fit the training rows and lose power
_WIDTH_PAIRS = 2_000


class Bumps(NamedTuple):
    """Gaussian bumps: their locations (J, d) and their width in each column (d,), in the data's units."""

    locations: Floats
    widths: Floats

    def features(self, rows: Floats) -> Floats:
        """Return exp(-|(x_i - v_j) / widths|^2 / 2), of shape (n, J)."""
        centre = self.locations.mean(axis=0)  # distances come from squares: a far origin would cost digits
        squares = _squared_distances((rows - centre) / self.widths, (self.locations - centre) / self.widths)
        return np.exp(-0.5 * squares)


def learn_bumps(X: Floats, Y: Floats, n_locations: int, generator: np.random.Generator) -> Bumps:
    """Return the bumps that maximise f on these rows."""
    pooled, n = np.concatenate([X, Y]), len(X)
    # The median and, in normal units, the 80 % point of the distance to it: resists Cauchy noise, yet sees long tails.
    centre = np.median(pooled, axis=0)
    distance = np.abs(pooled - centre)
    scale = np.quantile(distance, 0.8, axis=0) / ndtri(0.9)
    scale = np.where(scale > 0, scale, distance.mean(axis=0))  # ties: most rows are equal
    scale = np.where(scale > 0, scale, 1.0)
    rows = (pooled - centre) / scale
    N, d = rows.shape
    # sqrt(squared distance / 2) of random pairs of different rows: its median and its 90 % point.
    i = generator.integers(N, size=_WIDTH_PAIRS)
    j = (i + generator.integers(1, N, size=_WIDTH_PAIRS)) % N
    median, wide = np.quantile(np.linalg.norm(rows[i] - rows[j], axis=1), [0.5, 0.9]) / np.sqrt(2)
    wide = float(wide) if wide > 0 else 1.0
    median = float(median) if median > 0 else wide
    log_width, column_width = np.log(_START_WIDTH * median), median / np.sqrt(d)
    # Half of the locations start near the centre, and half far out on the axes, one column after the other. Central
    # bumps span the bump and its slopes: they see shifts. A bump at distance a on an axis weighs the rows by
    # exp(a x_c / s^2): it sees scale and skewness of column c. As s^2 grows with d, a must too. A column that comes
    # again is taken on its other side, nearer in. Rows of the data as starts did worse: they follow outliers.
    starts, out = [], np.arange(n_locations // 2)
    for _ in range(_N_STARTS):
        V = 0.15 * generator.standard_normal((n_locations, d))
        lap, column = out // d, np.resize(generator.permutation(d), len(out))
        side = np.where(lap % 2, -1.0, 1.0) * generator.choice([-1.0, 1.0], d)[column]
        V[out, column] += side * column_width * max(5.0, 0.6 * d) / (1 + 0.35 * lap)
        starts.append(np.append(V, log_width))
    # Other widths pay the pull from the start: they win only where the usual one is hopeless, as with far clusters.
    starts += [np.append(starts[0][:-1], log_width + np.log(ratio)) for ratio in (*_OTHER_WIDTHS, wide / median)]
    start, best_value = starts[0], -np.inf  # of values that are no numbers, too
    for theta in starts:
        value = noncentrality(theta, rows, n, n_locations)[0] - _PULL_OF_WIDTH * (theta[-1] - log_width) ** 2
        if value > best_value:
            best_value, start = value, theta
    # A few L-BFGS-B steps up f, of which the best point evaluated is taken.
    pull = np.append(np.full(n_locations * d, _PULL_OF_LOCATIONS * d / median**2), _PULL_OF_WIDTH)
    best_loss, best = np.inf, start

    def loss(theta: Floats) -> tuple[float, Floats]:
        nonlocal best_loss, best
        value, gradient = noncentrality(theta, rows, n, n_locations)
        move = theta - start
        value = float(pull @ move**2) - value
        if value < best_loss:
            best_loss, best = value, theta.copy()
        return value, 2 * pull * move - gradient

    # A decade of widths either way: beyond it the features are constants, or spikes on single rows.
    decade = np.append(np.full(len(start) - 1, np.inf), np.log(10))
    descend(loss, start, start - decade, start + decade, _N_ITERATIONS)
    return Bumps(best[:-1].reshape(n_locations, d) * scale + centre, np.exp(best[-1]) * scale)


def noncentrality(
    theta: Floats, rows: Floats, n: int, n_locations: int, witness_ridge: float = _RIDGE
) -> tuple[float, Floats]:
    """Return S'(M + R)^-1 S and its gradient in theta = (V, log s); the first n rows are X."""
    k = len(rows) - n
    V, squared_width = theta[:-1].reshape(n_locations, -1), np.exp(2 * theta[-1])
    distances, between = _squared_distances(rows, V), _squared_distances(V, V)
    F, K = np.exp(distances / (-2 * squared_width)), np.exp(between / (-2 * squared_width))
    mean_X, mean_Y = F[:n].mean(axis=0), F[n:].mean(axis=0)
    centred = np.concatenate([F[:n] - mean_X, F[n:] - mean_Y])
    weight = np.repeat([1 / (n * (n - 1)), 1 / (k * (k - 1))], [n, k])
    ridge = witness_ridge * (1 / n + 1 / k)
    M = (centred.T * weight) @ centred + ridge * K
    M.flat[:: n_locations + 1] += 1e-6 * ridge  # K itself is singular where two locations meet
    S = mean_X - mean_Y
    u = np.linalg.solve(M, S)

    q = np.repeat([2 / n, -2 / k], [n, k]) - 2 * weight * (centred @ u)
    E = F * np.outer(q, u)
    B = -ridge * K * np.outer(u, u)
    by_location = E.T @ rows - E.sum(axis=0)[:, None] * V + 2 * (B @ V - B.sum(axis=1)[:, None] * V)
    by_width = np.vdot(E, distances) + np.vdot(B, between)
    return float(S @ u), np.append(by_location.ravel(), by_width) / squared_width


def _squared_distances(rows: Floats, locations: Floats) -> Floats:
    cross = rows @ locations.T
    cross *= -2
    cross += np.einsum("ij,ij->i", rows, rows)[:, None]
    cross += np.einsum("ij,ij->i", locations, locations)
    return np.maximum(cross, 0, out=cross)
