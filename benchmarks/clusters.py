"""Clusters: the time of a clustered sketch against that of the same rows without clusters, and a million clusters.

    python benchmarks/clusters.py [update] [million]

`update` is `Sketch.update` at the frequencies of the phase test, on rows sorted by cluster and in random order, as a
ratio to the update without clusters in the same run. `million` is the phase test between two samples of 500,000
clusters of 20 rows, 20,000,000 rows in all, with its peak memory (Linux).
"""

from __future__ import annotations

import resource
import sys
import time
from functools import partial

import numpy as np
from _measure import interleaved, row

import uptonoise as un

N_ROWS = 1_000_000
REPETITIONS = 3


def sketched(empty: un.Sketch, rows: np.ndarray, ids: np.ndarray | None) -> un.Sketch:
    """Return the sketch of rows, with clusters or without."""
    return un.Sketch.like(empty).update(rows, clusters=ids, complete=True)


def update() -> None:
    """Print the ratios of updates."""
    rng = np.random.default_rng(0)
    for d, size in ((5, 20), (1, 20), (5, 2)):
        rows, ids = rng.normal(size=(N_ROWS, d)), np.arange(N_ROWS) // size
        order = rng.permutation(N_ROWS)
        empty = un.Sketch.for_samples(rows[:1_000])
        plain = partial(sketched, empty, rows, None)
        name = f"{N_ROWS:,} x {d} rows, clusters of {size}, {empty.n_frequencies} frequencies"
        for place, clustered, bar in (
            ("sorted", partial(sketched, empty, rows, ids), "1.5"),
            ("in random order", partial(sketched, empty, rows[order], ids[order]), "2.5"),
        ):
            with_clusters, without = interleaved(clustered, plain, REPETITIONS)
            row(f"{name}, {place}", f"{with_clusters / without:.2f} x", f"<= {bar} x")


def million() -> None:
    """Print the time and the memory of a test with a million clusters."""
    rng = np.random.default_rng(0)
    n_clusters, size = 500_000, 20
    ids = np.repeat(np.arange(n_clusters), size)
    for name, order in (("sorted", slice(None)), ("in random order", rng.permutation(len(ids)))):
        X, Y = (rng.gamma(2, size=n_clusters)[ids][order] + rng.gamma(2, size=len(ids)) for _ in "XY")
        start = time.perf_counter()
        un.phase_test(X, Y, clusters=(ids[order], ids[order] + n_clusters))
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        row(f"1,000,000 clusters of 20 rows, {name}, peak memory {peak:.1f} GiB", f"{seconds:.0f} s")


if __name__ == "__main__":
    for task in sys.argv[1:] or ["update", "million"]:
        {"update": update, "million": million}[task]()
