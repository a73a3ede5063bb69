"""Generated bad command lines: each ends with one line that says what is wrong, or with an answer."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import typer

import uptonoise as un
from uptonoise.cli.app import app

from .helpers import run

VALUES = (
    "", "-1", "0.5", "2", "1e400", "nan", "99999999999999999999", "a", "a,a", "no such thing", "/", "-", "a\x1b[31m",
    "你好", '"', "*", "no/such/folder/x.npz", "x.html", "utf-16", "a" * 5_000,
)  # fmt: skip
RUNS = {("serve", "2")}  # a port that may be free: the page would wait for a browser
# What would run for minutes, wait for a browser, or reach out to another machine.
LEFT_OUT = {"--scheduler", "--help", "--browser", "--no-browser", "--draw", "--workers", "--list"}
BASE = {
    "compare": ["a.csv", "b.csv", "--quiet"],
    "compare --by": ["g.csv", "--by", "g", "--quiet"],
    "compare --json": ["a.csv", "b.csv", "--json"],
    "sketch": ["a.csv", "--output", "s.npz", "--force", "--quiet"],
    "fit": ["bags.csv", "--by", "g", "--label", "y", "--output", "m.npz", "--force", "--model", "plrr", "--quiet"],
    "predict": ["model.npz", "bags.csv", "--by", "g", "--exclude", "y", "--quiet"],
    "monitor": ["a.csv", "b.csv", "--state", "state.npz", "--quiet"],
    "demo": ["--quiet"],
    "reproduce": ["no such experiment"],
    "serve": ["--no-browser", "--port", "-1"],
}


def options_of(command):
    """Return the names of all options of a command."""
    click_command = typer.main.get_command(app).commands[command.split()[0]]
    names = [name for parameter in click_command.params for name in parameter.opts if name.startswith("--")]
    return [name for name in names if name not in LEFT_OUT and name not in BASE[command]]


def command_lines():
    """Yield command lines with one bad option, or one bad file, each."""
    for command, base in BASE.items():
        name = command.split()[0]
        for option in options_of(command):
            yield [name, *base, option]
            for value in VALUES:
                yield [name, *base, option, value]
        for place, argument in enumerate(base):
            if not argument.startswith("--") and (name, place) != ("reproduce", 0):
                for value in VALUES:
                    if (name, value) not in RUNS:
                        yield [name, *base[:place], value, *base[place + 1 :]]
        for value in VALUES:
            yield [name, *base, value]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    rng = np.random.default_rng(0)
    for name in "ab":
        pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"]).to_csv(folder / f"{name}.csv", index=False)
    groups = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]).assign(g=np.repeat(["p", "q", "r"], 20))
    groups.to_csv(folder / "g.csv", index=False)
    bags = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"]).assign(g=np.repeat(np.arange(16), 5))
    bags.assign(y=bags["g"] * 0.5).to_csv(folder / "bags.csv", index=False)
    model = un.plrr(n_frequencies=4, random_state=0)
    model.fit(un.Bags.from_long(bags, by="g"), np.arange(16) * 0.5).save(folder / "model.npz")
    return folder


def fault_of(line):
    """Run a command line, and return what is wrong with how it ends."""
    what = " ".join(argument[:40] for argument in line)
    try:
        result = run(*line)
    except Exception as error:
        return f"{what}: {type(error).__name__} {error}"
    if result.exit_code == 2:
        if "Traceback" in result.stderr or not result.stderr.strip():
            return f"{what}: {result.stderr[:200]!r}"
        told = [text for text in result.stderr.splitlines() if not text.startswith("uptonoise: left out:")]
        if result.stderr.startswith("uptonoise: ") and len(told) != 1:
            return f"{what}: not one line: {result.stderr[:300]!r}"
    elif result.exit_code not in (0, 1, 3):
        return f"{what}: ended with {result.exit_code}"
    elif "--json" in line and result.exit_code == 0:
        json.loads(result.stdout)
    if "\x1b" in result.stdout + result.stderr:
        return f"{what}: an escape sequence reaches the terminal"
    return None


def faults(lines):
    return [fault for line in lines if (fault := fault_of(line)) is not None]


def test_every_command_is_in_the_sweep():
    commands = set(typer.main.get_command(app).commands)
    assert commands == {command.split()[0] for command in BASE}


def test_some_bad_command_lines(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert not faults(list(command_lines())[11::150])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(12))
def test_all_bad_command_lines(folder, monkeypatch, part):
    monkeypatch.chdir(folder)
    assert not faults(list(command_lines())[part::12])
