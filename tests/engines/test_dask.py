"""Rows on a Dask cluster: the same numbers as arrays give, wherever the rows are."""

import contextlib
import itertools
import json
import logging

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import torch
from opened_files import open_rows
from sklearn.base import clone
from typer.testing import CliRunner

import uptonoise as un
from uptonoise.cli.app import app
from uptonoise.engines import connected, scan_dask, scan_parquet
from uptonoise.engines.dask.runs import added, merged, run_of
from uptonoise.engines.dask.tasks import _PartitionRows
from uptonoise.engines.files import GroupIds, Groups
from uptonoise.fourier import BagSums, CosineSine, MomentSum
from uptonoise.rows import as_rows, read_rows, sample_rows

distributed = pytest.importorskip("distributed")

N_ROWS = 30_000
COLUMNS = ["a", "b", "c"]
SPLITS = {1: [N_ROWS], 7: [9_000, 1, 4_000, 7_000, 1_999, 6_000, 2_000], 100: [300] * 100}


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process of its own."""
    logging.getLogger("distributed").setLevel(logging.ERROR)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(0).gamma(2.0, size=(N_ROWS, 3)) * [1, 2, 3] + [0, 10, -5]


@pytest.fixture(scope="module")
def frame(values):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(values, columns=COLUMNS)
    frame["site"] = rng.choice(["north", "south", "west"], N_ROWS)
    frame["bag"] = rng.integers(0, 200, N_ROWS) * 1_000_003
    frame["w"] = rng.uniform(0.5, 2, N_ROWS)
    return frame


@pytest.fixture(scope="module")
def folders(frame, tmp_path_factory):
    """The same rows in 1, 7 and 100 Parquet files."""
    found = {}
    for count, sizes in SPLITS.items():
        folder = found[count] = tmp_path_factory.mktemp(f"files{count}")
        for number, stop in enumerate(np.cumsum(sizes)):
            part = frame.iloc[stop - sizes[number] : stop]
            part.to_parquet(folder / f"{number:03d}.parquet", index=False, row_group_size=2_500)
    return found


def cut(frame, count):
    """A Dask frame with partitions of different sizes, one of them empty."""
    stops = np.cumsum([0, *SPLITS[count]]).tolist()
    pieces = [frame.iloc[a:b] for a, b in zip(stops, [*stops[1:], stops[-1]], strict=True)]
    return dd.from_delayed([dask.delayed(piece) for piece in pieces], meta=frame.iloc[:0])


def sources(values, frame, folders):
    yield "tensor", torch.from_numpy(values)
    yield "tensor chunks", iter(torch.from_numpy(values).split(7_001))
    for count, folder in folders.items():
        yield f"{count} files", scan_parquet(folder, columns=COLUMNS)
        if count > 1:
            yield f"{count} files by workers", scan_dask(scan_parquet(folder, columns=COLUMNS))
    yield "Dask array", da.from_array(values, chunks=(1_234, 2))
    yield "Dask array of unknown sizes", da.from_array(values, chunks=(9_000, 3))[da.ones(N_ROWS, chunks=9_000) > 0]
    yield "Dask frame", dd.from_pandas(frame[COLUMNS], npartitions=5, sort=False)
    yield "Dask frame with other columns", scan_dask(cut(frame, 7), columns=COLUMNS)
    yield "Dask frame of Parquet", dd.read_parquet(folders[7], columns=COLUMNS)


def same(found, expected, rel=1e-8):
    """Compare results as JSON holds them, up to the last digits of numbers."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            same(found[key], expected[key], rel)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other, rel)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=rel, abs=1e-10)
    else:
        assert found == expected


def check_sketch(found, expected):
    assert found.n_rows == expected.n_rows
    np.testing.assert_allclose(found.mean, expected.mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=0, atol=1e-10)


