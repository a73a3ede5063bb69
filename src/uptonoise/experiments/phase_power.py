"""Power of the phase statistic in the cells of noise-power, but for HIGGS (ours only).

The statistic is that of the phase test without positivity, computed in batches, on a GPU where there is one.
"""

from __future__ import annotations

from uptonoise.experiments._phase_cells import power_cells
from uptonoise.experiments._phase_rates import PhaseRates

EXPERIMENT = PhaseRates("phase-power", __doc__.splitlines()[0], power_cells, (0.05, 0.01), judged=False)
