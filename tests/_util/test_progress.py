import io
import json
import sys
import time
from types import SimpleNamespace

import pytest

from uptonoise._util.progress import PROGRESS_LINE, PROGRESS_VARIABLE, Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_nothing_is_shown_where_nobody_looks():
    for stream, show in ((io.StringIO(), None), (io.StringIO(), False), (Terminal(), False), (Terminal(), None)):
        with Progress("reading", 10, show, stream) as progress:
            progress.advance(5)
        assert stream.getvalue() == ""


def test_a_terminal_shows_it_after_a_second_and_is_left_clean(monkeypatch):
    monkeypatch.setattr("uptonoise._util.progress._PATIENCE", 0.01)
    stream = Terminal()
    with Progress("reading a.csv", 4_000, stream=stream) as progress:
        progress.advance(1_000)
        time.sleep(0.15)
        progress.advance(1_000)
        assert "reading a.csv:  50%" in stream.getvalue()
    assert stream.getvalue().rsplit("\r", 2)[1].strip() == ""


def test_a_notebook_shows_it_with_widgets_or_without(monkeypatch):
    monkeypatch.setattr("uptonoise._util.progress._PATIENCE", 0.0)
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    console = SimpleNamespace(get_ipython=lambda: SimpleNamespace())
    for shell, seen in ((kernel, True), (console, False)):
        monkeypatch.setitem(sys.modules, "IPython", shell)
        stream = io.StringIO()
        with Progress("reading", 10, stream=stream) as progress:
            time.sleep(0.15)
            progress.advance(5)
        assert ("reading:  50%" in stream.getvalue()) == seen


def test_another_program_gets_lines(monkeypatch):
    monkeypatch.setenv(PROGRESS_VARIABLE, "1")
    stream = io.StringIO()
    with Progress("reading a.csv", 10, stream=stream) as progress:
        progress.advance(5)
    lines = [json.loads(line.removeprefix(PROGRESS_LINE)) for line in stream.getvalue().splitlines()]
    assert lines == [{"label": "reading a.csv", "fraction": 0.5}, {"label": "computing", "fraction": None}]


def test_a_fraction_says_how_many_there_are():
    stream = io.StringIO()
    with Progress("reading", show=True, stream=stream) as progress:
        progress.advance(7, fraction=0.25)
    assert "7/28" in stream.getvalue()


def test_an_iterable_is_counted():
    stream = io.StringIO()
    assert list(Progress("runs", show=True, stream=stream, units="runs").over([1, 2, 3])) == [1, 2, 3]
    assert "3/3" in stream.getvalue()
    assert list(Progress("runs", show=False).over(iter("ab"))) == ["a", "b"]


def test_the_bar_ends_when_the_work_fails():
    stream = io.StringIO()
    steps = Progress("reading", show=True, stream=stream).over(1 / number for number in (2, 1, 0))
    with pytest.raises(ZeroDivisionError):
        list(steps)
    assert stream.getvalue().endswith("\n")


def test_a_broken_stream_is_no_reason_to_stop():
    closed = io.StringIO()
    closed.close()
    with Progress("reading", show=True, stream=closed) as progress:
        progress.advance(1)
    assert progress.done == 1


def test_no_stream_at_all(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    with Progress("reading", show=True) as progress:
        progress.advance(1)
    assert progress.done == 1
