"""Power of the phase test and the flip test against the paper's tests and others (beyond the paper).

The phase test is run without its positivity part. chi2(4)/4 against chi2(8)/8 with noise in one or both samples, in 1
to 50 columns; one column of 50; distributions with the same margins and another dependence; HIGGS. Where the noises
differ, PhD, ME, MMD or pted may reject because of the noise: the table has these rates, but they are not power. The
time of MMD and pted grows with the square of the rows, so they get at most 1,000 rows in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from uptonoise.experiments._alternatives import HIGGS, INDEPENDENT, ONE_COLUMN, OTHER_TAIL, Alternative, chi2
from uptonoise.experiments._figures import cells_of_tests
from uptonoise.experiments._peers import epps_singleton_test, pted_test
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.twosample import flip_test, me_test, mmd_test, phase_test, phd_test, sme_test

TESTS: Tests = {
    "phase": partial(phase_test, positivity=False),
    "flip": flip_test,
    "flip, 5 pairings": partial(flip_test, n_pairings=5),
    "sme": sme_test,
    "phd": phd_test,
    "me": me_test,
}
QUADRATIC: Tests = {"mmd": partial(mmd_test, n_permutations=199), "pted": pted_test}
ONE_DIMENSIONAL: Tests = {"epps-singleton": epps_singleton_test}

SETTINGS: Sequence[tuple[str, Alternative, Sequence[tuple[int, int]]]] = (
    ("chi-squared", chi2(5, (0.0, 0.0)), ((100, 100), (200, 200), (500, 500), (1_000, 100))),
    ("chi-squared", chi2(5, (0.5, 0.5)), ((200, 200), (500, 500))),
    ("chi-squared", chi2(5, (2.0, 0.0)), ((500, 500), (2_000, 2_000))),
    ("chi-squared", chi2(1, (0.0, 0.0)), ((100, 100), (200, 200), (500, 500))),
    ("chi-squared", chi2(1, (0.5, 0.5)), ((500, 500),)),
    ("chi-squared", chi2(20, (0.5, 0.5)), ((200, 200),)),
    ("chi-squared", chi2(20, (1.0, 0.0)), ((500, 500),)),
    ("chi-squared", chi2(50, (1.0, 0.0)), ((500, 500),)),
    ("one column", ONE_COLUMN, ((500, 500),)),
    ("dependence in the other tail", OTHER_TAIL, ((100, 100), (200, 200))),
    ("dependence or none", INDEPENDENT, ((200, 200), (500, 500))),
    ("HIGGS high level", HIGGS, ((50, 50), (100, 100), (200, 200))),
)


def cells() -> Sequence[Cell]:
    """Return the cells, each with the tests that can be run there."""
    cells = []
    for name, (draw, d, noise), ladder in SETTINGS:
        for sizes in ladder:
            settings = {"samples": name, "n": sizes[0], "k": sizes[1], "d": d, "n1": noise[0], "n2": noise[1]}
            tests = TESTS | (QUADRATIC if sum(sizes) <= 1_000 else {}) | (ONE_DIMENSIONAL if d == 1 else {})
            cells.append(Cell(settings, partial(draw, sizes=sizes), tests))
    return cells


EXPERIMENT = RejectionExperiment(
    "noise-power",
    __doc__.splitlines()[0],
    cells(),
    draw=cells_of_tests(
        ("samples", "n", "k", "d", "n1", "n2"),
        [("phase", "flip", "flip, 5 pairings", "sme"), ("phd", "me", "mmd", "pted", "epps-singleton")],
    ),
)
