"""What the tests of cli share."""

import numpy as np
import pandas as pd
from click.testing import CliRunner
from typer.main import get_command

from uptonoise.cli.app import app

# The runner of typer would declare all options anew for each call.
runner, commands = CliRunner(), get_command(app)


def run(*args):
    return runner.invoke(commands, [str(arg) for arg in args], catch_exceptions=False)


def one_line(result):
    """Return what was printed without line breaks, which depend on the width of the screen."""
    return " ".join(result.stdout.split())


def frames(n=400, noise=1.0):
    generator = np.random.default_rng(0)
    signal_a, signal_b = generator.gamma(2.0, size=(2, n, 2))
    columns = ["energy", "time"]
    return (
        pd.DataFrame(signal_a, columns=columns),
        pd.DataFrame(signal_b + noise * generator.normal(size=(n, 2)), columns=columns),
    )


def bad(*args):
    """Run what must fail: exit code 2, one line on stderr, no traceback; return that line."""
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("uptonoise: ")
    assert result.stderr.count("\n") == 1
    return result.stderr
