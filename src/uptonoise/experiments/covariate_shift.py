"""Errors of models on bags when the test bags have noise that the training bags had not (Figures 3 and 4).

The paper adds Gaussian noise to test bags, with a variance for each bag and column that is uniform between 0 and the
level times the pooled variance of the column, and shows the error of PLRR to grow less than that of GLRR. Here all five
models of the paper and PLRR with shrunk phases, each also fitted against noise of levels up to 3, beside the mean
predictor; and noise of kinds that no model was fitted against.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from uptonoise.datasets import make_gamma_bags
from uptonoise.experiments._error_figures import noise_errors
from uptonoise.experiments._splits import SplitExperiment, root_mean_square
from uptonoise.experiments.bag_models import MODELS, QUICK_SETTINGS, SETTINGS, Data, Part, Setting, on_gpu, standardised
from uptonoise.learning import BagRidgeCV, add_noise, pooled_variances

LEVELS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
KINDS = ("laplace", "t", "cauchy", "uniform")
_KIND_LEVELS = (1.0, 3.0)
_TRAINED = 3.0
_DRAWN = ("plrr", "glrr", "ggrr", "shrunk plrr", "shrunk plrr + noise", "ggrr + noise")


def _two_thirds(data: Data, generator: np.random.Generator) -> Part:
    fit, test = np.split(generator.permutation(len(data.bags)), [round(2 * len(data.bags) / 3)])
    return Part(fit, test, None)


GAMMA = Setting("gamma", make_gamma_bags, _two_thirds, (1_000,))


def shrunk_plrr(**options: Any) -> BagRidgeCV:
    """Return PLRR with the library's own defaults: shrunk phases, and the largest penalty that predicts as well."""
    return BagRidgeCV("phase", n_frequencies=75, **options)


def models() -> dict[str, Callable[..., BagRidgeCV]]:
    """Return the models to compare, by name: those of the paper, shrunk PLRR, and all of them with augmentation."""
    plain = MODELS | {"shrunk plrr": shrunk_plrr}
    return plain | {f"{name} + noise": partial(make, noise_augmentation=_TRAINED) for name, make in plain.items()}


def _errors(setting: Setting, seed: int, number: int) -> dict[tuple[str, str, float], float]:
    """Return the root mean squared error by model, kind of noise and level, on one split."""
    data = setting.draw(seed)
    part = setting.split(data, np.random.default_rng([seed, number]))
    bags, y = standardised(data.bags, part.fit), data.y
    fit = bags[part.fit]
    fast, variances = on_gpu(fit), pooled_variances(fit)
    fitted = {
        # A model against noise needs bags in memory.
        name: make(cv=part.cv, random_state=number).fit(fit if "noise" in name else fast, y[part.fit])
        for name, make in models().items()
    }
    errors: dict[tuple[str, str, float], float] = {}
    for kind, levels in (("gaussian", LEVELS), *((kind, _KIND_LEVELS) for kind in KINDS)):
        for level in levels:
            noise = np.random.default_rng([seed, number, 1])
            noisy = on_gpu(add_noise(bags[part.test], level, kind, variances=variances, random_state=noise))
            errors["mean", kind, level] = root_mean_square(y[part.test] - y[part.fit].mean())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                for name, model in fitted.items():
                    errors[name, kind, level] = root_mean_square(y[part.test] - model.predict(noisy))
    return errors


EXPERIMENT = SplitExperiment(
    "covariate-shift",
    __doc__.splitlines()[0],
    lambda quick: (replace(GAMMA, sizes=(90, 20)), QUICK_SETTINGS[0]) if quick else (GAMMA, *SETTINGS),
    _errors,
    ("model", "noise", "level"),
    draw=noise_errors(models={"": _DRAWN}),
    uses_gpu=True,
)
