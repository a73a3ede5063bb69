"""The regression adjustment of particles, on scales that keep them within the support of the prior."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from uptonoise._util.typing import Floats
from uptonoise.inference.posterior import effective_size


def adjusted(theta: Floats, differences: Floats, weights: Floats, support: tuple[Floats, Floats]) -> Floats:
    """Return particles as they would be with the observed summary, by a weighted linear regression.

    `differences` are their summaries less the observed one, and `support` has the lowest and the highest parameters.
    """
    q = differences.shape[1]
    if effective_size(weights) < q + 2:
        raise ValueError(
            f"adjust=True needs particles worth at least {q + 2}; they are worth {effective_size(weights):.1f}. "
            "Take a larger epsilon, quantile or ess"
        )
    moved = to_line(theta, *support)
    root = np.sqrt(weights)[:, None]
    design = np.column_stack([np.ones(len(weights)), differences])
    coefficients = np.linalg.lstsq(root * design, root * moved, rcond=None)[0]
    return from_line(moved - differences @ coefficients[1:], *support)


def to_line(theta: Floats, low: Floats, high: Floats) -> Floats:
    """Return parameters on the whole line: logarithms above a bound, log odds between two."""
    moved = theta.copy()
    for place, (lowest, highest) in enumerate(zip(low, high, strict=True)):
        # A draw on the bound itself counts as just inside.
        above, below = (np.maximum(room, 1e-300) for room in (theta[:, place] - lowest, highest - theta[:, place]))
        if np.isfinite(lowest) and np.isfinite(highest):
            moved[:, place] = np.log(above) - np.log(below)
        elif np.isfinite(lowest):
            moved[:, place] = np.log(above)
        elif np.isfinite(highest):
            moved[:, place] = -np.log(below)
    return moved


def from_line(moved: Floats, low: Floats, high: Floats) -> Floats:
    """Return parameters from where :func:`to_line` has put them."""
    theta = moved.copy()
    for place, (lowest, highest) in enumerate(zip(low, high, strict=True)):
        column = moved[:, place]
        with np.errstate(over="ignore"):
            if np.isfinite(lowest) and np.isfinite(highest):
                theta[:, place] = lowest + (highest - lowest) * expit(column)
            elif np.isfinite(lowest):
                theta[:, place] = lowest + np.exp(column)
            elif np.isfinite(highest):
                theta[:, place] = highest - np.exp(-column)
    return np.clip(theta, low, np.minimum(high, np.finfo(np.float64).max))
