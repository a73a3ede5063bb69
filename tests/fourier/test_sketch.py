import os
import pickle

import numpy as np
import pandas as pd
import pytest

import uptonoise as un


@pytest.fixture
def rows(rng):
    return rng.normal(size=(2000, 3)) * [1.0, 2.0, 0.5] + [3.0, -1.0, 0.0]


@pytest.fixture
def W():
    return un.sample_frequencies(9, 3, random_state=0)


@pytest.mark.parametrize("cuts", [[1], [1, 2, 3], [999], [3, 500, 1500, 1999], list(range(100, 2000, 100))])
def test_any_chunking_gives_one_pass(rows, W, cuts):
    whole = un.Sketch(W, precision="float64").update(rows)
    parts = np.split(rows, cuts)
    updated = un.Sketch(W, precision="float64")
    for part in parts:
        assert updated.update(part) is updated
    merged = sum(un.Sketch(W, precision="float64").update(part) for part in parts)
    streamed = un.Sketch(W, precision="float64").update(iter(parts))
    for other in (updated, merged, streamed):
        assert other.n_rows == whole.n_rows
        np.testing.assert_allclose(other.mean, whole.mean, rtol=0, atol=1e-12)
        np.testing.assert_allclose(other.covariance, whole.covariance, rtol=0, atol=1e-12)
    assert streamed == whole


def test_fast_is_near_float64(rows, W):
    fast, exact = un.Sketch(W).update(rows), un.Sketch(W, precision="float64").update(rows)
    np.testing.assert_allclose(fast.mean, exact.mean, atol=3e-7)
    np.testing.assert_allclose(fast.covariance, exact.covariance, atol=6e-7)


def test_merging_leaves_both_as_they_were(rows, W):
    s, t = un.Sketch(W).update(rows[:700]), un.Sketch(W).update(rows[700:])
    before = pickle.dumps(s), pickle.dumps(t)
    u = s.merge(t)
    assert u.n_rows == 2000
    assert u == s + t == sum([s, t])
    assert (pickle.dumps(s), pickle.dumps(t)) == before
    u.update(rows)
    assert (s.n_rows, t.n_rows) == (700, 1300)
    alone = sum([s])
    alone.update(rows)
    assert s.n_rows == 700


def test_empty_sketches_merge(rows, W):
    s, empty = un.Sketch(W).update(rows), un.Sketch(W)
    for merged in (s + empty, empty + s, un.Sketch.like(s) + s):
        np.testing.assert_array_equal(merged.covariance, s.covariance)
        np.testing.assert_array_equal(merged.centre, s.centre)


def test_large_offset_costs_no_accuracy(rng):
    X = rng.normal(size=(5000, 1))
    offset = 2.0**30  # X + offset - offset is X to 1e-7; the angle w.offset alone would lose that much again
    W = np.linspace(0.3, 2, 7)
    near = un.Sketch(W, precision="float64").update(X)
    far = un.Sketch(W, precision="float64").update(X + offset)
    assert abs(far.centre[0] - offset) < 1
    np.testing.assert_allclose(far.mean_about([offset]), near.mean, atol=1e-6)
    np.testing.assert_allclose(far.covariance_about([offset]), near.covariance, atol=1e-6)


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_chunks_of_rows_far_from_the_origin(rng, offset):
    X, W = rng.normal(size=(3000, 2)) + np.array([offset, -2 * offset]), rng.normal(size=(5, 2))
    whole = un.Sketch(W, precision="float64").update(X)
    parts = un.Sketch(W, precision="float64").update(X[:10]).update(X[10:])
    assert not np.array_equal(whole.centre, parts.centre)
    np.testing.assert_allclose(parts.mean, whole.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts.covariance, whole.covariance, rtol=0, atol=1e-12)
    outlier = un.Sketch(W, precision="float64").update([[1e10, 0.0]]).update(X)
    np.testing.assert_allclose(
        outlier.mean, un.Sketch(W, precision="float64").update(X).update([[1e10, 0.0]]).mean, rtol=0, atol=1e-12
    )


def test_rows_too_large_for_a_phase_are_refused():
    with pytest.raises(ValueError, match="no correct digit"):
        un.Sketch([[1.0]]).update([1e300, 1e300]).mean  # noqa: B018
    with pytest.raises(ValueError, match="no correct digit"):
        un.phd(un.Sketch([[1.0]]).update([0, 1.0]), un.Sketch([[1.0]]).update([1e18, 1e18]))
    with pytest.raises(ValueError, match="no correct digit"):
        un.Sketch([[1.0]]).update([1e308, -1e308, -1e308])


def test_other_centres_meet_exactly(rows, W):
    exact = {"precision": "float64"}
    s = un.Sketch(W, centre=[100.0, -50.0, 3.0], **exact).update(rows[:900])
    t = un.Sketch(W, **exact).update(rows[900:])
    whole = un.Sketch(W, **exact).update(rows)
    for merged in (s + t, t + s):
        np.testing.assert_allclose(merged.mean, whole.mean, atol=1e-12)
        np.testing.assert_allclose(merged.covariance, whole.covariance, atol=1e-12)
    np.testing.assert_array_equal((s + t).centre, [100.0, -50.0, 3.0])


