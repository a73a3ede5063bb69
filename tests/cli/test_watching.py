"""``uptonoise monitor``: lines, exit codes, and what it refuses."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pandas as pd
import pytest

from uptonoise.cli.options import recorded

from .helpers import commands, runner


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.exponential(size=(3_000, 2)), columns=["a", "b"]).to_parquet("reference.parquet")
    (tmp_path / "night").mkdir()
    for number in range(3):
        noisy = rng.exponential(size=(100, 2)) + rng.normal(size=(100, 2))
        pd.DataFrame(noisy, columns=["a", "b"]).to_parquet(f"night/{number}.parquet")
    return tmp_path


def run(*arguments):
    return runner.invoke(
        commands, ["monitor", "reference.parquet", "night/*.parquet", "--state", "state.npz", *arguments]
    )


def test_one_line_per_batch_and_exit_codes(folder):
    first = run()
    assert first.exit_code == 0
    assert [line.split(": ")[1].split(",")[0] for line in first.stdout.splitlines()[:3]] == ["ok"] * 3
    assert first.stdout.splitlines()[3] == "No difference beyond noise after 300 rows."
    assert run().stdout.startswith("no new batch\n")
    rng = np.random.default_rng(1)
    for number in range(3, 8):
        pd.DataFrame(2 - rng.exponential(size=(100, 2)), columns=["a", "b"]).to_parquet(f"night/{number}.parquet")
    alarm = run("--json", "--report", "timeline.html")
    assert alarm.exit_code == 1
    assert json.loads(alarm.stdout.splitlines()[-1])["alarm"] is True
    page = (folder / "timeline.html").read_text()
    assert '<h2 id="verdict">Alarm</h2>' in page
    assert "7.parquet" in page
    assert run("-q").exit_code == 1
    assert run("-q", "--restart").exit_code == 0


def test_a_reference_that_is_used_up_has_an_exit_code_of_its_own(folder):
    pd.read_parquet("reference.parquet")[:150].to_parquet("reference.parquet")
    used_up = run()
    assert used_up.exit_code == 3
    assert "150 rows not compared" not in used_up.stdout
    assert "100 rows not compared: the reference is used up" in used_up.stdout
    assert "the reference is used up" in used_up.stderr
    assert run("-q").exit_code == 3
    (folder / "state.npz").unlink()
    assert run("-q", "--when-used-up", "reuse").exit_code == 0


def test_the_page_names_files_hashes_and_the_command(folder):
    arguments = ["monitor", "reference.parquet", "night/*.parquet", "--state", "state.npz", "--report", "page.html"]
    with recorded(arguments):
        assert run("--report", "page.html").exit_code == 0
    page = (folder / "page.html").read_text()
    for name in ("reference.parquet", "night/0.parquet", "night/2.parquet"):
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() in page
    assert "uptonoise monitor reference.parquet &#39;night/*.parquet&#39; --state state.npz --report page.html" in page
    (folder / "night" / "2.parquet").unlink()
    assert run("--report", "page.html", "--force").exit_code == 0
    assert page.count("SHA-256") == 1 + (folder / "page.html").read_text().count("SHA-256")


def test_what_is_refused(folder):
    run()
    for arguments, message in [
        (["--alpha", "0.01"], "alpha is 0.05 in state.npz; got 0.01"),
        (["--up-to", "noise+shift"], "invariant_to is 'noise' in state.npz"),
        (["--run-length", "9"], "run_length is"),
    ]:
        refused = run(*arguments)
        assert refused.exit_code == 2
        assert message in refused.stderr
    before = (folder / "state.npz").read_bytes()
    (folder / "night" / "9.parquet").write_bytes((folder / "night" / "1.parquet").read_bytes())
    again = run()
    assert again.exit_code == 2
    assert "compared before" in again.stderr
    assert (folder / "state.npz").read_bytes() == before
    (folder / "night" / "9.parquet").unlink()
    (folder / "state.npz").write_bytes(before[:1_000])
    assert "truncated" in run().stderr


def test_late_files_need_an_option(folder):
    run()
    (folder / "night" / "0.parquet").rename(folder / "night" / "a.parquet")
    pd.DataFrame(np.random.default_rng(5).exponential(size=(50, 2)), columns=["a", "b"]).to_parquet("night/00.parquet")
    (folder / "night" / "a.parquet").unlink()
    late = run()
    assert late.exit_code == 2
    assert "--any-order compares it all the same" in late.stderr
    assert run("--any-order").exit_code == 0


def test_too_many_missing_values_stop_the_job(folder):
    rows = pd.read_parquet("night/1.parquet")
    rows.loc[:29, "a"] = np.nan
    rows.to_parquet("night/1.parquet")
    stopped = run("--missing", "drop")
    assert stopped.exit_code == 2
    assert "1.parquet: 30 of 100 rows have missing values (most in a) and would be left out" in stopped.stderr
    assert "--max-dropped 0.3" in stopped.stderr
    assert stopped.stdout.count(": ok") == 1  # the night before it counts
    assert run("--missing", "drop", "--max-dropped", "0.3").stdout.count(": ok") == 2


def test_other_columns_than_those_of_the_state(folder):
    run()
    other = run("--columns", "b")
    assert other.exit_code == 2
    assert "columns are a, b in state.npz; got b. Use the same, or another state" in other.stderr


def test_rows_in_time_are_warned_of(folder):
    walk = np.cumsum(np.random.default_rng(2).normal(size=(3_000, 2)), axis=0)
    pd.DataFrame(walk, columns=["a", "b"]).to_parquet("reference.parquet")
    assert "the guarantee needs independent rows, and neighbouring rows" in run("-q").stderr
