"""--cluster and --block on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from .helpers import commands, runner


def run(*arguments: str) -> str:
    result = runner.invoke(commands, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def failed(*arguments: str) -> str:
    result = runner.invoke(commands, list(arguments))
    assert result.exit_code == 2
    return result.output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = []
    for seed, name in enumerate(("ill", "well")):
        rng = np.random.default_rng(seed)
        patients = np.repeat(np.arange(40), 15)
        frame = pd.DataFrame(rng.gamma(2, size=(40, 2))[patients] + rng.gamma(2, size=(600, 2)), columns=["a", "b"])
        frame["patient"] = [f"{name} {number}" for number in patients]
        frame.to_csv(f"{name}.csv", index=False)
        parts.append(frame.assign(diagnosis=name))
    pd.concat(parts).to_parquet("cells.parquet")
    return tmp_path


def test_clusters_of_two_files(folder):
    assert "40 clusters, worth" in run("compare", "ill.csv", "well.csv", "--cluster", "patient")
    answer = json.loads(run("compare", "ill.csv", "well.csv", "--cluster", "patient", "--json"))
    assert answer["n_clusters"] == [40, 40]
    assert answer["columns"] == ["a", "b"]


def test_clusters_of_groups(folder):
    assert "differ" in run("compare", "cells.parquet", "--by", "diagnosis", "--cluster", "patient")


def test_blocks(folder):
    answer = json.loads(run("compare", "ill.csv", "well.csv", "--columns", "a,b", "--block", "15", "--json"))
    assert answer["n_clusters"] == [40, 40]


def test_sketches(folder):
    assert "600 rows in 40 clusters" in run("sketch", "ill.csv", "--cluster", "patient", "-o", "ill.npz")
    run("sketch", "well.csv", "--cluster", "patient", "--like", "ill.npz", "-o", "well.npz")
    assert "40 clusters, worth" in run("compare", "ill.npz", "well.npz")


def test_dependent_rows_and_columns_of_ids_are_told(folder):
    answer = run("compare", "ill.csv", "well.csv")
    assert "neighbouring rows of ill.csv are alike" in " ".join(answer.split())
    shuffled = [pd.read_csv(f"{name}.csv").sample(frac=1, random_state=0) for name in ("ill", "well")]
    for name, frame in zip(("ill", "well"), shuffled, strict=True):
        frame.to_csv(f"{name}.csv", index=False)
    answer = " ".join(run("compare", "ill.csv", "well.csv").split())
    assert "the column patient of ill.csv repeats its values" in answer
    assert "--cluster" in answer


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ill.csv", "well.csv", "--cluster", "unit"), "unit"),
        (("ill.csv", "well.csv", "--columns", "a,b", "--block", "5000"), "a block must not be longer than ill.csv"),
        (("ill.csv", "well.csv", "--columns", "a,b", "--block", "300"), "at least 3 clusters; got 2"),
        (("ill.csv", "well.csv", "--cluster", "patient", "--block", "5"), "--cluster or --block, not both"),
        (("cells.parquet", "--by", "diagnosis", "--block", "5"), "--block is for two files"),
    ],
)
def test_bad_options(folder, arguments, message):
    assert message in " ".join(failed("compare", *arguments).split())
