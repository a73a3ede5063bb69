import json
import os
import pickle
import stat
from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest

import uptonoise as un
from uptonoise.fourier.exact_angles import angles_between


def waves(X, W):
    angles = np.asarray(X) @ np.asarray(W).T
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)


@pytest.fixture
def rows(rng):
    return rng.normal(size=(2000, 3)) * [1.0, 2.0, 0.5] + [3.0, -1.0, 0.0]


@pytest.fixture
def W():
    return un.sample_frequencies(9, 3, random_state=0)


def test_mean_and_covariance_are_the_definition(rows, W):
    s = un.Sketch(W, precision="float64").update(rows)
    f = waves(rows, W)
    np.testing.assert_allclose(s.mean, f.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(s.covariance, np.cov(f.T), atol=1e-12)
    np.testing.assert_allclose(s.ecf, un.ecf(rows, W, precision="float64"), atol=1e-12)
    assert (s.n_rows, s.weight, s.weight_squares, s.effective_size) == (2000, 2000.0, 2000.0, 2000.0)


def test_weights_are_repeated_rows_in_the_mean_and_unbiased_in_the_covariance(rows, W, rng):
    weights = rng.exponential(size=len(rows))
    s = un.Sketch(W, precision="float64").update(rows, weights=weights)
    f = waves(rows, W)
    np.testing.assert_allclose(s.mean, np.average(f, axis=0, weights=weights), atol=1e-12)
    np.testing.assert_allclose(s.covariance, np.cov(f.T, aweights=weights), atol=1e-12)
    np.testing.assert_allclose(s.effective_size, weights.sum() ** 2 / (weights**2).sum())
    equal = un.Sketch(W, precision="float64").update(rows, weights=np.full(len(rows), 0.3))
    np.testing.assert_allclose(equal.covariance, np.cov(f.T), atol=1e-12)
    zero = un.Sketch(W, precision="float64").update(rows, weights=np.r_[np.ones(50), np.zeros(len(rows) - 50)])
    np.testing.assert_allclose(zero.covariance, np.cov(f[:50].T), atol=1e-12)


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


def test_angles_of_centres_are_exact(rng):
    W, one, two = rng.normal(size=(50, 3)), 1e9 * rng.normal(size=3), 1e9 * rng.normal(size=3)
    with localcontext() as context:
        context.prec = 60
        pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
        exact = [
            sum(Decimal(w) * (Decimal(a) - Decimal(b)) for w, a, b in zip(row, one, two, strict=True)) for row in W
        ]
        within = [float(angle - 2 * pi * (angle / (2 * pi)).to_integral_value()) for angle in exact]
    found = angles_between(W, one, two)
    np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * np.array(within)), atol=1e-14)


def test_rows_too_large_for_a_phase_are_refused():
    with pytest.raises(ValueError, match="no correct digit"):
        un.Sketch([[1.0]]).update([1e300, 1e300]).mean  # noqa: B018
    with pytest.raises(ValueError, match="no correct digit"):
        un.phd(un.Sketch([[1.0]]).update([0, 1.0]), un.Sketch([[1.0]]).update([1e18, 1e18]))
    with pytest.raises(ValueError, match="no correct digit"):
        un.Sketch([[1.0]]).update([1e308, -1e308, -1e308])


@pytest.mark.parametrize("provenance", ["hello", [1], {"a": np.int64(3)}])
def test_provenance_must_fit_json(W, provenance):
    with pytest.raises(ValueError, match="provenance must be a dict"):
        un.Sketch(W, provenance=provenance)


def test_provenance_is_not_shared(W):
    s = un.Sketch(W, provenance={"law": ("a", 1)})
    t = un.Sketch.like(s)
    t.provenance["law"] = "other"
    assert s.provenance == {"law": ["a", 1]}


def test_other_centres_meet_exactly(rows, W):
    exact = {"precision": "float64"}
    s = un.Sketch(W, centre=[100.0, -50.0, 3.0], **exact).update(rows[:900])
    t = un.Sketch(W, **exact).update(rows[900:])
    whole = un.Sketch(W, **exact).update(rows)
    for merged in (s + t, t + s):
        np.testing.assert_allclose(merged.mean, whole.mean, atol=1e-12)
        np.testing.assert_allclose(merged.covariance, whole.covariance, atol=1e-12)
    np.testing.assert_array_equal((s + t).centre, [100.0, -50.0, 3.0])


