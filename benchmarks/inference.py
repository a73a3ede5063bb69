"""What inference by simulation costs beside the simulator, in passes of `ecf` over the simulated rows, and its memory.

python benchmarks/inference.py
"""

from __future__ import annotations

import time

import numpy as np
from _measure import best_time, extra_megabytes, row
from scipy import stats

import uptonoise as un
from uptonoise.inference import PhaseABC

N_PARTICLES, N_ROWS, BLOCK = 100_000, 100, 1_000

MODEL = """
from scipy import stats
from uptonoise.inference import PhaseABC
def simulator(theta, rng):
    return rng.gamma(theta[:, :, None], size=(len(theta), 100, 1))
"""


class Timed:
    """A vectorised simulator that adds up the time it takes."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return bags of shape (k, n_rows, 1)."""
        start = time.perf_counter()
        bags = rng.gamma(theta[:, :, None], size=(len(theta), N_ROWS, 1))
        self.seconds += time.perf_counter() - start
        return bags


def one_pass(frequencies: np.ndarray) -> float:
    """Return the seconds of `ecf` over as many rows, a block of bags at a time."""
    bags = un.Bags(np.random.default_rng(0).gamma(3.0, size=(BLOCK, N_ROWS, 1)))
    return best_time(lambda: un.ecf(bags, frequencies), 5) * N_PARTICLES / BLOCK


def main() -> None:
    row("", "measured", "bar")
    simulator = Timed()
    prior = stats.uniform(1, 5)
    inference = PhaseABC(prior, simulator, n_particles=N_PARTICLES, vectorized=True, random_state=0)
    before = one_pass(np.random.default_rng(0).normal(size=(100, 1)))
    start = time.perf_counter()
    inference.fit()
    seconds = time.perf_counter() - start - simulator.seconds
    frequencies = inference.regressor_.first_.frequencies_
    pass_time = min(before, one_pass(frequencies))
    row(
        "100,000 particles of 100 rows, 100 frequencies: passes of ecf, training too",
        f"{seconds / pass_time:.2f}",
        "<= 3",
    )
    row("  seconds of fit beside the simulator, and of one pass", f"{seconds:.1f} {pass_time:.2f}")
    row("  seconds of the simulator", f"{simulator.seconds:.1f}")
    observed = simulator(np.array([[3.0]]), np.random.default_rng(1))[0]
    row("  a posterior: passes of ecf", f"{best_time(lambda: inference.posterior(observed), 3) / pass_time:.3f}")
    before_fit = MODEL + "PhaseABC(stats.uniform(1, 5), simulator, n_particles=2_000, vectorized=True).fit()"
    fit = "PhaseABC(stats.uniform(1, 5), simulator, n_particles=100_000, vectorized=True).fit()"
    row(
        "  peak extra memory over 2,000 particles, MB (the rows alone are 80)",
        f"{extra_megabytes(before_fit, fit):.0f}",
    )


if __name__ == "__main__":
    main()
