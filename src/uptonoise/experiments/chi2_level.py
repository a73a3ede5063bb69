"""Type I error in the chi-squared setting: the paper's Figure 1 (left) and Appendix F, and other kinds of noise.

The paper shows that without noise ME, PhD and SME keep the level 0.05; that with noise of different size in the two
samples ME rejects nearly always and PhD too often; and that SME keeps the level at every noise.
"""

from __future__ import annotations

from collections.abc import Sequence

from uptonoise.experiments._chi2 import cell, noises
from uptonoise.experiments._rejections import Cell, Experiment, Tests
from uptonoise.twosample import me_test, mmd_test, phd_test, sme_test

SIZES = (100, 200, 500, 1_000)
COLUMNS = (1, 5, 20)
KINDS = ("gaussian", "laplace", "cauchy", "t")
ALL_TESTS: Tests = {"sme": sme_test, "me": me_test, "phd": phd_test, "mmd": mmd_test}
SME: Tests = {"sme": sme_test}


def cells() -> Sequence[Cell]:
    """Return all tests at Gaussian noise in 5 columns, then SME at the other kinds and numbers of columns."""
    every = [cell(ALL_TESTS, n, noise) for n in SIZES for noise in [(0.0, 0.0), *noises()]]
    others = [
        cell(SME, 500, noise, d, kind)
        for kind in KINDS
        for d in COLUMNS
        for noise in noises()
        if (kind, d) != ("gaussian", 5)
    ]
    return [*every, *others]


EXPERIMENT = Experiment("chi2-level", __doc__.splitlines()[0], cells)
