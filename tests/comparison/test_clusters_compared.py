"""compare and compare_groups of rows in clusters, and what they say about rows that look dependent."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import uptonoise as un


def cells(seed: int = 0, n_patients: int = 40, mirrored: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    patients = np.repeat(np.arange(n_patients), rng.integers(5, 30, n_patients))
    values = rng.gamma(2, size=(n_patients, 2))[patients] + rng.gamma(2, size=(len(patients), 2))
    frame = pd.DataFrame(8 - values if mirrored else values, columns=["size", "colour"])
    return frame.assign(patient=[f"s{seed}p{number}" for number in patients])


@pytest.fixture(scope="module")
def diagnoses() -> pd.DataFrame:
    parts = [
        cells(0).assign(diagnosis="ill"),
        cells(1).assign(diagnosis="well"),
        cells(2, mirrored=True).assign(diagnosis="other"),
    ]
    return pd.concat(parts, ignore_index=True)


def test_an_answer_tells_what_the_clusters_are_worth():
    comparison = un.compare(cells(0), cells(1), clusters="patient", names=("ill", "well"))
    assert comparison.verdict in ("no difference found", "too noisy to tell")
    assert comparison.n_clusters == (40, 40)
    assert all(40 <= worth < 500 for worth in comparison.independent_rows)
    assert "ill 40 clusters, worth" in repr(comparison)
    assert comparison.to_dict()["n_clusters"] == [40, 40]
    assert comparison.flip is None
    assert comparison.me is not None
    assert comparison.me.n_clusters == (40, 40)
    assert comparison.mmd.null.endswith("permutations of clusters")


def test_another_signal_is_seen():
    comparison = un.compare(cells(0), cells(2, mirrored=True), clusters="patient")
    assert comparison.verdict == "differ beyond noise and an offset"


def test_bags_against_bags():
    left, right = (un.Bags.from_long(cells(seed), by="patient") for seed in (0, 1))
    by_bags, by_column = un.compare(left, right), un.compare(cells(0), cells(1), clusters="patient")
    assert by_bags.phase.pvalue == by_column.phase.pvalue
    assert by_bags.n_clusters == (40, 40)


def test_few_clusters_need_no_flip_test():
    comparison = un.compare(cells(0, 6), cells(1, 6), clusters="patient")
    assert comparison.flip is None
    assert any("20 clusters" in text for text in comparison.missing)


def test_sketches_of_clusters():
    empty = un.Sketch.for_samples(*(cells(seed)[["size", "colour"]] for seed in (0, 1)))
    sketches = [un.Sketch.like(empty).update(cells(seed), clusters="patient") for seed in (0, 1)]
    assert un.compare(*sketches).n_clusters == (40, 40)


def test_rows_that_look_dependent_are_told_everywhere(tmp_path):
    left, right = (cells(seed, 100)[["size", "colour"]] for seed in (0, 1))
    with pytest.warns(un.DependentRowsWarning):
        comparison = un.compare(left, right)
    assert len(comparison.dependent) == 2
    assert "or the file is sorted" in comparison.dependent[0]
    assert "warning" in repr(comparison)
    assert comparison.to_dict()["dependent"] == list(comparison.dependent)
    comparison.report(tmp_path / "report.html")
    assert "neighbouring rows of X are alike" in (tmp_path / "report.html").read_text()


def test_independent_rows_give_no_warning():
    left, right = (cells(seed, 100)[["size", "colour"]].sample(frac=1, random_state=0) for seed in (0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert un.compare(left, right).dependent == ()


def test_the_report_tells_clusters(tmp_path):
    un.compare(cells(0), cells(1), clusters="patient").report(tmp_path / "report.html")
    assert "40 clusters, worth" in (tmp_path / "report.html").read_text()


def test_the_same_units_in_two_frames_are_a_warning():
    with pytest.warns(un.SharedClustersWarning, match="share 40 cluster ids"):
        un.compare(cells(0), cells(0), clusters="patient")


def test_groups_of_clusters_from_a_frame_bags_a_dict_and_files(diagnoses, tmp_path):
    columns = ["size", "colour"]
    from_frame = un.compare_groups(diagnoses, by="diagnosis", clusters="patient")
    assert set(from_frame.differing) == {("ill", "other"), ("well", "other")}
    bags = un.Bags.from_long(diagnoses, by="patient", values=columns, label="diagnosis")
    np.testing.assert_allclose(un.compare_groups(bags).pairs.pvalues, from_frame.pairs.pvalues, atol=1e-12)
    diagnoses.to_csv(tmp_path / "cells.csv", index=False)
    source = un.scan_csv(tmp_path / "cells.csv", columns=columns, by="diagnosis")
    from_file = un.compare_groups(source, clusters="patient")
    np.testing.assert_allclose(from_file.pairs.pvalues, from_frame.pairs.pvalues, atol=1e-9)
    parts = dict(list(diagnoses.groupby("diagnosis")))
    of_dict = un.compare_groups(
        {name: part[columns] for name, part in parts.items()},
        clusters={name: part["patient"] for name, part in parts.items()},
    )
    assert set(map(frozenset, of_dict.differing)) == set(map(frozenset, from_frame.differing))
    assert from_frame.sketches["ill"].n_clusters == 40


def test_two_groups_of_clusters_get_the_answer_of_two_samples(diagnoses, tmp_path):
    columns = ["size", "colour"]
    two = diagnoses[diagnoses["diagnosis"] != "well"].sample(frac=1, random_state=0)
    samples = [two[two["diagnosis"] == name][[*columns, "patient"]] for name in two["diagnosis"].unique()]
    expected = un.compare(*samples, clusters="patient", names=list(two["diagnosis"].unique()))
    assert expected.verdict == "differ beyond noise and an offset"
    two.to_csv(tmp_path / "two.csv", index=False)
    bags = un.Bags.from_long(two, by="patient", values=columns, label="diagnosis")
    kinds = [
        un.compare_groups(two, by="diagnosis", clusters="patient"),
        un.compare_groups(un.scan_csv(tmp_path / "two.csv", columns=columns, by="diagnosis"), clusters="patient"),
        un.compare_groups(dict(zip(expected.names, samples, strict=True)), clusters="patient"),
        un.compare_groups(bags),
    ]
    for groups in kinds:
        assert groups.two is not None
        assert groups.two.n_clusters == (40, 40)
        assert groups.verdict(*groups.names) == expected.verdict
        assert groups.differing == [groups.names]
        assert groups.two.me is not None
    for groups in kinds[:3]:
        assert groups.two == expected


def test_ids_beside_a_frame_follow_its_rows(diagnoses):
    frame, ids = diagnoses.drop(columns="patient"), diagnoses["patient"]
    frame.loc[3, "size"] = np.nan
    dropped = un.compare_groups(frame, by="diagnosis", clusters=ids, missing="drop")
    expected = un.compare_groups(diagnoses.drop(index=3), by="diagnosis", clusters="patient")
    np.testing.assert_array_equal(dropped.pairs.pvalues, expected.pairs.pvalues)
    with pytest.raises(ValueError, match="one id for each row of groups"):
        un.compare_groups(frame, by="diagnosis", clusters=ids[1:], missing="drop")


def test_rows_without_clusters_would_differ(diagnoses):
    two = diagnoses[diagnoses["diagnosis"] != "other"]
    with pytest.warns(un.DependentRowsWarning, match="neighbouring rows of the group (ill|well) are alike"):
        ignored = un.compare_groups(two.drop(columns="patient"), by="diagnosis")
    assert ignored.pairs.pvalues[0, 1] < un.compare_groups(two, by="diagnosis", clusters="patient").pairs.pvalues[0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "diagnosis", "clusters": "unit"}, "no column 'unit'"),
        ({"clusters": "patient"}, "by must name the column"),
        ({"by": "diagnosis", "columns": ["size"], "clusters": [1, 2]}, "one id for each row"),
    ],
)
def test_bad_clusters_of_groups(diagnoses, options, message):
    with pytest.raises(ValueError, match=message):
        un.compare_groups(diagnoses, **options)


def test_a_unit_in_two_groups_of_a_frame_is_an_error(diagnoses):
    mixed = diagnoses.assign(patient=diagnoses["patient"].str[2:])
    with pytest.raises(ValueError, match="the cluster 'p0' of groups has rows in the groups 'ill' and 'well'"):
        un.compare_groups(mixed, by="diagnosis", clusters="patient")
    with pytest.raises(ValueError, match="Bags with labels"):
        un.compare_groups(un.Bags([np.zeros(3)] * 4), clusters="patient")
