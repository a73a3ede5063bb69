"""Count the functions of uptonoise that rows pass on their way from two CSV files to a verdict.

    .venv/bin/python benchmarks/walk.py            # the numbers, for each package
    .venv/bin/python benchmarks/walk.py --list     # and the functions
    .venv/bin/python benchmarks/walk.py --cli      # the same through the command line

The count says how much a newcomer has to read. A function is what has a name. Comprehensions and lambdas, which a
reader meets inside of a function, are counted by themselves (before Python 3.12 every comprehension is a call).
What runs while modules are imported does not count.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import uptonoise

ROOT = str(Path(uptonoise.__file__).parent) + os.sep


def write_samples(folder: Path) -> list[str]:
    """Write two small CSV files, the second one noisier, and return their paths."""
    rng = np.random.default_rng(0)
    paths = []
    for name, noise in (("a.csv", 0.0), ("b.csv", 0.5)):
        rows = rng.gamma(2.0, size=(500, 2)) + noise * rng.normal(size=(500, 2))
        np.savetxt(folder / name, rows, delimiter=",", header="energy,time", comments="")
        paths.append(str(folder / name))
    return paths


def verdict_of(paths: list[str]) -> None:
    """Compare two files by the library, up to the sentence."""
    str(uptonoise.compare(*map(uptonoise.scan_csv, paths)).sentence)


def verdict_on_command_line(paths: list[str]) -> None:
    """Compare two files by the command line, which prints nothing here."""
    from uptonoise.cli.app import app

    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        app(["compare", *paths])


def functions_entered(work: Callable[[list[str]], None], paths: list[str]) -> set[CodeType]:
    """Return the functions of uptonoise that run in this process, in all of its threads."""
    entered: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            entered.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work(paths)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return entered


def module_of(code: CodeType) -> str:
    """Return the module of a function, as a path inside the package."""
    return code.co_filename.removeprefix(ROOT)


def package_of(code: CodeType) -> str:
    """Return the package of a function."""
    return Path(module_of(code)).parts[0]


def main() -> None:
    """Print the number of functions in each package, and of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the functions, too")
    parser.add_argument("--cli", action="store_true", help="go through the command line")
    options = parser.parse_args()
    work = verdict_on_command_line if options.cli else verdict_of
    with tempfile.TemporaryDirectory() as folder:
        paths = write_samples(Path(folder))
        work(paths)  # which loads the modules that are imported when they are needed
        entered = functions_entered(work, paths)
    named = {code for code in entered if not code.co_name.startswith("<")}
    for package, count in sorted(Counter(map(package_of, named)).items()):
        print(f"{package:12} {count:4}")
        if options.list:
            here = [code for code in named if package_of(code) == package]
            for code in sorted(here, key=lambda code: (module_of(code), code.co_firstlineno)):
                print(f"    {module_of(code)}:{code.co_firstlineno} {code.co_qualname}")
    print(f"{len(named)} functions in {len(set(map(module_of, named)))} modules")
    print(f"{len(entered)} with comprehensions and lambdas")


if __name__ == "__main__":
    main()
