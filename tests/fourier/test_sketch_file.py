import json
import stat

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
    assert header["version"] == 3


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
        ({"header": np.array(json.dumps(header | {"version": 4}))}, "upgrade"),
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
