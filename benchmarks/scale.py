"""Files larger than memory: time against reading, trigonometry and products alone, growth, memory, and many bags.

    python benchmarks/scale.py [compare] [growth] [bags] [--data FOLDER] [--rows N] [--bags N]

`compare` is the command line on two Parquet files of N/2 x 28 rows of float32 (11,000,000 in all, the size of the HIGGS
data), on 7 columns; `growth` the same command from 1,000,000 to 30,000,000 rows, of files with these columns only;
`bags` the phase features of 1,000,000 bags of 20 x 3 rows at 64 frequencies, whose rows lie anywhere in a Parquet file.
Every measurement is a process of its own, whose peak memory is the one that the system tells (Linux). Files are kept in
FOLDER for another run; without it they are temporary.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import row

COLUMNS = 28
USED = [f"c{j}" for j in range(7)]
GROUP_ROWS = 250_000
COMPARED = 60  # frequencies
BAG_ROWS, BAG_COLUMNS, BAG_FREQUENCIES = 20, 3, 64
FIXED = 200_000  # rows, of which few hundredths of a second depend on their number
GROWTH = (1_000_000, 3_000_000, 10_000_000, 30_000_000)

# What nobody can do without: read the columns, take sine and cosine, and sum the products of features.
PLAIN = """
import json, sys, time
import numpy as np, pyarrow.parquet as pq
from scipy.linalg.blas import dsyrk
paths, columns, m = json.loads(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
used = [name for name in columns if name != "bag"]
W = rng.normal(size=(len(used), m)).astype(np.float32)
times, cpu, step = dict.fromkeys(("reading", "trigonometry", "products"), 0.0), 0.0, 65_536


def clock():
    return time.perf_counter(), time.process_time()


def count(name, start):
    global cpu
    times[name] += time.perf_counter() - start[0]
    cpu += time.process_time() - start[1]


total = np.zeros((2 * m, 2 * m), order="F")
features = np.empty((step, 2 * m))
for path in paths:
    start = clock()
    table = pq.read_table(path, columns=columns)
    X = np.column_stack([table[name].to_numpy() for name in used])
    count("reading", start)
    del table
    for first in range(0, len(X), step):
        angles = X[first : first + step] @ W
        start = clock()
        sine, cosine = np.sin(angles), np.cos(angles)
        count("trigonometry", start)
        here = features[: len(angles)]
        here[:, :m], here[:, m:] = sine, cosine
        if sys.argv[4:] != ["no products"]:
            start = clock()
            total = dsyrk(1.0, here.T, beta=1.0, c=total, overwrite_c=1)
            count("products", start)
print(json.dumps({"seconds": times, "cpu": cpu}))
"""

FEATURES = """
import json, sys, time
import uptonoise as un
start = time.perf_counter()
source = un.scan_parquet(sys.argv[1], by="bag", progress=False)
features = un.PhaseFeatures(int(sys.argv[2]), amplitude="plain", scale=1.0, random_state=0)
features.fit(un.scan_parquet(sys.argv[1], by="bag", progress=False).head(1_000))
vectors = features.transform(source)
print(json.dumps({"seconds": time.perf_counter() - start, "shape": vectors.shape, "ids": len(source.bag_ids)}))
"""


class Ran(NamedTuple):
    """What a process has printed, its seconds by the clock and on processors, and its peak memory in MB."""

    text: str
    seconds: float
    cpu: float
    megabytes: float


def run(command: list[str]) -> Ran:
    """Run a process and measure it."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Ran(text, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def write(path: Path, n_rows: int, seed: int, n_columns: int = COLUMNS) -> Path:
    """Write rows of float32 with the skewness and the dependence of measurements, unless they are there."""
    if path.exists():
        return path
    generator = np.random.default_rng(seed)
    schema = pa.schema([(f"c{j}", pa.float32()) for j in range(n_columns)])
    whole = path.with_suffix(".tmp")
    with pq.ParquetWriter(whole, schema) as writer:
        for start in range(0, n_rows, GROUP_ROWS):
            shape = (min(GROUP_ROWS, n_rows - start), n_columns)
            rows = generator.standard_exponential(shape, dtype=np.float32)
            rows[:, 1:] += 0.5 * rows[:, :-1]
            writer.write_table(pa.table(dict(zip(schema.names, rows.T, strict=True)), schema=schema))
    whole.rename(path)
    return path


def write_bags(path: Path, n_bags: int, seed: int) -> Path:
    """Write rows of bags in random order, unless they are there."""
    if path.exists():
        return path
    generator = np.random.default_rng(seed)
    bags = np.repeat(np.arange(n_bags, dtype=np.int32), BAG_ROWS)
    generator.shuffle(bags)
    names = [f"x{j}" for j in range(BAG_COLUMNS)]
    schema = pa.schema([("bag", pa.int32()), *((name, pa.float32()) for name in names)])
    whole = path.with_suffix(".tmp")
    with pq.ParquetWriter(whole, schema) as writer:
        for start in range(0, len(bags), GROUP_ROWS):
            here = bags[start : start + GROUP_ROWS]
            rows = generator.standard_exponential((len(here), BAG_COLUMNS), dtype=np.float32)
            rows += (here[:, None] % 100) / 100
            writer.write_table(pa.table({"bag": here, **dict(zip(names, rows.T, strict=True))}, schema=schema))
    whole.rename(path)
    return path


def halves(folder: Path, n_rows: int, n_columns: int = COLUMNS) -> list[str]:
    """Return two files with half of the rows each."""
    names = [f"{n_rows}-{n_columns}-{half}.parquet" for half in (0, 1)]
    return [str(write(folder / name, n_rows // 2, half, n_columns)) for half, name in enumerate(names)]


def compare_command(paths: list[str]) -> list[str]:
    """Return the command line that compares two files on 7 columns."""
    options = ["--columns", ",".join(USED), "--frequencies", str(COMPARED), "--json"]
    return [sys.executable, "-m", "uptonoise", "compare", *paths, *options]


class Plain(NamedTuple):
    """The seconds of what nobody can do without, by the clock and on processors."""

    seconds: dict[str, float]
    cpu: float

    @property
    def sum(self) -> float:
        """Return the seconds of all parts."""
        return sum(self.seconds.values())


def plain(paths: list[str], columns: list[str], m: int, *more: str) -> Plain:
    """Measure what nobody can do without."""
    ran = run([sys.executable, "-c", PLAIN, json.dumps(paths), json.dumps(columns), str(m), *more])
    return Plain(**json.loads(ran.text))


def print_ratio(seconds: float, cpu: float, before: Plain, after: Plain, bar: str) -> None:
    """Print how many times as long something took as what nobody can do without."""
    row("  seconds over the mean of these", f"{2 * seconds / (before.sum + after.sum):.2f}", bar)
    row("  the same of seconds on processors", f"{2 * cpu / (before.cpu + after.cpu):.2f}")


def compare(folder: Path, n_rows: int) -> None:
    """Time and memory of a comparison, against reading, trigonometry and products alone."""
    paths = halves(folder, n_rows)
    before = plain(paths, USED, COMPARED)
    ran = run(compare_command(paths))
    after = plain(paths, USED, COMPARED)
    answer = json.loads(ran.text)
    row(f"uptonoise compare, {n_rows:,} x {COLUMNS} rows, 7 columns: peak MB", f"{ran.megabytes:.0f}", "< 600")
    row(f"  seconds, on processors; {answer['verdict']}", f"{ran.seconds:.1f} {ran.cpu:.1f}")
    for name in before.seconds:
        seconds = f"{before.seconds[name]:.1f} {after.seconds[name]:.1f}"
        row(f"  seconds of {name} alone, before and after", seconds)
    print_ratio(ran.seconds, ran.cpu, before, after, "<= 3")


def growth(folder: Path) -> None:
    """Time and memory against the number of rows."""
    small = run(compare_command(halves(folder, FIXED, len(USED))))
    row(f"fixed cost, {FIXED:,} rows: seconds, on processors", f"{small.seconds:.2f} {small.cpu:.2f}")
    ran: dict[int, Ran] = {}
    for n_rows in GROWTH:
        run_of = ran[n_rows] = run(compare_command(halves(folder, n_rows, len(USED))))
        numbers = f"{run_of.seconds:.1f} {run_of.cpu:.1f} {run_of.megabytes:.0f}"
        row(f"{n_rows:,} rows: seconds, on processors, peak MB", numbers)
    sizes = np.log(list(ran))
    for name, times in (
        ("seconds", [run.seconds - small.seconds for run in ran.values()]),
        ("seconds on processors", [run.cpu - small.cpu for run in ran.values()]),
    ):
        slope = float(np.polyfit(sizes, np.log(times), 1)[0])
        row(f"slope of log {name} after the fixed cost against log rows", f"{slope:.2f}", "0.9 to 1.1")
    peaks = [run.megabytes for run in ran.values()]
    row("largest peak memory over the smallest", f"{max(peaks) / min(peaks):.2f}")


def bags(folder: Path, n_bags: int) -> None:
    """Time and memory of phase features of many bags, against reading and trigonometry alone."""
    path = str(write_bags(folder / f"bags-{n_bags}.parquet", n_bags, 0))
    columns = ["bag", *(f"x{j}" for j in range(BAG_COLUMNS))]
    before = plain([path], columns, BAG_FREQUENCIES, "no products")
    ran = run([sys.executable, "-c", FEATURES, path, str(BAG_FREQUENCIES)])
    after = plain([path], columns, BAG_FREQUENCIES, "no products")
    answer = json.loads(ran.text)
    row(f"{n_bags:,} bags of {BAG_ROWS} rows, {BAG_FREQUENCIES} frequencies: peak MB", f"{ran.megabytes:.0f}", "< 2000")
    row(f"  seconds, on processors, to {tuple(answer['shape'])}", f"{answer['seconds']:.1f} {ran.cpu:.1f}")
    row("  seconds of reading and trigonometry alone, before and after", f"{before.sum:.1f} {after.sum:.1f}")
    print_ratio(answer["seconds"], ran.cpu, before, after, "<= 4")


def main() -> None:
    """Run the measurements that are asked for, all by default."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["compare", "growth", "bags"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rows", type=int, default=11_000_000)
    parser.add_argument("--bags", type=int, default=1_000_000)
    given = parser.parse_args()
    unknown = set(given.what) - {"compare", "growth", "bags"}
    if unknown:
        parser.error(f"unknown measurement: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.data or Path(temporary)
        row("", "measured", "bar")
        if "compare" in given.what:
            compare(folder, given.rows)
        if "growth" in given.what:
            growth(folder)
        if "bags" in given.what:
            bags(folder, given.bags)


if __name__ == "__main__":
    main()
