"""Level and power of the phase test up to noise and an offset (beyond the paper).

Shifts of 0, 1 and 10 standard deviations of the signal, from rows, and for the largest also from sketches whose
frequencies know only the first sample; then chi2(4)/4 against chi2(8)/8.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from uptonoise.experiments._alternatives import chi2
from uptonoise.experiments._noisy_distributions import NoisyPair
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.experiments._sketched import scaled_on_first
from uptonoise.twosample import phase_test

ROWS: Tests = {"rows": partial(phase_test, invariant_to="noise+shift")}
TESTS: Tests = {**ROWS, "sketches": partial(scaled_on_first, invariant_to="noise+shift")}
NOISES = (((0.0, 0.0), "gaussian"), ((0.5, 0.0), "t"), ((2.0, 0.0), "gaussian"), ((1.0, 0.5), "cauchy"))
_SHIFTS = (0.0, 1.0, 10.0)
_DISTRIBUTIONS = ("chi-squared", "gamma(0.5)", "lognormal")


def cells() -> Sequence[Cell]:
    """Return 27 cells of the level, with distributions and noises in turn, then those of power."""
    places = [(shift, d, n) for shift in _SHIFTS for d in (1, 2, 5) for n in (200, 500, 2_000)]
    level = [
        _level_cell(NoisyPair(_DISTRIBUTIONS[(i + i // 3 + i // 9) % 3], (n, n), d, *NOISES[(i + i // 4) % 4], shift))
        for i, (shift, d, n) in enumerate(places)
    ]
    return [*level, *(_power_cell(n, noise) for n, noise in ((500, (0.0, 0.0)), (200, (0.0, 0.0)), (500, (0.5, 0.5))))]


def _level_cell(pair: NoisyPair) -> Cell:
    tests = TESTS if pair.shift == _SHIFTS[-1] else ROWS
    settings = pair.settings_of_one_size | {"shift": pair.shift}
    return Cell(settings, pair.draw, tests, at_most=frozenset(tests))


def _power_cell(n: int, noise: tuple[float, float]) -> Cell:
    settings = {"law": "chi2(4)/4, chi2(8)/8", "N": n, "d": 5, "noise": "gaussian", "n1": noise[0], "n2": noise[1]}
    return Cell(settings | {"shift": 0.0}, partial(chi2(5, noise).draw, sizes=(n, n)), TESTS)


EXPERIMENT = RejectionExperiment("shift-level", __doc__.splitlines()[0], cells, alphas=(0.05, 0.01))
