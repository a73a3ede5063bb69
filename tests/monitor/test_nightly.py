"""A nightly job over files: each batch fully or not at all, never twice, one job at a time."""

from __future__ import annotations

import multiprocessing
import time

import numpy as np
import pandas as pd
import pytest

import uptonoise as un
from uptonoise.monitor.nightly import Job, locked


def write(path, rng, n=50, other=False):
    rows = rng.exponential(size=(n, 2))
    pd.DataFrame(2 - rows if other else rows, columns=["a", "b"]).assign(site="north").to_csv(path, index=False)


@pytest.fixture
def job(tmp_path):
    rng = np.random.default_rng(0)
    write(tmp_path / "reference.csv", rng, 2_000)
    (tmp_path / "night").mkdir()
    for number in range(3):
        write(tmp_path / "night" / f"{number}.csv", rng)
    return Job(
        reference=str(tmp_path / "reference.csv"),
        batches=[str(tmp_path / "night" / "*.csv")],
        state=tmp_path / "state.npz",
        settings={"alpha": 0.05},
    )


def states(job):
    return [state for _, state in job.run() if state is not None]


def test_only_new_files_are_compared(job, tmp_path):
    assert [state.batch for state in states(job)] == [1, 2, 3]
    assert states(job) == []
    write(tmp_path / "night" / "3.csv", np.random.default_rng(1), other=True)
    (state,) = states(job)
    assert state.batch == 4
    assert state.name.endswith("3.csv")
    assert state.columns == ("a", "b")


def test_an_interrupted_job_goes_on(job):
    runs = job.run()
    next(runs)
    _, first = next(runs)
    runs.close()  # as when the process is stopped after the first batch
    assert first.batch == 1
    assert [state.batch for state in states(job)] == [2, 3]


def test_a_batch_that_fails_does_not_count(job, tmp_path):
    bad = tmp_path / "night" / "1.csv"
    good = bad.read_text()
    bad.write_text(good + "1.0,oops,north\n")
    with pytest.raises(ValueError, match=r"1\.csv"):
        states(job)
    bad.write_text(good)
    assert [state.batch for state in states(job)] == [2, 3]


def test_repeated_changed_and_late_files_are_refused(job, tmp_path):
    states(job)
    folder = tmp_path / "night"
    (folder / "4.csv").write_bytes((folder / "2.csv").read_bytes())
    with pytest.raises(ValueError, match="compared before, perhaps under another name"):
        states(job)
    (folder / "4.csv").unlink()
    with (folder / "1.csv").open("a") as file:
        file.write("1.0,1.0,north\n")
    with pytest.raises(ValueError, match="another size than when it was compared"):
        states(job)
    (folder / "1.csv").unlink()
    write(folder / "0b.csv", np.random.default_rng(2))
    with pytest.raises(ValueError, match="time would go backwards"):
        states(job)
    late = Job(reference=job.reference, batches=job.batches, state=job.state, any_order=True)
    assert [state.batch for state in states(late)] == [4]


def test_other_settings_are_refused(job):
    states(job)
    for options, message in [
        ({"settings": {"alpha": 0.01}}, "alpha is 0.05 in .*state.npz; got 0.01"),
        ({"columns": ["b"]}, "columns are a, b in .*state.npz; got b. Use the same"),
    ]:
        other = Job(**{"reference": job.reference, "batches": job.batches, "state": job.state} | options)
        with pytest.raises(ValueError, match=message):
            states(other)


def test_the_alarm_can_be_reset(job, tmp_path):
    rng = np.random.default_rng(3)
    for number in range(4, 12):
        write(tmp_path / "night" / f"x{number}.csv", rng, 100, other=True)
    assert states(job)[-1].alarm
    again = Job(reference=job.reference, batches=job.batches, state=job.state, restart=True)
    assert states(again) == []
    assert not un.Monitor.load(job.state, pd.read_csv(job.reference)[["a", "b"]]).state.alarm


def hold(path, seconds):
    with locked(path):
        time.sleep(seconds)


def test_two_jobs_at_once(job):
    process = multiprocessing.get_context("fork").Process(target=hold, args=(job.state, 30))
    process.start()
    try:
        lock = job.state.with_name("state.npz.lock")
        for _ in range(100):
            if lock.exists():
                break
            time.sleep(0.05)
        time.sleep(0.2)
        with pytest.raises(BlockingIOError, match=r"another job is working with state\.npz"):
            states(job)
    finally:
        process.terminate()  # the lock ends with the process
        process.join()
    assert len(states(job)) == 3


def test_no_files(job, tmp_path):
    with pytest.raises(FileNotFoundError, match="no file matches"):
        states(Job(reference=job.reference, batches=[str(tmp_path / "none" / "*.csv")], state=job.state))


def test_missing_values_and_lost_columns_in_files(job, tmp_path):
    using = Job(reference=job.reference, batches=job.batches, state=job.state, settings={"missing": "use"})
    assert len(states(using)) == 3
    (tmp_path / "night" / "3.csv").write_text("a,c\n1.0,2.0\n,3.0\n0.5,1.0\n")
    (state,) = states(using)
    assert state.rows == 3
    assert state.notes == ("lost columns, without evidence from them: b",)