def test_moments_about_a_centre_are_of_rows_minus_it(rows, W):
    centre = [0.3, 2.0, -1.0]
    s = un.Sketch(W, precision="float64").update(rows)
    f = waves(rows - centre, W)
    np.testing.assert_allclose(s.mean_about(centre), f.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(s.covariance_about(centre), np.cov(f.T), atol=1e-12)


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


def test_covariance_is_symmetric_and_positive(rows, W):
    s = un.Sketch(W).update(rows)
    np.testing.assert_array_equal(s.covariance, s.covariance.T)
    assert np.linalg.eigvalsh(s.covariance).min() > -1e-12


def test_save_and_load(tmp_path, rows, W):
    s = un.Sketch(W).update(pd.DataFrame(rows, columns=["a", "ü", "c"]))
    path = tmp_path / "a.npz"
    s.save(path)
    loaded = un.Sketch.load(str(path))
    assert loaded == s
    assert loaded.provenance == {"law": "gaussian", "scale": 1.0, "method": "iid", "seed": 0}
    assert loaded.columns == ("a", "ü", "c")
    assert loaded.update(rows).n_rows == 4000
    assert [one.name for one in tmp_path.iterdir()] == ["a.npz"]
    empty = un.Sketch([[1.0]])
    empty.save(path)
    assert un.Sketch.load(path) == empty
    assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600


def test_the_file_is_plain_arrays(tmp_path, rows, W):
    un.Sketch(W).update(rows).save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        header = json.loads(str(file["header"]))
        assert {name: file[name].dtype.kind for name in file.files if name != "header"} == {
            "frequencies": "f",
            "weights": "f",
            "mean": "f",
            "scatter": "f",
            "centre": "f",
        }
    assert header["version"] == 2


def test_a_failed_save_leaves_the_old_file(tmp_path, rows, W, monkeypatch):
    path = tmp_path / "a.npz"
    s = un.Sketch(W).update(rows)
    s.save(path)
    old = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="no space"):
        s.update(rows).save(path)
    assert path.read_bytes() == old
    assert [one.name for one in tmp_path.iterdir()] == ["a.npz"]


def test_bad_files(tmp_path, rows, W):
    path = tmp_path / "a.npz"
    un.Sketch(W).update(rows).save(path)
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="not a sketch"):
            un.Sketch.load(path)
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xFF
    path.write_bytes(bytes(damaged))
    with pytest.raises(ValueError, match="sketch"):
        un.Sketch.load(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="not a sketch"):
        un.Sketch.load(path)
    np.savez(path, a=np.zeros(3))
    with pytest.raises(ValueError, match="not a sketch that uptonoise saved"):
        un.Sketch.load(path)
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(ValueError, match="not a sketch"):
        un.Sketch.load(tmp_path / "one.npy")
    np.savez(path, a=np.array([{"x": 1}], dtype=object), header=np.array("{}"))
    with pytest.raises(ValueError, match="not a sketch"):
        un.Sketch.load(path)
    with pytest.raises(FileNotFoundError):
        un.Sketch.load(tmp_path / "missing.npz")


def test_files_with_wrong_content_or_a_newer_format(tmp_path, rows, W):
    path = tmp_path / "a.npz"
    un.Sketch(W).update(rows).save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(str(arrays["header"]))
    for change, match in [
        ({"header": np.array(json.dumps(header | {"version": 3}))}, "upgrade"),
        ({"header": np.array(json.dumps(header | {"precision": "half"}))}, "precision"),
        ({"mean": arrays["mean"][:-1]}, "damaged"),
        ({"scatter": np.full_like(arrays["scatter"], np.nan)}, "not finite"),
        ({"weights": np.ones(3)}, "damaged"),
        ({"weights": np.array([np.nan, 1.0])}, "not finite"),
        ({"weights": np.array([-1.0, 1.0])}, "rows of weight -1"),
        ({"weights": np.array(["a", "b"])}, "damaged"),
        ({"mean": 5 * np.ones_like(arrays["mean"])}, "cosines"),
        ({"mean": arrays["mean"].astype(complex)}, "damaged"),
        ({"scatter": np.triu(arrays["scatter"])}, "cosines"),
        ({"header": np.array(json.dumps(header | {"n_rows": -5}))}, "-5 rows"),
        ({"header": np.array(json.dumps(header | {"n_rows": "x"}))}, "damaged"),
        ({"header": np.array(json.dumps(header | {"provenance": [1]}))}, "provenance"),
    ]:
        np.savez(path, **(arrays | change))
        with pytest.raises(ValueError, match=match):
            un.Sketch.load(path)
    for name in ("mean", "centre"):
        np.savez(path, **{other: array for other, array in arrays.items() if other != name})
        with pytest.raises(ValueError, match="damaged"):
            un.Sketch.load(path)


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


@pytest.mark.parametrize("n_rows", [0, 1])
def test_a_covariance_needs_two_rows(W, n_rows):
    s = un.Sketch(W)
    if n_rows:
        s.update(np.zeros((1, 3)))
    with pytest.raises(ValueError, match=f"at least 2 rows for a covariance; it has {n_rows}"):
        s.covariance  # noqa: B018
    if not n_rows:
        with pytest.raises(ValueError, match="at least 1 row for a mean"):
            s.mean  # noqa: B018
    else:
        s.update(np.ones((4, 3)), weights=[0, 0, 0, 1e-50])
        with pytest.raises(ValueError, match="effective size of 1 row"):
            s.covariance  # noqa: B018


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


@pytest.mark.parametrize(
    "blocks", [{}, ["a"], {"a": [0, 9]}, {"a": [1, 1]}, {"a": [-2, 1]}, {"a": [0.0, 1.0]}, {"a": "all"}, {"a": [0]}]
)
def test_blocks_that_are_none(blocks):
    with pytest.raises(ValueError, match=r"provenance\['blocks'\] must"):
        un.Sketch(np.ones((3, 2)), provenance={"blocks": blocks})
