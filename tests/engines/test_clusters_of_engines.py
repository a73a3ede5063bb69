"""Clusters in files, on a Dask cluster and on a GPU's stream: the same sketches as in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import uptonoise as un

dd = pytest.importorskip("dask.dataframe")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    units = rng.permutation(np.repeat(np.arange(60), 20))
    rows = rng.normal(size=(60, 2))[units] + rng.normal(size=(1_200, 2))
    return pd.DataFrame(rows, columns=["a", "b"]).assign(unit=[f"u{number}" for number in units])


@pytest.fixture(scope="module")
def expected(frame) -> un.Sketch:
    return un.Sketch.for_samples(frame[["a", "b"]]).update(frame, clusters="unit")


def assert_same(sketch: un.Sketch, expected: un.Sketch) -> None:
    assert (sketch.n_rows, sketch.n_clusters) == (expected.n_rows, expected.n_clusters)
    np.testing.assert_allclose(sketch.covariance, expected.covariance, atol=1e-5)
    assert sketch.cluster_hashes.tolist() == expected.cluster_hashes.tolist()


def test_partitions_share_clusters(frame, expected):
    parts = dd.from_pandas(frame, npartitions=7)
    assert_same(un.Sketch.like(expected).update(parts, clusters="unit"), expected)
    assert_same(un.Sketch.like(expected).update(un.scan_dask(parts, by="unit")), expected)
    with pytest.raises(ValueError, match="must be the name of the column"):
        un.Sketch.like(expected).update(parts[["a", "b"]], clusters=frame["unit"])


def test_files_share_clusters(frame, expected, tmp_path):
    for number, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[part].to_parquet(tmp_path / f"{number}.parquet")
    frame.to_csv(tmp_path / "all.csv", index=False)
    for source in (
        un.scan_parquet(tmp_path / "*.parquet", by="unit"),
        un.scan_csv(tmp_path / "all.csv", by="unit"),
        un.scan_dask(un.scan_parquet(tmp_path / "*.parquet", by="unit")),
    ):
        assert_same(un.Sketch.like(expected).update(source), expected)
    for source in (
        un.scan_parquet(tmp_path / "*.parquet", columns=["a", "b"]),
        un.scan_csv(tmp_path / "all.csv", columns=["a", "b"]),
    ):
        assert_same(un.Sketch.like(expected).update(source, clusters="unit"), expected)


def test_a_test_of_partitions(frame):
    half = frame["unit"].isin([f"u{number}" for number in range(30)])
    in_memory = un.phase_test(frame[half], frame[~half], clusters="unit")
    on_cluster = un.phase_test(
        dd.from_pandas(frame[half], npartitions=3), dd.from_pandas(frame[~half], npartitions=4), clusters="unit"
    )
    assert on_cluster.pvalue == pytest.approx(in_memory.pvalue, abs=1e-6)
    assert on_cluster.n_clusters == (30, 30)


def test_missing_ids_in_a_file_are_named(frame, tmp_path):
    frame.assign(unit=frame["unit"].where(np.arange(len(frame)) != 5)).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match="'unit'"):
        un.Sketch([[1.0, 0.0]]).update(un.scan_csv(tmp_path / "a.csv", columns=["a", "b"]), clusters="unit")


def test_rows_that_stream_to_a_device(frame, expected):
    pytest.importorskip("torch")
    streamed = un.engines.on_device(un.Bags.from_long(frame, by="unit"), "cpu")
    assert_same(un.Sketch.like(expected).update(streamed), expected)