@pytest.mark.usefixtures("client")
def test_every_source_gives_the_sketch_and_the_test_of_the_array(values, frame, folders):
    other = values[::-1] + np.random.default_rng(2).normal(size=values.shape)
    W = un.sample_frequencies(40, 3, scale=3, random_state=0)
    expected = un.Sketch(W).update(values)
    right = un.Sketch.like(expected).update(other)
    test = un.phase_test(expected, right)
    for name, source in sources(values, frame, folders):
        found = un.Sketch(W).update(source)
        check_sketch(found, expected)
        if name in ("tensor", "7 files", "Dask array", "Dask frame"):
            result = un.phase_test(found, right)
            assert result.pvalue == pytest.approx(test.pvalue, rel=1e-8), name
            assert result.statistic == pytest.approx(test.statistic, rel=1e-8), name


@pytest.mark.usefixtures("client")
def test_the_frequencies_are_those_of_the_array(values, folders):
    expected = un.Sketch.for_samples(values)
    for source in (da.from_array(values, chunks=(4_321, 3)), scan_dask(scan_parquet(folders[7], columns=COLUMNS))):
        np.testing.assert_array_equal(un.Sketch.for_samples(source).frequencies, expected.frequencies)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("n", [2_000, 60_000])  # below and above what is read into memory
