"""Threads over blocks of rows whose number never changes a result.

Blocks are cut before anybody knows how many threads there are, each block is worked on by one thread with a
single-threaded BLAS, and the parts come back in the order of the blocks.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads() -> int:
    """Return how many threads to use.

    The environment variable ``UPTONOISE_NUM_THREADS`` decides, then ``OMP_NUM_THREADS`` (which joblib sets in its
    workers so that they do not fight for cores), then the number of cores that this process may use.
    """
    for variable in ("UPTONOISE_NUM_THREADS", "OMP_NUM_THREADS"):
        given = os.environ.get(variable, "")
        if given.isdigit() and int(given) > 0:
            return int(given)
        if given and variable.startswith("UPTONOISE"):
            raise ValueError(f"the environment variable {variable} must be a positive integer; got {given!r}")
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield ``function(item)`` in the order of the items, computed by threads a few items ahead."""
    items = iter(items)
    first_two = list(itertools.islice(items, 2))
    items = itertools.chain(first_two, items)
    threads = n_threads() if len(first_two) == 2 else 1
    if threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        ahead: deque[Future[Result]] = deque()
        for item in items:
            ahead.append(pool.submit(function, item))
            if len(ahead) > threads + 1:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


class _BlasLimit:
    """How many callers want a single-threaded BLAS now, and what to restore when the last one leaves.

    The limit is one setting of the whole process: without the count, two callers in different threads could
    restore each other's limit and leave it at one for good.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.callers = 0
        self.limiter: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.callers == 0:
                self.limiter = _blas_controller().limit(limits=1, user_api="blas")
            self.callers += 1

    def leave(self) -> None:
        with self.lock:
            self.callers -= 1
            if self.callers == 0:
                self.limiter.restore_original_limits()
                self.limiter = None


@cache
def _blas_controller() -> ThreadpoolController:
    return ThreadpoolController()


_LIMIT = _BlasLimit()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS to one thread a caller: our threads already use the cores, and its splits would change the sums."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()
