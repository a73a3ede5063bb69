"""Type I error in the chi-squared setting: the paper's Figure 1 (left), and other kinds of noise.

The paper shows that without noise ME, PhD and SME keep the level 0.05; that with noise of different size in the two
samples ME rejects nearly always and PhD too often; and that SME keeps the level at every noise.
"""

from __future__ import annotations

from functools import partial
from itertools import product

from uptonoise.experiments._chi2 import cell
from uptonoise.experiments._figures import Panel, rates
from uptonoise.experiments._rejections import RejectionExperiment, Tests
from uptonoise.twosample import flip_test, me_test, mmd_test, phase_test, phd_test, sme_test

SIZES = (100, 200, 500, 1_000)
COLUMNS = (1, 5, 20)
KINDS = ("gaussian", "laplace", "cauchy", "t")
OURS: Tests = {"phase": phase_test, "flip": partial(flip_test, n_flips=199)}
PAPER_AND_OURS: Tests = {"sme": sme_test, "me": me_test, "phd": phd_test, **OURS}
ALL_TESTS: Tests = {"sme": sme_test, "me": me_test, "phd": phd_test, "mmd": mmd_test, **OURS}
BLIND: Tests = {"sme": sme_test, **OURS}
NOISES = ((0.5, 0.0), (1.0, 0.5), (2.0, 0.0))


CELLS = [
    *(cell(ALL_TESTS, n, noise) for n in SIZES for noise in [(0.0, 0.0), *NOISES]),
    *(
        cell(BLIND, 500, noise, d, kind)
        for kind, d, noise in product(KINDS, COLUMNS, NOISES)
        if (kind, d) != ("gaussian", 5)
    ),
]
"""All tests at Gaussian noise in 5 columns, then those blind to noise at other kinds and columns."""
PANELS = [
    Panel(f"noise {n1:g} and {n2:g}", {"kind": "gaussian", "d": "5", "n1": str(n1), "n2": str(n2)})
    for n1, n2 in [(0.0, 0.0), *NOISES]
]

EXPERIMENT = RejectionExperiment("chi2-level", __doc__.splitlines()[0], CELLS, draw=rates(PANELS, list(ALL_TESTS)))
