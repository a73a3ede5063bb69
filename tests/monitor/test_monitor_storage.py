"""A monitor that stops and goes on."""

from __future__ import annotations

import numpy as np
import pytest

import uptonoise as un
from uptonoise._util.storage import load_archive, save_archive


def nights(n, rng, d=5):
    return [rng.gamma(2, size=(60, d)) + rng.normal(size=(60, d)) for _ in range(n)]


@pytest.mark.parametrize("invariant_to", ["noise", "noise+shift"])
@pytest.mark.parametrize("guarantee", ["probability", "run length"])
def test_going_on_is_bit_for_bit_as_if_never_stopped(tmp_path, invariant_to, guarantee):
    rng = np.random.default_rng(0)
    reference = rng.gamma(2, size=(2_000, 3))
    options = {"invariant_to": invariant_to, "guarantee": guarantee, "random_state": 4}
    straight, stopping = un.Monitor(reference, **options), un.Monitor(reference, **options)
    stopping.save(tmp_path / "state.npz")
    for number, batch in enumerate([*nights(4, rng, 3), rng.gamma(2, size=(1, 3)), *nights(4, rng, 3)]):
        stopping = un.Monitor.load(tmp_path / "state.npz", reference)
        states = [monitor.update(batch, name=f"n{number}", time=number) for monitor in (straight, stopping)]
        assert states[0] == states[1]
        stopping.save(tmp_path / "state.npz")
    loaded = un.Monitor.load(tmp_path / "state.npz", reference)
    assert loaded.history == straight.history
    assert loaded.state == straight.state
    assert loaded.settings == straight.settings
    with pytest.raises(ValueError, match="'n3' was compared before"):
        loaded.update(nights(1, rng, 3)[0], name="n3", time=99)
    with pytest.raises(ValueError, match="backwards"):
        loaded.update(nights(1, rng, 3)[0], time=1)


def test_two_streams_go_on(tmp_path):
    rng = np.random.default_rng(1)
    straight = un.Monitor(random_state=0)
    straight.update(*nights(2, rng))
    straight.save(tmp_path / "state.npz")
    batch, other = nights(2, rng)
    assert un.Monitor.load(tmp_path / "state.npz").update(batch, other) == straight.update(batch, other)
    with pytest.raises(ValueError, match="reference must be left out"):
        un.Monitor.load(tmp_path / "state.npz", batch)


def test_a_longer_reference_may_come_with_the_state(tmp_path):
    rng = np.random.default_rng(2)
    reference = rng.normal(size=(100, 1))
    monitor = un.Monitor(reference, random_state=0)
    monitor.update(rng.normal(size=(90, 1)))
    monitor.save(tmp_path / "state.npz")
    longer = np.concatenate([reference, rng.normal(size=(50, 1))])
    assert un.Monitor.load(tmp_path / "state.npz", longer).update(rng.normal(size=(40, 1))).rows_left == 20
    with pytest.raises(ValueError, match="reference must be the one that the state was made with"):
        un.Monitor.load(tmp_path / "state.npz", longer + 1)
    with pytest.raises(ValueError, match="reference must be given"):
        un.Monitor.load(tmp_path / "state.npz")


def test_a_state_is_small(tmp_path):
    rng = np.random.default_rng(3)
    monitor = un.Monitor(rng.normal(size=(30_000, 5)), random_state=0)
    for number in range(2_200):
        monitor.update(rng.normal(size=(12, 5)), name=f"/data/instrument/2026/night-{number:05d}.parquet")
    monitor.save(tmp_path / "state.npz")
    assert (tmp_path / "state.npz").stat().st_size < 1e6


def test_broken_files(tmp_path):
    path = tmp_path / "state.npz"
    monitor = un.Monitor(np.zeros((10, 1)), random_state=0)
    monitor.update(np.ones((5, 1)))
    monitor.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="truncated"):
        un.Monitor.load(path, np.zeros((10, 1)))
    np.savez(path, a=np.zeros(3))
    with pytest.raises(ValueError, match="is not a monitor state"):
        un.Monitor.load(path, np.zeros((10, 1)))
    path.write_bytes(whole)
    archive = load_archive(path, "monitor state", 1)
    del archive.header["version"]
    save_archive(path, "monitor state", 2, archive.header, archive.arrays)
    with pytest.raises(ValueError, match="version 2"):
        un.Monitor.load(path, np.zeros((10, 1)))
    save_archive(path, "monitor state", 1, archive.header, {"process.lengths": np.zeros(1)})
    with pytest.raises(ValueError, match="not a complete monitor state"):
        un.Monitor.load(path, np.zeros((10, 1)))
