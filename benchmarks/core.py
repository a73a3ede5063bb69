"""Speed, error and memory of the core, as ratios against the plain numpy expression in the same run.

    python benchmarks/core.py

prints one table: 1,000,000 x 5 rows at 100 frequencies for ``ecf``, the same rows in 10,000 bags, and
``Sketch.update`` at 50 frequencies. Each time is the best of several repetitions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from _measure import best_time, extra_megabytes, interleaved, row

import uptonoise as un
from uptonoise._util.threads import n_threads

N_ROWS, N_COLUMNS, N_FREQUENCIES, N_BAGS = 1_000_000, 5, 100, 10_000
SEED = 0


def plain_ecf(X: Any, W: Any, chunk_rows: int = 10_000) -> Any:
    """Evaluate the naive expression, in chunks so that its matrix fits."""
    total = np.zeros(len(W), dtype=complex)
    for start in range(0, len(X), chunk_rows):
        total += np.exp(1j * (X[start : start + chunk_rows] @ W.T)).sum(0)
    return total / len(X)


ROWS = (
    "import numpy as np, uptonoise as un\n"
    f"X = np.random.default_rng({SEED}).normal(size=({N_ROWS}, {N_COLUMNS}))\n"
    f"W = un.sample_frequencies({N_FREQUENCIES}, {N_COLUMNS}, random_state={SEED})\n"
    "un.ecf(X[:10], W); un.Sketch(W).update(X[:10])"
)


def main() -> None:
    X = np.random.default_rng(SEED).normal(size=(N_ROWS, N_COLUMNS))
    W = np.asarray(un.sample_frequencies(N_FREQUENCIES, N_COLUMNS, random_state=SEED))
    print(f"numpy {np.__version__}, {n_threads()} threads, {N_ROWS:,} x {N_COLUMNS} rows, seed {SEED}")
    row("", "measured", "bar")

    plain = best_time(lambda: plain_ecf(X, W), 2)
    fast = best_time(lambda: un.ecf(X, W), 5)
    row(f"ecf at {N_FREQUENCIES} frequencies: times faster than np.exp(1j * X @ W.T)", f"{plain / fast:.1f}", ">= 12")
    row("  seconds of the plain expression and of ecf", f"{plain:.2f} {fast:.3f}")
    double = best_time(lambda: un.ecf(X, W, precision="float64"), 2)
    row('  the same with precision="float64"', f"{plain / double:.1f}")

    some = X[:100_000]
    largest = np.abs(some @ W.T).max()
    for angle in (largest, 1e4):
        V = W * (angle / largest)
        error = np.abs(un.ecf(some, V) - plain_ecf(some, V)).max()
        row(f"  largest error where abs(w.x) reaches {angle:,.0f}", f"{error:.1e}", "<= 5e-7")
    ties = np.repeat(some[:1], 100_000, axis=0)
    V = W * (1e4 / np.abs(ties[:1] @ W.T).max())
    error = np.abs(un.ecf(ties, V) - plain_ecf(ties, V)).max()
    row("  largest error where all rows are equal, abs(w.x) to 10,000", f"{error:.1e}", "<= 5e-7")
    extra = extra_megabytes(ROWS, "un.ecf(X, W)")
    row("  peak extra memory, MB", f"{extra:.0f}", "< 64")

    equal = un.Bags(X.reshape(N_BAGS, -1, N_COLUMNS))
    cuts = np.sort(np.random.default_rng(SEED).choice(np.arange(1, N_ROWS), N_BAGS - 1, replace=False))
    ragged = un.Bags(np.split(X, cuts))
    for name, bags in (("equal", equal), ("different", ragged)):
        times = interleaved(lambda: un.ecf(X, W), lambda bags=bags: un.ecf(bags, W))  # type: ignore[misc]
        row(f"ecf of {N_BAGS:,} bags of {name} sizes: time over one sample's", f"{times[1] / times[0]:.2f}", "<= 1.3")

    half = W[:50]
    alone, sketch = interleaved(lambda: un.ecf(X, half), lambda: un.Sketch(half).update(X))
    row("Sketch.update at 50 frequencies: time over ecf's", f"{sketch / alone:.2f}", "<= 4")
    extra = extra_megabytes(ROWS, "un.Sketch(W[:50]).update(X)")
    row("  peak extra memory, MB", f"{extra:.0f}")


if __name__ == "__main__":
    main()
