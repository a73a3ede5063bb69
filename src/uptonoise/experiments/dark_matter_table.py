"""Masses of galaxy clusters from velocities: the paper's Table 1.

The paper has a mean squared error of 0.16 for the mean, 0.021 for PLRR, 0.033 for GLRR, 0.032 for LGRR, 0.021 for PGRR
and 0.018 for GGRR, over 10 splits with 50 sets of frequencies each. Beside these here: PLRR with shrunk phases, and
with these and fitted against noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from uptonoise.experiments._bag_fits import Fit, FitExperiment, Make, clean_errors, dark_matter
from uptonoise.experiments._figures import split_errors
from uptonoise.experiments.bag_models import MODELS, QUICK_SETTINGS, Setting
from uptonoise.experiments.covariate_shift import models

SPLITS, SETS_OF_FREQUENCIES = 10, 50
OURS = ("shrunk plrr", "shrunk plrr + noise")


def on(data: Setting) -> Sequence[Fit]:
    """Return the models to be fitted on bags."""
    named = models()
    makers: dict[str, Make | None] = {"mean": None, **MODELS, **{name: named[name] for name in OURS}}
    return [Fit(data, name, make) for name, make in makers.items()]


def fits() -> Sequence[Fit]:
    """Return all models on the data, or on their stand-in."""
    return on(dark_matter())


def quick_fits() -> Sequence[Fit]:
    """Return all models on a few bags."""
    return on(QUICK_SETTINGS[1])


EXPERIMENT = FitExperiment(
    "dark-matter-table",
    __doc__.splitlines()[0],
    fits,
    quick_fits,
    partial(clean_errors, n_splits=SPLITS),
    SPLITS * SETS_OF_FREQUENCIES,
    draw=split_errors(measure="MSE"),
)
