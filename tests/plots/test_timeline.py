"""The timeline of a monitor, as a picture and as a page."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import uptonoise as un
from uptonoise import plots


@pytest.fixture(scope="module")
def monitors():
    rng = np.random.default_rng(0)
    quiet, loud = (un.Monitor(rng.exponential(size=3_000), random_state=0) for _ in range(2))
    for night in range(6):
        quiet.update(rng.exponential(size=100), name=f"night $ {night}")
        loud.update(rng.exponential(size=100) if night < 2 else 2 - rng.exponential(size=100))
    return quiet, loud


def test_a_quiet_timeline_has_no_alarm(monitors):
    ax = Figure().subplots()
    assert monitors[0].plot(ax=ax) is ax
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["wealth", "alarm at 20"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), monitors[0].history.floats("log_wealth") / np.log(10))


def test_an_alarm_is_marked(monitors):
    ax = plots.plot(monitors[1].history, ax=Figure().subplots())
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[2] == f"alarm raised, batch {monitors[1].state.alarm_batch}"
    assert labels[3] == f"change, probably since batch {monitors[1].state.since}"
    assert ax.get_title(loc="left") == "The signal differs beyond noise"
    plt.close("all")


def test_nothing_to_plot():
    with pytest.raises(ValueError, match="history must have at least one batch"):
        un.Monitor(np.zeros(3)).plot()


def test_the_page(monitors, tmp_path):
    monitors[0].report(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "No difference beyond noise after 600 rows." in page
    assert "night $ 5" in page
    with pytest.raises(FileExistsError):
        monitors[0].report(tmp_path / "a.html")
    with pytest.raises(ValueError, match="at least one batch for a report"):
        un.Monitor(np.zeros(3)).report(tmp_path / "b.html")
