"""Networks with learnt frequencies beside ridge models: clean error, and error against noise on the test bags only.

The paper's section 5.2 and appendix G.2 have the phase and the Fourier network. Two problems, sampled anew for each
seed: the stand-in of the aerosol data, 640 bags to fit and 160 to test; and 10,000 bags in 8 columns whose label shows
in one direction, 8,000 to fit and 2,000 to test. All models are tuned by 3-fold cross-validation on the bags to fit,
once a split: ridge models over scales and penalties, the two networks over the settings of a grid. Their variants have
one setting each that is not the default, and are not tuned, but for the scale of the ridge model from whose frequencies
they start. Errors are root mean squared errors over that of predicting the mean.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.datasets import make_aerosol_like
from uptonoise.experiments._error_figures import noise_bands
from uptonoise.experiments._seeded import Problem, SeededExperiment
from uptonoise.experiments.bag_models import standardised
from uptonoise.experiments.covariate_shift import shrunk_plrr
from uptonoise.learning import glrr, plrr, robustness_curve
from uptonoise.nets import FourierNetRegressor, PhaseNetRegressor

LEVELS = (0.0, 0.02, 0.1, 0.3, 1.0)
_REPEATS = 3
NETWORKS = {"phase network": PhaseNetRegressor, "Fourier network": FourierNetRegressor}

Options = dict[str, Any]
"""Parameters of networks, or lists of them to try."""

PLAIN: Options = {"hidden": (), "scale": "median", "learning_rate": 0.03, "noise_augmentation": None, "steady": False}
"""The networks of these tables: as in the paper a linear output, which is trained without noise unless it is said."""

_VARIANTS: dict[str, Options] = {
    "not tuned": {},
    "drawn start": {"frequencies": None},
    "output not solved": {"solve_output": False},
    "against noise": {"noise_augmentation": max(LEVELS)},
}
_AEROSOL: Options = {"n_frequencies": 50, "n_epochs": 100}
_AEROSOL_GRID: Options = {"frequencies": ["ridge", None], "learning_rate": [0.01, 0.03], "output_penalty": [1e-5, 1e-3]}
_DIRECTION: Options = {"n_frequencies": 40, "n_epochs": 10, "batch_size": 64}
_DIRECTION_GRID: Options = {"learning_rate": [0.01, 0.03]}


def make_direction_bags(n_bags: int, n_rows: int, n_columns: int, seed: int) -> tuple[Bags, Floats]:
    """Return bags that lie about places of their own, whose label is a wave in one direction.

    A bag's place is U(-2, 2) along the direction and N(0, 1) in all directions across; its rows are exponential about
    it, with mean 0 and standard deviation 1/2. The label is the sine of twice the place along the direction, which is
    that of the seed. One frequency along it tells the label; a frequency drawn at random also turns with the places
    across.
    """
    generator = np.random.default_rng(seed)
    turned = np.linalg.qr(generator.standard_normal((n_columns, n_columns)))[0]
    places = generator.standard_normal((n_bags, 1, n_columns))
    places[..., 0] = generator.uniform(-2, 2, size=(n_bags, 1))
    rows = places + (generator.exponential(size=(n_bags, n_rows, n_columns)) - 1) / 2
    return Bags(rows @ turned), np.sin(2 * places[:, 0, 0])


def models(seed: int, options: Options, grid: Options) -> dict[str, Any]:
    """Return the models to compare, by name."""
    models: dict[str, Any] = {
        "PLRR": plrr(amplitude="plain", random_state=seed),
        "shrunk PLRR": shrunk_plrr(random_state=seed),
        "GLRR": glrr(random_state=seed),
    }
    common: Options = PLAIN | {"frequencies": "ridge", "progress": False, "random_state": seed} | options
    for name, kind in NETWORKS.items():
        models[name] = GridSearchCV(kind(**common), grid, cv=3, scoring="neg_mean_squared_error")
    for variant, others in _VARIANTS.items():
        for name, kind in NETWORKS.items():
            models[f"{name}, {variant}"] = kind(**(common | others))
    return models


def _errors(bags: Bags, y: Floats, n_fit: int, seed: int, model: Any) -> dict[str, float]:
    """Return the errors of a model on the bags that it is not fitted on, by the level of their noise."""
    model.fit(bags[:n_fit], y[:n_fit])
    curve = robustness_curve(
        model,
        bags[n_fit:],
        y[n_fit:],
        LEVELS,
        n_repeats=_REPEATS,
        variances=bags[:n_fit].values.var(axis=0),
        random_state=seed,
        progress=False,
    )
    of_mean = float(np.sqrt(np.mean((y[n_fit:] - y[:n_fit].mean()) ** 2)))
    return {f"noise {level:g}": float(error) / of_mean for level, error in zip(LEVELS, curve.mean, strict=True)}


def aerosol(
    seed: int, model: str, n_bags: int = 800, options: Options = _AEROSOL, grid: Options = _AEROSOL_GRID
) -> dict[str, float]:
    """Return the errors of a model on the aerosol stand-in."""
    bags, y = make_aerosol_like(n_bags, random_state=seed)
    n_fit = n_bags * 4 // 5
    return _errors(standardised(bags, np.arange(n_fit)), y, n_fit, seed, models(seed, options, grid)[model])


def direction(
    seed: int, model: str, n_bags: int = 10_000, options: Options = _DIRECTION, grid: Options = _DIRECTION_GRID
) -> dict[str, float]:
    """Return the errors of a model on bags whose label shows in one direction."""
    bags, y = make_direction_bags(n_bags, 20, 8, seed)
    return _errors(bags, y, n_bags * 4 // 5, seed, models(seed, options, grid)[model])


MODELS = tuple(models(0, {}, {}))
_PANELS = {"tuned models": [name for name in MODELS if not name.endswith(tuple(_VARIANTS))]} | {
    f"{name}s": [model for model in MODELS if model.startswith(name)] for name in NETWORKS
}
_FEW: Options = {"n_frequencies": 10, "n_epochs": 2}

EXPERIMENT = SeededExperiment(
    "networks",
    __doc__.splitlines()[0],
    [
        Problem("aerosol-like", MODELS, aerosol, {"networks": _AEROSOL, "grid": _AEROSOL_GRID}),
        Problem("one direction", MODELS, direction, {"networks": _DIRECTION, "grid": _DIRECTION_GRID}),
    ],
    quick_problems=[
        Problem("aerosol-like", MODELS, partial(aerosol, n_bags=50, options=_FEW, grid=_DIRECTION_GRID)),
        Problem("one direction", MODELS, partial(direction, n_bags=100, options=_FEW, grid=_DIRECTION_GRID)),
    ],
    draw=noise_bands(_PANELS, "RMSE over that of predicting the mean", 1.0),
    uses_gpu=True,
)
