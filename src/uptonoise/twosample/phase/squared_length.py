"""A squared length of nearly normal scores: its bounds, and what is known of it.

**Upper bound.** The largest squared length over all scores within z standard errors of the estimate, an ellipsoid. It
is a confidence bound with the one-sided probability of z: where the true length is e, the claim "below e" is made
only if the estimate lies further than z from all scores of length e or more, and so from the half-space beyond
the tangent at the true ones.

**Lower bound.** The squared length has the distribution of a weighted sum of noncentral chi-squared variables (Liu,
Tang and Zhang 2009), which is inverted along the estimate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import chdtr, chndtr, stdtrit

from uptonoise._util.solvers import root
from uptonoise._util.typing import Floats


class Part(NamedTuple):
    """A quadratic form of nearly normal scores, |scores|^2, and what was not seen of the effect.

    Attributes
    ----------
    name : str
        The column, or what else is compared.
    scores, variances : array
        Uncorrelated scores whose squares add up to the squared effect of what was seen, and their variances.
    seen : float
        The share of the squared effect of a shift that was seen, from 0 to 1.
    unseen : float
        The largest that the rest of the squared effect can be.
    freedom : float
        Degrees of freedom of the variances.
    """

    name: str
    scores: Floats
    variances: Floats
    seen: float
    unseen: float
    freedom: float

    def upper(self, alpha: float) -> float:
        """Return what the effect is below, with confidence 1 - alpha.

        Examples
        --------
        >>> import numpy as np
        >>> from uptonoise.twosample.phase.squared_length import Part
        >>> Part("x", np.array([5.0]), np.array([1.0]), seen=1.0, unseen=0.0, freedom=1e9).upper(0.05)  # 5 + 1.645
        6.64...
        """
        scores, variances = self.scores, self.variances
        radius, top = float(stdtrit(self.freedom, 1 - alpha)), float(variances.max(initial=0.0))
        if radius <= 0 or top <= 0:
            return float(np.sqrt(float(np.sum(scores**2)) + self.unseen))

        nearest = top * (1 + 1e-10)
        if np.sum(variances * (scores / (nearest - variances)) ** 2) <= radius**2:
            # What is left of the radius goes where the variance is largest.
            most = int(np.argmax(variances))
            rest = variances < nearest - 2e-10 * top
            moved = np.zeros_like(scores)
            moved[rest] = np.sqrt(variances[rest]) * scores[rest] / (top - variances[rest])
            moved[most] = np.copysign(np.sqrt(max(radius**2 - float(moved @ moved), 0.0)), scores[most])
            furthest = scores + np.sqrt(variances) * moved
        else:
            multiplier, step = nearest, np.inf
            while step > 1e-13 * multiplier:  # Newton's, for one over the length of what is moved: they never overshoot
                squares = variances * (scores / (multiplier - variances)) ** 2
                too_long = np.sqrt(np.sum(squares)) / radius - 1
                step = float(too_long * np.sum(squares) / np.sum(squares / (multiplier - variances)))
                multiplier += step
            furthest = scores * multiplier / (multiplier - variances)
        return float(np.sqrt(float(np.sum(furthest**2)) + self.unseen))

    def lower(self, alpha: float) -> float:
        """Return what the effect is above, with confidence 1 - alpha."""
        square = float(np.sum(self.scores**2))
        if not math.isfinite(square):
            return square
        kept = self.variances > 1e-12 * self.variances.max(initial=0.0)
        variances, squares = self.variances[kept], self.scores[kept] ** 2
        if not kept.any():
            return float(np.sqrt(square))

        def missed(share: float) -> float:
            return quadratic_form_cdf(square, variances, share * squares / variances) - (1 - alpha)

        if missed(0.0) <= 0:
            return 0.0
        return float(np.sqrt(square * (root(missed, 0.0, 1.0) if missed(1.0) < 0 else 1.0)))


def quadratic_form_cdf(value: float, weights: Floats, noncentralities: Floats) -> float:
    """Return P(sum of weights times noncentral chi-squared variables <= value), by four moments (Liu et al. 2009)."""
    first, second, third, fourth = (np.sum(weights**k * (1 + k * noncentralities)) for k in (1, 2, 3, 4))
    skewness, tails = third / second**1.5, fourth / second**2
    if skewness**2 > tails:
        a = 1 / (skewness - np.sqrt(skewness**2 - tails))
        noncentrality = skewness * a**3 - a**2
        freedom = a**2 - 2 * noncentrality
    else:
        a, noncentrality, freedom = 1 / skewness, 0.0, 1 / skewness**2
    standardised = (value - first) / np.sqrt(2 * second)
    matched = max(float(standardised * np.sqrt(2) * a + freedom + noncentrality), 0.0)
    if noncentrality > 0:
        return float(chndtr(matched, freedom, noncentrality))
    return float(chdtr(freedom, matched))
