"""Errors of models over splits of bags: the frame of experiments on learning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from uptonoise.experiments._error_figures import split_errors
from uptonoise.experiments._experiment import Experiment, Row, Runner, Task
from uptonoise.experiments._figures import Draw


@dataclass(frozen=True)
class SplitExperiment(Experiment):
    """A table of root mean squared errors: means over splits with 5 % and 95 % quantiles.

    `settings` takes whether the run is a quick one, with smaller settings of the same kind. `errors` takes a setting,
    the seed and the number of the split, and returns errors by what `columns` names; a setting has a name.
    """

    settings: Callable[[bool], Sequence[Any]]
    errors: Callable[[Any, int, int], dict[Any, float]]
    columns: Sequence[str]
    repetitions: int = field(default=10, kw_only=True)
    quick: bool = field(default=False, kw_only=True)

    def quickened(self) -> Self:
        """Return the experiment with two splits of smaller problems."""
        return replace(self, quick=True, repetitions=2)

    def described(self) -> Any:
        """Return the names of the problems, and what errors are told by."""
        return {"bags": [setting.name for setting in self.settings(self.quick)], "columns": list(self.columns)}

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the errors of each problem and model."""
        settings = self.settings(self.quick)
        tasks = [
            Task(f"{place}, {setting.name} / split {number}", _as_pairs, (self.errors, setting, self.seed, number))
            for number in range(repetitions)
            for place, setting in enumerate(settings)
        ]
        results = [{tuple(key): error for key, error in errors} for errors in runner.map(tasks)]
        return [
            error_row(setting.name, self.columns, key, [errors[key] for errors in results[place :: len(settings)]])
            for place, setting in enumerate(settings)
            for key in results[place]
        ]

    def drawing(self) -> Draw:
        """Return what draws the figure: dots with quantiles, where there is nothing better."""
        return self.draw or split_errors(self.columns)


def _as_pairs(errors: Callable[..., dict[Any, float]], *arguments: Any) -> list[tuple[Any, float]]:
    """Return errors in a form that JSON can hold."""
    return list(errors(*arguments).items())


def error_row(
    name: str, keys: Sequence[str], key: Sequence[Any], errors: Sequence[float], counted: str = "splits"
) -> Row:
    """Return the row of a table of errors over splits, or over what else is counted."""
    low, high = np.quantile(errors, [0.05, 0.95])
    numbers = {"RMSE": np.mean(errors), "5 %": low, "95 %": high, "MSE": np.mean(np.square(errors))}
    settings = dict(zip(keys, key, strict=True))
    formatted = {name: f"{value:.4f}" for name, value in numbers.items()}
    return {"bags": name} | settings | formatted | {counted: len(errors)}


def root_mean_square(residuals: Any) -> float:
    """Return the root of the mean of the squares."""
    return float(np.sqrt(np.mean(np.square(residuals))))
