import json
import subprocess
import sys

import uptonoise as un
from uptonoise.fourier import kernel_name

from .helpers import run


def test_demo_is_right_about_every_pair():
    result = run("demo")
    assert result.exit_code == 0
    assert "5 of 5 answers are right." in result.stdout
    read = json.loads(run("demo", "--json").stdout)
    assert [one["verdict"] == one["truth"] for one in read] == [True] * 5
    assert run("demo", "--quiet").stdout.strip() == "5 of 5 answers are right."


def test_help_has_examples_and_version_is_told():
    assert "uptonoise compare a.csv b.csv" in run("compare", "--help").stdout
    assert "--like a.npz" in run("sketch", "--help").stdout
    assert run("--version").stdout == f"uptonoise {un.__version__}\nkernel: {kernel_name()}\n"


def test_help_imports_nothing_heavy():
    code = (
        "import sys, uptonoise.cli; print([name for name in sys.modules if name in ('numpy', 'uptonoise.experiments')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_it_runs_as_a_module():
    command = [sys.executable, "-m", "uptonoise", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("uptonoise ")
