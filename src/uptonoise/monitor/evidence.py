r"""What the bets add up to, and the two guarantees.

"probability"
    The wealth starts at 1. A part of it is played from the start; the rest waits, and is paid out bit by bit to the
    players, so that a change at any later time meets fresh money: this is a prior on the time of the change, of which
    30 % lie on the start and half of the rest on the first 10,000 rows. What is paid out depends on the number of units
    only, never on their values, so that all money together is a nonnegative martingale where only noise differs: by
    Ville's inequality it reaches 1/alpha with probability at most alpha, ever.
"run length"
    Every batch pays one more unit of money to the players (Shiryaev and Roberts): M = (M + 1) * factor. M minus the
    number of batches is a martingale where only noise differs, so that M reaches N after N batches on average, or
    later.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats

Guarantee = Literal["probability", "run length"]

_AT_ONCE = 0.3  # of the wealth is played from the start
_AT_A_TIME = 256  # units, whose factors have a product that is no smaller and no larger than a number may be
_EARLY = 10_000.0  # rows after which half of the rest is paid out


@dataclass(eq=False)
class Evidence:
    """Money, all as logarithms. Arrays have one entry for each player.

    Arrays are replaced and not changed, so that copies may share them.
    """

    guarantee: str  # "probability" or "run length"
    shares: Floats  # how what is paid out is divided; their sum is 1
    money: Floats  # what each player has
    waiting: float  # what has not been paid out
    early: float  # the units after which half of the waiting money is paid out
    n_paid: int  # units for which waiting money was paid out
    n_units: int  # that were bet on
    highest: float  # the largest total so far, looked at after every unit
    gains: Floats  # what each player would have made of 1, from the start
    lows: Floats  # the smallest of these at the end of a batch
    low_batches: NDArray[np.int64]  # the number of the batch after which it was the smallest

    @classmethod
    def new(cls, guarantee: Guarantee, shares: Floats, rows_of_unit: int) -> Evidence:
        """Return the money before the first batch."""
        logs, nothing = np.log(shares), np.zeros(len(shares))
        money, waiting = np.full(len(logs), -np.inf), -math.inf
        if guarantee == "probability":
            money, waiting = logs + math.log(_AT_ONCE), math.log(1 - _AT_ONCE)
        numbers = np.zeros(len(logs), dtype=np.int64)
        return cls(guarantee, logs, money, waiting, _EARLY / rows_of_unit, 0, 0, waiting, nothing, nothing, numbers)

    @property
    def total(self) -> float:
        """The logarithm of all money."""
        return float(np.logaddexp(log_sum(self.money), self.waiting))

    def begin_batch(self) -> None:
        """Pay what a new batch brings."""
        if self.guarantee == "run length":
            self.money = np.logaddexp(self.money, self.shares)

    def pay(self, n: int) -> None:
        """Pay out waiting money for the next `n` units."""
        new = self.n_units + n - self.n_paid
        if self.waiting == -math.inf or new <= 0:
            return
        share = new / (self.early + self.n_paid + new)
        self.money = np.logaddexp(self.money, self.shares + (self.waiting + math.log(share)))
        self.waiting += math.log1p(-share)
        self.n_paid += new

    def play(self, factors: Floats) -> None:
        """Bet on some units, with the factors (players, n)."""
        n, money = factors.shape[1], self.money
        for start in range(0, n, _AT_A_TIME):
            products = np.multiply.accumulate(factors[:, start : start + _AT_A_TIME], axis=1)
            most = max(float(money.max()), self.waiting)
            totals = np.exp(money - most) @ products
            self.highest = max(self.highest, most + math.log(totals.max() + math.exp(self.waiting - most)))
            money = money + np.log(products[:, -1])
        self.gains = self.gains + (money - self.money)
        self.money = money
        self.n_units += n

    def end_batch(self, number: int) -> None:
        """Remember when each player had least."""
        lower = self.gains <= self.lows
        self.lows = np.where(lower, self.gains, self.lows)
        self.low_batches = np.where(lower, number, self.low_batches)

    def of_groups(self, n_memories: int) -> Floats:
        """Return the logarithm of what each group of players would have, if all were paid to it alone."""
        money, shares = log_sum(np.concatenate([self.money, self.shares]).reshape(2, -1, n_memories))
        return np.asarray(np.logaddexp(money - shares, self.waiting))


def log_sum(logarithms: Floats) -> Floats:
    """Return the logarithm of the sum over the last axis."""
    largest = np.maximum(logarithms.max(axis=-1), -1e300)  # of nothing at all, too
    return np.asarray(largest + np.log(np.exp(logarithms - largest[..., None]).sum(axis=-1) + 1e-320))
