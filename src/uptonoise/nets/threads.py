"""One thread for little work: at every small step torch's threads wait for each other, for long on busy cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from uptonoise._util.threads import SharedLimit

_WORTH_THREADS = 2**18  # rows times frequencies in one step, about a millisecond of sines and cosines


def _limit() -> int:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    return before


_one_thread = SharedLimit(_limit, torch.set_num_threads)


@contextmanager
def threads_for(elements: float) -> Iterator[None]:
    """Keep torch to one thread where a step has few elements, rows times frequencies."""
    if elements >= _WORTH_THREADS:
        yield
        return
    with _one_thread:
        torch.set_num_threads(1)  # OpenMP counts threads for each caller
        yield
