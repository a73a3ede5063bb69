"""How many rows of each sample the tests need for power 0.9 (beyond the paper).

Sizes go up by factors of sqrt(2) until a test has that power; between the last two, the logarithm of the size is
interpolated. PhD, ME, MMD, pted and Epps-Singleton are left out where the noises differ: there they reject for the
noise alone.
"""

from __future__ import annotations

from uptonoise.experiments._alternatives import HIGGS, INDEPENDENT, OTHER_TAIL, chi2
from uptonoise.experiments._figures import dots
from uptonoise.experiments._sizes import SizeExperiment
from uptonoise.experiments.noise_power import ONE_DIMENSIONAL, QUADRATIC, TESTS

ALTERNATIVES = {
    "chi-squared, d = 1": chi2(1, (0.0, 0.0)),
    "chi-squared, d = 5": chi2(5, (0.0, 0.0)),
    "chi-squared, d = 5, noise 0.5 and 0.5": chi2(5, (0.5, 0.5)),
    "chi-squared, d = 5, noise 2 and 0": chi2(5, (2.0, 0.0)),
    "chi-squared, d = 20, noise 1 and 0": chi2(20, (1.0, 0.0)),
    "dependence in the other tail, d = 5": OTHER_TAIL,
    "dependence or none, d = 5": INDEPENDENT,
    "HIGGS high level": HIGGS,
}
ALL_TESTS = TESTS | QUADRATIC | ONE_DIMENSIONAL
BLIND_TO_NOISE = frozenset({"phase", "flip", "flip, 5 pairings", "sme"})


def tests_of(name: str) -> dict[str, int]:
    """Return the tests to run on an alternative, each with the largest size that it is tried at."""
    alternative = ALTERNATIVES[name]
    limits = dict.fromkeys(TESTS, 6_400) | dict.fromkeys(QUADRATIC, 800)
    if alternative.d == 1:
        limits |= dict.fromkeys(ONE_DIMENSIONAL, 6_400)
    return {test: n for test, n in limits.items() if alternative.noises_are_equal or test in BLIND_TO_NOISE}


EXPERIMENT = SizeExperiment(
    "noise-sizes",
    __doc__.splitlines()[0],
    ALTERNATIVES,
    ALL_TESTS,
    tests_of,
    draw=dots(
        ("samples",),
        list(ALL_TESTS),
        "rows of each sample for power 0.9; hollow: more than were tried",
        logarithmic=True,
    ),
)
