"""A comparison from the shell: two CSV files of 1,000 x 5 rows, against the imports of its packages alone.

    python benchmarks/shell.py

Seconds on the wall and of the processor, the best of several; both are run in turn. Modules are compiled before, as an
installer does, also where the environment says PYTHONDONTWRITEBYTECODE. The last line is a step of the computing part:
the median distance in a column, against all distances.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _measure import interleaved, row
from scipy.spatial.distance import pdist

from uptonoise.fourier.lengths import middle_distances

COMPARE = "from uptonoise.cli.app import main; main()"
IMPORTS = "import narwhals, pyarrow.csv, pydantic, rich.table, scipy.special, threadpoolctl, typer"


def seconds(code: str, folder: Path) -> tuple[float, float]:
    """Return the seconds of a fresh Python, on the wall and of the processor."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    call = [sys.executable, "-c", code, "compare", "a.csv", "b.csv"]
    subprocess.run(call, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=7)
    n = parser.parse_args().repetitions
    generator = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shift, file in ((0.0, "a.csv"), (0.1, "b.csv")):
            rows = generator.normal(shift, size=(1_000, 5))
            np.savetxt(folder / file, rows, delimiter=",", header="c0,c1,c2,c3,c4", comments="")
        seconds(COMPARE, folder)  # compiles the modules
        times = np.array([[seconds(code, folder) for code in (COMPARE, IMPORTS)] for _ in range(n)]).min(axis=0)
    row("", "measured", "bar")
    row("uptonoise compare a.csv b.csv, seconds on the wall (of an idle core)", f"{times[0, 0]:.2f}", "<= 1.2")
    row("  seconds of the processor", f"{times[0, 1]:.2f}")
    row("  of which the imports of other packages alone", f"{times[1, 1]:.2f}")
    row("  times these imports", f"{times[0, 1] / times[1, 1]:.2f}")
    values = generator.normal(size=1_000)
    ours, all_pairs = interleaved(
        lambda: middle_distances(values), lambda: np.median(pdist(values[:, None], "cityblock")), 100
    )
    row("median distance of 1,000 values: times faster than from all distances", f"{all_pairs / ours:.0f}")


if __name__ == "__main__":
    main()
