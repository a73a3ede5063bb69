"""A lock between processes that ends with the process that holds it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that goes with a file, or raise where another process does.

    The lock is a file beside it, which stays; the operating system frees it when the process ends, however it ends.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from uptonoise.monitor.lock import locked
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with locked(pathlib.Path(folder, "state.npz")):
    ...         with locked(pathlib.Path(folder, "state.npz")):
    ...             pass
    Traceback (most recent call last):
        ...
    BlockingIOError: another job is working with state.npz; wait until it has ended
    """
    with path.with_name(f"{path.name}.lock").open("a") as file:
        try:
            _lock(file)
        except OSError:
            raise BlockingIOError(f"another job is working with {path.name}; wait until it has ended") from None
        yield


def _lock(file: IO[str]) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
