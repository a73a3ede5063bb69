"""HIGGS, seven high level features: the paper's table of power and the figure of Type I errors (Appendix F).

The paper has SME at 0.94, 0.969, 0.987, 0.989, 0.994, 0.995 and ME at 1 for N = 500 to 1,000, and both at the level on
two draws from the signal process.
"""

from __future__ import annotations

from collections.abc import Sequence

from uptonoise.datasets import HIGGS_HIGH_LEVEL
from uptonoise.experiments._higgs import cell
from uptonoise.experiments._rejections import Cell, Experiment, Tests
from uptonoise.twosample import me_test, sme_test

SIZES = (500, 600, 700, 800, 900, 1_000)
TESTS: Tests = {"sme": sme_test, "me": me_test}


def cells() -> Sequence[Cell]:
    """Return power and level at each size."""
    return [cell(TESTS, n, HIGGS_HIGH_LEVEL, same) for same in (False, True) for n in SIZES]


EXPERIMENT = Experiment("higgs-high-level", __doc__.splitlines()[0], cells)
