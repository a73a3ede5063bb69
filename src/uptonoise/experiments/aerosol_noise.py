"""Errors on aerosol bags whose test part has noise: the paper's Figure 3.

The paper fits on 640 clean bags, adds Gaussian noise to the other 160 a hundred times at each level, and shows that
GLRR degrades fast, PLRR less, and the phase and the Fourier network hardly; the mean predictor has 0.206. It says that
a second level (PGRR, GGRR) does not help. Beside these here: PLRR with shrunk phases, and models fitted against noise.

The levels are our choice: the paper's text names none for this figure, and only level 3 for that of the amplitudes.
"""

from __future__ import annotations

from collections.abc import Sequence

from uptonoise.experiments._bag_fits import Fit, Make, NoiseExperiment, aerosol, network
from uptonoise.experiments._error_figures import noise_errors
from uptonoise.experiments.bag_models import QUICK_SETTINGS
from uptonoise.experiments.covariate_shift import models

LEVELS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
NETWORKS = ("phase", "fourier")
PAPER = ("plrr", "glrr", "pgrr", "ggrr", *(f"{kind} network" for kind in NETWORKS))
OURS = ("shrunk plrr", "shrunk plrr + noise", "glrr + noise")
_DRAWN = {"the paper's models": PAPER, "ours beside plrr": ("plrr", *OURS)}


def fits(quick: bool) -> Sequence[Fit]:
    """Return the models on the data, or on their stand-in: the mean, the paper's, its networks, and ours."""
    data = QUICK_SETTINGS[0] if quick else aerosol()
    named: dict[str, Make | None] = {"mean": None, **models()}
    named |= {f"{kind} network": network(kind, tuned=not quick) for kind in NETWORKS}
    return [Fit(data, name, named[name]) for name in ("mean", *PAPER, *OURS)]


EXPERIMENT = NoiseExperiment(
    "aerosol-noise",
    __doc__.splitlines()[0],
    fits,
    LEVELS,
    draw=noise_errors(models=_DRAWN),
    trains_networks=True,
)
