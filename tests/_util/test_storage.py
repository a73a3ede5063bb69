from __future__ import annotations

import numpy as np
import pytest

from uptonoise._util.storage import load_archive, save_archive


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.npz"
    save_archive(path, "sketch", 2, {"columns": ["a"]}, {"mean": np.arange(3.0)})
    return path


def test_what_was_saved_comes_back(path):
    header, arrays = load_archive(path, "sketch", 2)
    assert header["columns"] == ["a"]
    np.testing.assert_array_equal(arrays["mean"], np.arange(3.0))
    assert list(arrays) == ["mean"]


def test_other_kinds_and_newer_versions_are_refused(path):
    with pytest.raises(ValueError, match="is not a network that uptonoise saved; it is a sketch"):
        load_archive(path, "network", 2)
    with pytest.raises(ValueError, match=r"version 2 of the sketch format.*reads up to 1; upgrade uptonoise"):
        load_archive(path, "sketch", 1)


def test_damaged_and_foreign_files_are_refused(path, tmp_path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match="is not a sketch, or it is truncated"):
        load_archive(path, "sketch", 2)
    foreign = tmp_path / "b.npz"
    np.savez(foreign, mean=np.zeros(2))
    with pytest.raises(ValueError, match="is not a sketch that uptonoise saved"):
        load_archive(foreign, "sketch", 2)


def test_pickles_are_not_executed(tmp_path):
    path = tmp_path / "c.npz"
    np.savez(path, header=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="is not a sketch, or it is truncated"):
        load_archive(path, "sketch", 1)


def test_headers_hold_json_only(tmp_path):
    with pytest.raises(ValueError, match="a saved sketch can hold only numbers and strings"):
        save_archive(tmp_path / "d.npz", "sketch", 1, {"model": object()}, {})
    assert not list(tmp_path.iterdir())
