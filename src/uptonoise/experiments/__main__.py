"""Run experiments: ``python -m uptonoise.experiments NAME... [--runs R] [--workers K] [--out DIR]``."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

NAMES = (
    "chi2-level",
    "chi2-power",
    "higgs-high-level",
    "higgs-jet-phi",
    "noise-level",
    "noise-power",
    "noise-sizes",
    "positivity",
    "shift-level",
    "intervals",
    "planning",
    "blood-pressure",
    "verdicts",
    "bag-models",
    "covariate-shift",
    "bag-sizes",
    "abc",
    "abc-rows",
    "conjugate",
    "networks",
    "network-quantiles",
    "network-classes",
)


def main() -> None:
    """Read the command line and run the experiments that it names."""
    parser = argparse.ArgumentParser(prog="python -m uptonoise.experiments", description="Run experiments.")
    parser.add_argument("names", nargs="+", choices=NAMES)
    parser.add_argument("--runs", type=int, help="repetitions of each cell")
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the CSV files")
    given = parser.parse_args()
    for name in given.names:
        module = import_module(f"uptonoise.experiments.{name.replace('-', '_')}")
        print(module.EXPERIMENT.run(given.out, given.runs, given.workers))


if __name__ == "__main__":
    main()
