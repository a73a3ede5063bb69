"""The steps of a comparison that sketches can take: beyond noise, and beyond noise and an offset.

Rows that belong together, as of one object on two devices, are compared by their differences z = x - y: under the null
hypothesis z is symmetric about 0, or about the offset. A sample and its mirror image have the same rows, so that the
covariance of their phase difference is twice that of independent samples: each is worth half of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from uptonoise._util.threads import single_threaded_blas
from uptonoise.fourier import Sketch
from uptonoise.twosample import (
    EffectSize,
    Movable,
    Pair,
    PhaseResult,
    Phases,
    fitted_shift,
    phase_pvalue,
    phase_result,
)

OF_THE_SAME_ROWS = 0.5
_FEW_STEPS = 4  # towards the centre of symmetry: twice what a symmetric sample takes
_CLEARLY_SKEWED = 1e-6  # p-value after few steps


def phase_steps(
    pair: Pair, differences: Sketch | None, movable: Movable = None, seed: int | None = None
) -> tuple[PhaseResult, PhaseResult | None, EffectSize, str | None]:
    """Return the tests up to noise, and up to noise and an offset, the effect up to both, and why the second is None.

    Rows that belong together are compared by the sketch of their differences. Only the columns that are movable may
    have an offset, by default all.
    """
    is_paired, worth = differences is not None, 1.0
    phases = Phases.of(pair, differences)
    if differences is not None:
        worth = OF_THE_SAME_ROWS
        pair = Pair.of(differences, differences.mirrored(), worth)
    beyond_offset = phases.effect(up_to_offset=True, movable=movable)
    phase = phase_result(pair, phases.effect(up_to_offset=False), positivity=not is_paired, seed=seed)
    try:
        aligned = fitted_shift(pair.X, pair.Y, worth, movable=movable)
        up_to_offset = phase_result(aligned, beyond_offset, positivity=not is_paired, seed=seed)
    except ValueError as error:
        return phase, None, beyond_offset, str(error)
    if is_paired and up_to_offset.shift is not None and up_to_offset.shift_interval is not None:
        # The mirror image is as far on the other side.
        half, interval = up_to_offset.shift / 2, up_to_offset.shift_interval / 2
        up_to_offset = replace(up_to_offset, shift=half, shift_interval=interval)
    return phase, up_to_offset, beyond_offset, None


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Whether a sample cannot be told from its mirror image, up to an offset; computed when it is first asked for.

    Few verdicts need it, and all pairs of a group share it. The sketch must stay as it is.
    """

    sketch: Sketch
    alpha: float

    @cached_property
    def holds(self) -> bool:
        """Whether the test of the sample against its mirror image does not reject; False for too few rows."""
        try:
            with single_threaded_blas():
                # No shift makes a skewed sample its own mirror image: to tell that, few steps are enough.
                for most_steps, least in ((_FEW_STEPS, _CLEARLY_SKEWED), (None, self.alpha)):
                    aligned = fitted_shift(self.sketch, self.sketch.mirrored(), OF_THE_SAME_ROWS, most_steps)
                    if not phase_pvalue(aligned) > least:
                        return False
        except ValueError:
            return False
        return True
