"""What takes more memory than it should is refused before the work begins, by a message that says what is too much."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from .helpers import run

N = 200


@pytest.fixture
def folder(tmp_path, rng):
    for name in "ab":
        frame = pd.DataFrame(rng.normal(size=(N, 2)), columns=["u", "v"])
        frame["bag"] = np.arange(N) // 10
        frame["y"] = frame["bag"] % 7
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frame.to_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_monitor_refuses_what_it_cannot_hold(kind, folder, monkeypatch):
    monkeypatch.setattr("uptonoise.monitor.nightly._MOST_VALUES", 300)
    files = (folder / f"a.{kind}", folder / f"b.{kind}")
    answer = run("monitor", *files, "--state", folder / "s.npz", "--columns", "u,v")
    assert answer.exit_code == 2
    assert "must have at most 150 rows with 2 columns, which are held in memory" in answer.output
    assert run("monitor", *files, "--state", folder / "s.npz", "--columns", "u").exit_code in (0, 3)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_pairs_that_cannot_be_held_are_refused(kind, folder, monkeypatch):
    monkeypatch.setattr("uptonoise.cli.comparing._MOST_PAIRED_VALUES", 300)
    files = (folder / f"a.{kind}", folder / f"b.{kind}")
    answer = run("compare", *files, "--paired", "--columns", "u,v")
    assert answer.exit_code == 2
    assert "must have at most 150 rows with 2 columns" in answer.output
    assert run("compare", *files, "--columns", "u,v", "-q").exit_code == 0


def test_models_refuse_more_bags_rows_and_features_than_fit(folder, monkeypatch):
    fit = ["fit", folder / "a.csv", "--by", "bag", "--label", "y", "-o", folder / "m.npz", "--model"]
    bounds = "uptonoise.cli.bag_reader."
    with monkeypatch.context() as patch:
        patch.setattr(bounds + "_MOST_BAGS", 19)
        assert "must have at most 19 bags" in run(*fit, "plrr").output
    with monkeypatch.context() as patch:
        patch.setattr(bounds + "_MOST_BYTES", 3_000)
        assert "of which 0.0 GB fit" in run(*fit, "plrr").output
    with monkeypatch.context() as patch:
        patch.setattr(bounds + "_MODEL_BYTES", 1_000_000)
        assert "for 20 bags with 2 columns; give fewer" in run(*fit, "best").output
        assert run(*fit, "plrr").exit_code == 0
        patch.setattr(bounds + "_MODEL_BYTES", 100_000)
        answer = run("predict", folder / "m.npz", folder / "a.csv")
        assert answer.exit_code == 2
        assert "split the file" in answer.output


def test_very_many_ids_are_refused(folder, monkeypatch):
    monkeypatch.setattr("uptonoise.engines.files.rows._MOST_IDS", 10)
    monkeypatch.setattr("uptonoise.engines.files.csv._BLOCK_BYTES", 1_000)
    answer = run("sketch", folder / "a.csv", "--cluster", "bag", "--columns", "u", "-o", folder / "s.npz")
    assert answer.exit_code == 2
    assert "the column 'bag' must have at most 10 different entries" in answer.output
