"""The monitor as people use it."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pandas as pd
import pytest

import uptonoise as un

RNG = np.random.default_rng


def night(rng, n=100, d=2, **change):
    rows = rng.exponential(size=(n, d))
    return (2 - rows) if change.get("other") else rows + change.get("noise", 0.0) * rng.normal(size=(n, d))


def test_noise_raises_no_alarm_and_another_signal_does():
    rng = RNG(0)
    monitor = un.Monitor(night(rng, 4_000), random_state=0)
    for number in range(10):
        state = monitor.update(night(rng, noise=number))
    assert not state.alarm
    assert (state.since, state.alarm_batch) == (None, None)
    for _ in range(10):
        state = monitor.update(night(rng, other=True))
    assert state.alarm
    assert 11 <= state.alarm_batch <= 15  # the scale is that of noise nine times the signal
    assert 9 <= state.since <= state.alarm_batch
    assert state.differing == ("x0", "x1")
    assert state.pvalue <= 0.05
    assert state.wealth > state.threshold
    assert 0.2 < state.difference < 2
    assert "differs beyond noise in x0, x1" in state.sentence


def test_an_alarm_stays_until_the_restart():
    rng = RNG(1)
    monitor = un.Monitor(night(rng, 3_000), random_state=0)
    for _ in range(5):
        monitor.update(night(rng, other=True))
    assert monitor.update(night(rng)).alarm
    monitor.restart()
    assert not monitor.state.alarm
    state = monitor.update(night(rng))
    assert not state.alarm
    assert state.batch == 7
    assert math.isclose(state.log_wealth, 0, abs_tol=1.5)


def test_the_offset_does_not_matter_where_one_says_so():
    rng = RNG(2)
    reference = night(rng, 5_000)
    monitors = [un.Monitor(reference, invariant_to=kind, random_state=0) for kind in ("noise", "noise+shift")]
    for _ in range(8):
        states = [monitor.update(rows) for rows in [night(rng) + rng.normal(size=2)] for monitor in monitors]
    assert [state.alarm for state in states] == [True, False]
    for _ in range(8):
        state = monitors[1].update(night(rng, other=True))
    assert state.alarm


def test_run_length():
    rng = RNG(3)
    monitor = un.Monitor(night(rng, 6_000), guarantee="run length", run_length=200, random_state=0)
    for _ in range(40):
        state = monitor.update(night(rng, noise=1))
    assert not state.alarm
    assert state.pvalue is None
    assert state.threshold == 200
    while not state.alarm:
        state = monitor.update(night(rng, other=True))
    assert state.batch <= 44


def test_two_streams_and_pairs():
    rng = RNG(4)
    streams, pairs = un.Monitor(random_state=0), un.Monitor(random_state=0)
    for _ in range(5):
        objects = night(rng, 80)
        state = streams.update(night(rng, noise=2), night(rng, 90))
        paired = pairs.update(objects + rng.normal(size=objects.shape), objects, paired=True)
    assert (state.alarm, state.rows_left) == (False, None)
    assert state.rows_used == 450
    assert "10 rows without a partner not compared" in state.notes
    assert not paired.alarm
    for _ in range(5):
        objects = night(rng, 80)
        paired = pairs.update(objects + 0.3 + 0.1 * rng.normal(size=objects.shape), objects, paired=True)
        state = streams.update(night(rng, other=True), night(rng, 90))
    assert paired.alarm
    assert state.alarm


def test_a_reference_that_is_used_up():
    rng = RNG(5)
    monitor = un.Monitor(night(rng, 150), random_state=0)
    assert monitor.update(night(rng)).rows_left == 50
    state = monitor.update(night(rng, other=True))
    assert state.rows_left == 0
    assert state.notes == ("50 rows not compared: the reference is used up",)
    wealth = state.log_wealth
    assert monitor.update(night(rng, other=True)).log_wealth == wealth
    monitor.extend_reference(night(rng, 1_000))
    assert monitor.update(night(rng, other=True)).rows_left == 900
    again = un.Monitor(night(rng, 150), when_used_up="reuse", random_state=0)
    again.update(night(rng))
    assert again.state.notes == ()
    assert again.update(night(rng)).notes == ("pass 2 over the reference: the guarantee is weaker",)


def test_missing_values_new_and_lost_columns():
    rng = RNG(6)
    frame = pd.DataFrame(night(rng, 500, 3), columns=list("abc"))
    holes = frame[:50].copy()
    holes.iloc[3, 1] = np.nan
    strict, dropping, using = (un.Monitor(frame, missing=how, random_state=0) for how in ("error", "drop", "use"))
    with pytest.raises(ValueError, match=r"got NaN in row 3, column 'b'; missing=\"drop\""):
        strict.update(holes)
    assert strict.state is None
    state = dropping.update(holes)
    assert (state.rows, state.notes) == (49, ("1 row with missing values left out",))
    assert using.update(holes).rows_used == 50
    with pytest.raises(ValueError, match="batch lacks the columns b"):
        strict.update(frame[["c", "a"]])
    lost = using.update(frame[50:100].drop(columns="b"))
    assert lost.notes == ("lost columns, without evidence from them: b",)
    new = strict.update(frame[100:150].assign(d="text"))
    assert new.notes == ("new columns, left out: d",)
    assert strict.update(frame[:0]).rows == 0
    with pytest.raises(ValueError, match="reference must have at least one row"):
        un.Monitor(frame[:0])


def test_columns_are_matched_by_name():
    rng = RNG(7)
    frame = pd.DataFrame({"a": rng.normal(size=500), "b": 50 + rng.normal(size=500), "site": "x"})
    monitor = un.Monitor(frame, columns=["b", "a"], random_state=0)
    assert monitor.columns == ("b", "a")
    for _ in range(4):
        state = monitor.update(pd.DataFrame({"a": rng.normal(size=100), "b": 50 + rng.normal(size=100)}))
    assert not state.alarm


def test_a_lost_column_gives_no_evidence_and_the_others_do():
    rng = RNG(8)
    frame = pd.DataFrame(night(rng, 3_000), columns=list("ab"))
    monitor = un.Monitor(frame, missing="use", random_state=0)
    for _ in range(6):
        state = monitor.update(pd.DataFrame({"a": 2 - rng.exponential(size=100)}))
    assert state.differing == ("a",)
    assert math.isnan(state.differences[1])


def test_clusters_are_one_unit_each():
    rng = RNG(9)

    def clustered(n, effect=2.0):
        ids = np.repeat(np.arange(n), 10)
        return (rng.normal(size=n) * effect)[ids][:, None] + rng.normal(size=(10 * n, 1)), ids

    rows, ids = clustered(300)
    monitor = un.Monitor(rows, clusters=ids, random_state=0)
    batch, of_batch = clustered(20)
    state = monitor.update(batch, clusters=of_batch)
    assert state.rows_left == 280
    assert monitor.update(clustered(20)[0], clusters=of_batch).units == 36  # nobody bets on the first 32 rows


def test_bad_input_leaves_the_monitor_as_it_was():
    rng = RNG(10)
    monitor = un.Monitor(night(rng, 500), random_state=0)
    rows = night(rng)
    first = monitor.update(rows, name="a", time="2026-01-02")
    cases = [
        ({"batch": night(rng, d=3)}, "batch must have 2 columns; got 3"),
        ({"batch": rows}, "the values of this batch were compared before"),
        ({"batch": night(rng), "name": "a"}, "the batch 'a' was compared before"),
        ({"batch": night(rng), "time": "2026-01-01"}, "time must not go backwards; got 2026-01-01T00:00:00 after 2026"),
        ({"batch": night(rng), "time": "yesterday"}, "time must be a number, a date"),
        ({"batch": night(rng), "other": night(rng)}, "other must be left out"),
        ({"batch": night(rng), "paired": True}, "paired is for two streams"),
        ({"batch": np.full((3, 2), np.inf)}, "batch must be finite"),
        ({"batch": "text"}, "batch"),
    ]
    for arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            monitor.update(**arguments)
    assert monitor.state is first
    assert len(monitor.history) == 1
    assert monitor.update(night(rng), time=datetime.date(2026, 1, 2)).batch == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0}, "alpha must be a number above 0 and below 1"),
        ({"alpha": 1.5}, "alpha must be"),
        ({"guarantee": "never"}, 'guarantee must be "probability" or "run length"'),
        ({"run_length": 100}, "run_length is for guarantee"),
        ({"guarantee": "run length", "run_length": -1}, "run_length must be"),
        ({"invariant_to": "scale"}, 'invariant_to must be "noise" or "noise\\+shift"'),
        ({"when_used_up": "ask"}, "when_used_up must be"),
        ({"missing": "fill"}, "missing must be"),
        ({"columns": ["q"]}, "q"),
    ],
)
def test_bad_settings(arguments, message):
    with pytest.raises(ValueError, match=message):
        un.Monitor(np.zeros((10, 2)), **arguments)


def test_streams_need_the_other_and_no_columns():
    with pytest.raises(ValueError, match="other must be given"):
        un.Monitor().update(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="columns is for a monitor with a reference"):
        un.Monitor(columns=["a"])
    with pytest.raises(ValueError, match="same number of rows where they are paired; got 3 and 4"):
        un.Monitor().update(np.zeros((3, 1)), np.zeros((4, 1)), paired=True)
    with pytest.raises(ValueError, match="this monitor compares two streams"):
        un.Monitor().extend_reference(np.zeros((3, 1)))


def test_the_timeline_is_bounded():
    rng = RNG(11)
    monitor = un.Monitor(rng.normal(size=5_000), random_state=0)
    for value in rng.normal(size=4_500):
        state = monitor.update(np.array([value]))
    history = monitor.history
    assert 1_000 <= len(history) <= 2_001
    assert history.lines[-1].batch == state.batch == 4_500
    assert {line.batch % history.every for line in history.lines[:-1]} == {0}
    assert not state.alarm
    frame = history.to_frame()
    assert list(frame.columns)[:4] == ["batch", "name", "time", "rows"]


def test_how_a_state_is_shown():
    rng = RNG(12)
    monitor = un.Monitor(night(rng, 500), random_state=0)
    assert "no batch yet" in repr(monitor)
    state = monitor.update(night(rng), name="<night>")
    assert "&lt;night&gt;" not in state._repr_html_()
    assert "No difference beyond noise after 100 rows." in state._repr_html_()
    assert repr(state).startswith("MonitorState: No difference")
    assert state.line.startswith("<night>: ok, 100 rows, wealth ")
    assert list(state.to_frame()["column"]) == ["x0", "x1"]
    assert state.to_dict()["alarm"] is False
    assert monitor._repr_html_() == state._repr_html_()


def test_constant_columns_and_ties():
    rng = RNG(13)
    counts = rng.poisson(2, size=(2_000, 2)).astype(float)
    counts[:, 1] = 7
    monitor = un.Monitor(counts, random_state=0)
    for _ in range(5):
        batch = rng.poisson(2, size=(100, 2)).astype(float)
        batch[:, 1] = 7
        state = monitor.update(batch)
    assert not state.alarm
    assert np.isfinite(state.log_wealth)


def test_huge_and_tiny_values():
    rng = RNG(14)
    monitor = un.Monitor(rng.normal(size=(500, 2)) * [1e300, 1e-300], random_state=0)
    for _ in range(4):
        state = monitor.update(rng.normal(size=(100, 2)) * [1e300, 1e-300])
    assert np.isfinite(state.log_wealth)
    assert not state.alarm


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [True, False])
def test_clusters_need_to_be_told(clustered):
    """Rows of 10 in a cluster with an intraclass correlation of 0.8, noise in the batch only."""
    rng = RNG(15)
    alarms = []
    for _ in range(150):

        def sample(n):
            return np.repeat(rng.gamma(1, size=n), 10) + 0.5 * rng.normal(size=10 * n), np.repeat(np.arange(n), 10)

        rows, ids = sample(200)
        monitor = un.Monitor(rows, clusters=ids if clustered else None, random_state=rng)
        for _ in range(20):
            batch, of_batch = sample(10)
            batch = batch + rng.normal(size=len(batch))
            state = monitor.update(batch, clusters=of_batch if clustered else None)
        alarms.append(state.alarm)
    if clustered:
        assert np.mean(alarms) <= 0.05 + 3.3 * math.sqrt(0.05 * 0.95 / len(alarms))
    else:
        assert np.mean(alarms) > 0.15
