"""Blood pressure of NHANES: one reading against the mean of three, and men against women (beyond the paper).

N people in each sample, all different. One reading and a mean of three are one quantity with more and with less noise;
readings drift by about 2 mmHg from the first to the mean, which is an offset. Men and women differ.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets import load_blood_pressure
from uptonoise.experiments._figures import cells_of_tests
from uptonoise.experiments._peers import centred_ks_test, ks_test
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.twosample import mmd_test, phase_test, sme_test

TESTS: Tests = {
    "noise and offset": partial(phase_test, invariant_to="noise+shift"),
    "noise": phase_test,
    "sme": sme_test,
    "ks": ks_test,
    "ks, centred": centred_ks_test,
    "mmd": partial(mmd_test, n_permutations=199),
}
N = 500
ALL = slice(3)


_people = cache(load_blood_pressure)


def _sampled(
    of_x: slice, of_y: slice, generator: np.random.Generator, men_and_women: bool = False
) -> tuple[Floats, Floats]:
    """Return the means of some readings of some people, and of some of other people."""
    people = _people()
    if men_and_women:
        men, women = people.systolic[people.male], people.systolic[~people.male]
        X, Y = (those[generator.choice(len(those), N, replace=False)] for those in (men, women))
    else:
        chosen = generator.choice(len(people.systolic), 2 * N, replace=False)
        X, Y = people.systolic[chosen[:N]], people.systolic[chosen[N:]]
    return X[:, of_x].mean(axis=1, keepdims=True), Y[:, of_y].mean(axis=1, keepdims=True)


CELLS = [
    Cell({"X": "reading 1", "Y": "mean of 3", "N": N}, partial(_sampled, slice(1), ALL), TESTS),
    Cell({"X": "reading 3", "Y": "mean of 2 and 3", "N": N}, partial(_sampled, slice(2, 3), slice(1, 3)), TESTS),
    Cell({"X": "mean of 3", "Y": "mean of 3", "N": N}, partial(_sampled, ALL, ALL), TESTS, frozenset(TESTS)),
    Cell(
        {"X": "men, reading 1", "Y": "women, mean of 3", "N": N},
        partial(_sampled, slice(1), ALL, men_and_women=True),
        TESTS,
    ),
]
"""Readings against means of three, then men against women with one reading and with means."""
EXPERIMENT = RejectionExperiment(
    "blood-pressure", __doc__.splitlines()[0], CELLS, draw=cells_of_tests(("X", "Y"), [tuple(TESTS)])
)
