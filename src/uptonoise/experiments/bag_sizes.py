"""Plain and shrunk phases where bags have other numbers of rows than those that the model was fitted on.

The paper has bags of one size. Here PLRR is fitted on bags of 100 rows, or of 5 to 5,000, and tested on bags of 20, 100
and 1,000 rows or of 5 to 5,000, with and without noise that the training bags had not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.datasets import make_aerosol_like, make_gamma_bags
from uptonoise.experiments._error_figures import size_errors
from uptonoise.experiments._splits import SplitExperiment, root_mean_square
from uptonoise.experiments.covariate_shift import shrunk_plrr
from uptonoise.learning import add_noise, plrr, pooled_variances

_MIXED = (5, 5_000)
_LEVELS = (0.0, 1.0, 3.0)


@dataclass(frozen=True)
class Sizes:
    """Bags, and the numbers of rows of those to fit on and of those to test on."""

    name: str
    draw: Callable[[Any, int, int], tuple[Bags, Floats]]
    fitted: Any
    tested: tuple[Any, ...]
    n_fitted: int = 450
    n_tested: int = 300


def _gamma_shapes(rows: Any, n_bags: int, seed: int) -> tuple[Bags, Floats]:
    """Return gamma distributions of mean 1 and shapes from 1 to 6, in two columns."""
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(1, 6, n_bags)
    least, most = rows if isinstance(rows, tuple) else (rows, rows)
    sizes = np.exp(generator.uniform(np.log(least), np.log(most), n_bags)).round().astype(int)
    bags = [generator.gamma(shape, 1 / shape, size=(size, 2)) for shape, size in zip(shapes, sizes, strict=True)]
    return Bags(bags), shapes


def _aerosol(rows: Any, n_bags: int, seed: int) -> tuple[Bags, Floats]:
    bags, y = make_aerosol_like(n_bags, random_state=seed, n_rows=rows)
    # In units of standard deviations that were fixed by a draw of their own.
    scales = np.asarray(make_aerosol_like(400, random_state=999)[0].values).std(axis=0)
    return Bags([bag / scales for bag in bags]), y


_DRAWS: dict[str, Callable[[Any, int, int], tuple[Bags, Floats]]] = {
    "gamma": lambda rows, n_bags, seed: make_gamma_bags(n_bags, rows, random_state=seed),
    "gamma shapes": _gamma_shapes,
    "aerosol-like": _aerosol,
}
SETTINGS = (
    *(Sizes(name, draw, 100, (20, 100, 1_000)) for name, draw in _DRAWS.items()),
    *(Sizes(name, _DRAWS[name], _MIXED, (20, 1_000, _MIXED)) for name in ("gamma", "gamma shapes")),
)
QUICK_SETTINGS = [replace(setting, fitted=20, tested=(10, 40), n_fitted=60, n_tested=30) for setting in SETTINGS[:3]]


def _row_count(rows: Any) -> str:
    return f"{rows[0]} to {rows[1]}" if isinstance(rows, tuple) else str(rows)


def _errors(setting: Sizes, seed: int, number: int) -> dict[tuple[Any, ...], float]:
    seeds = np.random.SeedSequence([seed, number]).generate_state(2)
    bags, y = setting.draw(setting.fitted, setting.n_fitted, int(seeds[0]))
    variances = pooled_variances(bags)
    make = {"plain": plrr, "shrunk": shrunk_plrr}
    fitted = {name: model(random_state=number).fit(bags, y) for name, model in make.items()}
    errors = {}
    for rows in setting.tested:
        clean, true = setting.draw(rows, setting.n_tested, int(seeds[1]))
        for level in _LEVELS:
            noisy = add_noise(clean, level, variances=variances, random_state=np.random.default_rng([seed, number]))
            key = (_row_count(setting.fitted), _row_count(rows), level)
            errors[*key, "mean"] = root_mean_square(true - y.mean())
            for name, model in fitted.items():
                errors[*key, name] = root_mean_square(true - model.predict(noisy))
    return errors


EXPERIMENT = SplitExperiment(
    "bag-sizes",
    __doc__.splitlines()[0],
    lambda quick: QUICK_SETTINGS if quick else SETTINGS,
    _errors,
    ("rows fitted", "rows tested", "level", "phases"),
    draw=size_errors(),
)
