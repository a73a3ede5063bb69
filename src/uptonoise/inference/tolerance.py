"""How near is near: the tolerance epsilon of the weights, chosen in one of three ways.

A particle at the squared distance s has the weight exp(-s / epsilon), or, with the uniform kernel, 1 up to epsilon and
0 beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.optimize import brentq

from uptonoise._util.typing import Floats
from uptonoise.inference.posterior import effective_size

_QUANTILE = 0.02
_LEAST_SIZE = 20.0
_LARGEST_EXPONENT = 700.0


Tolerance = tuple[str, float]
"""Which of epsilon, quantile and ess is given, and its value."""


def chosen_tolerance(*settings: Mapping[str, float | None], n_particles: int) -> Tolerance:
    """Return the tolerance of the first setting that has one."""
    for setting in settings:
        chosen = {name: value for name, value in setting.items() if value is not None}
        if len(chosen) > 1:
            raise ValueError(f"give one of epsilon, quantile and ess; got {' and '.join(chosen)}")
        for name, value in chosen.items():
            most = {"epsilon": np.inf, "quantile": 1.0, "ess": float(n_particles)}[name]
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not number or not 0 < value <= most or value == np.inf:
                raise ValueError(f"{name} must be a number above 0 and at most {most:g}; got {value!r}")
            return name, float(value)
    return "quantile", _QUANTILE


def weights_within(squares: Floats, tolerance: Tolerance, uniform: bool) -> tuple[Floats, float]:
    """Return weights of particles at these squared distances, and the epsilon that a tolerance stands for."""
    name, epsilon = tolerance
    if name == "quantile":
        epsilon = max(float(np.quantile(squares, epsilon)), np.finfo(np.float64).tiny)
    elif name == "ess" and uniform:
        epsilon = _distance_of(int(np.ceil(epsilon)), squares)
    elif name == "ess":
        epsilon = epsilon_for_size(squares, min(epsilon, 0.999 * len(squares)))
    weights = (squares <= epsilon).astype(np.float64) if uniform else _kernel_weights(squares, epsilon)
    total = weights.sum()
    if total > 0:
        return weights / total, epsilon
    if uniform:
        useful = _distance_of(int(_LEAST_SIZE), squares)
    else:
        useful = epsilon_for_size(squares, min(_LEAST_SIZE, len(squares) / 2))
    raise ValueError(
        f"epsilon={epsilon:g} leaves no particle any weight: the nearest one is at a squared distance of "
        f"{squares.min():.3g}. The smallest useful epsilon here is about {useful:.3g}, with particles worth "
        f"{_LEAST_SIZE:g}; quantile or ess choose it for you"
    )


def _distance_of(count: int, squares: Floats) -> float:
    """Return the squared distance within which so many particles lie."""
    place = min(count, len(squares)) - 1
    return float(np.partition(squares, place)[place])


def _kernel_weights(squares: Floats, epsilon: float) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(-squares / epsilon)


def epsilon_for_size(squares: Floats, ess: float) -> float:
    """Return the epsilon that gives this effective sample size."""
    nearest = float(squares.min())

    def beyond(log_epsilon: float) -> float:
        # Relative to the nearest particle, which changes no share: so nothing vanishes on the way.
        return effective_size(_kernel_weights(squares - nearest, float(np.exp(log_epsilon)))) - ess

    spread = squares - nearest
    least = spread[spread > 0].min(initial=np.inf)
    if not np.isfinite(least):
        return max(nearest, np.finfo(np.float64).tiny)
    low, high = np.log(least) - 7, np.log(spread.max()) + 12
    if beyond(low) >= 0:
        return float(np.exp(low))
    epsilon = float(np.exp(brentq(beyond, low, high, xtol=1e-3)))
    return max(epsilon, nearest / _LARGEST_EXPONENT)
