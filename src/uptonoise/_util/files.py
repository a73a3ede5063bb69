"""Files: what may be read, and outputs that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import select
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from uptonoise._util.errors import hinted

_PATIENCE = 10.0  # seconds until somebody must write to a pipe
_PIECE = 1 << 20


def checked_target(path: str | os.PathLike[str], *, force: bool) -> Path:
    """Return where to write; raise in one clear line where that cannot be, before any work is done."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file in it, such as {target / 'report.html'}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist; make it first")
    if target.exists() and not force:
        raise _exists(target)
    if not os.access(Path(os.path.realpath(target)).parent, os.W_OK):
        raise PermissionError(f"the folder {target.parent} is not writable")
    return target


@contextmanager
def written_whole(path: Path, *, force: bool = True) -> Iterator[BinaryIO]:
    """Open a file beside the target, and move it there at the end: readers see the old file or the new one, whole.

    A file that is replaced keeps its permissions, and a symbolic link goes on pointing to it. Without `force` a file
    that has appeared in the meantime is left alone.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            os.fsync(file.fileno())
        if not force:
            try:
                os.link(temporary, target)
                return
            except FileExistsError:
                raise _exists(target) from None
            except OSError:  # a file system without links
                if target.exists():
                    raise _exists(target) from None
        temporary.replace(target)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(temporary)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None  # a full disk says no name
    finally:
        temporary.unlink(missing_ok=True)


def _exists(target: Path) -> FileExistsError:
    return hinted(FileExistsError, f"{target} exists", "{force} overwrites it", force=True)


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is a pipe: one with a name, or what ``<(command)`` of a shell stands for."""
    try:
        return stat.S_ISFIFO(Path(path).stat().st_mode)
    except OSError:
        return False


def check_readable(path: str | os.PathLike[str]) -> None:
    """Raise where a path is neither a file nor a pipe: a device may never end."""
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; name a file in it")
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise ValueError(f"{os.fspath(path)} must be a file; got a device")


def copy_pipe(path: str | os.PathLike[str], file: BinaryIO, patience: float = _PATIENCE) -> None:
    """Copy all that comes through a pipe; raise where nobody has written to it after some seconds."""
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        deadline, has_writer = time.monotonic() + patience, False
        while True:
            try:
                data = os.read(pipe, _PIECE)
            except BlockingIOError:  # somebody will write
                has_writer = True
                select.select([pipe], [], [], 1.0)
                continue
            if data:
                has_writer = True
                file.write(data)
            elif has_writer:
                return
            elif time.monotonic() > deadline:
                raise TimeoutError(f"{os.fspath(path)} is a pipe to which nobody wrote within {patience:g} s")
            else:
                time.sleep(0.02)
    finally:
        os.close(pipe)
