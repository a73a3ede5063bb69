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
from uptonoise.experiments.bag_models import MODELS, QUICK_SETTINGS, Setting
from uptonoise.experiments.covariate_shift import models

LEVELS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
PAPER = ("plrr", "glrr", "pgrr", "ggrr")
NETWORKS = ("phase", "fourier")
OURS = ("shrunk plrr", "shrunk plrr + noise", "glrr + noise")
_DRAWN = {
    "the paper's models": (*PAPER, *(f"{kind} network" for kind in NETWORKS)),
    "ours beside plrr": ("plrr", *OURS),
}


def makers(*, tuned: bool) -> dict[str, Make | None]:
    """Return the models by name: the mean, the paper's, its networks, and ours."""
    named = models()
    networks = {f"{kind} network": network(kind, tuned=tuned) for kind in NETWORKS}
    return {"mean": None, **{name: MODELS[name] for name in PAPER}, **networks, **{name: named[name] for name in OURS}}


def on(data: Setting, *, tuned: bool = True) -> Sequence[Fit]:
    """Return the models to be fitted on bags."""
    return [Fit(data, name, make) for name, make in makers(tuned=tuned).items()]


def fits() -> Sequence[Fit]:
    """Return all models on the data, or on their stand-in."""
    return on(aerosol())


def quick_fits() -> Sequence[Fit]:
    """Return all models on a few bags."""
    return on(QUICK_SETTINGS[0], tuned=False)


EXPERIMENT = NoiseExperiment(
    "aerosol-noise",
    __doc__.splitlines()[0],
    fits,
    quick_fits,
    LEVELS,
    draw=noise_errors(models=_DRAWN),
    trains_networks=True,
)
