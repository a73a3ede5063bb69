"""Models fitted on bags, one by one: what the paper's experiments on learning are made of.

Where the user has the paper's data, they are used; else their simulated stand-ins, which say so in every title.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.datasets import load_dark_matter, load_misr1, make_misr1_like
from uptonoise.experiments._experiment import Experiment, Row, Runner, Task
from uptonoise.experiments._splits import error_row, root_mean_square
from uptonoise.experiments.bag_models import DARK_MATTER, Data, Setting, by_bag, on_gpu, standardised
from uptonoise.learning import add_noise, pooled_variances

Make = Callable[..., Any]
Variants = tuple[tuple[str, dict[str, Any]], ...]

MISR1_LIKE = Setting("misr1-like", make_misr1_like, by_bag)


def aerosol(quick: bool) -> Setting:
    """Return the MISR1 data where they are, else their calibrated stand-in, which a quick run has small."""
    if quick:
        return replace(MISR1_LIKE, sizes=(100, 20))
    return replace(MISR1_LIKE, name="MISR1", make=_misr1) if _is_there(load_misr1) else MISR1_LIKE


def dark_matter() -> Setting:
    """Return a dark matter catalogue where there is one, else its stand-in."""
    return replace(DARK_MATTER, name="dark matter", make=_catalogue) if _is_there(load_dark_matter) else DARK_MATTER


# Functions with names, so that settings stay equal from one worker to another, and what is `prepared` is found again.
def _misr1(random_state: int) -> Any:
    return load_misr1()


def _catalogue(random_state: int) -> Any:
    return load_dark_matter()


def _is_there(load: Callable[[], Any]) -> bool:
    try:
        load()
    except FileNotFoundError:
        return False
    return True


def network(kind: str, *, quick: bool = False) -> Make:
    """Return what makes the "phase" or the "fourier" network of the paper, which is small in a quick run.

    Of the settings that the paper tunes over it has the one nearest to what the authors' public code has: 60
    frequencies, and penalties that are 0.004 and 0.01 in our units.
    """

    def make(cv: Any, random_state: int) -> Any:
        from uptonoise.nets import FourierNetRegressor, PhaseNetRegressor

        network = {"phase": PhaseNetRegressor, "fourier": FourierNetRegressor}[kind]
        sizes = {"n_frequencies": 20, "n_epochs": 10} if quick else {"n_frequencies": 60}
        penalties = {"frequency_penalty": 0.01, "output_penalty": 0.01}
        return network.paper(learning_rate=0.03, progress=False, random_state=random_state, **sizes, **penalties)

    return make


class Prepared(NamedTuple):
    """One split of a data set: bags to fit on, in memory and where models are fitted fast, and bags to test on."""

    fit: Bags
    fast: Any
    y_fit: Floats
    cv: Any
    test: Bags
    y_test: Floats

    def error(self, model: Any, bags: Bags) -> float:
        """Return the root mean squared error of a fitted model, or of the mean, on the test bags with other rows."""
        return root_mean_square(self.y_test - (self.y_fit.mean() if model is None else model.predict(bags)))

    def noisy(self, level: float, random_state: Any) -> Bags:
        """Return the test bags with noise, in units of the variances of the bags to fit on."""
        return add_noise(self.test, level, variances=pooled_variances(self.fit), random_state=random_state)


@dataclass(frozen=True)
class Fit:
    """A model to be fitted on a data set.

    `on_gpu` says whether bags are on a GPU for that, where there is one. `variants` are names and parameters with which
    the same fitted model predicts, where there is more than one way.
    """

    data: Setting
    model: str
    make: Make | None
    on_gpu: bool = False
    variants: Variants = ()

    @property
    def name(self) -> str:
        """The name of the data."""
        return self.data.name

    def on_split(self, seed: int, split: int, random_state: int) -> tuple[Any, Prepared]:
        """Return the model fitted on one split of the data (None predicts the mean), and the split."""
        part = prepared(self.data, seed, split)
        if self.make is None:
            return None, part
        bags = part.fast if self.on_gpu else part.fit
        return self.make(cv=part.cv, random_state=random_state).fit(bags, part.y_fit), part


@lru_cache(maxsize=16)
def prepared(setting: Setting, seed: int, split: int) -> Prepared:
    """Return a split of a data set, in units of the standard deviations of the bags to fit on."""
    data = _sampled(setting, seed)
    part = setting.split(data, np.random.default_rng([seed, split]))
    bags, y = standardised(data.bags, part.fit), data.y
    fit = bags[part.fit]
    return Prepared(fit, on_gpu(fit), y[part.fit], part.cv, bags[part.test], y[part.test])


@lru_cache(maxsize=2)
def _sampled(setting: Setting, seed: int) -> Data:
    return setting.draw(seed)


@dataclass(frozen=True)
class NoiseExperiment(Experiment):
    """A table of errors of models, fitted once a split, on test bags to which noise was added several times.

    `fits` says which models on which data, for a quick run or not; `levels` are those of the noise.
    """

    fits: Callable[[bool], Sequence[Fit]]
    levels: Sequence[float]
    repetitions: int = field(default=10, kw_only=True)
    quick: bool = field(default=False, kw_only=True)
    splits: int = field(default=10, kw_only=True)

    def quickened(self) -> Self:
        """Return the experiment with small data, three levels, two draws and one split."""
        few = self.levels[:: max(1, (len(self.levels) - 1) // 2)]
        return replace(self, quick=True, levels=few, repetitions=2, splits=1)

    def described(self) -> Any:
        """Return the data, the models and the levels."""
        fits = [(fit.name, fit.model) for fit in self.fits(self.quick)]
        return {"fits": fits, "levels": list(self.levels), "splits": self.splits}

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the errors of each model at each level on each split."""
        cells = [(fit, split) for fit in self.fits(self.quick) for split in range(self.splits)]
        settings = (self.seed, self.levels, repetitions)
        tasks = [
            Task(f"{fit.name}, {fit.model}, split {split}", _noisy_errors, (fit, split, *settings))
            for fit, split in cells
        ]
        return [
            error_row(fit.name, ("model", "level", "split"), (model, level, split), errors, counted="draws")
            for (fit, split), by_model in zip(cells, runner.map(tasks), strict=True)
            for model, by_level in by_model.items()
            for level, errors in zip(self.levels, by_level, strict=True)
        ]


def _noisy_errors(
    fit: Fit, split: int, seed: int, levels: Sequence[float], repetitions: int
) -> dict[str, list[list[float]]]:
    """Return errors by level and draw; the draws are the same for all models, and at all levels but for their size."""
    model, part = fit.on_split(seed, split, random_state=split)
    errors: dict[str, list[list[float]]] = {}
    for name, params in fit.variants or ((fit.model, {}),):
        if params:
            model.set_params(**params)
        errors[name] = [[] for _ in levels]
        for level, of_level in zip(levels, errors[name], strict=True):
            for draw in range(repetitions if level > 0 else 1):
                of_level.append(part.error(model, part.noisy(level, np.random.default_rng([seed, split, 1, draw]))))
    return errors
