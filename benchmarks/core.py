"""Speed, error and memory of the core, as ratios within one run.

    python benchmarks/core.py
    python benchmarks/core.py --threads 1,2,4,8,16 --rows 2000000
    python benchmarks/core.py --clock processor

The first table has a line for each number of threads: nanoseconds for each pair of a row and a frequency. The peers are
the numpy path of the same library, and for ``Sketch.update`` its limit: the features alone plus the BLAS product of the
same tiles alone. The second table compares with the plain numpy expression. Each time is the best of several, and times
that are compared were taken in turn. On a machine that others use as well, the time that the processors spent on this
process says more than the clock on the wall; efficiency is then that of one thread over that of all threads.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _measure import extra_megabytes, row

import uptonoise as un
from uptonoise._util.threads import n_threads, ordered_map, single_threaded_blas
from uptonoise.fourier import CosineSine
from uptonoise.fourier.compiled import by_numpy, kernel_name

N_COLUMNS, N_FREQUENCIES, N_BAGS = 5, 100, 10_000
TILE_ROWS = 1_024
SEED = 0


def plain_ecf(X: Any, W: Any, chunk_rows: int = 10_000) -> Any:
    """Evaluate the naive expression, in chunks so that its matrix fits."""
    total = np.zeros(len(W), dtype=complex)
    for start in range(0, len(X), chunk_rows):
        total += np.exp(1j * (X[start : start + chunk_rows] @ W.T)).sum(0)
    return total / len(X)


def plain_phases(bags: Any, W: Any, chunk_bags: int = 100) -> Any:
    """Evaluate the naive expression of the phase features of equally large bags."""
    phi = [np.exp(1j * (some @ W.T)).mean(axis=1) for some in np.array_split(bags, max(1, len(bags) // chunk_bags))]
    phases = np.concatenate(phi)
    phases /= np.abs(phases)
    return np.sqrt(1 / len(W)) * phases.view(float)


CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "processor": time.process_time}


class Watch:
    """Best times of functions, taken one after the other so that all meet the same machine."""

    def __init__(self, clock: str, repetitions: int) -> None:
        self.clock = clock
        self.repetitions = repetitions

    def __call__(self, *functions: Callable[[], Any]) -> list[float]:
        """Return the best time of each function."""
        times = [[self._time(function) for function in functions] for _ in range(self.repetitions)]
        return [min(of_one) for of_one in zip(*times, strict=True)]

    def _time(self, function: Callable[[], Any]) -> float:
        start = CLOCKS[self.clock]()
        function()
        return CLOCKS[self.clock]() - start

    def efficiency(self, alone: float, together: float, threads: int) -> float:
        """Return which part of its time each of the threads spends as well as one alone would."""
        return alone / (together if self.clock == "processor" else threads * together)


def by_the_numpy_path(function: Callable[[], Any]) -> Callable[[], Any]:
    def called() -> Any:
        with by_numpy():
            return function()

    return called


def features_alone(X: Any, cosine_sine: CosineSine) -> None:
    tiles = (X[start : start + TILE_ROWS] for start in range(0, len(X), TILE_ROWS))
    with single_threaded_blas():
        for _ in ordered_map(lambda tile: cosine_sine.with_sums(tile, None)[1], tiles):
            pass


def products_alone(n_rows: int, tile: Any) -> None:
    def product(_: int) -> None:
        np.matmul(tile.T, tile)

    with single_threaded_blas():
        for _ in ordered_map(product, range(0, n_rows, len(tile))):
            pass


def speed(X: Any, W: Any, threads: list[int], watch: Watch) -> None:
    """Print nanoseconds for each pair, for each number of threads."""
    n_rows, pairs = len(X), 1e-9 * len(X) * len(W)
    n_bags = min(N_BAGS, n_rows // 100)
    equal = un.Bags(X[: n_rows // n_bags * n_bags].reshape(n_bags, -1, N_COLUMNS))
    cuts = np.sort(np.random.default_rng(SEED).choice(np.arange(1, n_rows), n_bags - 1, replace=False))
    ragged = un.Bags(np.split(X, cuts))
    cosine_sine = CosineSine(W, "fast")
    tile = np.array(cosine_sine(X[:TILE_ROWS]), dtype=np.float32)
    names = ("threads", "ecf numpy", "ecf", "ratio", "efficiency", "bags", "ragged", "Sketch", "limit", "fraction")
    print("".join(f"{name:>11}" for name in names), flush=True)
    alone = 0.0
    for number in threads:
        os.environ["UPTONOISE_NUM_THREADS"] = str(number)
        with_numpy, ecf, of_equal, of_ragged = watch(
            by_the_numpy_path(lambda: un.ecf(X, W)),
            lambda: un.ecf(X, W),
            lambda: un.ecf(equal, W),
            lambda: un.ecf(ragged, W),
        )
        sketch, features, products = watch(
            lambda: un.Sketch(W).update(X),
            lambda: features_alone(X, cosine_sine),
            lambda: products_alone(n_rows, tile),
        )
        alone = alone or ecf
        limit = features + products
        numbers = (
            f"{number}",
            f"{with_numpy / pairs:.2f}",
            f"{ecf / pairs:.3f}",
            f"{with_numpy / ecf:.1f}",
            f"{watch.efficiency(alone, ecf, number // threads[0]):.2f}",
            f"{of_equal / ecf:.2f}",
            f"{of_ragged / ecf:.2f}",
            f"{sketch / pairs:.2f}",
            f"{limit / pairs:.2f}",
            f"{limit / sketch:.2f}",
        )
        print("".join(f"{text:>11}" for text in numbers), flush=True)
    del os.environ["UPTONOISE_NUM_THREADS"]


ROWS = (
    "import numpy as np, uptonoise as un\n"
    f"X = np.random.default_rng({SEED}).normal(size=(1_000_000, {N_COLUMNS}))\n"
    f"W = un.sample_frequencies({N_FREQUENCIES}, {N_COLUMNS}, random_state={SEED})\n"
    "un.ecf(X[:10], W); un.Sketch(W).update(X[:10])"
)


def against_the_plain_expression(X: Any, W: Any, watch: Watch) -> None:
    plain, fast, double = watch(
        lambda: plain_ecf(X, W), lambda: un.ecf(X, W), lambda: un.ecf(X, W, precision="float64")
    )
    row("ecf: times faster than np.exp(1j * X @ W.T)", f"{plain / fast:.1f}")
    row('  the same with precision="float64"', f"{plain / double:.1f}")

    bags = X[: len(X) // 100 * 100].reshape(-1, 100, N_COLUMNS)[:N_BAGS]
    model = un.PhaseFeatures(frequencies=W, amplitude="plain").fit(bags)
    phases, features = watch(lambda: plain_phases(bags, W), lambda: model.transform(bags))
    row(f"PhaseFeatures of {len(bags):,} bags of 100: times faster", f"{phases / features:.1f}", ">= 20")

    some = X[:100_000]
    largest = np.abs(some @ W.T).max()
    for angle in (largest, 1e4):
        V = W * (angle / largest)
        error = np.abs(un.ecf(some, V) - plain_ecf(some, V)).max()
        row(f"largest error of ecf where abs(w.x) reaches {angle:,.0f}", f"{error:.1e}", "<= 5e-7")
    ties = np.repeat(some[:1], 100_000, axis=0)
    V = W * (1e4 / np.abs(ties[:1] @ W.T).max())
    error = np.abs(un.ecf(ties, V) - plain_ecf(ties, V)).max()
    row("  where all rows are equal, abs(w.x) to 10,000", f"{error:.1e}", "<= 5e-7")
    row("peak extra memory of ecf, MB", f"{extra_megabytes(ROWS, 'un.ecf(X, W)'):.0f}", "< 64")
    row("peak extra memory of Sketch.update, MB", f"{extra_megabytes(ROWS, 'un.Sketch(W).update(X)'):.0f}", "< 64")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default=f"1,{n_threads()}", help="numbers of threads, such as 1,2,4")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall")
    given = parser.parse_args()
    X = np.random.default_rng(SEED).normal(size=(given.rows, N_COLUMNS))
    W = np.asarray(un.sample_frequencies(N_FREQUENCIES, N_COLUMNS, random_state=SEED))
    print(
        f"numpy {np.__version__}, kernel: {kernel_name()}, {given.rows:,} x {N_COLUMNS} rows at {N_FREQUENCIES} "
        f"frequencies, seed {SEED}; nanoseconds for each pair ({given.clock})"
    )
    speed(X, W, sorted({int(number) for number in given.threads.split(",")}), Watch(given.clock, given.repetitions))
    print(f"\nwith {n_threads()} threads")
    against_the_plain_expression(X, W, Watch(given.clock, max(2, given.repetitions // 2)))


if __name__ == "__main__":
    main()
