"""What goes wrong on a real cluster of processes: the same answer or a clear error, no hang, nothing left behind."""

import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pytest

import uptonoise as un
from uptonoise.engines import scan_dask, scan_parquet
from uptonoise.engines.dask import cluster as _dask

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

N_ROWS = 40_000
PATIENCE = 300  # seconds, on a busy machine


@pytest.fixture
def cluster():
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def frame():
    return pd.DataFrame(np.random.default_rng(0).gamma(2.0, size=(N_ROWS, 2)), columns=["a", "b"])


def slow(frame, seconds=0.5):
    time.sleep(seconds)
    return frame


def slow_frame(frame, n_parts=24):
    pieces = [frame.iloc[places] for places in np.array_split(np.arange(len(frame)), n_parts)]
    return dd.from_delayed([dask.delayed(slow)(piece) for piece in pieces], meta=frame.iloc[:0])


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.1)


def command(*args, limit=None):
    """Start the command line as a process."""

    def before():
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # which a shell's background job would pass on ignored
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing on fails, as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [sys.executable, "-m", "uptonoise", *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )


def files(folder, frame, count=8):
    for number, places in enumerate(np.array_split(np.arange(len(frame)), count)):
        frame.iloc[places].to_parquet(folder / f"{number}.parquet", index=False, compression=None)
    return folder


def reads(pid, folder):
    """Tell whether a process has a file of the folder open."""
    return any(file.path.startswith(str(folder)) for file in psutil.Process(pid).open_files())


def only_files_of(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_the_number_of_workers_changes_nothing(frame, n_workers):
    W = un.sample_frequencies(30, 2, random_state=0)
    expected = un.Sketch(W).update(frame)
    other = un.Sketch.like(expected).update(frame[::-1] + 0.01)
    with (
        distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        found = un.Sketch(W).update(dd.from_pandas(frame, npartitions=9, sort=False))
    np.testing.assert_allclose(found.mean, expected.mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=0, atol=1e-10)
    assert un.phase_test(found, other).pvalue == pytest.approx(un.phase_test(expected, other).pvalue, rel=1e-8)


def test_workers_killed_in_the_middle_twice(cluster, client, frame):
    """The nanny starts another one, what was lost is done again, and the answer is the same."""
    W = un.sample_frequencies(20, 2, random_state=0)
    expected = un.Sketch(W).update(frame)
    killed = []

    def kill():
        for seconds in (3, 6):
            time.sleep(seconds)
            pid = next(nanny.pid for nanny in cluster.workers.values() if nanny.pid not in (None, *killed))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    start = time.monotonic()
    found = un.Sketch(W).update(slow_frame(frame, 48))
    ended = time.monotonic() - start
    killer.join()
    assert len(killed) == 2
    assert ended > 9, "the work was over before the second kill"
    assert found.n_rows == N_ROWS
    np.testing.assert_allclose(found.mean, expected.mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=0, atol=1e-10)


def deadly(frame):
    os.kill(os.getpid(), signal.SIGKILL)
    return frame


def test_rows_that_kill_every_worker_are_an_error(client, frame, monkeypatch):
    monkeypatch.setattr(_dask, "_PATIENCE", PATIENCE)  # a busy machine takes long to start workers again
    pieces = dd.from_delayed([dask.delayed(deadly)(frame)], meta=frame.iloc[:0])
    with pytest.raises(ConnectionError, match="died again and again"):
        un.Sketch(un.sample_frequencies(5, 2, random_state=0)).update(pieces)


def test_a_scheduler_that_goes_away_is_an_error(frame, monkeypatch):
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    monkeypatch.setattr(_dask, "_PATIENCE", 10.0)
    there = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # where this module is found, too
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"],
        stderr=subprocess.PIPE,
        text=True,
        env=there,
    )
    worker = None
    try:
        address = next(line.split()[-1] for line in scheduler.stderr if "Scheduler at:" in line)
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-dashboard", "--no-nanny"],
            stderr=subprocess.DEVNULL,
            env=there,
        )
        with dask.config.set({"distributed.comm.timeouts.connect": "5s"}), distributed.Client(address) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            threading.Timer(4, scheduler.kill).start()
            start = time.monotonic()
            with pytest.raises(ConnectionError, match="scheduler was lost"):
                un.Sketch(un.sample_frequencies(5, 2, random_state=0)).update(slow_frame(frame, 60))
            assert time.monotonic() - start < PATIENCE
    finally:
        for process in (worker, scheduler):
            if process is not None:
                process.kill()
                process.wait()
        scheduler.stderr.close()


def test_a_cluster_that_loses_all_workers_is_an_error(monkeypatch, frame):
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    monkeypatch.setattr(_dask, "_PATIENCE", 3.0)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        threading.Timer(3, cluster.scale, (0,)).start()
        with pytest.raises(ConnectionError, match="no worker for 3 s"):
            un.Sketch(un.sample_frequencies(5, 2, random_state=0)).update(slow_frame(frame, 60))


def test_a_corrupt_file_is_named_and_nothing_is_written(cluster, frame, tmp_path):
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    out.mkdir()
    files(data, frame)
    with (data / "5.parquet").open("r+b") as file:
        file.seek(20)
        file.write(b"\xff" * 3_000)
    for more in ([], ["--scheduler", cluster.scheduler_address]):
        process = command("sketch", data, "-o", out / "s.npz", *more)
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert (process.returncode, stdout) == (2, "")
        assert "5.parquet" in stderr
        assert stderr.startswith("uptonoise: ")
        assert stderr.count("\n") == 1
        assert only_files_of(out) == []


@pytest.mark.parametrize("on_cluster", [False, True])
def test_a_full_disk_for_the_output(cluster, frame, tmp_path, on_cluster):
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    out.mkdir()
    files(data, frame)
    more = ["--scheduler", cluster.scheduler_address] if on_cluster else []
    process = command("sketch", data, "-o", out / "s.npz", *more, limit=20_000)
    stdout, stderr = process.communicate(timeout=PATIENCE)
    assert (process.returncode, stdout) == (2, "")
    assert stderr.startswith("uptonoise: ")
    assert stderr.count("\n") == 1
    assert only_files_of(out) == []


@pytest.mark.parametrize("on_cluster", [False, True])
def test_an_interrupted_command_leaves_nothing(cluster, client, tmp_path, on_cluster):
    rng = np.random.default_rng(0)
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    out.mkdir()
    frame = pd.DataFrame(rng.normal(size=(1_500_000, 6)), columns=list("abcdef"))
    files(data, frame, 30)
    more = ["--scheduler", cluster.scheduler_address] if on_cluster else []
    process = command("sketch", data, "-o", out / "s.npz", *more)
    if on_cluster:
        until(lambda: any(client.processing().values()))
    else:
        until(lambda: reads(process.pid, data))
    assert process.poll() is None, "it was over before it could be interrupted"
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=PATIENCE)
    assert (process.returncode, stdout) == (2, "")
    assert stderr == "uptonoise: interrupted; nothing was written, run it again\n"
    assert only_files_of(out) == []
    assert not any(child.is_running() for child in children)
    if on_cluster:
        until(lambda: not any(client.processing().values()))
        found = un.Sketch(un.sample_frequencies(5, 6, random_state=0)).update(scan_dask(scan_parquet(data)))
        assert found.n_rows == len(frame)  # the cluster is as good as before
