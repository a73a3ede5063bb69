"""Work on a Dask cluster: connecting, tasks and trees of tasks, waiting for results, and what to say when it fails."""

from __future__ import annotations

import contextlib
import importlib
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

from uptonoise import __version__

_FAN_IN = 8
_PATIENCE = 60.0  # seconds without any worker before giving up
_ANSWER = 10.0  # seconds that a scheduler has to answer
_GLANCE = 1.0  # seconds between two looks at the cluster
_FROZEN = 25.0  # seconds after which a scheduler that was there counts as lost
_CLOSING = 5.0  # seconds that good-bye may take

_CHECKED: WeakSet[Any] = WeakSet()  # clients whose workers have the same version of uptonoise


@contextmanager
def connected(address: str, timeout: float = _ANSWER) -> Iterator[Any]:
    """Connect to the scheduler of a Dask cluster, so that work goes there within this context.

    Parameters
    ----------
    address : str
        Such as ``tcp://10.0.0.1:8786``.
    timeout : float
        How many seconds the scheduler, and then at least one worker, has to answer.
    """
    distributed = dask_module("distributed")
    try:
        _check_answer(address, timeout)
        client = distributed.Client(address, timeout=timeout)
    except (ValueError, TypeError, RuntimeError) as error:
        kind = "; tls needs the certificates in Dask's configuration" if str(address).startswith("tls") else ""
        raise ValueError(
            f"the scheduler's address must be such as tcp://10.0.0.1:8786; got {address!r} "
            f"({type(error).__name__}){kind}"
        ) from None
    except (OSError, TimeoutError):
        raise ConnectionError(
            f"no Dask scheduler answers at {address} within {timeout:g} s; check the address, and whether it is running"
        ) from None
    try:
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError:
            raise ConnectionError(
                f"the Dask scheduler at {address} has no worker after {timeout:g} s; start a worker with: dask worker "
                f"{address}"
            ) from None
        check_workers(client)
        yield client
    finally:
        with contextlib.suppress(OSError, TimeoutError):  # a scheduler that no longer answers
            client.close(timeout=_CLOSING)


def _check_answer(address: str, timeout: float) -> None:
    """Raise where nobody answers at an address: a scheduler speaks first, and Dask itself would wait for long."""
    place = urlsplit(address if "://" in str(address) else f"tcp://{address}")
    if place.scheme != "tcp" or place.hostname is None or place.port is None:
        return
    with socket.create_connection((place.hostname, place.port), timeout=timeout) as connection:
        connection.settimeout(timeout)
        if not connection.recv(1):
            raise ConnectionError("closed at once")


def check_workers(client: Any) -> None:
    """Raise where a worker has no uptonoise, or another version of it."""
    if client in _CHECKED:
        return
    answers = client.sync(
        client._run, eval, "__import__('uptonoise').__version__", on_error="return", callback_timeout=_PATIENCE
    )
    for worker, version in answers.items():
        if isinstance(version, ImportError):
            raise ConnectionError(f"the Dask worker {worker} cannot import uptonoise ({version}); install it there")
        if isinstance(version, str) and version != __version__:
            raise ConnectionError(
                f"the Dask worker {worker} has uptonoise {version}, and here is {__version__}; install the same there"
            )
    _CHECKED.add(client)


def dask_module(module: str) -> Any:
    """Return a module of Dask, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError('rows on a cluster need Dask: pip install "uptonoise[dask]"') from None


def is_collection(X: Any) -> bool:
    """Tell a Dask collection, without importing Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def _itself(value: Any) -> Any:
    return value


def shared_value(value: Any) -> Any:
    """Return a task for something that every other task needs: the graph has one copy of it."""
    task = dask_module("dask").delayed(partial(_itself, value), pure=False, traverse=False)
    return task(dask_key_name=task_key("shared"))


def task_key(name: str) -> str:
    """Return a new key for a task, whose first words the dashboard of the cluster shows."""
    return f"uptonoise-{name.strip('_').replace('_', '-')}-{uuid.uuid4().hex}"


def merged_tree(items: list[Any], merge: Callable[..., Any], *shared: Any) -> Any:
    """Return, not yet computed, all items merged in their order, some at a time; `shared` goes before them."""
    task = dask_module("dask").delayed(merge, pure=False, traverse=False)
    while True:
        starts = range(0, len(items), _FAN_IN)
        items = [task(*shared, *items[at : at + _FAN_IN], dask_key_name=task_key("merge")) for at in starts]
        if len(items) == 1:
            return items[0]


def computed(tasks: list[Any]) -> list[Any]:
    """Compute tasks on the cluster that this process is connected to, or by Dask's threads where there is none."""
    if not tasks:
        return []
    try:
        distributed = importlib.import_module("distributed")
        client = distributed.default_client()
    except (ImportError, ValueError):  # there is no cluster
        client = None
    if client is None:
        return list(dask_module("dask").compute(*tasks))
    futures: list[Any] = []
    try:
        check_workers(client)
        futures = client.compute(tasks)
        _await(futures, client)
        return _gathered(futures, client)
    except distributed.KilledWorker as error:
        raise ConnectionError(
            f"workers of the cluster died again and again over the same rows ({error.task}), most often for want of "
            "memory; give them more of it, or smaller partitions"
        ) from None
    except (CancelledError, TimeoutError, distributed.comm.CommClosedError):
        raise _lost() from None
    finally:
        waiting = [future for future in futures if future.status == "pending"]
        if waiting and client.status == "running":  # take back work that nobody waits for any more
            with contextlib.suppress(OSError, TimeoutError):  # a scheduler that no longer answers
                client.sync(client._cancel, waiting, callback_timeout=_CLOSING)


def _await(futures: list[Any], client: Any) -> None:
    """Wait for all futures, or for the first that fails; raise where nobody is left who works on them."""
    distributed = dask_module("distributed")
    last_seen = time.monotonic()
    while any(future.status == "pending" for future in futures):
        if any(future.status == "error" for future in futures):
            return
        if client.status not in ("running", "newly-created"):
            if client.status == "closed" or time.monotonic() - last_seen > _PATIENCE:
                raise _lost()
        elif _n_workers(client):
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > _PATIENCE:
            raise ConnectionError(
                f"the Dask cluster at {client.scheduler.address} has had no worker for {_PATIENCE:g} s; start workers, "
                "and run it again"
            )
        try:
            distributed.wait(futures, timeout=_GLANCE)
        except TimeoutError:
            continue


def _gathered(futures: list[Any], client: Any) -> list[Any]:
    """Bring results here, as long as the scheduler answers."""
    import asyncio  # here, as those who only name this package need none of it

    coming = asyncio.run_coroutine_threadsafe(client._gather(futures), client.loop.asyncio_loop)
    while True:
        try:
            return list(coming.result(timeout=_GLANCE))
        except TimeoutError:
            if coming.done():
                raise
            _n_workers(client)


def _n_workers(client: Any) -> int:
    """Return the number of workers; raise where the scheduler does not answer."""
    return len(client.sync(client.scheduler.ncores, callback_timeout=_FROZEN))


def _lost() -> ConnectionError:
    return ConnectionError(
        "the connection to the Dask scheduler was lost, or it no longer answers; check whether it is running, and run "
        "it again"
    )
