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
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, partial
from typing import Any, TypeVar

import threadpoolctl

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads() -> int:
    """Return how many threads to use.

    The environment variable ``UPTONOISE_NUM_THREADS`` decides, then ``OMP_NUM_THREADS`` (which joblib sets in its
    workers so that they do not fight for cores), then the number of cores that this process may use.
    """
    for variable in ("UPTONOISE_NUM_THREADS", "OMP_NUM_THREADS"):
        given = os.environ.get(variable, "")
        if given.isascii() and given.isdigit() and int(given) > 0:
            return int(given)
        if given and variable.startswith("UPTONOISE"):
            raise ValueError(f"the environment variable {variable} must be a positive integer; got {given!r}")
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], most: int | None = None) -> Iterator[Result]:
    """Yield ``function(item)`` in the order of the items, computed by threads, at most so many, a few items ahead."""
    items = iter(items)
    threads = n_threads() if most is None else min(most, n_threads())
    if threads > 1:
        first_two = list(itertools.islice(items, 2))
        threads = threads if len(first_two) == 2 else 1
        items = itertools.chain(first_two, items)
        del first_two  # which may be large
    if threads == 1:
        yield from map(function, items)
        return
    # Where BLAS counts threads for each caller (with OpenMP), every thread of the pool needs the limit.
    limit_blas = partial(_blas_controller().limit, limits=1, user_api="blas")
    with ThreadPoolExecutor(threads, initializer=limit_blas) as pool:
        ahead: deque[Future[Result]] = deque()
        for item in items:
            ahead.append(pool.submit(function, item))
            if len(ahead) > threads + 1:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


@cache
def _blas_controller() -> Any:
    return threadpoolctl.ThreadpoolController()


class SharedLimit:
    """A limit on threads while any caller wants it: a call gives a context. `limited` gives that in which it is set.

    The limit is one setting of the whole process: callers in several threads that each restored what they had found
    would leave it at one.
    """

    def __init__(self, limited: Callable[[], AbstractContextManager[None]]) -> None:
        self.limited = limited
        self.start_again()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self.lock:
            if self.callers == 0:
                self.held.enter_context(self.limited())
            self.callers += 1
        try:
            yield
        finally:
            with self.lock:
                self.callers -= 1
                if self.callers == 0:
                    self.held.close()

    def start_again(self) -> None:
        """Forget the callers: none of them, nor who held the lock, came along to a process that was forked."""
        self.lock = threading.Lock()
        self.callers, self.held = 0, ExitStack()


@contextmanager
def _limited_blas() -> Iterator[None]:
    """Set BLAS to one thread, and restore the number that it had."""
    limiter = _blas_controller().limit(limits=1, user_api="blas")
    yield
    # Newer versions of threadpoolctl let only the thread restore it that set it.
    controller: Any = getattr(threadpoolctl, "OpenBLASController", None)
    clear = getattr(controller, "clear_controlling_thread", lambda force: None)
    clear(force=True)
    limiter.restore_original_limits()
    clear(force=True)


single_threaded_blas = SharedLimit(_limited_blas)
"""Keeps BLAS to one thread: ours already use the cores, and its splits would change the order of sums."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=single_threaded_blas.start_again)
