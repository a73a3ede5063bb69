"""One line on a terminal that says how far long work has come: what, how many, percent, time left.

Nothing is shown where nobody looks: by default only on a terminal, and only once the work has taken about a second.
A bar that cannot be written is no reason to stop the work, so nothing here raises.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from types import TracebackType
from typing import TextIO, TypeVar

Item = TypeVar("Item")

_PATIENCE = 1.0  # seconds of work before a bar appears unasked
_PAUSE = 0.1  # seconds between two writes


class Progress:
    """A progress line, for a ``with`` block or around an iterable.

    Parameters
    ----------
    label : str
        What is being done.
    total : int, optional
        How many units there are; without it only what :meth:`advance` is told gives a percentage.
    show : bool, optional
        True shows the line, False does not; None shows it on a terminal, after about a second.
    stream : text stream, optional
        Where the line goes; stderr by default.
    units : str
        What is counted: "rows", "runs", "epochs", ...

    Examples
    --------
    >>> import sys
    >>> from uptonoise._util.progress import Progress
    >>> with Progress("reading a.csv", total=4_000, show=False) as progress:
    ...     for chunk in (1_500, 2_500):
    ...         progress.advance(chunk)
    >>> progress.done
    4000
    >>> sum(Progress("adding", show=False, units="numbers").over([1, 2, 3]))
    6
    """

    def __init__(
        self,
        label: str,
        total: int | None = None,
        show: bool | None = None,
        stream: TextIO | None = None,
        units: str = "rows",
    ) -> None:
        self.label, self.total, self.show, self.units = label, total, show, units
        self.stream = sys.stderr if stream is None else stream
        self.done = 0
        self._fraction: float | None = None
        self._is_terminal = _is_terminal(self.stream)
        self._shown = ""
        self._start = time.monotonic()
        self._next_write = self._start if show else self._start + _PATIENCE

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, and count one unit after each; their number is the total where it is known."""
        if self.total is None and isinstance(items, Sized):
            self.total = len(items)
        with self:
            for item in items:
                yield item
                self.advance()

    def advance(self, n: int = 1, fraction: float | None = None) -> None:
        """Count `n` more units; `fraction`, if given, is the part of the whole work that is done now."""
        self.done += n
        if fraction is not None:
            self._fraction = fraction
        elif self.total:
            self._fraction = self.done / self.total
        now = time.monotonic()
        if now >= self._next_write and self._wanted():
            self._next_write = now + _PAUSE
            self._write(self._line(now - self._start))

    def close(self) -> None:
        """Clear the line on a terminal; elsewhere write how far the work has come, and end it."""
        if self._is_terminal:
            if self._shown:
                self._put("\r" + " " * len(self._shown) + "\r")
        elif self.show:
            self._write(self._line(time.monotonic() - self._start))
            self._put("\n")
        self._shown = ""
        self.show = False

    def _wanted(self) -> bool:
        return self._is_terminal if self.show is None else self.show

    def _line(self, elapsed: float) -> str:
        parts = [f"{self.done:,} {self.units}"]
        if self._fraction is not None:
            fraction = min(max(self._fraction, 0.0), 1.0)
            parts.append(f"{100 * fraction:.0f} %")
            if 0 < fraction < 1:
                parts.append(f"{_duration(elapsed * (1 - fraction) / fraction)} left")
        return f"{self.label}: {', '.join(parts)}"

    def _write(self, line: str) -> None:
        if self._is_terminal:
            line = line[: max(shutil.get_terminal_size().columns - 1, 10)]  # a wrapped line cannot be rewritten
        if self._put("\r" + line.ljust(len(self._shown))):
            self._shown = line

    def _put(self, text: str) -> bool:
        with contextlib.suppress(Exception):  # a closed or broken stream
            self.stream.write(text)
            self.stream.flush()
            return True
        return False


def _is_terminal(stream: TextIO) -> bool:
    with contextlib.suppress(Exception):  # no stream at all (pythonw), or a closed one
        return bool(stream.isatty())
    return False


def _duration(seconds: float) -> str:
    """Return a time as people say it, in the two largest units.

    Examples
    --------
    >>> from uptonoise._util.progress import _duration
    >>> _duration(7), _duration(75), _duration(7_500)
    ('7 s', '1 min 15 s', '2 h 5 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600:,} h {whole % 3_600 // 60} min"
