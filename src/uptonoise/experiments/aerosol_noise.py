"""Errors on aerosol bags over ten splits, as they are and with noise on the test part: Table F.2 and Figure 3.

The paper has an RMSE of 0.101 (SD 0.011) for the Fourier network, 0.101 (0.008) for the phase network, 0.079 (0.010)
for GLRR and 0.085 (0.009) for PLRR without noise: ridge regression is ahead of networks on so few bags. It adds
Gaussian noise to the 160 test bags, and shows that GLRR degrades fast, PLRR less, and both networks hardly; a second
layer (PGRR, GGRR) does not help. Networks have one setting here, that of the authors' public code in our units, where
the paper tunes them in each split. They predict with the statistics of the test batch, as that code does, or with those
of training. Beside these here: PLRR with shrunk phases, and models fitted against noise.

The levels are our choice: the paper's text names none for this figure, and only level 3 for that of the amplitudes.
"""

from __future__ import annotations

from collections.abc import Sequence

from uptonoise.experiments._bag_fits import Fit, NoiseExperiment, aerosol, network
from uptonoise.experiments._error_figures import noise_errors
from uptonoise.experiments.covariate_shift import models

LEVELS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)

RIDGE = ("plrr", "glrr", "pgrr", "ggrr")
OURS = ("shrunk plrr", "shrunk plrr + noise", "glrr + noise")
# A trained network predicts with the statistics of the test batch, or with those of training.
_PREDICTING = {
    kind: tuple((f"{kind} network, {name} statistics", {"statistics": name}) for name in ("batch", "training"))
    for kind in ("phase", "fourier")
}
_DRAWN = {
    "the paper's ridge models": RIDGE,
    "its networks": tuple(name for variants in _PREDICTING.values() for name, _ in variants),
    "ours beside plrr": ("plrr", *OURS),
}


def fits(quick: bool) -> Sequence[Fit]:
    """Return the models on the data, or on their stand-in: the mean, the paper's, its networks, and ours."""
    data = aerosol(quick)
    ridge = [Fit(data, name, models().get(name)) for name in ("mean", *RIDGE, *OURS)]
    networks = [
        Fit(data, f"{kind} network", network(kind, quick=quick), variants=variants)
        for kind, variants in _PREDICTING.items()
    ]
    return [*ridge, *networks]


EXPERIMENT = NoiseExperiment(
    "aerosol-noise", __doc__.splitlines()[0], fits, LEVELS, draw=noise_errors(models=_DRAWN), uses_gpu=True
)
