"""False-positive rate of the phase statistic over four grids of cells (ours only).

The grids: that of `noise-level`; 20 and 100 times as many rows in one sample; a fresh one, of distributions and noises
that chose no constant and judged no earlier version; and 100, 200 and 500 columns. The statistic is that of the phase
test without positivity, computed in batches, on a GPU where there is one. A rate above its 99 % band is run again with
four times as many fresh runs.
"""

from __future__ import annotations

from uptonoise.experiments._phase_cells import level_cells
from uptonoise.experiments._phase_rates import PhaseRates

EXPERIMENT = PhaseRates("phase-level", __doc__.splitlines()[0], level_cells, (0.05, 0.01, 0.001), judged=True)
