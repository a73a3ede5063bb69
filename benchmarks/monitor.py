"""The monitor: rows per second, memory over a long stream, and the size of its state.

    python benchmarks/monitor.py

Five columns, standard normal; seconds are those of the processor, the best of three.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from _measure import extra_megabytes, row

import uptonoise as un

COLUMNS = 5
BATCHES = {1: 2_000, 20: 10_000, 200: 20_000, 2_000: 100_000, 20_000: 400_000, 200_000: 800_000}
WARM = """
import numpy as np, uptonoise as un
rng = np.random.default_rng(0)
monitor = un.Monitor(random_state=0)
def watch(n):
    for _ in range(n):
        monitor.update(rng.normal(size=(1_000, 5)), rng.normal(size=(1_000, 5)))
watch(50)
"""


def rate(batch: int, n_rows: int) -> float:
    """Return rows per second of the processor."""
    generator = np.random.default_rng(0)
    stream, reference = generator.normal(size=(2, n_rows, COLUMNS))
    best = 0.0
    for _ in range(3):
        monitor = un.Monitor(reference, random_state=0)
        start = time.process_time()
        for first in range(0, n_rows, batch):
            monitor.update(stream[first : first + batch])
        best = max(best, n_rows / (time.process_time() - start))
    return best


def state_size() -> int:
    """Return the bytes of a state after 3,000 named batches."""
    generator = np.random.default_rng(0)
    monitor = un.Monitor(generator.normal(size=(60_000, COLUMNS)), random_state=0)
    for night in range(3_000):
        monitor.update(generator.normal(size=(20, COLUMNS)), name=f"/data/instrument/night-{night:05d}.parquet")
    with tempfile.TemporaryDirectory() as folder:
        monitor.save(Path(folder, "state.npz"))
        return Path(folder, "state.npz").stat().st_size


def main() -> None:
    row("", "measured", "bar")
    for batch, n_rows in BATCHES.items():
        bar = "> 200,000" if batch >= 20_000 else ""
        row(f"rows per second in batches of {batch:,}, {COLUMNS} columns", f"{rate(batch, n_rows):,.0f}", bar)
    row("extra MB, 1,000,000 rows of two streams after 50,000", f"{extra_megabytes(WARM, 'watch(1_000)'):.0f}", "< 20")
    row("kilobytes of the state after 3,000 named batches", f"{state_size() / 1e3:.0f}", "< 1,000")


if __name__ == "__main__":
    main()
