import gzip

import numpy as np
import pytest
from real_data import DATA, needs_higgs

from uptonoise.datasets import (
    HIGGS_HIGH_LEVEL,
    HIGGS_JET_PHI,
    load_higgs,
)


def higgs_like(path, rows=6, label=lambda row: row % 2, columns=28):
    lines = (
        ",".join(f"{value:.6e}" for value in (label(row), *(100 * row + np.arange(columns)))) for row in range(rows)
    )
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines) + "\n")
    return path


def test_higgs_is_read_in_the_layout_of_uci(tmp_path):
    path = higgs_like(tmp_path / "HIGGS.csv.gz")
    higgs = load_higgs(path)
    assert higgs.columns == HIGGS_HIGH_LEVEL
    np.testing.assert_array_equal(higgs.background[:, 0], [21, 221, 421])
    np.testing.assert_array_equal(higgs.signal[:, 0], [121, 321, 521])
    np.testing.assert_array_equal(load_higgs(tmp_path, HIGGS_JET_PHI).background[0], [7, 11, 15, 19])
    assert len(load_higgs(path, max_rows=3).background) == 2


def test_higgs_errors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UPTONOISE_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"download HIGGS\.csv\.gz"):
        load_higgs()
    with pytest.raises(ValueError, match="columns must be among"):
        load_higgs(columns=["jet_9_phi"])
    with pytest.raises(ValueError, match="label"):
        load_higgs(higgs_like(tmp_path / "wrong.csv.gz", label=lambda row: 7))
    with pytest.raises(ValueError, match="HIGGS"):
        load_higgs(higgs_like(tmp_path / "short.csv.gz", columns=5))


@needs_higgs
def test_the_real_file():
    higgs = load_higgs(DATA)
    assert higgs.background.shape[1] == higgs.signal.shape[1] == 7
    assert min(len(higgs.background), len(higgs.signal)) > 20_000
    assert np.abs(np.median(higgs.background, axis=0) - 0.9).max() < 0.3
