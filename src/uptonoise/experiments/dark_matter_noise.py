"""Masses of galaxy clusters where test velocities have noise: the paper's Figure 4.

The paper adds noise to the test bags as on aerosol data, and shows that PLRR and PGRR are more robust than GLRR and
GGRR, and that LGRR, which sees means only, stays flat. Beside these here: PLRR with shrunk phases, also fitted against
noise.

The noise sizes are our choice: the paper's text names none for this figure. Noise is sampled ten times on each of ten
splits.
"""

from __future__ import annotations

from collections.abc import Sequence

from uptonoise.experiments._bag_fits import Fit, NoiseExperiment, dark_matter
from uptonoise.experiments._error_figures import noise_errors
from uptonoise.experiments.bag_models import MODELS, QUICK_SETTINGS
from uptonoise.experiments.covariate_shift import models

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
OURS = ("shrunk plrr", "shrunk plrr + noise")
_DRAWN = {"the paper's models": tuple(MODELS), "ours beside plrr": ("plrr", *OURS)}


def fits(quick: bool) -> Sequence[Fit]:
    """Return the models on the data, or on their stand-in: the mean, the paper's and ours."""
    data = QUICK_SETTINGS[1] if quick else dark_matter()
    return [Fit(data, name, models().get(name), on_gpu="noise" not in name) for name in ("mean", *MODELS, *OURS)]


EXPERIMENT = NoiseExperiment(
    "dark-matter-noise", __doc__.splitlines()[0], fits, LEVELS, draw=noise_errors("MSE", _DRAWN), uses_gpu=True
)
