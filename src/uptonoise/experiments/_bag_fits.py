"""Models fitted on bags, one by one: what the paper's experiments on learning are made of.

Where the user has the paper's data, they are used; else their simulated stand-ins, which say so in every title.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, Self

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.datasets import load_dark_matter, load_misr1
from uptonoise.experiments._experiment import Experiment, Row, Runner, Task
from uptonoise.experiments._splits import SplitExperiment, error_row, root_mean_square
from uptonoise.experiments.bag_models import AEROSOL, DARK_MATTER, Data, Setting, standardised
from uptonoise.learning import add_noise, pooled_variances

Make = Callable[..., Any]


def aerosol() -> Setting:
    """Return the MISR1 data where they are, else their stand-in."""
    return replace(AEROSOL, name="MISR1", make=_misr1) if _is_there(load_misr1) else AEROSOL


def dark_matter() -> Setting:
    """Return a dark matter catalogue where there is one, else its stand-in."""
    return replace(DARK_MATTER, name="dark matter", make=_catalogue) if _is_there(load_dark_matter) else DARK_MATTER


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


def network(kind: str, *, tuned: bool = True) -> Make:
    """Return what makes the "phase" or the "fourier" network of the paper, tuned as there or not at all."""
    return partial(_network, kind, tuned)


def _network(kind: str, tuned: bool, cv: Any, random_state: int) -> Any:
    from sklearn.model_selection import GridSearchCV

    from uptonoise.nets import FourierNetRegressor, PhaseNetRegressor, paper_grid

    network = {"phase": PhaseNetRegressor, "fourier": FourierNetRegressor}[kind]
    common: dict[str, Any] = {"progress": False, "random_state": random_state}
    if not tuned:
        return network.paper(n_frequencies=20, n_epochs=10, **common)
    return GridSearchCV(network.paper(**common), paper_grid(), cv=cv, scoring="neg_mean_squared_error")


class Fitted(NamedTuple):
    """A fitted model (None predicts the mean), the bags to test on with their targets, and the columns' variances."""

    model: Any
    test: Bags
    y: Floats
    mean: float
    variances: Floats

    def error(self, bags: Bags) -> float:
        """Return the root mean squared error on the test bags with other rows."""
        return root_mean_square(self.y - (self.mean if self.model is None else self.model.predict(bags)))


@dataclass(frozen=True)
class Fit:
    """A model to be fitted on a data set, in a share of the runs."""

    data: Setting
    model: str
    make: Make | None
    share: float = 1.0

    @property
    def name(self) -> str:
        """The name of the data."""
        return self.data.name

    def on_split(self, seed: int, split: int, random_state: int) -> Fitted:
        """Return the model fitted on one split of the data."""
        data = _drawn(self.data, seed)
        part = self.data.split(data, np.random.default_rng([seed, split]))
        bags, y = standardised(data.bags, part.fit), data.y
        model = None
        if self.make is not None:
            model = self.make(cv=part.cv, random_state=random_state).fit(bags[part.fit], y[part.fit])
        variances = pooled_variances(bags[part.fit])
        return Fitted(model, bags[part.test], y[part.test], float(y[part.fit].mean()), variances)


def in_a_share(quick: bool, fits: Callable[[bool], Sequence[Fit]], named: str, share: float) -> Sequence[Fit]:
    """Return models, of which those whose name has `named` in it, since they take long, are in a share of the runs."""
    return [replace(fit, share=share if named in fit.model and not quick else 1.0) for fit in fits(quick)]


@lru_cache(maxsize=2)
def _drawn(setting: Setting, seed: int) -> Data:
    return setting.draw(seed)


def clean_errors(fit: Fit, seed: int, number: int, n_splits: int) -> dict[tuple[str], float]:
    """Return the error on the test bags as they are: frequencies are those of the run's number, splits come in turn."""
    fitted = fit.on_split(seed, number % n_splits, random_state=number)
    return {(fit.model,): fitted.error(fitted.test)}


@dataclass(frozen=True)
class FitExperiment(SplitExperiment):
    """A table of errors of models over splits, with a task for each model and split; its settings are fits."""

    columns: Sequence[str] = ("model",)

    def described(self) -> Any:
        """Return the data and the models."""
        return [(fit.name, fit.model) for fit in self.settings(self.quick)]


@dataclass(frozen=True)
class NoiseExperiment(Experiment):
    """A table of errors of models, fitted once, on test bags to which noise was added many times.

    `fits` says which models on which data, for a quick run or not; `levels` are those of the noise.
    """

    fits: Callable[[bool], Sequence[Fit]]
    levels: Sequence[float]
    repetitions: int = field(default=100, kw_only=True)
    quick: bool = field(default=False, kw_only=True)
    split: int = field(default=0, kw_only=True)

    def quickened(self) -> Self:
        """Return the experiment with small data, three levels and two draws."""
        few = self.levels[:: max(1, (len(self.levels) - 1) // 2)]
        return replace(self, quick=True, levels=few, repetitions=2)

    def described(self) -> Any:
        """Return the data, the models and the levels."""
        fits = [(fit.name, fit.model) for fit in self.fits(self.quick)]
        return {"fits": fits, "levels": list(self.levels), "split": self.split}

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the errors of each model at each level."""
        fits = self.fits(self.quick)
        tasks = [
            Task(f"{fit.name}, {fit.model}", _noisy_errors, (fit, self.seed, self.split, self.levels, repetitions))
            for fit in fits
        ]
        return [
            error_row(fit.name, ("model", "level"), (fit.model, level), errors, counted="draws")
            for fit, errors_of_fit in zip(fits, runner.map(tasks), strict=True)
            for level, errors in zip(self.levels, errors_of_fit, strict=True)
        ]


def _noisy_errors(fit: Fit, seed: int, split: int, levels: Sequence[float], repetitions: int) -> list[list[float]]:
    """Return errors by level and draw; the draws are the same for all models, and at all levels but for their size."""
    fitted = fit.on_split(seed, split, random_state=split)

    def error(level: float, draw: int) -> float:
        generator = np.random.default_rng([seed, split, 1, draw])
        return fitted.error(add_noise(fitted.test, level, variances=fitted.variances, random_state=generator))

    return [[error(level, draw) for draw in range(repetitions if level > 0 else 1)] for level in levels]
