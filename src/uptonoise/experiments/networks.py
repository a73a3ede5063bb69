"""Networks with learnt frequencies beside ridge models: clean error, and error against noise on the test bags only.

The paper's section 5.2 and appendix G.2 have the phase and the Fourier network. Two problems, each drawn anew for every
seed: the stand-in of the aerosol data, 640 bags to fit and 160 to test; and 10,000 bags in 8 columns whose label shows
in one direction, 8,000 to fit and 2,000 to test. All scales are chosen by 3-fold cross-validation once a split: those
of the networks by the ridge model from whose frequencies they start. Errors are root mean squared errors over that of
predicting the mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from uptonoise.bags import Bags
from uptonoise.datasets import make_aerosol_like
from uptonoise.experiments._directions import make_direction_bags
from uptonoise.experiments._figures import dots
from uptonoise.experiments._seeded import Found, Problem, SeededExperiment
from uptonoise.experiments.bag_models import standardised
from uptonoise.nets import FourierNetRegressor, PhaseNetRegressor
from uptonoise.noise import robustness_curve
from uptonoise.ridge import glrr, plrr
from uptonoise.rows import Floats

LEVELS = (0.0, 0.02, 0.1, 0.3, 1.0)
_REPEATS = 3
_NETWORKS = {"phase network": PhaseNetRegressor, "Fourier network": FourierNetRegressor}


_VARIANTS: dict[str, dict[str, Any]] = {
    "{}": {},
    "{}, drawn start": {"frequencies": None},
    "{}, output not solved": {"solve_output": False},
    "{}, against noise": {"noise_augmentation": max(LEVELS)},
}


def _models(seed: int, **options: Any) -> dict[str, Any]:
    """Return the models to compare."""
    models: dict[str, Any] = {
        "PLRR": plrr(amplitude="plain", random_state=seed),
        "shrunk PLRR": plrr(amplitude="shrunk", random_state=seed),
        "GLRR": glrr(random_state=seed),
    }
    common: dict[str, Any] = {"frequencies": "ridge", "device": "cpu", "progress": False, "random_state": seed}
    for variant, others in _VARIANTS.items():
        for name, kind in _NETWORKS.items():
            models[variant.format(name)] = kind(**(common | options | others))
    return models


def _compared(bags: Bags, y: Floats, n_fit: int, seed: int, models: dict[str, Any]) -> Iterator[Found]:
    variances = bags[:n_fit].values.var(axis=0)
    mean_error = float(np.sqrt(np.mean((y[n_fit:] - y[:n_fit].mean()) ** 2)))
    for name, model in models.items():
        model.fit(bags[:n_fit], y[:n_fit])
        curve = robustness_curve(
            model,
            bags[n_fit:],
            y[n_fit:],
            LEVELS,
            repeats=_REPEATS,
            variances=variances,
            random_state=seed,
            progress=False,
        )
        for level, error in zip(LEVELS, curve.mean, strict=True):
            yield Found(name, f"noise {level:g}", float(error) / mean_error)


def aerosol(seed: int, n_bags: int = 800) -> Iterator[Found]:
    """Return the errors on the aerosol stand-in."""
    bags, y = make_aerosol_like(n_bags, random_state=seed)
    n_fit = n_bags * 4 // 5
    models = _models(seed, n_frequencies=50, n_epochs=30)
    return _compared(standardised(bags, np.arange(n_fit)), y, n_fit, seed, models)


def direction(seed: int, n_bags: int = 10_000) -> Iterator[Found]:
    """Return the errors on bags whose label shows in one direction."""
    bags, y = make_direction_bags(n_bags, 20, 8, seed)
    models = _models(seed, n_frequencies=40, n_epochs=8, batch_size=64)
    return _compared(bags, y, n_bags * 4 // 5, seed, models)


EXPERIMENT = SeededExperiment(
    "networks",
    __doc__.splitlines()[0],
    [Problem("aerosol-like", aerosol), Problem("one direction", direction)],
    quick_problems=[
        Problem("aerosol-like", partial(aerosol, n_bags=50)),
        Problem("one direction", partial(direction, n_bags=100)),
    ],
    draw=dots(("problem", "model"), None, "RMSE over that of predicting the mean", 1.0),
)
