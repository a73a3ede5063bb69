import io

import pytest

from uptonoise._util import progress as _progress
from uptonoise._util.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that only moves when a test says so."""
    now = [100.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    return now


def test_nothing_is_shown_where_nobody_looks(clock):
    for stream, show in ((io.StringIO(), None), (io.StringIO(), False), (Terminal(), False)):
        with Progress("reading", 10, show, stream) as progress:
            clock[0] += 5
            progress.advance(5)
        assert stream.getvalue() == ""


def test_a_terminal_shows_it_after_a_second_and_is_left_clean(clock):
    stream = Terminal()
    with Progress("reading a.csv", 4_000, stream=stream) as progress:
        clock[0] += 0.5
        progress.advance(1_000)
        assert stream.getvalue() == ""
        clock[0] += 1.5
        progress.advance(1_000)
        assert stream.getvalue() == "\rreading a.csv: 2,000 rows, 50 %, 2 s left"
    last = stream.getvalue().rsplit("\r", 2)
    assert last[1].strip() == ""
    assert last[2] == ""


def test_it_is_written_at_most_ten_times_a_second(clock):
    stream = io.StringIO()
    with Progress("fitting", show=True, stream=stream, units="epochs") as progress:
        for _ in range(100):
            clock[0] += 0.01
            progress.advance()
    assert 9 <= stream.getvalue().count("\r") <= 12
    assert stream.getvalue().endswith("fitting: 100 epochs\n")


def test_a_fraction_replaces_the_count(clock):
    stream = io.StringIO()
    with Progress("reading", show=True, stream=stream) as progress:
        clock[0] += 30
        progress.advance(7, fraction=0.25)
    assert "7 rows, 25 %, 1 min 30 s left" in stream.getvalue()


def test_a_shorter_line_covers_the_longer_one(clock):
    stream = io.StringIO()
    progress = Progress("a", show=True, stream=stream)
    progress.advance(1, fraction=0.00001)
    clock[0] += 1_000
    progress.advance(1, fraction=0.00001)
    clock[0] += 1
    progress.advance(1, fraction=1.0)
    longer, shorter = stream.getvalue().split("\r")[-2:]
    assert len(shorter) == len(longer)
    assert shorter.strip() == "a: 3 rows, 100 %"


def test_a_line_fits_the_terminal(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    Progress("a label that is far too long", show=True, stream=stream).advance(1)
    assert stream.getvalue() == "\ra label that is far"


def test_an_iterable_is_counted():
    stream = io.StringIO()
    assert list(Progress("runs", show=True, stream=stream, units="runs").over([1, 2, 3])) == [1, 2, 3]
    assert "3 runs, 100 %" in stream.getvalue()
    assert list(Progress("runs", show=False).over(iter("ab"))) == ["a", "b"]


def test_the_line_ends_when_the_work_fails():
    stream = io.StringIO()
    steps = Progress("reading", show=True, stream=stream).over(1 / number for number in (2, 1, 0))
    with pytest.raises(ZeroDivisionError):
        list(steps)
    assert stream.getvalue().endswith("2 rows\n")


def test_a_broken_stream_is_no_reason_to_stop():
    class Broken:
        def isatty(self):
            raise OSError

        def write(self, text):
            raise BrokenPipeError

    closed = io.StringIO()
    closed.close()
    for stream in (closed, Broken()):
        with Progress("reading", show=True, stream=stream) as progress:
            progress.advance(1)
        assert progress.done == 1


def test_no_stream_at_all(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    with Progress("reading", show=True) as progress:
        progress.advance(1)
    assert progress.done == 1
