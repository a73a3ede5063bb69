"""Bets on the signs of differences: fair where only noise differs, and profitable where the signal does.

A unit of evidence is symmetric where only noise differs: z and -z have the same distribution, whatever was seen before.
With odd features s (see :mod:`uptonoise.monitor.features`) and weights v chosen from the past only,

    factor = 1 + g        g = 0.9 tanh(v.s / 0.9)

has mean 1, so that the product of the factors is a nonnegative martingale. The best g is tanh of half the log-odds of
z against -z: a logistic regression of the sign on s. For small effects and a Gaussian prior its weights are

    v = (V + ridge D)^-1 S        S = sum s        V = sum s s'        D = diag(V) / number of units

with sums that forget: a unit t units ago has the weight exp(-t / memory). A short memory with a small ridge finds large
changes at once, a long one with a large ridge finds small ones later. So the ridge is a fixed share of the memory, and
players with several memories play on their own: on all features, on those of single columns together, and on those of
each column alone. None of these choices can break the guarantee, since weights come from the past only.

The constants were chosen on pairs of gamma, lognormal and exponential signals with 1, 3, 4, 6 and 8 columns; the page
``docs/results/monitor.md`` names them, and no table has them.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from uptonoise._util.typing import Floats
from uptonoise.monitor.features import OddFeatures

MEMORIES = (64.0, 256.0, 1024.0, 4096.0, 16384.0)
"""In rows."""

_RIDGE = 0.1  # of the memory
_LARGEST_BET = 0.9
_SHARES = (0.4, 0.4, 0.2)  # of the players on all features, on single columns together, on each column alone
_REFRESHED = 2  # times in each memory, weights are computed anew,
_GROWN = 1.5  # and where so many times as many units were seen as before the last time: early, all is new
_TINY = 1e-12  # keeps a column in which nothing differs from making the equations singular


@dataclass(eq=False)
class Bettor:
    """What the players know; r memories, m features."""

    n_columns: int
    n_radii: int  # features on single columns come first, so many for each column
    memories: Floats  # (r,): how long each kind of player remembers, in units
    sums: Floats  # (r, m): S, with forgetting
    products: Floats  # (r, m, m): V, with forgetting
    weights: Floats  # (r,): the number of units, with forgetting
    bets: Floats  # (m, players): the weights v of all players: groups of features, and within these the memories
    n_blocks: int  # that were learnt
    refreshed: Floats  # (r,): the number of units, with forgetting, when weights were last computed

    @classmethod
    def new(cls, features: OddFeatures, rows_of_unit: int) -> Bettor:
        """Return a bettor that knows nothing, for units of about so many rows."""
        m, d, r = features.n_features, features.n_columns, len(MEMORIES)
        memories = np.array(MEMORIES) / rows_of_unit
        bets = np.zeros((m, (1 if d == 1 else 2 + d) * r))
        sums, products = np.zeros((r, m)), np.zeros((r, m, m))
        return cls(d, features.n_radii, memories, sums, products, np.zeros(r), bets, 0, np.zeros(r))

    @property
    def shares(self) -> Floats:
        """The share of the first wealth that each player gets."""
        groups = np.ones(1)
        if self.n_columns > 1:
            groups = np.append(_SHARES[:2], np.full(self.n_columns, _SHARES[2] / self.n_columns))
        return np.repeat(groups / len(self.memories), len(self.memories))

    def copy(self) -> Self:
        """Return a bettor of its own, which can learn while this one stays as it is."""
        other = copy(self)
        other.refreshed = self.refreshed.copy()
        other.sums, other.products, other.bets = self.sums.copy(), self.products.copy(), self.bets.copy()
        return other

    def factors(self, features: Floats) -> Floats:
        """Return 1 + g of each player (players, n) for units (n, m)."""
        # In single precision, which is several times faster; g of -s is -g of s still, to the last digit.
        steps = (self.bets.T / _LARGEST_BET).astype(np.float32) @ features.T.astype(np.float32)
        factors = np.tanh(steps, out=steps).astype(np.float64)
        factors *= _LARGEST_BET
        factors += 1
        return factors

    def learn(self, features: Floats) -> None:
        """Learn from one more block of units (n, m)."""
        n = len(features)
        kept, every = _forgetting(n, tuple(self.memories.tolist()))
        self.sums *= kept[:, None]
        self.sums += features.sum(axis=0)
        self.products *= kept[:, None, None]
        self.products += features.T @ features
        self.weights = kept * self.weights + n
        self.n_blocks += 1
        # What remembers long changes slowly: its weights need not be new after every block.
        due = (self.weights >= _GROWN * self.refreshed) | (self.n_blocks % every == 0)
        d, k, r, bets = self.n_columns, self.n_radii, len(self.memories), self.bets
        for memory in np.flatnonzero(due).tolist():
            self.refreshed[memory] = self.weights[memory]
            sums, matrix, singles = self.sums[memory], self.products[memory].copy(), d * k
            diagonal = matrix.reshape(-1)[:: len(matrix) + 1]
            diagonal *= 1 + _RIDGE * self.memories[memory] / self.weights[memory]
            diagonal += _TINY
            single = matrix[:singles, :singles].copy()
            # Whatever rounding does here, the guarantee stays: weights come from the past only.
            bets[:, memory] = dposv(matrix.T, sums, overwrite_a=True)[1]
            if d > 1:
                of_columns, places = single * _own_blocks(d, k), np.arange(singles)
                bets[:singles, r + memory] = dposv(single.T, sums[:singles], overwrite_a=True)[1]
                alone = dposv(of_columns.T, sums[:singles], overwrite_a=True)[1]
                bets[places, (2 + places // k) * r + memory] = alone


@cache
def _own_blocks(n_columns: int, n_radii: int) -> Floats:
    """Return 1 where two features are on the same column, and 0 elsewhere: the equations of each column alone."""
    return np.asarray(np.kron(np.eye(n_columns), np.ones((n_radii, n_radii))), dtype=np.float64)


@lru_cache(maxsize=64)
def _forgetting(n: int, memories: tuple[float, ...]) -> tuple[Floats, NDArray[np.int64]]:
    """Return what each memory keeps when a block of n units comes, and after how many blocks its weights are due."""
    units = np.array(memories)
    return np.exp(-n / units), np.maximum(1, units / (_REFRESHED * n)).astype(int)
