"""What a command loads: modules that a comparison does not need would make every command slower."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

_LOADED = """
import json, sys
from uptonoise.cli.app import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
_NOT_NEEDED = [
    "asyncio",
    "joblib",
    "matplotlib",
    "pandas",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.spatial",
    "scipy.stats",
    "sklearn",
    "torch",
    "uptonoise.cli.models",
    "uptonoise.cli.watching",
    "uptonoise.experiments",
    "uptonoise.learning",
    "uptonoise.monitor",
]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loaded")
    rng = np.random.default_rng(0)
    for name in ("a.csv", "b.csv"):
        np.savetxt(folder / name, rng.normal(size=(100, 2)), delimiter=",", header="x,y", comments="")
    call = [sys.executable, "-c", _LOADED, "compare", "a.csv", "b.csv"]
    run = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(run.stderr.splitlines()[-1])


@pytest.mark.parametrize("module", _NOT_NEEDED)
def test_a_comparison_of_files_does_not_load(module, loaded):
    assert module not in loaded


def test_a_comparison_of_files_does_load(loaded):
    assert "uptonoise.comparison" in loaded
