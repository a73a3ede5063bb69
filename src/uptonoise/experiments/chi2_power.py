"""Power in the chi-squared setting: the paper's Figure 1 (right), chi2(4)/4 against chi2(8)/8 in 5 columns.

The paper shows that ME rejects everywhere; that SME needs more rows, the more so the larger the noise; and that PhD,
where its level is right (little noise), has more power than SME.
"""

from __future__ import annotations

from uptonoise.experiments._chi2 import cell
from uptonoise.experiments._figures import Panel, rates
from uptonoise.experiments._rejections import RejectionExperiment
from uptonoise.experiments.chi2_level import PAPER_AND_OURS

SIZES = (100, 200, 500, 1_000, 2_000)
NOISES = ((0.0, 0.0), (0.5, 0.5), (2.0, 0.0))


# Noises are ratios to the signals' variances, which differ: equal ratios are unequal noises.
PANELS = [
    Panel(f"noise {n1:g} and {n2:g}", {"n1": str(n1), "n2": str(n2)}, hollow=("me", "phd") if n1 or n2 else ())
    for n1, n2 in NOISES
]

CELLS = [cell(PAPER_AND_OURS, n, noise, freedoms=(4, 8)) for noise in NOISES for n in SIZES]
"""A cell for each size and each pair of noises."""
EXPERIMENT = RejectionExperiment("chi2-power", __doc__.splitlines()[0], CELLS, draw=rates(PANELS, list(PAPER_AND_OURS)))
