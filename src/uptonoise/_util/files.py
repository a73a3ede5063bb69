"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from uptonoise._util.errors import hinted


def checked_target(path: str | os.PathLike[str], *, force: bool) -> Path:
    """Return where to write; raise in one clear line where that cannot be, before any work is done."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file in it, such as {target / 'report.html'}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist; make it first")
    if target.exists() and not force:
        raise hinted(FileExistsError, f"{target} exists", "{force} overwrites it", force=True)
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"the folder {target.parent} is not writable")
    return target


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside the target, and move it there at the end: readers see the old file or the new one, whole."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
