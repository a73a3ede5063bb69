"""What the benchmarks share: best times, peak memory, and a row of the table."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def best_time(function: Callable[[], Any], repetitions: int) -> float:
    """Return the shortest of several times: what the machine can do when nobody disturbs it."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def interleaved(first: Callable[[], Any], second: Callable[[], Any], repetitions: int = 7) -> tuple[float, float]:
    """Return the best times of two functions in turn, so that both meet the same machine."""
    times = [(best_time(first, 1), best_time(second, 1)) for _ in range(repetitions)]
    return min(first for first, _ in times), min(second for _, second in times)


def extra_megabytes(before: str, code: str) -> float:
    """Return how much `code` adds to the peak memory of a fresh process that has run `before` (Linux)."""
    program = (
        f"import pathlib, re\n{before}\n"
        "def peak(): return int(re.search(r'VmHWM:\\s+(\\d+)', pathlib.Path('/proc/self/status').read_text())[1])\n"
        f"held = peak()\n{code}\nprint((peak() - held) / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


def row(what: str, measured: str, bar: str = "") -> None:
    """Print a line of the table."""
    print(f"{what:<76}{measured:>14}{bar:>12}", flush=True)
