"""One thread for little work: at every small step torch's threads wait for each other, for long on busy cores."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_WORTH_THREADS = 2**18  # rows times frequencies in one step, about a millisecond of sines and cosines


class _Limit:
    """How many callers want one thread now, and what to restore when the last of them leaves.

    The number is one setting of the whole process: callers in several threads that each restored what they had found
    would leave it at one.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.callers = 0
        self.before = 1

    def __enter__(self) -> None:
        with self.lock:
            if self.callers == 0:
                self.before = torch.get_num_threads()
            self.callers += 1
            torch.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.callers -= 1
            if self.callers == 0:
                torch.set_num_threads(self.before)


_one_thread = _Limit()


@contextmanager
def threads_for(elements: float) -> Iterator[None]:
    """Keep torch to one thread where a step has few elements, rows times frequencies."""
    if elements >= _WORTH_THREADS:
        yield
        return
    with _one_thread:
        yield
