"""Errors of models over splits of bags: the frame of experiments on learning."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from uptonoise.experiments._tables import write_table


@dataclass(frozen=True)
class SplitExperiment:
    """A table of root mean squared errors: means over splits with 5 % and 95 % quantiles.

    `errors` takes a setting, the seed and the number of the split, and returns errors by what `columns` names.
    """

    name: str
    paper: str
    settings: Sequence[Any]
    errors: Callable[[Any, int, int], dict[Any, float]]
    columns: Sequence[str]
    splits: int = 10
    seed: int = 0

    def run(self, folder: Path, repetitions: int | None = None, workers: int | None = None) -> Path:
        """Write the errors as CSV into `folder`, and return the file."""
        rows: list[dict[str, Any]] = []
        with Parallel(n_jobs=workers or os.cpu_count()) as parallel:
            for setting in self.settings:
                found = parallel(
                    delayed(self.errors)(setting, self.seed, number) for number in range(repetitions or self.splits)
                )
                rows += [self._row(setting.name, key, [one[key] for one in found]) for key in found[0]]
                print(f"{self.name}: {setting.name} done", flush=True)
        return write_table(folder / f"{self.name}.csv", rows)

    def _row(self, name: str, key: tuple[Any, ...], errors: Sequence[float]) -> dict[str, Any]:
        low, high = np.quantile(errors, [0.05, 0.95])
        numbers = {"RMSE": np.mean(errors), "5 %": low, "95 %": high, "MSE": np.mean(np.square(errors))}
        settings = dict(zip(self.columns, key, strict=True))
        return (
            {"bags": name}
            | settings
            | {one: f"{value:.4f}" for one, value in numbers.items()}
            | {"splits": len(errors)}
        )


def root_mean_square(residuals: Any) -> float:
    """Return the root of the mean of the squares."""
    return float(np.sqrt(np.mean(np.square(residuals))))
