"""Writing a page whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def checked_target(path: str | os.PathLike[str], *, force: bool) -> Path:
    """Return where to write; raise in one clear line where that cannot be, before any work is done."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file in it, such as {target / 'report.html'}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist; make it first")
    if target.exists() and not force:
        raise FileExistsError(f"{target} exists; force=True overwrites it")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"the folder {target.parent} is not writable")
    return target


def write_whole(target: Path, text: str) -> None:
    """Write beside the target, then move: a reader sees the old page or the new one, never a part of it."""
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
