import json
import subprocess
import sys

import pytest

import uptonoise as un
from uptonoise.fourier import kernel_name

from .helpers import commands, run, runner


def test_demo_is_right_about_every_pair(monkeypatch):
    answers, compare = {}, un.compare

    def compare_once(X, Y, **options):
        key = X.values.tobytes()
        if key not in answers:
            answers[key] = compare(X, Y, **options)
        return answers[key]

    monkeypatch.setattr(un, "compare", compare_once)
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


COMMANDS = ("compare", "monitor", "sketch", "fit", "predict")
SHARED = ("--columns", "--exclude", "--categories", "--max-dropped", "--header", "--delimiter", "--decimal", "--sheet")


def helps(command):
    """Return the help sentence of each option and argument of a command."""
    parameters = commands.commands[command].params
    return {(parameter.opts[0] if parameter.opts else parameter.name): parameter.help for parameter in parameters}


def test_commands_share_the_words_for_files_and_options():
    given = {command: helps(command) for command in COMMANDS}
    assert {given[command]["path"] for command in ("sketch", "fit", "predict")} == {given["compare"]["first"]}
    assert given["compare"]["first"].startswith(given["monitor"]["reference"].rstrip("."))
    for option in SHARED:
        assert len({words[option] for words in given.values() if option in words}) == 1, option


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_told_in_one_plain_sentence(command):
    for option, words in helps(command).items():
        assert words, option
        assert words.endswith(".") or "://" in words, option
        assert len(words) <= 90, option


def test_help_of_compare_fits_two_screens():
    result = runner.invoke(commands, ["compare", "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert len(result.stdout.splitlines()) <= 72
