"""Peak memory and time of every command on files of up to 1 GB: few columns, many columns, groups, bags, frequencies.

    python benchmarks/memory.py [NAME ...] [--megabytes N] [--data FOLDER]

Files are Parquet of float64 that does not shrink, and one CSV file. Every command is a process of its own, whose peak
memory is the one that the system tells (Linux), or that of a process that it started where that is larger. Two files
are sent to `serve`, which previews and compares them. What is refused is told, too. Files are removed at the end
unless FOLDER is given.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from _measure import row

GROUP_ROWS = 50_000
BAR = 2_000  # MB


def tables(n_rows: int, n_columns: int, seed: int, **keys: int) -> Iterator[pa.Table]:
    """Yield random rows, with columns of keys: how many rows in a row have the same one."""
    rng = np.random.default_rng(seed)
    size = max(1, min(GROUP_ROWS, 50_000_000 // (8 * n_columns)))
    for start in range(0, n_rows, size):
        n = min(size, n_rows - start)
        columns: dict[str, Any] = {f"c{j}": rng.gamma(2.0, size=n) for j in range(n_columns)}
        places = np.arange(start, start + n)
        columns |= {name: places // length for name, length in keys.items()}
        yield pa.table(columns)


def written(path: Path, megabytes: float, n_columns: int, seed: int = 0, **keys: int) -> Path:
    """Write a file of about so many megabytes, unless it is there."""
    if not path.exists():
        n_rows = int(megabytes * 1e6 / (8 * n_columns) / (2.2 if path.suffix == ".csv" else 1))
        parts = tables(n_rows, n_columns, seed, **keys)
        first = next(parts)
        options = {"use_dictionary": list(keys), "compression": "none"}
        make = pyarrow.csv.CSVWriter if path.suffix == ".csv" else pq.ParquetWriter
        with make(path, first.schema, **({} if path.suffix == ".csv" else options)) as writer:
            writer.write_table(first)
            for part in parts:
                writer.write_table(part)
    return path


def commands(folder: Path, megabytes: float) -> dict[str, Callable[[], list[str | Path]]]:
    """Return what makes the commands, by name; it writes the files that they need."""
    half, n_rows = megabytes / 2, int(megabytes * 1e6 / (8 * 2))

    def two(name: str, n_columns: int) -> list[Path]:
        return [written(folder / f"{name}{seed}.parquet", half, n_columns, seed) for seed in (1, 2)]

    def text() -> Path:
        return written(folder / "few.csv", half, 4)

    def groups(n_groups: int) -> Path:
        return written(folder / f"groups{n_groups}.parquet", megabytes, 2, group=-(-n_rows // n_groups))

    def bags(name: str, size: float, length: int) -> list[str | Path]:
        return [written(folder / f"{name}.parquet", size, 2, bag=length, y=length), "--by", "bag"]

    def fitted(*options: str) -> list[str | Path]:
        return ["fit", *bags("bags", megabytes, 20_000), "--label", "y", *out("m.npz"), *options]

    def out(name: str) -> list[str | Path]:
        return ["-o", folder / name, "--force", "-q"]

    frequencies: list[str | Path] = ["--frequencies", "1000", "--columns", "c0,c1", "-q"]
    report: list[str | Path] = ["--report", folder / "report.html", "--force", "-q"]
    return {
        "compare, few columns": lambda: ["compare", *two("few", 4), "-q"],
        "compare, few columns, with a report": lambda: ["compare", *two("few", 4), *report],
        "compare, CSV with itself": lambda: ["compare", text(), text(), "-q"],
        "compare, 200 columns": lambda: ["compare", *two("many", 200), "-q"],
        "compare, 999 columns": lambda: ["compare", *two("wide", 999), "-q"],
        "compare --paired": lambda: ["compare", *two("few", 4), "--paired", "-q"],
        "compare, 1,000 frequencies": lambda: ["compare", *two("few", 4), *frequencies],
        "compare --by, 200 groups": lambda: ["compare", groups(200), "--by", "group", "-q"],
        "compare --by, 1,000 groups": lambda: ["compare", groups(1_000), "--by", "group", "-q"],
        "sketch, few columns": lambda: ["sketch", two("few", 4)[0], *out("s.npz")],
        "sketch, 200 columns": lambda: ["sketch", two("many", 200)[0], *out("s.npz")],
        "monitor": lambda: ["monitor", *two("few", 4), "--state", folder / "state.npz", "-q"],
        "monitor, one column": lambda: ["monitor", *two("one", 1), "--state", folder / "one.npz", "-q"],
        "fit, small bags": lambda: ["fit", *bags("tiny", megabytes, 10), "--label", "y", *out("m.npz")],
        "fit --model plrr": lambda: fitted("--model", "plrr"),
        "fit, the best model": lambda: fitted(),
        "fit, a file of 1 MB": lambda: ["fit", *bags("small", 1, 500), "--label", "y", *out("model.npz")],
        "predict": lambda: ["predict", folder / "model.npz", *bags("bags", megabytes, 20_000), *out("p.csv")],
        "serve, two files": lambda: ["serve", *two("few", 4)],
        "reproduce --quick": lambda: ["reproduce", "chi2-power", "--quick", "--workers", "1", "--out", folder / "out"],
    }


class Page:
    """The page of a server that has just started, as its script uses it."""

    def __init__(self, output: IO[bytes]) -> None:
        while b"http" not in (text := os.pread(output.fileno(), 1_000, 0)):
            time.sleep(0.1)
        address = urlsplit(text[text.index(b"http") :].split()[0].decode())
        assert address.hostname is not None
        self._connection = http.client.HTTPConnection(address.hostname, address.port)
        self._origin = f"http://{address.netloc}"
        self._tab = address.path + "tabs/" + self._answer("GET", address.path).split('data-tab="')[1].split('"')[0]

    def _answer(self, method: str, path: str, body: IO[bytes] | bytes | None = None, **headers: str) -> str:
        self._connection.request(method, path, body, {"Origin": self._origin, **headers})
        response = self._connection.getresponse()
        text = response.read().decode()
        if response.status >= http.client.BAD_REQUEST:
            raise RuntimeError(f"{method}: {response.status} {text}")
        return text

    def compare(self, files: list[Path]) -> None:
        """Send two files, look at their columns, compare them, and wait for the report."""
        for place, path in zip(("first", "second"), files, strict=True):
            with path.open("rb") as content:
                size = {"Content-Length": str(path.stat().st_size), "X-File-Name": path.name}
                self._answer("PUT", f"{self._tab}/files/{place}", content, **size)
        self._answer("POST", f"{self._tab}/columns", b"{}")
        self._answer("POST", f"{self._tab}/job", b"{}")
        while (job := json.loads(self._answer("GET", f"{self._tab}/job")))["state"] == "running":
            time.sleep(0.5)
        if job["state"] != "done":
            raise RuntimeError(f"the comparison {job['state']}: {job['message']}")
        self._answer("GET", f"{self._tab}/report")


def measured(arguments: list[str | Path]) -> tuple[float, float, int, str]:
    """Run a command, and return seconds, peak megabytes, the exit status, and its last line."""
    start = time.perf_counter()
    name, *files = map(Path, arguments)
    served = name == Path("serve")
    with tempfile.TemporaryFile() as output:
        command = [sys.executable, "-m", "uptonoise", *(["serve", "--no-browser"] if served else map(str, arguments))]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        if served:
            try:
                Page(output).compare(files)
            finally:
                process.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(process.pid, 0)
        output.seek(0)
        lines = output.read().decode(errors="replace").strip().splitlines()
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - start, usage.ru_maxrss / 1024, process.returncode, lines[-1] if lines else ""


def main() -> None:
    """Run the commands that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only commands whose names contain one of these")
    parser.add_argument("--megabytes", type=float, default=1_000)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.data or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        row(f"files of {options.megabytes:,.0f} MB", "s, peak MB", f"< {BAR:,}")
        for name, make in commands(folder, options.megabytes).items():
            if not options.names or any(part in name for part in options.names):
                seconds, peak, status, line = measured(make())
                row(name, f"{seconds:.0f} s, {peak:,.0f}", "" if peak < BAR else "missed")
                if status != 0:
                    print(f"    ended with {status}: {line[:200]}", flush=True)


if __name__ == "__main__":
    main()
