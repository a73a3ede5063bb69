"""Level and power of the phase test up to noise and an offset (beyond the paper).

Shifts of 0, 1 and 10 standard deviations of the signal, from rows, and for the largest also from sketches whose
frequencies know only the first sample; then chi2(4)/4 against chi2(8)/8.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from uptonoise.experiments._alternatives import chi2
from uptonoise.experiments._noisy_distributions import NoisyPair
from uptonoise.experiments._peers import scaled_on_first
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.twosample import phase_test

ROWS: Tests = {"rows": partial(phase_test, invariant_to="noise+shift")}
TESTS: Tests = {**ROWS, "sketches": partial(scaled_on_first, invariant_to="noise+shift")}
NOISES = (((0.0, 0.0), "gaussian"), ((0.5, 0.0), "t"), ((2.0, 0.0), "gaussian"), ((1.0, 0.5), "cauchy"))
_SHIFTS = (0.0, 1.0, 10.0)
_DISTRIBUTIONS = ("chi-squared", "gamma(0.5)", "lognormal")


def cells() -> Sequence[Cell]:
    """Return 27 cells of the level, with distributions and noises in turn, then those of power."""
    places = [(shift, d, n) for shift in _SHIFTS for d in (1, 2, 5) for n in (200, 500, 2_000)]
    cells = []
    for i, (shift, d, n) in enumerate(places):
        pair = NoisyPair(_DISTRIBUTIONS[(i + i // 3 + i // 9) % 3], (n, n), d, *NOISES[(i + i // 4) % 4], shift)
        tests = TESTS if shift == _SHIFTS[-1] else ROWS
        cells.append(
            Cell(
                _settings(pair.distribution, n, d, pair.kind, pair.noise, shift),
                pair.draw,
                tests,
                at_most=frozenset(tests),
            )
        )
    for n, noise in ((500, (0.0, 0.0)), (200, (0.0, 0.0)), (500, (0.5, 0.5))):
        settings = _settings("chi2(4)/4, chi2(8)/8", n, 5, "gaussian", noise)
        cells.append(Cell(settings, partial(chi2(5, noise).draw, sizes=(n, n)), TESTS))
    return cells


def _settings(signal: str, n: int, d: int, kind: str, noise: tuple[float, float], shift: float = 0.0) -> dict[str, Any]:
    return {"law": signal, "N": n, "d": d, "noise": kind, "n1": noise[0], "n2": noise[1], "shift": shift}


EXPERIMENT = RejectionExperiment("shift-level", __doc__.splitlines()[0], cells(), alphas=(0.05, 0.01))
