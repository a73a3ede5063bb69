"""Threads over blocks of rows whose number never changes a result.

Blocks are cut before anybody knows how many threads there are, each block is worked on by one thread with a
single-threaded BLAS, and the parts come back in the order of the blocks.
"""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
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
    # Where BLAS counts threads for each caller (with OpenMP), every thread of the pool needs the limit.
    with ThreadPoolExecutor(threads, initializer=single_threaded_blas) as pool:
        ahead: deque[Future[Result]] = deque()
        for item in items:
            ahead.append(pool.submit(function, item))
            if len(ahead) > threads + 1:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


@cache
def _blas_controller() -> ThreadpoolController:
    return ThreadpoolController()


def single_threaded_blas() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread: ours already use the cores, and its splits would change the order of sums.

    The limit holds from the call, and until the end of the block where it is used in a ``with`` statement.
    """
    limit: AbstractContextManager[Any] = _blas_controller().limit(limits=1, user_api="blas")
    return limit
