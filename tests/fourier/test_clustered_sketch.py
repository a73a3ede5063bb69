"""Sketches of rows in clusters: against sums written out, whatever the order, the pieces and the merges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import uptonoise as un
from uptonoise.fourier import cluster_pass, cluster_sums
from uptonoise.rows import as_rows, clustered_rows

W = un.sample_frequencies(15, 2, random_state=0)


def clustered(seed: int = 0, n_clusters: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(n_clusters), rng.integers(1, 25, n_clusters))
    return rng.normal(size=(len(ids), 2)) + rng.normal(size=(n_clusters, 2))[ids] + 3, ids


def written_out(rows: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    angles = rows @ np.asarray(W).T
    features = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    sums = np.array([features[ids == one].sum(axis=0) for one in np.unique(ids)])
    counts = np.array([(ids == one).sum() for one in np.unique(ids)])
    mean, size = features.mean(axis=0), counts.sum() ** 2 / (counts**2).sum()
    beyond = sums - counts[:, None] * mean
    return mean, size * (size / (size - 1)) * beyond.T @ beyond / counts.sum() ** 2, size


def new() -> un.Sketch:
    return un.Sketch(W, precision="float64")


def assert_is(sketch: un.Sketch, rows: np.ndarray, ids: np.ndarray) -> None:
    mean, covariance, size = written_out(rows, ids)
    np.testing.assert_allclose(sketch.mean, mean, atol=1e-12)
    np.testing.assert_allclose(sketch.covariance, covariance, atol=1e-11)
    assert sketch.effective_size == pytest.approx(size, rel=1e-12)
    assert (sketch.n_rows, sketch.n_clusters) == (len(rows), len(np.unique(ids)))


def test_sums_written_out_in_any_order():
    rows, ids = clustered()
    shuffled = np.random.default_rng(1).permutation(len(ids))
    for order in (slice(None), shuffled):
        assert_is(new().update(rows[order], clusters=ids[order]), rows, ids)
        assert_is(new().update(rows[order], clusters=ids[order], complete=True), rows, ids)


def test_clusters_go_on_in_later_updates():
    rows, ids = clustered()
    shuffled = np.random.default_rng(1).permutation(len(ids))
    for order in (np.arange(len(ids)), shuffled):
        sketch = new()
        for part in np.array_split(order, 9):
            sketch.update(rows[part], clusters=ids[part])
        assert_is(sketch, rows, ids)


def test_frames_chunks_and_bags():
    rows, ids = clustered()
    frame = pd.DataFrame(rows, columns=["a", "b"]).assign(unit=[f"unit {one}" for one in ids])
    assert_is(new().update(frame, clusters="unit"), rows, ids)
    assert_is(new().update((frame[at : at + 50] for at in range(0, len(frame), 50)), clusters="unit"), rows, ids)
    assert_is(new().update(un.Bags.from_long(frame, by="unit")), rows, ids)


def test_clusters_that_have_ended_are_handed_on(monkeypatch):
    rows, ids = clustered()
    for module in (cluster_sums, cluster_pass):
        monkeypatch.setattr(module, "KEPT_NUMBERS", 200)
    sketch = new()
    for part in np.array_split(np.arange(len(ids)), 9):
        sketch.update(rows[part], clusters=ids[part])
    assert_is(sketch, rows, ids)
    assert sketch._clusters.open is not None
    assert len(sketch._clusters.open) < 10
    with pytest.raises(ValueError, match="rows of the cluster 0, which the sketch holds already"):
        sketch.update(rows[:3], clusters=ids[:3])


def test_clusters_that_come_back_after_all(monkeypatch):
    rows, ids = clustered()
    monkeypatch.setattr(cluster_sums, "KEPT_NUMBERS", 200)
    frame = pd.DataFrame(rows, columns=["a", "b"]).assign(unit=ids)
    twice = pd.concat([frame[::2], frame[1::2]])
    assert_is(new().update(as_rows(twice), clusters="unit"), rows, ids)  # whose order only a pass tells


def test_merges_are_exact_and_refuse_a_cluster_in_both():
    rows, ids = clustered()
    first = ids < 15
    left, right = (new().update(rows[half], clusters=ids[half]) for half in (first, ~first))
    assert_is(left + right, rows, ids)
    assert_is(sum([left, right]), rows, ids)
    with pytest.raises(ValueError, match="rows of the same clusters \\(15 of 15\\)"):
        left.merge(left)
    with pytest.raises(ValueError, match="must come with clusters"):
        left.merge(new().update(rows))


def test_blocks_of_two_samples_are_never_the_same_clusters():
    rows, _ = clustered()
    half = len(rows) // 2
    parts = [new().update(part, clusters=un.blocks(len(part), 5)) for part in (rows[:half], rows[half:])]
    assert (parts[0] + parts[1]).n_clusters == parts[0].n_clusters + parts[1].n_clusters


def test_saved_and_loaded(tmp_path):
    rows, ids = clustered()
    first = ids < 15
    left = new().update(rows[first], clusters=ids[first])
    left.save(tmp_path / "a.npz")
    loaded = un.Sketch.load(tmp_path / "a.npz")
    assert loaded == left
    right = un.Sketch.like(loaded).update(rows[~first], clusters=ids[~first])
    assert_is(loaded + right, rows, ids)
    with pytest.raises(ValueError, match="rows of the same clusters"):
        loaded.merge(left)
    with pytest.raises(ValueError, match="which the sketch holds already"):
        loaded.update(rows[:2], clusters=ids[:2])


def test_a_file_that_was_changed_is_refused(tmp_path):
    rows, ids = clustered()
    new().update(rows, clusters=ids).save(tmp_path / "a.npz")
    arrays = dict(np.load(tmp_path / "a.npz"))
    np.savez(tmp_path / "b.npz", **(arrays | {"cross": arrays["cross"][:3]}))
    with pytest.raises(ValueError, match="damaged sketch"):
        un.Sketch.load(tmp_path / "b.npz")


def test_one_row_in_each_cluster_is_no_clusters():
    rows, _ = clustered()
    for precision in ("fast", "float64"):
        plain = un.Sketch(W, precision=precision).update(rows)
        single = un.Sketch(W, precision=precision).update(rows, clusters=np.arange(len(rows)), complete=True)
        np.testing.assert_allclose(single.covariance, plain.covariance, rtol=0, atol=1e-15)
        assert single.effective_size == plain.effective_size


def test_far_away_rows_and_later_centres():
    rows, ids = clustered()
    far = new().update(rows[:100] + 1e6, clusters=ids[:100]).update(rows[100:] + 1e6, clusters=ids[100:])
    near = new().update(rows, clusters=ids)
    np.testing.assert_allclose(far.covariance_about(np.full(2, 1e6)), near.covariance_about(np.zeros(2)), atol=1e-8)


def test_weights_weigh_rows_and_clusters():
    rows, ids = clustered()
    weighted = new().update(rows, weights=np.full(len(rows), 2.0), clusters=ids)
    plain = new().update(rows, clusters=ids)
    np.testing.assert_allclose(weighted.covariance, plain.covariance, atol=1e-12)
    assert weighted.effective_size == pytest.approx(plain.effective_size)
    equal = new().update(rows, weights=1 / np.bincount(ids)[ids], clusters=ids)
    assert equal.effective_size == pytest.approx(40)


def test_columns_and_mirror_images():
    rows, ids = clustered()
    sketch = un.Sketch.for_samples(rows).update(rows, clusters=ids)
    one = un.Sketch(sketch.select(["x1"]).frequencies).update(rows[:, 1:], clusters=ids)
    np.testing.assert_allclose(sketch.select(["x1"]).covariance, one.covariance, atol=1e-5)
    mirrored = un.Sketch.like(sketch).update(-rows, clusters=ids)
    np.testing.assert_allclose(sketch.mirrored().covariance, mirrored.covariance, atol=1e-5)


def test_rows_that_are_refused_change_nothing():
    rows, ids = clustered()
    sketch, other = new().update(rows, clusters=ids), new().update(rows, clusters=ids)
    broken = rows.copy()
    broken[-1, 0] = np.nan
    with pytest.raises(ValueError, match="must be finite"):
        sketch.update(broken, clusters=ids)
    assert sketch == other


def test_independent_rows_lie_between_clusters_and_rows():
    rng = np.random.default_rng(0)
    ids = np.repeat(np.arange(200), 10)
    alike = un.Sketch(W).update(rng.normal(size=(200, 2))[ids], clusters=ids)
    different = un.Sketch(W).update(rng.normal(size=(2_000, 2)), clusters=ids)
    assert alike.independent_rows == pytest.approx(200, rel=0.01)
    assert 1_600 < different.independent_rows <= 2_000


def test_groups_of_clusters_from_one_pass():
    rows, ids = clustered()
    groups = np.where(ids % 2 == 0, "even", "odd")
    source = clustered_rows(rows, groups)
    sketches = un.Sketch.for_groups(source, clusters=clustered_rows(rows, ids), precision="float64")
    alone = un.Sketch(sketches["odd"].frequencies, precision="float64").update(
        rows[groups == "odd"], clusters=ids[groups == "odd"]
    )
    np.testing.assert_allclose(sketches["odd"].covariance, alone.covariance, atol=1e-11)
    assert sketches["odd"].n_clusters == 20


def test_very_many_clusters_must_lie_together(rng, monkeypatch):
    monkeypatch.setattr("uptonoise.fourier.cluster_sums.KEPT_NUMBERS", 100)
    monkeypatch.setattr("uptonoise.fourier.cluster_sums._MOST_NUMBERS", 4_000)
    rows, ids = rng.normal(size=(3_000, 1)), np.arange(3_000) // 2
    frequencies = np.ones((10, 1))
    assert un.Sketch(frequencies).update(rows[:300], clusters=ids[:300]).n_clusters == 150
    with pytest.raises(ValueError, match="must have at most 200 clusters whose rows do not lie together, with 10 freq"):
        un.Sketch(frequencies).update(rows, clusters=np.concatenate([ids[::2], ids[::2]]))
