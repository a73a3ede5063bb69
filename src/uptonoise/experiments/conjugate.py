"""Posteriors of a normal mean against the exact ones: errors, and coverage of 90 % intervals (beyond the paper).

theta ~ N(0, 1), 20 rows N(theta, 1): the posterior is N(20 mean / 21, 1 / 21). Errors of means are medians over data
sets, in units of the exact standard deviation; the prior leaves few particles for data sets far out in its tails.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from uptonoise.inference import FourierABC, PhaseABC, SemiAutomaticABC, calibration, simulate
from uptonoise.rows import Floats

N_ROWS = 20
METHODS: dict[str, Any] = {"phase": PhaseABC, "Fourier": FourierABC, "semi-automatic": SemiAutomaticABC}
SETTINGS = ((1_000, 0.2, False), (10_000, 0.05, False), (50_000, 0.01, False), (10_000, 0.05, True))


def normal_rows(theta: Floats, rng: np.random.Generator) -> Floats:
    """Return bags of 20 normal rows about each parameter."""
    return rng.normal(theta[:, :, None], size=(len(theta), N_ROWS, 1))


@dataclass(frozen=True)
class ConjugateExperiment:
    """A table by method, number of particles and tolerance."""

    name: str
    paper: str
    settings: Sequence[tuple[int, float, bool]] = SETTINGS
    n_training: int = 1_000
    repetitions: int = 1_000
    seed: int = 0

    def run(self, folder: Path, repetitions: int | None = None, workers: int | None = None) -> Path:
        """Write errors and coverage as CSV into `folder`, and return the file."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.csv"
        n = repetitions or self.repetitions
        parallel = Parallel(n_jobs=workers or os.cpu_count(), return_as="generator")
        rows = []
        for row in parallel(delayed(self._row)(name, *one, n) for name in METHODS for one in self.settings):
            print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
            rows.append(row)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return path

    def _row(self, method: str, n_particles: int, quantile: float, adjust: bool, n: int) -> dict[str, Any]:
        os.environ["UPTONOISE_NUM_THREADS"] = "1"  # the workers share the cores
        observed = simulate(stats.norm(), normal_rows, n, vectorized=True, random_state=self.seed + 1)
        inference = METHODS[method](
            stats.norm(),
            normal_rows,
            n_training=self.n_training,
            n_particles=n_particles,
            quantile=quantile,
            adjust=adjust,
            vectorized=True,
            random_state=self.seed,
        )
        found = calibration(inference.fit(), simulations=observed)
        sums = observed.bags.values.reshape(n, N_ROWS).sum(axis=1)
        exact_mean, exact_sd = sums / (N_ROWS + 1), 1 / np.sqrt(N_ROWS + 1)
        return {
            "method": method,
            "particles": n_particles,
            "quantile": quantile,
            "adjusted": adjust,
            "error of mean": f"{np.median(np.abs(found.means[:, 0] - exact_mean)) / exact_sd:.3f}",
            "sd / exact": f"{np.median(found.sds) / exact_sd:.3f}",
            "90 % covers": f"{found.coverage(0.9)[0]:.3f}",
            "data sets": n,
        }


EXPERIMENT = ConjugateExperiment("conjugate", __doc__.splitlines()[0])
