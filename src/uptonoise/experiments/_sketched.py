"""The phase test from sketches of which only the first sample chose the frequencies."""

from __future__ import annotations

from typing import Any

from uptonoise.fourier import Sketch
from uptonoise.twosample import PhaseResult, phase_test


def scaled_on_first(X: Any, Y: Any, random_state: Any, **options: Any) -> PhaseResult:
    """Run the phase test from sketches whose frequencies know only X."""
    left = Sketch.for_samples(X, random_state=random_state).update(X)
    return phase_test(left, Sketch.like(left).update(Y), **options)
