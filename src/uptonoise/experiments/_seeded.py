"""Models compared on problems that are drawn anew for each seed: the frame of experiments with networks.

Two files: `NAME-runs.csv` has every number of every seed, and `NAME.csv` means with 5 % and 95 % quantiles over seeds.
A run that was interrupted goes on where it stopped: what the first file has is not computed again.
"""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed


class Found(NamedTuple):
    """A number that a model has on a problem: which one, and its value."""

    model: str
    measure: str
    value: float


@dataclass(frozen=True)
class Problem:
    """A problem by name, and what is found on it with a seed."""

    name: str
    measure: Callable[[int], Iterable[Found]]


_COLUMNS = ("problem", "seed", *Found._fields)


@dataclass(frozen=True)
class SeededExperiment:
    """A table with a row for each problem and model, and a column for each measure."""

    name: str
    paper: str
    problems: Sequence[Problem]
    seeds: int = 10

    def run(self, folder: Path, repetitions: int | None = None, workers: int | None = None) -> Path:
        """Write both files into `folder`, and return the one with the means."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}-runs.csv"
        done = {(row["problem"], int(row["seed"])) for row in _read(path)}
        seeds = range(repetitions or self.seeds)
        todo = [(one, seed) for seed in seeds for one in self.problems if (one.name, seed) not in done]
        with path.open("a", newline="") as file, Parallel(workers or os.cpu_count(), return_as="generator") as parallel:
            writer = csv.DictWriter(file, _COLUMNS)
            if not done:
                writer.writeheader()
            for rows in parallel(delayed(_rows)(one, seed) for one, seed in todo):
                writer.writerows(rows)
                file.flush()
                for row in rows:
                    print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        rows = [row for row in _read(path) if int(row["seed"]) in seeds]
        return _write_means(folder / f"{self.name}.csv", rows)


def _rows(problem: Problem, seed: int) -> list[dict[str, Any]]:
    os.environ["UPTONOISE_NUM_THREADS"] = "1"  # the workers share the cores
    return [
        {"problem": problem.name, "seed": seed} | one._asdict() | {"value": f"{one.value:.5g}"}
        for one in problem.measure(seed)
    ]


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def by_model(rows: Iterable[dict[str, str]]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Return the values over seeds of each measure, for each problem and model, in the order of the file.

    Examples
    --------
    >>> from uptonoise.experiments._seeded import by_model
    >>> by_model([{"problem": "a", "seed": "0", "model": "b", "measure": "c", "value": "2"}])[("a", "b")]["c"]
    [2.0]
    """
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row["problem"], row["model"]][row["measure"]].append(float(row["value"]))
    return found


def _write_means(path: Path, rows: list[dict[str, str]]) -> Path:
    found = by_model(rows)
    measures = dict.fromkeys(row["measure"] for row in rows)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["problem", "model", *measures, "seeds"])
        writer.writeheader()
        for problem in dict.fromkeys(row["problem"] for row in rows):
            for (of, model), values in found.items():
                if of == problem:
                    cells = {measure: _cell(values[measure]) for measure in values}
                    seeds = {"seeds": len(next(iter(values.values())))}
                    writer.writerow({"problem": problem, "model": model} | cells | seeds)
    return path


def _cell(values: list[float]) -> str:
    low, high = np.quantile(values, [0.05, 0.95])
    return f"{np.mean(values):.3f} ({low:.3f} to {high:.3f})"
