"""HIGGS, seven high level features: power, the paper's Table F.1, and Type I error, its Figure F.7 (right).

The paper has SME at 0.94, 0.969, 0.987, 0.989, 0.994, 0.995 and ME at 1 for N = 500 to 1,000, and both at the level on
two draws from the signal process. PhD, which it leaves out for its cost, is here too.
"""

from __future__ import annotations

from uptonoise.datasets import HIGGS_HIGH_LEVEL
from uptonoise.experiments._figures import rates
from uptonoise.experiments._higgs import PANELS, cell
from uptonoise.experiments._rejections import RejectionExperiment
from uptonoise.experiments.chi2_level import PAPER_AND_OURS

SIZES = (500, 600, 700, 800, 900, 1_000)


CELLS = [cell(PAPER_AND_OURS, n, HIGGS_HIGH_LEVEL, same) for same in (False, True) for n in SIZES]
"""Power and level at each size."""
EXPERIMENT = RejectionExperiment(
    "higgs-high-level", __doc__.splitlines()[0], CELLS, draw=rates(PANELS, list(PAPER_AND_OURS))
)
