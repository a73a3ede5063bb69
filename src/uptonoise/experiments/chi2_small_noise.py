"""Extra Type I error in the chi-squared setting: the paper's Figure F.6, without noise and with small noises.

The paper shows that without noise ME, PhD and SME keep the level (left), and that PhD still does under small
differences in noise, where ME does not, and loses it under larger ones (right). The noises are ours: the paper's figure
names them, its text does not.
"""

from __future__ import annotations

from uptonoise.experiments._chi2 import cell
from uptonoise.experiments._figures import Panel, rates
from uptonoise.experiments._rejections import RejectionExperiment
from uptonoise.experiments.chi2_level import PAPER_AND_OURS

SIZES = (100, 200, 500, 1_000, 2_000)
NOISES = ((0.0, 0.0), (0.05, 0.0), (0.1, 0.0), (0.2, 0.1), (0.5, 0.0), (1.0, 0.0))


PANELS = [
    Panel("without noise", {"n1": "0.0", "n2": "0.0"}),
    Panel("PhD under noise", {}, ["phd"], by=("n1", "n2")),
    Panel("ME under noise", {}, ["me"], by=("n1", "n2")),
]

CELLS = [cell(PAPER_AND_OURS, n, noise) for noise in NOISES for n in SIZES]
"""A cell for each size and each pair of noises."""
EXPERIMENT = RejectionExperiment(
    "chi2-small-noise", __doc__.splitlines()[0], CELLS, draw=rates(PANELS, list(PAPER_AND_OURS))
)
