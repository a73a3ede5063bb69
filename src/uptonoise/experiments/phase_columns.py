"""Power of the phase statistic in 100, 200 and 500 columns, of which one, a tenth, or all differ (ours only).

The statistic is that of the phase test without positivity, computed in batches, on a GPU where there is one.
"""

from __future__ import annotations

from uptonoise.experiments._phase_cells import column_cells
from uptonoise.experiments._phase_rates import PhaseRates

EXPERIMENT = PhaseRates("phase-columns", __doc__.splitlines()[0], column_cells, (0.05, 0.01), judged=False)