def test_centre_is_robust(rng, W):
    X = rng.standard_cauchy(size=(500, 3)) + 7
    np.testing.assert_allclose(un.Sketch(W).update(X).centre, 7, atol=0.5)


def test_columns_come_from_the_first_frame_and_are_matched_by_name(rows, W):
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    s = un.Sketch(W).update(frame)
    assert s.columns == ("a", "b", "c")
    t = un.Sketch.like(s).update(frame[["c", "a", "b"]])
    np.testing.assert_array_equal(t.mean, s.mean)
    with pytest.raises(ValueError, match=r"lacks \['b'\]"):
        s.update(frame.rename(columns={"b": "z"}))
    assert (un.Sketch(W).update(rows) + s).columns == ("a", "b", "c")


def test_refused_rows_leave_the_sketch_as_it_was(rows, W):
    s = un.Sketch(W).update(rows)
    before = pickle.dumps(s)
    bad = np.tile(rows, (40, 1))
    bad[-1, 0] = np.nan
    with pytest.raises(ValueError, match=r"row 79999"):
        s.update(bad)
    assert pickle.dumps(s) == before
    fresh = un.Sketch(W)
    with pytest.raises(ValueError, match="NaN"):
        fresh.update(bad)
    assert fresh.centre is None


def test_threads_do_not_change_a_bit(rng, monkeypatch):
    X, W = rng.normal(size=(60_000, 2)), un.sample_frequencies(40, 2, random_state=0)
    results = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("UPTONOISE_NUM_THREADS", threads)
        results.append(un.Sketch(W).update(X))
    assert results[0] == results[1] == results[2]


def test_sketches_that_do_not_fit_name_like(rows, W):
    s = un.Sketch(W).update(pd.DataFrame(rows, columns=["a", "b", "c"]))
    for other in (
        un.Sketch(un.sample_frequencies(9, 3, random_state=1)).update(rows),
        un.Sketch(W[:5]).update(rows),
        un.Sketch(W).update(pd.DataFrame(rows, columns=["b", "a", "c"])),
    ):
        for call in (s.merge, lambda other: s + other, lambda other: un.mmd(s, other)):
            with pytest.raises(ValueError, match=r"Sketch\.like"):
                call(other)
    with pytest.raises(ValueError, match="other must be a Sketch"):
        s.merge(3)
    with pytest.raises(TypeError):
        s + 3


def test_repr_and_like(rows, W):
    s = un.Sketch(W).update(rows)
    assert repr(s) == "Sketch(2,000 rows, 9 frequencies, 3 columns: x0, x1, x2)"
    t = un.Sketch.like(s)
    assert t.n_rows == 0
    np.testing.assert_array_equal(t.frequencies, s.frequencies)
    assert not t.frequencies.flags.writeable
    with pytest.raises(ValueError, match="Sketch"):
        un.Sketch.like(3)


def test_frequencies_are_copied(W):
    given = np.array(W)
    s = un.Sketch(given)
    given[:] = 0
    np.testing.assert_array_equal(s.frequencies, W)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_saving_where_nobody_may_write(tmp_path, W):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        un.Sketch(W).save(tmp_path / "a.npz")


class TestFeaturesOfFewRows:
    def test_all_rows_are_there_in_any_chunks_and_about_any_centre(self, rng):
        X, W = rng.exponential(size=(1_000, 3)), rng.normal(size=(150, 3))
        expected = np.exp(1j * ((X - 0.5) @ W.T))
        whole = un.Sketch(W).update(X)
        chunks = un.Sketch(W).update(X[:300]).update(X[300:]) + un.Sketch(W)
        for sketch in (whole, chunks, un.Sketch(W).update(X, weights=np.full(1_000, 3.0))):
            np.testing.assert_allclose(sketch.features_about([0.5] * 3), expected, atol=2e-6)
        np.testing.assert_allclose(whole.mirrored().features_about([-0.5] * 3), expected.conj(), atol=2e-6)

    def test_more_rows_files_weights_and_clusters_have_none(self, rng, tmp_path):
        X = rng.exponential(size=(1_000, 1))
        few = un.Sketch([[1.0]]).update(X)
        few.save(tmp_path / "few.npz")
        others = [
            un.Sketch([[1.0]]).update(X).update(X[:1]),
            un.Sketch.load(tmp_path / "few.npz"),
            un.Sketch.load(tmp_path / "few.npz") + un.Sketch.like(few).update(X[:5]),
            un.Sketch([[1.0]]).update(X, weights=np.arange(1_000.0)),
            un.Sketch([[1.0]]).update(X[:10], weights=np.ones(10)).update(X[10:20], weights=np.full(10, 2.0)),
            un.Sketch([[1.0]]).update(X, clusters=np.arange(1_000) // 2),
        ]
        assert all(sketch.features_about([0.0]) is None for sketch in others)
        kept = un.Sketch([[1.0]]).update(X, weights=np.r_[np.zeros(400), np.ones(600)])
        assert kept.features_about([0.0]).shape == (600, 1)
