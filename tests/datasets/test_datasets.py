import gzip

import numpy as np
import pytest
from real_data import DATA, needs_higgs
from scipy import stats

from uptonoise.datasets import (
    HIGGS_HIGH_LEVEL,
    HIGGS_JET_PHI,
    NOISE_KINDS,
    load_higgs,
    make_chi2_samples,
    symmetric_noise,
)


@pytest.mark.parametrize("kind", NOISE_KINDS)
def test_noise_is_symmetric_and_of_the_size_asked_for(kind):
    noise = symmetric_noise(200_000, 2, sd=3.0, kind=kind, random_state=0)
    assert abs(np.median(noise)) < 0.05
    size = np.median(np.abs(noise))
    laws = {
        "gaussian": stats.norm(scale=3),
        "laplace": stats.laplace(scale=3 / np.sqrt(2)),
        "cauchy": stats.cauchy(scale=3 * stats.norm.ppf(0.75)),
        "t": stats.t(3, scale=np.sqrt(3)),
    }
    if kind in laws:
        assert size == pytest.approx(laws[kind].ppf(0.75), rel=0.02)
        assert stats.kstest(noise[:20_000, 0], laws[kind].cdf).pvalue > 1e-3
    if kind in ("gaussian", "laplace", "mixture"):
        assert noise.std() == pytest.approx(3.0, rel=0.02)


def test_chi2_samples_have_the_moments_of_the_paper():
    X, Y = make_chi2_samples((100_000, 50_000), 2, noise=(2.0, 0.0), random_state=0)
    assert X.shape == (100_000, 2)
    assert Y.shape == (50_000, 2)
    np.testing.assert_allclose(X.mean(0), 1, atol=0.03)
    np.testing.assert_allclose(X.var(0), 0.5 * 3, rtol=0.05)
    np.testing.assert_allclose(Y.var(0), 0.25, rtol=0.05)
    same, again = (make_chi2_samples(10, random_state=1)[0] for _ in range(2))
    np.testing.assert_array_equal(same, again)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"n_rows": 0}, "n_rows"),
        ({"n_rows": (1, 2, 3)}, "n_rows"),
        ({"n_columns": 0}, "n_columns"),
        ({"noise": (-1.0, 0.0)}, "noise"),
        ({"kind": "uniform", "noise": (1.0, 1.0)}, "kind must be one of gaussian"),
        ({"freedoms": (0, 4)}, "freedoms"),
    ],
)
def test_bad_chi2_samples(change, match):
    with pytest.raises(ValueError, match=match):
        make_chi2_samples(**change)


def test_bad_noise():
    with pytest.raises(ValueError, match="sd"):
        symmetric_noise(3, 2, sd=-1)


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
