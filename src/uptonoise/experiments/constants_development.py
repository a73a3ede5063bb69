"""What chose the constants of the phase statistic: false-positive rate and power in cells of their own (ours only).

Each constant is switched off, halved and doubled, as in `ridge-constants`, in cells whose distributions and noises are
in no table that judges the statistic.
"""

from __future__ import annotations

from dataclasses import replace

from uptonoise.experiments import ridge_constants
from uptonoise.experiments._phase_cells import development_cells

EXPERIMENT = replace(
    ridge_constants.EXPERIMENT,
    name="constants-development",
    paper=__doc__.splitlines()[0],
    grid=development_cells,
    repetitions=500,
)
