"""Ids of clusters, rows that know them, and rows that look dependent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import uptonoise as un
from uptonoise.rows import (
    BlockedRows,
    GroupedClusters,
    as_ids,
    as_rows,
    cluster_hashes,
    clustered_rows,
    find_dependence,
    numbered,
    two_clustered,
)
from uptonoise.rows.dependence import explained_by


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_numbers_follow_the_first_rows():
    ids, numbers, in_order = numbered(as_ids(["b", "b", "a", "c", "a"]))
    assert ids.tolist() == ["b", "a", "c"]
    assert numbers.tolist() == [0, 0, 1, 2, 1]
    assert not in_order
    assert numbered(np.array([7, 7, 3, 3, 5]))[2]


@pytest.mark.parametrize(
    "ids",
    [
        [3, 1, 1],
        [3.0, 1.0, 1.0],
        np.array([3, 1, 1], dtype=np.uint8),
        pd.Series([3, 1, 1], dtype="Int64"),
        pl.Series([3, 1, 1]),
    ],
)
def test_whole_numbers_of_any_type_are_the_same_ids(ids):
    assert as_ids(ids).tolist() == [3, 1, 1]


@pytest.mark.parametrize("ids", [["x", "y"], pd.Series(["x", "y"]), pl.Series(["x", "y"]), np.array(["x", "y"])])
def test_text_of_any_type_is_the_same_ids(ids):
    assert as_ids(ids).tolist() == ["x", "y"]


def test_dates_are_ids():
    days = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-02"]).to_series()
    assert len(set(as_ids(days).tolist())) == 2


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1.0, np.nan, 2.0], "1 id missing, the first in row 1"),
        (["a", None, None], "2 ids missing, the first in row 1"),
        (pd.Series([1, None], dtype="Int64"), "1 id missing, the first in row 1"),
        ([1, "a"], "one type"),
        ([1.5, 2.0], "whole numbers or text; got 1.5 in row 0"),
        (np.zeros((2, 2)), "one id for each row"),
        ([], "one id for each row"),
        (5, "one id for each row"),
    ],
)
def test_bad_ids_are_named(ids, message):
    with pytest.raises(ValueError, match=message):
        as_ids(ids)


def test_blocks_of_consecutive_rows():
    assert un.blocks(5, 2).tolist() == [0, 0, 1, 1, 2]
    assert isinstance(un.blocks(5, 2).max(), np.integer)
    assert type(un.blocks(5, 2) + 1) is np.ndarray
    with pytest.raises(ValueError, match="size must be at most the number of rows, 5; got a block of 6 rows"):
        un.blocks(5, 6)
    with pytest.raises(ValueError, match="size must be a positive integer"):
        un.blocks(5, 0)


def test_hashes_are_the_same_everywhere():
    assert cluster_hashes(["p1"]).tolist() == [10506498227197777640]
    assert cluster_hashes([1]).tolist() == cluster_hashes(["1"]).tolist()


def test_clusters_of_an_array_a_frame_and_chunks():
    frame = pd.DataFrame({"x": np.arange(5.0), "unit": ["a", "a", "b", "c", "b"]})
    sources = [
        clustered_rows(frame[["x"]], frame["unit"]),
        clustered_rows(frame, "unit"),
        clustered_rows(pl.from_pandas(frame), "unit"),
        clustered_rows(iter([frame[:2], frame[2:]]), "unit"),
        clustered_rows(un.Bags.from_long(frame, by="unit"), None),
    ]
    for source in sources:
        block = next(source.blocks(10))
        together = {tuple(sorted(block.values[block.bags == number, 0])): source.bag_ids[number] for number in range(3)}
        assert together == {(0.0, 1.0): "a", (2.0, 4.0): "b", (3.0,): "c"}


def test_a_numeric_column_of_a_source_holds_ids():
    source = clustered_rows(as_rows(pd.DataFrame({"unit": [4, 4, 2], "x": [1.0, 2.0, 3.0]})), "unit")
    assert source.columns == ("x",)
    assert next(source.blocks(9)).bags.tolist() == [0, 0, 1]
    assert source.bag_ids == [4, 2]


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ("unit", "clusters='unit' must name a column of X, which has"),
        ([1, 2], r"one id for each row of X \(3\); got 2"),
    ],
)
def test_bad_clusters_are_named(clusters, message):
    with pytest.raises(ValueError, match=message):
        list(clustered_rows(pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": 1.0}), clusters).blocks(9))


def test_bags_have_their_clusters_already():
    with pytest.raises(ValueError, match="left out for X, whose 2 bags are its clusters"):
        clustered_rows(un.Bags([np.zeros(3), np.zeros(2)]), [1, 2, 3, 4, 5])


def test_both_samples_have_clusters_or_none():
    with pytest.raises(ValueError, match="both samples must have clusters, or none; X has them and Y has not"):
        two_clustered(un.Bags([np.zeros(3)] * 3), np.zeros(5))
    with pytest.raises(ValueError, match="ids of the rows of X and those of Y"):
        two_clustered(np.zeros(3), np.zeros(3), clusters=np.arange(3))


def test_rows_in_blocks_of_a_source():
    source = BlockedRows(as_rows(iter([np.zeros(4), np.zeros(3)])), 3)
    assert np.concatenate([block.bags for block in source.blocks(2)]).tolist() == [0, 0, 0, 1, 1, 1, 2]
    with pytest.raises(ValueError, match="must not be longer than X"):
        list(BlockedRows(as_rows(np.zeros(4)), 5).blocks(9))


def test_a_cluster_lies_in_one_group():
    rows = as_rows(np.zeros(4))
    grouped = GroupedClusters(clustered_rows(rows, ["a", "a", "b", "b"]), clustered_rows(rows, [1, 2, 2, 3]))
    with pytest.raises(ValueError, match="the cluster 2 of X has rows in the groups 'a' and 'b'"):
        list(grouped.blocks(9))


def test_neighbours_that_are_alike_are_told():
    clusters = np.repeat(rng().normal(size=100), 10) + rng(1).normal(size=1_000)
    sign = find_dependence(as_rows(clusters))
    assert sign is not None
    assert sign.kind == "order"
    assert "or the file is sorted" in str(sign)
    assert "clusters=" in str(sign)
    assert find_dependence(as_rows(rng(2).permutation(clusters))) is None
    assert find_dependence(clustered_rows(clusters, np.repeat(np.arange(100), 10))) is None


def test_a_column_of_ids_is_told_also_in_random_order():
    units = np.repeat(rng().permutation(50), 20)
    frame = pd.DataFrame({"unit": units, "x": rng(1).normal(size=50)[units] + rng(2).normal(size=1_000)})
    sign = find_dependence(as_rows(frame.sample(frac=1, random_state=0)))
    assert sign is not None
    assert (sign.kind, sign.column) == ("column", "unit")
    assert "clusters='unit'" in str(sign)


def test_a_count_that_other_columns_follow_is_no_id():
    size = rng().gamma(2, size=3_000)
    assert find_dependence(as_rows(pd.DataFrame({"count": rng(1).poisson(5 * size), "size": size}))) is None


def test_few_values_are_no_ids():
    assert explained_by(np.arange(100) % 2, (np.arange(100) % 2)[:, None] + rng().normal(size=(100, 1))) == 0


@pytest.mark.parametrize("n_runs", [20, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n", [60, 500, 3_000])
def test_independent_rows_are_seldom_called_dependent(n, n_runs):
    generator = rng(n)
    samples = (
        np.stack([generator.lognormal(size=n), generator.poisson(1, n), generator.integers(0, 30, n)], axis=1)
        for _ in range(n_runs)
    )
    frames = (pd.DataFrame(rows, columns=["a", "b", "c"]) for rows in samples)
    assert sum(find_dependence(as_rows(frame)) is not None for frame in frames) <= 1


def test_constant_rows_and_few_rows_tell_nothing():
    assert find_dependence(as_rows(np.zeros(100))) is None
    assert find_dependence(as_rows(np.arange(20.0))) is None


def test_the_scores_of_a_trend_and_of_ids():
    assert find_dependence(as_rows(np.arange(1_000.0))).score > 50
    units = rng().permutation(100).repeat(10)
    frame = pd.DataFrame({"unit": units, "x": rng(1).normal(size=100)[units] + rng(2).normal(size=1_000)})
    assert find_dependence(as_rows(frame)).column == "unit"


def test_two_samples_with_clusters_of_different_types():
    left, right = two_clustered(np.zeros(4), np.zeros(3), clusters=([1, 1, 2, 3], ["a", "b", "c"]))
    assert (len(left.bag_ids), len(right.bag_ids)) == (3, 3)
