"""Progress bars of long work, by tqdm: in terminals and notebooks, and nowhere else unless asked for."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sized
from contextlib import ExitStack, closing
from importlib import import_module
from typing import Any, TextIO, TypeVar

Item = TypeVar("Item")

PROGRESS_VARIABLE = "UPTONOISE_PROGRESS_LINES"
"""The environment variable by which another program asks for progress as lines of JSON on stderr, not as a bar."""
PROGRESS_LINE = "uptonoise progress "
"""How such a line starts."""
_PATIENCE = 1.0  # seconds of work before a bar appears unasked
_BETWEEN_LINES = 0.2  # seconds


class Progress(ExitStack):
    """A progress bar, for a ``with`` block or around an iterable.

    The label says what is done, and `units` what is counted: "rows", "runs", "epochs", ... Without a total only what
    :meth:`advance` is told gives a percentage. `show` True shows the bar, False does not; None shows it in a terminal
    or a notebook, after about a second. It goes to stderr, or to another stream. At the end the bar is cleared in a
    terminal; elsewhere it is left, with how far the work has come.
    """

    def __init__(
        self,
        label: str,
        total: int | None = None,
        show: bool | None = None,
        stream: TextIO | None = None,
        units: str = "rows",
    ) -> None:
        if show is not None and not isinstance(show, bool):
            raise ValueError(f"progress must be True, False or None; got {show!r}")
        super().__init__()
        file = sys.stderr if stream is None else stream
        self.done = 0
        self._bar: Any = None
        if show is False or file is None:  # there is no stream at all under pythonw
            return
        if os.environ.get(PROGRESS_VARIABLE):
            self._bar = self.enter_context(closing(_Lines(label, total, file)))
            return
        is_terminal = not file.closed and file.isatty()
        # Where a kernel runs the code; without widgets the bar is text there, below the cell.
        shell = sys.modules.get("IPython")
        in_notebook = shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None
        if not (show or is_terminal or in_notebook):
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that notebooks are experimental, or that they lack widgets
            tqdm = import_module("tqdm.autonotebook").tqdm
        delay = 0 if show else _PATIENCE
        options = {"unit": f" {units}", "delay": delay, "leave": not is_terminal, "dynamic_ncols": True}
        self._bar = self.enter_context(closing(tqdm(total=total, desc=label, file=file, **options)))

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, and count one unit after each; their number is the total where it is known."""
        if self._bar is not None and self._bar.total is None and isinstance(items, Sized):
            self._bar.total = len(items)
        with self:
            for item in items:
                yield item
                self.advance()

    def advance(self, n: int = 1, fraction: float | None = None) -> None:
        """Count `n` more units; `fraction`, if given, is the part of the whole work that is done now."""
        self.done += n
        if self._bar is not None:
            if fraction:
                self._bar.total = max(self.done, round(self.done / fraction))
            self._bar.update(n)


class _Lines:
    """A progress bar for another program: lines of JSON with a label and the part that is done."""

    def __init__(self, label: str, total: int | None, file: TextIO) -> None:
        self.total, self._label, self._file = total, label, file
        self._done, self._next = 0, 0.0

    def update(self, n: int) -> None:
        self._done += n
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _BETWEEN_LINES
            self._write(self._label, min(1.0, self._done / self.total) if self.total else None)

    def close(self) -> None:
        self._write("computing", None)

    def _write(self, label: str, fraction: float | None) -> None:
        message = json.dumps({"label": label, "fraction": fraction})
        print(f"{PROGRESS_LINE}{message}", file=self._file, flush=True)
