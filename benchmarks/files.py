"""Comparing two Parquet files: memory, time, and whether the answer is that of arrays.

    python benchmarks/files.py [ROWS]

Two files of ROWS (2,000,000) x 8 rows in a temporary folder; memory is what the comparison adds to the peak of a
process of its own (Linux).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import best_time, extra_megabytes, row

import uptonoise as un

COLUMNS = 8
WARM = """
import numpy as np, uptonoise as un
rows = np.random.default_rng(0).gamma(2.0, size=(200, 8))
un.compare(rows, rows[::-1])
"""


def write(path: Path, n_rows: int, seed: int, noise: float) -> None:
    generator = np.random.default_rng(seed)
    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(COLUMNS)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, 250_000):
            shape = (min(250_000, n_rows - start), COLUMNS)
            rows = generator.gamma(2.0, size=shape) + noise * generator.normal(size=shape)
            writer.write_table(pa.table(dict(zip(schema.names, rows.T, strict=True)), schema=schema))


def read(path: Path) -> np.ndarray:
    return np.column_stack([column.to_numpy() for column in pq.read_table(path).columns])


def main() -> None:
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    with tempfile.TemporaryDirectory() as name:
        paths = Path(name, "a.parquet"), Path(name, "b.parquet")
        write(paths[0], n_rows, 0, 0.0)
        write(paths[1], n_rows, 1, 0.5)
        row("", "measured", "bar")
        scanned = ", ".join(f"un.scan_parquet({str(path)!r})" for path in paths)
        extra = extra_megabytes(WARM, f"un.compare({scanned})")
        row(f"compare, two Parquet files of {n_rows:,} x {COLUMNS} rows: extra MB", f"{extra:.0f}", "< 300")
        answers = {}

        def streamed() -> None:
            answers["files"] = un.compare(*map(un.scan_parquet, paths), names=("a", "b"))

        def in_memory() -> None:
            answers["arrays"] = un.compare(*map(read, paths), names=("a", "b"))

        times = best_time(streamed, 1), best_time(in_memory, 1)
        row("  seconds: from the files; of arrays, reading included", f"{times[0]:.1f} {times[1]:.1f}")
        row("  the same answer", str(answers["files"] == answers["arrays"]), "True")


if __name__ == "__main__":
    main()
