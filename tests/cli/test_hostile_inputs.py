"""Pipes, devices, files that appear, change or fill the disk, and names that a terminal would obey."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from opened_files import open_rows

import uptonoise as un
from uptonoise.engines import connected

from .helpers import run

LIMIT = 60  # seconds in which each must end


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "a.csv"
    pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"]).to_csv(path, index=False)
    return path


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("uptonoise._util.files.copy_pipe.__defaults__", (0.3,))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "{pipe}", "{csv}"],
        ["compare", "{csv}", "{pipe}"],
        ["sketch", "{csv}", "--like", "{pipe}", "-o", "{out}"],
        ["sketch", "{pipe}", "-o", "{out}"],
        ["predict", "{pipe}", "{csv}"],
    ],
)
def test_a_pipe_without_a_writer(arguments, pipe, csv, tmp_path):
    places = {"pipe": pipe, "csv": csv, "out": tmp_path / "out.npz"}
    result = run(*(argument.format(**places) for argument in arguments))
    assert result.exit_code == 2
    assert "is a pipe to which nobody wrote within 0.3 s" in result.stderr
    assert str(pipe) in result.stderr


def test_a_pipe_with_a_slow_writer_is_read(pipe, csv):
    def write():
        with pipe.open("wb") as file:
            time.sleep(0.3)
            file.write(csv.read_bytes())

    threading.Thread(target=write).start()
    result = run("compare", pipe, csv, "--quiet")
    assert result.exit_code == 0, result.stderr
    assert "No difference" in result.stdout


def test_a_device_is_refused(csv, tmp_path):
    for arguments in (
        ["compare", "/dev/zero", csv],
        ["sketch", csv, "--like", "/dev/zero", "-o", tmp_path / "out.npz"],
        ["predict", "/dev/zero", csv],
        ["sketch", "/dev/zero", "-o", tmp_path / "out.npz"],
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "/dev/zero must be a file" in result.stderr


def test_a_silent_port(csv, monkeypatch):
    """Somebody accepts the connection and never says a word."""
    monkeypatch.setattr(connected.__wrapped__, "__defaults__", (0.5,))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        start = time.monotonic()
        result = run("compare", csv, csv, "--scheduler", address)
        assert time.monotonic() - start < LIMIT
    assert result.exit_code == 2
    assert f"no Dask scheduler answers at {address} within" in result.stderr


@pytest.mark.slow
def test_a_frozen_scheduler(csv):
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = next(line.split()[-1] for line in scheduler.stderr if "Scheduler at:" in line)
        scheduler.send_signal(signal.SIGSTOP)
        start = time.monotonic()
        result = run("compare", csv, csv, "--scheduler", address)
        assert time.monotonic() - start < LIMIT
        assert result.exit_code == 2
        assert "no Dask scheduler answers" in result.stderr
    finally:
        scheduler.kill()
        scheduler.wait()
        scheduler.stderr.close()


def test_an_address_that_needs_certificates(csv):
    result = run("compare", csv, csv, "--scheduler", "tls://127.0.0.1:9")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_names_that_a_terminal_would_obey(tmp_path):
    rows = np.random.default_rng(0).normal(size=(80, 2))
    for name in "ab":
        pd.DataFrame(rows, columns=["red\x1b[31m", "b"]).to_csv(tmp_path / f"{name}\x1b]0;title\x07.csv", index=False)
    paths = sorted(tmp_path.iterdir())
    for arguments in (
        ["compare", *paths],
        ["compare", paths[0], tmp_path / "no\x1b[2J.csv"],
        ["compare", *paths, "-q"],
    ):
        result = run(*arguments)
        assert "\x1b" not in result.stdout + result.stderr
        assert "\x07" not in result.stdout + result.stderr
    assert r"red\x1b[31m" in run("compare", *paths).stdout


def test_a_file_that_appears_is_not_overwritten(tmp_path, csv, monkeypatch):
    out = tmp_path / "s.npz"
    save = un.Sketch.save

    def appears(sketch, path, **options):
        out.write_text("mine")
        return save(sketch, path, **options)

    monkeypatch.setattr(un.Sketch, "save", appears)
    result = run("sketch", csv, "-o", out)
    assert (result.exit_code, out.read_text()) == (2, "mine")
    assert "exists; --force overwrites it" in result.stderr


def test_force_keeps_permissions_and_links(tmp_path, csv):
    kept, link = tmp_path / "kept.npz", tmp_path / "link.npz"
    kept.write_text("old")
    kept.chmod(0o600)
    link.symlink_to(kept)
    assert run("sketch", csv, "-o", link, "--force").exit_code == 0
    assert link.is_symlink()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert un.Sketch.load(kept).n_rows == 80
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "kept.npz", "link.npz"]


def test_a_request_to_end_leaves_no_temporary_file(tmp_path):
    program = (
        "import pathlib, time\n"
        "from uptonoise._util.files import written_whole\n"
        "from uptonoise.cli.options import with_one_line_errors\n"
        "def work():\n"
        f"    with written_whole(pathlib.Path({str(tmp_path / 'out')!r})) as file:\n"
        "        print('ready', flush=True)\n"
        "        time.sleep(60)\n"
        "with_one_line_errors(work)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    assert process.wait(timeout=LIMIT) == 128 + signal.SIGTERM
    process.stdout.close()
    assert not list(tmp_path.iterdir())


def test_a_sketch_beside_rows_with_weights(tmp_path, csv):
    rows = tmp_path / "w.csv"
    pd.read_csv(csv).assign(w=1.0).to_csv(rows, index=False)
    assert run("sketch", csv, "-o", tmp_path / "s.npz").exit_code == 0
    result = run("compare", tmp_path / "s.npz", rows, "--weights", "w", "--quiet")
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("encoding", ["base64", "rot13", "undefined", "hex", "nonsense", "\0"])
def test_an_encoding_that_is_none_of_text(csv, encoding):
    result = run("compare", csv, csv, "--encoding", encoding)
    assert result.exit_code == 2
    assert "encoding must be one of text" in result.stderr


def test_an_empty_table_is_not_drawn(tmp_path):
    (tmp_path / "chi2-power.csv").write_text("")
    result = run("reproduce", "chi2-power", "--draw", "--out", tmp_path)
    assert result.exit_code == 2
    assert "chi2-power.csv is not a table of chi2-power with rows to draw" in result.stderr


def test_too_many_columns_frequencies_and_groups(tmp_path, csv):
    rng = np.random.default_rng(0)
    wide, many = tmp_path / "wide.csv", tmp_path / "many.csv"
    pd.DataFrame(rng.normal(size=(3, 5_000))).add_prefix("c").to_csv(wide, index=False)
    pd.DataFrame({"x": rng.normal(size=6_000), "g": np.arange(6_000) % 3_000}).to_csv(many, index=False)
    for arguments, match in (
        (["sketch", wide, "-o", tmp_path / "s.npz"], "at most 999 columns"),
        (["compare", csv, csv, "--frequencies", "20000"], "n_frequencies must be at most 2,000"),
        (["compare", many, "--by", "g"], "groups must be at most 2,000"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert match in result.stderr


@pytest.mark.parametrize("suffix", ["npy", "feather", "csv"])
def test_a_file_that_changes_while_it_is_read(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200_000, 2)), columns=["a", "b"])
    if suffix == "npy":
        np.save(path, frame.to_numpy())
    else:
        getattr(frame, f"to_{suffix}")(path)
    blocks = open_rows(path, columns=["x0"] if suffix == "npy" else ["a"]).blocks(10_000)
    next(blocks)
    os.truncate(path, 1_000)
    with pytest.raises(ValueError, match=r"changed \(from [\d,]+ to 1,000 bytes\) while it was read"):
        list(blocks)
