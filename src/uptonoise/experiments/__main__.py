"""Run an experiment: ``python -m uptonoise.experiments NAME [--runs R] [--workers K] [--out DIR]``."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from uptonoise.experiments._rejections import run

NAMES = ("chi2-level", "chi2-power", "higgs-high-level", "higgs-jet-phi", "noise-level", "noise-power")


def main() -> None:
    """Read the command line and run the experiment that it names."""
    parser = argparse.ArgumentParser(prog="python -m uptonoise.experiments", description="Run one of the experiments.")
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--runs", type=int, help="repetitions of each cell")
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the CSV file")
    given = parser.parse_args()
    module = import_module(f"uptonoise.experiments.{given.name.replace('-', '_')}")
    print(run(module.EXPERIMENT, given.out, given.runs, given.workers))


if __name__ == "__main__":
    main()
