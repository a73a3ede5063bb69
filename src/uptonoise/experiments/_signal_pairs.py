"""Pairs of signals in one column whose phases are known, with noise in either of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets import load_higgs
from uptonoise.fourier import ecf


class Signal(NamedTuple):
    """How rows of a signal are sampled, the phase of its characteristic function, and its standard deviation."""

    sample: Callable[[np.random.Generator, int], Floats]
    phase: Callable[[Floats], Floats]
    sd: float


class SignalPair(NamedTuple):
    """Two signals."""

    X: Signal
    Y: Signal

    def sample(
        self, generator: np.random.Generator, n_rows: int, noise: tuple[float, float] = (0.0, 0.0)
    ) -> tuple[Floats, Floats]:
        """Return rows of both, with Gaussian noise of these multiples of their variances."""
        X, Y = (signal.sample(generator, n_rows) for signal in self)
        errors = [
            generator.standard_normal(n_rows) * signal.sd * np.sqrt(r) for signal, r in zip(self, noise, strict=True)
        ]
        return X + errors[0], Y + errors[1]

    def effect(self, spread: float, up_to_offset: bool = False) -> float:
        """Return the effect of the signals in units of a spread: 3 times the integral of the squared phase difference.

        Examples
        --------
        >>> from uptonoise.experiments._signal_pairs import PAIRS
        >>> round(PAIRS["chi-squared"].effect(0.5), 3), round(PAIRS["one gamma"].effect(1.4), 3)
        (0.208, 0.0)
        """
        nodes, weights = np.polynomial.legendre.leggauss(60)
        u, weights = (nodes + 1) / 2, weights / 2
        difference = self.X.phase(u / spread) - self.Y.phase(u / spread)
        square = float(3 * weights @ difference**2)
        if up_to_offset:
            square -= float(3 * weights @ (difference * u)) ** 2
        return float(np.sqrt(max(square, 0.0)))


def _gamma(shape: float, scale: float = 1.0) -> Signal:
    return Signal(
        lambda generator, n_rows: generator.gamma(shape, scale, n_rows),
        lambda w: np.asarray(shape * np.arctan(scale * w)),
        float(np.sqrt(shape) * scale),
    )


@cache
def _higgs(process: str) -> Signal:
    rows = np.asarray(getattr(load_higgs(columns=["m_wwbb"]), process)[:, 0])
    return Signal(
        lambda generator, n_rows: generator.choice(rows, n_rows, replace=False),
        lambda w: np.asarray(np.unwrap(np.angle(ecf(rows - rows.mean(), w[:, None]))) + w * rows.mean()),
        float(rows.std()),
    )


def signal_pair(name: str) -> SignalPair:
    """Return a pair by its name; HIGGS is the background and the signal process in m_wwbb, and needs the file."""
    return SignalPair(_higgs("background"), _higgs("signal")) if name == "HIGGS" else PAIRS[name]


_MIRROR = Signal(
    lambda generator, n: 2 - generator.exponential(size=n), lambda w: np.asarray(2 * w - np.arctan(w)), 1.0
)
PAIRS = {
    "chi-squared": SignalPair(_gamma(2.0, 0.5), _gamma(4.0, 0.25)),  # chi2(4)/4 and chi2(8)/8
    "one gamma": SignalPair(_gamma(2.0), _gamma(2.0)),
    "two gammas": SignalPair(_gamma(2.0), _gamma(6.0, 1 / 3)),
    "exponential and mirror image": SignalPair(_gamma(1.0), _MIRROR),
}
"""The pairs that need no data."""
