"""Comparing two Parquet files larger than they need to be: memory, time, and whether the answer is that of arrays.

``python benchmarks/files.py [ROWS]``: two files of ROWS (2,000,000) x 8 rows in a temporary folder; memory is the peak
of a process of its own above what it had after a small comparison. Linux only.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import uptonoise as un

COLUMNS = 8


def write(path: Path, n_rows: int, seed: int, noise: float) -> None:
    generator = np.random.default_rng(seed)
    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(COLUMNS)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, 250_000):
            shape = (min(250_000, n_rows - start), COLUMNS)
            rows = generator.gamma(2.0, size=shape) + noise * generator.normal(size=shape)
            writer.write_table(pa.table(dict(zip(schema.names, rows.T, strict=True)), schema=schema))


def megabytes(what: str) -> float:
    """Return the memory of this process now (VmRSS) or at its peak (VmHWM)."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith(what))


def compared(folder: Path) -> None:
    """Compare the two files in this process, and print the time, the memory and the verdict."""
    warm = np.random.default_rng(0).gamma(2.0, size=(200, COLUMNS))
    un.compare(warm, warm[::-1])
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far, which may be that of the parent process
    before, start = megabytes("VmRSS"), time.perf_counter()
    found = un.compare(un.scan_parquet(folder / "a.parquet"), un.scan_parquet(folder / "b.parquet"))
    print(f"{time.perf_counter() - start:.1f} s, {megabytes('VmHWM') - before:.0f} MB more: {found.verdict}")


def main() -> None:
    if len(sys.argv) == 3:
        compared(Path(sys.argv[2]))
        return
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "a.parquet", n_rows, 0, 0.0)
        write(folder / "b.parquet", n_rows, 1, 0.5)
        size = sum(path.stat().st_size for path in folder.iterdir()) / 2**20
        print(f"two Parquet files of {n_rows:,} x {COLUMNS} rows, {size:.0f} MB", flush=True)
        subprocess.run([sys.executable, __file__, "--compare", name], check=True)
        left, right = (un.scan_parquet(folder / file) for file in ("a.parquet", "b.parquet"))
        streamed = un.compare(left, right, names=("a", "b"))
        start = time.perf_counter()
        arrays = [
            np.column_stack([column.to_numpy() for column in pq.read_table(folder / file).columns])
            for file in ("a.parquet", "b.parquet")
        ]
        in_memory = un.compare(*arrays, names=("a", "b"))
        print(f"arrays: {time.perf_counter() - start:.1f} s with reading; the same answer: {streamed == in_memory}")


if __name__ == "__main__":
    main()