def test_compare_gives_the_same_answer(n):
    rng = np.random.default_rng(3)
    X, Y = rng.gamma(2.0, size=(n, 2)), rng.gamma(2.0, size=(n, 2)) + rng.normal(size=(n, 2))
    expected = un.compare(X, Y, n_frequencies=40)
    found = un.compare(da.from_array(X, chunks=(n // 7, 2)), da.from_array(Y, chunks=(n // 3, 1)), n_frequencies=40)
    assert found.sentence == expected.sentence
    same(found.to_dict(), expected.to_dict())
    np.testing.assert_array_equal(found.shown[0], expected.shown[0])


@pytest.mark.usefixtures("client")
def test_groups_give_the_same_answer(frame, folders):
    columns = [*COLUMNS, "site"]

    def answer(*args, **kwargs):
        told = un.compare_groups(*args, **kwargs).to_dict()
        del told["input"]  # which names the source
        return told

    expected = answer(frame[columns], by="site")
    same(answer(cut(frame[columns], 7), by="site"), expected)
    same(answer(cut(frame, 7), by="site", columns=COLUMNS), expected)
    same(answer(scan_dask(scan_parquet(folders[7], columns=COLUMNS, by="site"))), expected)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("kind", [un.PhaseFeatures, un.FourierFeatures])
def test_features_of_bags_anywhere(kind, frame, folders):
    bags = un.Bags.from_long(frame[[*COLUMNS, "bag"]], by="bag")
    features = kind(16, scale=3.0, random_state=0).fit(bags)
    expected = features.transform(bags)
    for source in (
        scan_parquet(folders[100], columns=COLUMNS, by="bag"),
        scan_dask(scan_parquet(folders[7], columns=COLUMNS, by="bag")),
        scan_dask(cut(frame, 7), columns=COLUMNS, by="bag"),
    ):
        for _ in range(2):  # the numbers of bags stay in later passes
            np.testing.assert_allclose(features.transform(source), expected, rtol=0, atol=1e-10)
            assert source.bag_ids == bags.ids.tolist()


@pytest.mark.usefixtures("client")
def test_rows_are_bags_of_one_row_and_means_are_means(values, frame):
    array = da.from_array(values, chunks=(4_000, 3))
    features = un.FourierFeatures(5, scale=3.0, random_state=0).fit(array)
    np.testing.assert_allclose(features.transform(array), features.transform(values), atol=1e-12)
    source = scan_dask(cut(frame, 7), columns=COLUMNS, by="site")
    expected = frame.groupby("site", sort=False)[COLUMNS].mean()
    np.testing.assert_allclose(un.MeanFeatures().fit_transform(source), expected, rtol=1e-12)
    assert source.bag_ids == expected.index.tolist()


@pytest.mark.usefixtures("client")
def test_ridge_models_of_bags_that_stay_where_they_are(frame, folders):
    bags = un.Bags.from_long(frame[[*COLUMNS, "bag"]], by="bag")
    targets = {bag: float(rows[:, 0].mean()) for bag, rows in zip(bags.ids.tolist(), bags, strict=True)}
    given = [targets[bag] for bag in bags.ids.tolist()]
    model = un.BagRidgeCV(
        un.PhaseFeatures(10, scale=3.0, random_state=0),
        scale_factors=(1.0, 2.0),
        alphas=(1e-3, 1e-1),
        cv=2,
        random_state=0,
    )
    expected = model.fit(bags, given).predict(bags)
    for source in (
        scan_parquet(folders[1], columns=COLUMNS, by="bag"),
        scan_dask(cut(frame, 7), columns=COLUMNS, by="bag"),
    ):
        fitted = clone(model).fit(source, targets)
        assert fitted.best_params_ == model.best_params_
        np.testing.assert_allclose(fitted.predict(source), expected, atol=1e-6)
    with pytest.raises(ValueError, match="none for the bag"):
        model.fit(source, {1: 2.0})
    with pytest.raises(ValueError, match="noise_augmentation needs bags in memory"):
        un.BagRidgeCV(noise_augmentation=1.0).fit(source, targets)
    with pytest.raises(ValueError, match="by="):
        model.fit(scan_parquet(folders[1], columns=COLUMNS), targets)


@pytest.mark.usefixtures("client")
def test_weights_are_a_column(frame, folders):
    columns = [*COLUMNS, "w"]
    W = un.sample_frequencies(20, 3, scale=3, random_state=0)
    expected = un.Sketch(W).update(frame[columns], weights="w")
    for source in (cut(frame[columns], 7), scan_dask(scan_parquet(folders[7], columns=columns))):
        check_sketch(un.Sketch(W).update(source, weights="w"), expected)
    weighted = as_rows(cut(frame[columns], 7), weights="w")
    expected_rows = sample_rows([as_rows(frame[columns], weights="w")], 50, np.random.default_rng(0))
    np.testing.assert_array_equal(sample_rows([weighted], 50, np.random.default_rng(0)), expected_rows)
    with pytest.raises(ValueError, match="must be the name of the column"):
        un.Sketch(W).update(cut(frame[COLUMNS], 7), weights=np.ones(N_ROWS))
    with pytest.raises(ValueError, match="must name a column"):
        un.Sketch(W).update(cut(frame[COLUMNS], 7), weights="nothing")


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937])
def test_rows_are_drawn_as_from_an_array(values, bits):
    array = da.from_array(values, chunks=(7_001, 3))
    ours, theirs = np.random.Generator(bits(5)), np.random.Generator(bits(5))
    for generator in (ours, theirs):
        generator.integers(10, dtype=np.int32)  # which leaves half a number behind
    found = sample_rows([as_rows(array)], 300, ours)
    np.testing.assert_array_equal(found, sample_rows([as_rows(values)], 300, theirs))
    assert ours.integers(10**6, dtype=np.int32) == theirs.integers(10**6, dtype=np.int32)
    assert ours.random() == theirs.random()
    source = as_rows(array)
    np.testing.assert_array_equal(read_rows(source), values)
    np.testing.assert_array_equal(source.head(9_000), values[:9_000])
    rows = np.array([0, 6_999, 7_001, N_ROWS - 1])
    np.testing.assert_array_equal(source.take(rows), values[rows])


@pytest.mark.usefixtures("client")
def test_flips_of_given_pairs_do_not_depend_on_partitions(values, folders):
    other = values + np.random.default_rng(4).exponential(size=values.shape) - 1
    expected = un.flip_test(values, other, paired=True, n_flips=50, random_state=0)
    for X, Y in (
        (da.from_array(values, chunks=(7_001, 3)), da.from_array(other, chunks=(2_000, 3))),
        (scan_dask(scan_parquet(folders[7], columns=COLUMNS)), da.from_array(other, chunks=(20_000, 2))),
        (scan_parquet(folders[7], columns=COLUMNS), other),
        (da.from_array(values, chunks=(20_000, 3)), other),
    ):
        found = un.flip_test(X, Y, paired=True, n_flips=50, random_state=0)
        assert found.pvalue == expected.pvalue
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-8)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("test", [un.me_test, un.mmd_test, un.phd_test, un.sme_test, un.flip_test])
def test_what_needs_rows_in_memory_says_so(test, values):
    array = da.from_array(values[:100], chunks=(50, 3))
    with pytest.raises(ValueError, match=r"needs all rows in memory; call its \.compute\(\)"):
        test(array, array, random_state=0)


