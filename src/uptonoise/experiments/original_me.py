"""ME and SME with the locations of Jitkrittum et al. beside ours: HIGGS (Table F.1) and chi-squared (Figure 1, right).

The paper's ME and SME learn their locations by gradient ascent on the power, from starts sampled like the data. Ours
take a few penalised steps from other starts, whose constants were chosen with such settings in view. Both see the same
draws here; power first, then the level on two samples of one distribution.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from uptonoise.datasets import HIGGS_HIGH_LEVEL
from uptonoise.experiments import _chi2, _higgs
from uptonoise.experiments._figures import Panel, rates
from uptonoise.experiments._rejections import RejectionExperiment, Tests
from uptonoise.twosample import me_test, sme_test

TESTS: Tests = {
    "sme": sme_test,
    "me": me_test,
    "sme, gradient": partial(sme_test, optimizer="gradient"),
    "me, gradient": partial(me_test, optimizer="gradient"),
}

PANELS = [
    Panel("HIGGS, background against signal", {"data": "HIGGS", "samples": "two processes"}),
    Panel("chi-squared, no noise", {"data": "chi-squared", "samples": "two distributions"}),
]
_CELLS = [
    *(("HIGGS", "two processes", _higgs.cell(TESTS, n, HIGGS_HIGH_LEVEL, same=False)) for n in (500, 700, 1_000)),
    *(("chi-squared", "two distributions", _chi2.cell(TESTS, n, freedoms=(4, 8))) for n in (200, 500, 1_000)),
    ("HIGGS", "one process", _higgs.cell(TESTS, 500, HIGGS_HIGH_LEVEL, same=True)),
    ("chi-squared", "one distribution", _chi2.cell(TESTS, 500)),
]
"""Power on HIGGS and on chi-squared signals, and the level of each at one size."""

EXPERIMENT = RejectionExperiment(
    "original-me",
    __doc__.splitlines()[0],
    [replace(cell, settings={"data": data, "samples": what, "N": cell.settings["N"]}) for data, what, cell in _CELLS],
    repetitions=75,
    draw=rates(PANELS, list(TESTS)),
    quick_runs=2,
)
