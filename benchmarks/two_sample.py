"""Speed and memory of the two-sample tests, as ratios in one run.

    python benchmarks/two_sample.py

``phd_test`` against recomputing features and statistic for each permutation, ``mmd_test`` against pted 2 (an energy
distance test with as many permutations) on the same rows, and how the time of ``me_test`` grows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pted
from _measure import best_time, extra_megabytes, interleaved, row

import uptonoise as un
from uptonoise._util.threads import n_threads

SEED = 0


def plain_phd_test(X: Any, Y: Any, W: Any, n_permutations: int) -> float:
    """Permute, compute the features, normalise, compare: each time anew."""
    rng = np.random.default_rng(SEED)

    def statistic(X: Any, Y: Any) -> float:
        phi, psi = np.exp(1j * (X @ W.T)).mean(0), np.exp(1j * (Y @ W.T)).mean(0)
        return float(np.mean(np.abs(phi / np.abs(phi) - psi / np.abs(psi)) ** 2))

    observed, pooled = statistic(X, Y), np.concatenate([X, Y])
    n_larger = 0
    for _ in range(n_permutations):
        order = rng.permutation(len(pooled))
        n_larger += statistic(pooled[order[: len(X)]], pooled[order[len(X) :]]) >= observed
    return (1 + n_larger) / (1 + n_permutations)


def samples(n: int, d: int = 5) -> tuple[Any, Any]:
    rng = np.random.default_rng(SEED)
    return rng.chisquare(4, size=(n, d)) / 4, rng.chisquare(4, size=(n, d)) / 4


def main() -> None:
    warnings.simplefilter("ignore", un.UnequalNoiseWarning)
    print(f"numpy {np.__version__}, {n_threads()} threads, two samples of N x 5 rows, seed {SEED}")
    row("", "measured", "bar")

    X, Y = samples(2_000)
    W = un.phd_test(X, Y, n_permutations=1, random_state=SEED).frequencies
    plain = best_time(lambda: plain_phd_test(X, Y, W, 400), 1)
    ours = best_time(lambda: un.phd_test(X, Y, n_permutations=400, random_state=SEED), 7)
    row("phd_test, N = 2,000, 400 permutations: times faster than each anew", f"{plain / ours:.0f}", ">= 50")
    row("  seconds", f"{plain:.2f} {ours:.3f}")
    before = (
        "import numpy as np, uptonoise as un\n"
        f"rng = np.random.default_rng({SEED})\n"
        "X, Y = rng.normal(size=(100_000, 5)), rng.normal(size=(100_000, 5))\n"
        "un.phd_test(X[:100], Y[:100])"
    )
    row("  peak extra memory at N = 100,000, MB", f"{extra_megabytes(before, 'un.phd_test(X, Y)'):.0f}", "< 200")

    peer, ours = interleaved(
        lambda: pted.pted(X, Y, permutations=1_000),
        lambda: un.mmd_test(X, Y, n_permutations=1_000, random_state=SEED),
        3,
    )
    row("mmd_test, N = 2,000, 1,000 permutations: times faster than pted 2", f"{peer / ours:.1f}", "> 1")
    row("  seconds", f"{peer:.2f} {ours:.2f}")

    times = {}
    for n in (1_000, 10_000, 100_000, 1_000_000):
        X, Y = samples(n)
        times[n] = best_time(lambda X=X, Y=Y: un.me_test(X, Y, random_state=SEED), 3)  # type: ignore[misc]
        row(f"me_test at N = {n:,}: seconds", f"{times[n]:.4f}")
    row("  time at N = 1,000,000 over that at 100,000", f"{times[1_000_000] / times[100_000]:.1f}", "near 10")


if __name__ == "__main__":
    main()