def test_work_is_done_where_the_data_are(client):
    """Sums and the rows at the edges of chunks travel; the others stay with the worker that has them."""
    array = client.persist(da.random.default_rng(0).normal(size=(500_000, 8), chunks=(62_500, 8)))
    distributed.wait(array)
    W = un.sample_frequencies(60, 8, scale=3, random_state=0)
    with contextlib.closing(_counted(client)) as counted:
        next(counted)
        assert un.Sketch(W, centre=np.zeros(8)).update(array).n_rows == 500_000
        moved = next(counted)
    assert moved < array.nbytes / 4


def _counted(client):
    """Yield how many bytes workers have sent to each other since the last time."""

    def sent(dask_worker):
        return sum(entry["total"] for entry in dask_worker.transfer_outgoing_log)

    before = 0
    while True:
        now = sum(client.run(sent).values())
        yield now - before
        before = now


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_runs_meet_as_one_pass(seed):
    """Whatever the cuts, also inside a block, and whoever merges first."""
    rng = np.random.default_rng(seed)
    X, bags = rng.normal(size=(5_000, 2)), rng.integers(0, 40, 5_000)
    waves = CosineSine(rng.normal(size=(900, 2)), "fast")  # so that a block has 291 rows; a moment's block has 1,800
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(bag=bags)
    cuts = np.sort(np.concatenate([[0, 5_000], rng.integers(0, 5_001, 9), [77, 77]])).tolist()
    for accumulator, by in ((MomentSum(waves, np.zeros(2)), None), (BagSums(waves, 0), "bag")):
        places = list(itertools.pairwise(cuts))
        runs = [run_of(_partition(frame.iloc[a:b], by), a, b, accumulator) for a, b in places]
        while len(runs) > 1:
            at = int(rng.integers(len(runs) - 1))
            runs[at : at + 2] = [merged(runs[at : at + 2], accumulator)]
        found = added(accumulator.empty(), runs[0])
        whole = _partition(frame, by)
        expected = whole.fold(accumulator.empty())
        if by is None:
            np.testing.assert_allclose(found.total().scatter, expected.total().scatter, rtol=1e-12, atol=1e-12)
        else:
            assert runs[0].ids == whole.bag_ids
            np.testing.assert_allclose(found.phi_sums[:40], expected.phi_sums[:40], rtol=1e-12, atol=1e-12)


def _partition(frame, by):
    return _PartitionRows(frame, "X", ("a", "b"), by, "a part", GroupIds())


def test_without_a_cluster_threads_do_the_work(values, folders):
    W = un.sample_frequencies(10, 3, scale=3, random_state=0)
    expected = un.Sketch(W).update(values)
    with dask.config.set(scheduler="threads"):
        check_sketch(un.Sketch(W).update(da.from_array(values, chunks=(7_001, 3))), expected)
        check_sketch(un.Sketch(W).update(scan_dask(scan_parquet(folders[7], columns=COLUMNS))), expected)


