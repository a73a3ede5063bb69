"""HIGGS, the azimuthal angles of the four jets: the paper's Figure 2, and Type I error, its Figure F.7 (left).

The paper shows that ME finds a difference as N grows, and that SME stays at the level: what differs can be explained by
symmetric noise. PhD, which it leaves out for its cost, is here too. Draws of more than a few thousand rows from the
46,240-row subset share the luck of that file.
"""

from __future__ import annotations

from uptonoise.datasets import HIGGS_JET_PHI
from uptonoise.experiments._figures import rates
from uptonoise.experiments._higgs import PANELS, cell
from uptonoise.experiments._rejections import RejectionExperiment
from uptonoise.experiments.chi2_level import PAPER_AND_OURS

SIZES = (500, 1_000, 2_000, 4_000, 7_000, 10_000)
LEVEL_SIZES = (500, 1_000, 2_000)


CELLS = [
    *(cell(PAPER_AND_OURS, n, HIGGS_JET_PHI, False) for n in SIZES),
    *(cell(PAPER_AND_OURS, n, HIGGS_JET_PHI, True) for n in LEVEL_SIZES),
]
"""The two processes against each other at each size, then two draws from one."""
EXPERIMENT = RejectionExperiment(
    "higgs-jet-phi", __doc__.splitlines()[0], CELLS, draw=rates(PANELS, list(PAPER_AND_OURS))
)
