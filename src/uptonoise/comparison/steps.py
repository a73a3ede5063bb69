"""The steps of a comparison that sketches can take: beyond noise, and beyond noise and an offset.

Rows that belong together, as of one object on two devices, are compared by their differences z = x - y: under the null
hypothesis z is symmetric about 0, or about the offset. A sample and its mirror image have the same rows, so that the
covariance of their phase difference is twice that of independent samples: each is worth half of its rows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from uptonoise.fourier import Sketch
from uptonoise.twosample import (
    EffectSize,
    Pair,
    PhaseResult,
    effect_size,
    fitted_shift,
    pair_pvalue,
    paired_effect_size,
    phase_pvalue,
    phase_result,
)

_OF_THE_SAME_ROWS = 0.5


class PhaseSteps(NamedTuple):
    """The phase tests and effects up to noise, and up to noise and an offset; or why there is no offset."""

    phase: PhaseResult
    up_to_offset: PhaseResult | None
    effect: EffectSize
    effect_beyond_offset: EffectSize
    why_no_offset: str | None


def phase_steps(pair: Pair) -> PhaseSteps:
    """Return the steps of two samples."""
    phase = phase_result(pair)
    try:
        up_to_offset = phase_result(fitted_shift(pair.X, pair.Y))
    except ValueError as error:
        return PhaseSteps(phase, None, phase.effect, effect_size(pair, up_to_offset=True), str(error))
    return PhaseSteps(phase, up_to_offset, phase.effect, up_to_offset.effect, None)


def paired_steps(pair: Pair, differences: Sketch) -> PhaseSteps:
    """Return the steps of two samples whose rows belong together, from the sketch of the differences."""
    mirrored = differences.mirrored()
    effect, beyond_offset = (paired_effect_size(pair, differences, up_to_offset=up_to) for up_to in (False, True))
    phase = phase_result(Pair.of(differences, mirrored, _OF_THE_SAME_ROWS), positivity=False)
    phase = replace(phase, effect=effect)
    try:
        aligned = phase_result(fitted_shift(differences, mirrored, _OF_THE_SAME_ROWS), positivity=False)
    except ValueError as error:
        return PhaseSteps(phase, None, effect, beyond_offset, str(error))
    assert aligned.shift is not None
    assert aligned.shift_interval is not None
    # The mirror image is as far on the other side.
    aligned = replace(aligned, shift=aligned.shift / 2, shift_interval=aligned.shift_interval / 2, effect=beyond_offset)
    return PhaseSteps(phase, aligned, effect, beyond_offset, None)


def column_pvalues(column: Pair, differences: Sketch | None) -> tuple[float, float]:
    """Return the p-values of one column beyond noise, and beyond noise and an offset; NaN where there is none."""
    if differences is None:
        X, Y, worth, positivity = column.X, column.Y, 1.0, True
    else:
        X, Y, worth, positivity = differences, differences.mirrored(), _OF_THE_SAME_ROWS, False
    beyond_noise = pair_pvalue(Pair.of(X, Y, worth), positivity=positivity)
    try:
        aligned = fitted_shift(X, Y, worth)
    except ValueError:  # too few rows or frequencies
        return beyond_noise, math.nan
    return beyond_noise, pair_pvalue(aligned, positivity=positivity)


def is_symmetric(sketch: Sketch, alpha: float) -> bool:
    """Tell whether a sample cannot be told from its mirror image, up to an offset.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.comparison.steps import is_symmetric
    >>> rng = np.random.default_rng(0)
    >>> samples = rng.normal(size=500), rng.exponential(size=500)
    >>> [is_symmetric(un.Sketch.for_samples(sample).update(sample), 0.05) for sample in samples]
    [True, False]
    """
    try:
        aligned = fitted_shift(sketch, sketch.mirrored(), _OF_THE_SAME_ROWS)
    except ValueError:  # too few rows to tell
        return False
    return phase_pvalue(aligned) > alpha