def test_ids_have_the_same_numbers_by_table_and_by_name():
    rng = np.random.default_rng(0)
    for keys in (rng.integers(-50, 50, 300), rng.integers(0, 10**12, 300), rng.integers(10**9, 10**9 + 9, 300)):
        table, names = GroupIds(), GroupIds()
        for part in np.split(keys, [1, 50, 51, 200]):
            distinct, codes = np.unique(part, return_inverse=True)
            by_name = names.numbered(Groups(distinct.tolist(), codes))
            np.testing.assert_array_equal(table.numbered(Groups(part, None)), by_name)
        assert table.ids == names.ids
    table.add(["text"])
    assert table.numbered(Groups(keys[:1], None)).tolist() == [0]
    assert table.ids[0] == str(keys[0])


class TestBadInput:
    def refused(self, match, call):
        with pytest.raises(ValueError, match=match) as caught:
            call()
        assert "\n" not in str(caught.value)

    def sketch(self, source):
        return un.Sketch(un.sample_frequencies(3, len(as_rows(source).columns), random_state=0)).update(source)

    def test_missing_values_are_named(self, client, frame):
        broken = frame[COLUMNS].copy()
        broken.iloc[12_345, 1] = np.nan
        match = r"got NaN \(a missing value\) in row 12345, column 'b'"
        self.refused(match, lambda: self.sketch(cut(broken, 7)))

    def test_ids_of_mixed_types(self, client, frame, tmp_path):
        mixed = frame[["a"]].assign(id=pd.Series([1, "1"] * (N_ROWS // 2), dtype=object))
        with dask.config.set({"dataframe.convert-string": False}):  # by which Dask itself makes text of everything
            source = scan_dask(cut(mixed, 1), by="id")
            self.refused("groups of one kind; got '1' .text. and 1", lambda: read_rows(source))
        for name, kind in (("0", int), ("1", str)):
            pd.DataFrame({"id": np.arange(5).astype(kind), "a": 1.0}).to_parquet(tmp_path / f"{name}.parquet")
        self.refused(
            r"1\.parquet: the column 'id' must hold numbers, as in .*0\.parquet; it holds text",
            lambda: scan_parquet(tmp_path, by="id"),
        )
        missing = frame[["a"]].assign(id=pd.Series([1.0, None] * (N_ROWS // 2)))
        self.refused("a group is missing", lambda: read_rows(scan_dask(cut(missing, 1), by="id")))
        broken = frame[["a"]].assign(id=0.5)
        self.refused("must hold groups", lambda: read_rows(scan_dask(cut(broken, 1), by="id")))

    def test_files_with_different_schemas(self, frame, tmp_path):
        frame[["a", "b"]].to_parquet(tmp_path / "0.parquet")
        frame[["a", "c"]].to_parquet(tmp_path / "1.parquet")
        self.refused(r"1\.parquet must have the columns of .*0\.parquet; it lacks 'b'", lambda: scan_parquet(tmp_path))
        self.refused(r"1\.parquet has no column 'b'", lambda: scan_dask(scan_parquet(tmp_path, columns=["a", "b"])))

    def test_partitions_with_different_columns(self, client, frame):
        parts = [dask.delayed(frame[["a", "b"]]), dask.delayed(frame[["a"]])]
        strange = dd.from_delayed(parts, meta=frame[["a", "b"]].iloc[:0], verify_meta=False)
        with pytest.raises(Exception, match="'b'"):
            self.sketch(scan_dask(strange))

    def test_empty_partitions_only(self, client, frame):
        self.refused("has no rows", lambda: self.sketch(dd.from_pandas(frame[COLUMNS].iloc[:0], npartitions=1)))

    def test_a_file_that_workers_do_not_see(self, client, frame, tmp_path):
        path = tmp_path / "a.parquet"
        frame[COLUMNS].to_parquet(path)
        source = scan_dask(scan_parquet(path))
        path.unlink()
        with pytest.raises(FileNotFoundError, match=r"a\.parquet"):
            self.sketch(source)

    @pytest.mark.parametrize(
        ("make", "match"),
        [
            (lambda frame: scan_dask(cut(frame, 1)), "numeric columns only; not numeric: 'site'"),
            (lambda frame: scan_dask(cut(frame, 1), by="nothing"), "must be a column"),
            (lambda frame: scan_dask(cut(frame, 1), columns=["a", "nothing"]), "columns must be some of"),
            (lambda frame: scan_dask(cut(frame, 1), columns=["a"], by="a"), "columns must be some of"),
            (lambda frame: scan_dask(frame), "got a DataFrame"),
            (lambda frame: scan_dask(dask.delayed(1)), "got a Dask Delayed"),
            (lambda frame: as_rows(da.ones((3, 3, 3))), "shape"),
            (lambda frame: as_rows(da.ones((3, 3)).astype(complex)), "real numbers"),
            (lambda frame: scan_dask(da.ones((3, 3)), by="a"), "for data frames"),
            (lambda frame: un.compare_groups(cut(frame, 1)), "by must name the column"),
        ],
    )
    def test_what_is_no_table_of_numbers(self, frame, make, match):
        self.refused(match, lambda: make(frame))

    def test_columns_are_given_to_what_opens_files(self, folders):
        source = scan_parquet(folders[1], columns=COLUMNS)
        self.refused("must be given to what opens", lambda: scan_dask(source, by="site"))

    def test_a_scheduler_that_does_not_answer(self):
        message = r"no Dask scheduler answers at tcp://127\.0\.0\.1:9 within 0\.3 s"
        with pytest.raises(ConnectionError, match=message), connected("tcp://127.0.0.1:9", timeout=0.3):
            pass
        with pytest.raises(ValueError, match="address must be such as"), connected("nonsense://x", timeout=0.3):
            pass

    def test_a_scheduler_without_workers(self):
        with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster:
            address = cluster.scheduler_address
            match = r"has no worker after 0\.3 s"
            with pytest.raises(ConnectionError, match=match), connected(address, timeout=0.3):
                pass


class TestCommandLine:
    def run(self, *args):
        return CliRunner().invoke(app, [str(arg) for arg in args], catch_exceptions=False)

    def test_compare_and_sketch_on_a_cluster(self, client, frame, folders, tmp_path):
        at = ("--scheduler", client.scheduler.address, "--columns", "a,b", "--frequencies", "30")
        here = self.run("compare", folders[7], folders[1], *at[2:], "--json")
        there = self.run("compare", folders[7], folders[1], *at, "--json")
        assert there.exit_code == 0, there.stderr
        same(json.loads(there.stdout), json.loads(here.stdout))
        path = tmp_path / "s.npz"
        assert self.run("sketch", folders[7], "-o", path, *at).exit_code == 0
        source = open_rows(folders[7], columns=["a", "b"])
        expected = un.Sketch.for_samples(source, n_frequencies=30).update(source)
        found = un.Sketch.load(path)
        np.testing.assert_array_equal(found.frequencies, expected.frequencies)
        check_sketch(found, expected)

    def test_groups_and_missing_values_on_a_cluster(self, client, frame, tmp_path):
        holes = frame[[*COLUMNS, "site"]].iloc[:600].copy()
        holes.iloc[5, 0] = np.nan
        for number in range(3):
            holes.iloc[200 * number : 200 * number + 200].to_csv(tmp_path / f"{number}.csv", index=False)
        at = ("--by", "site", "--missing", "drop", "--scheduler", client.scheduler.address)
        result = self.run("compare", tmp_path, *at)
        assert result.exit_code == 0, result.stderr
        assert result.stdout.startswith("No two of 3 groups")
        assert "1 left out" in " ".join(result.stdout.split())

    def test_a_scheduler_that_does_not_answer(self, folders, tmp_path, monkeypatch):
        monkeypatch.setattr(connected.__wrapped__, "__defaults__", (0.3,))
        path = tmp_path / "s.npz"
        result = self.run("sketch", folders[1], "-o", path, "-c", "a", "--scheduler", "tcp://127.0.0.1:9")
        assert result.exit_code == 2
        assert result.stderr.startswith("uptonoise: no Dask scheduler answers at tcp://127.0.0.1:9 within 0.3 s")
        assert result.stderr.count("\n") == 1
        assert not path.exists()
