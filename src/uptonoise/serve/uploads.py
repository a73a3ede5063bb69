"""Files that come from the page: written in pieces to a folder of the tab, bounded in size and in time.

A file is stored under one plain name, whatever a client sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import shutil
import time
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path

from uptonoise._util.numbers import size_text

PLACES = ("first", "second")
TOO_LARGE = 413
_SPARE_BYTES = 200_000_000  # that stay free on the disk
_DRAINED_BYTES, _DRAINED_SECONDS = 20_000_000, 2.0
_MOST_LETTERS = 120
_RESERVED = ("report.html",)
# A file of such a name would be a folder, an option, a hidden file or a pattern.
_FORBIDDEN_START = ("-", ".", "_", "~")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\[\]\u200b-\u200f\u202a-\u202e\u2060-\u2069\ud800-\udfff]')


class RefusedError(Exception):
    """A request that is refused, with the status of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Tab:
    """What one open page has: its folder and the files in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, str] = {}
        self.used = time.monotonic()

    @property
    def paths(self) -> list[str]:
        """The files, as a command in the folder names them."""
        return [self.files[place] for place in PLACES if place in self.files]

    def remove(self, place: str) -> None:
        """Remove one of the files."""
        name = self.files.pop(place, None)
        if name is not None:
            (self.folder / name).unlink(missing_ok=True)

    async def store(self, place: str, name: str, parts: AsyncIterator[bytes], limits: Limits) -> None:
        """Write a file in pieces; nothing is left of one that is too large, too slow, or breaks off."""
        temporary = self.folder / f".{secrets.token_hex(8)}"
        try:
            total, end, iterator = 0, time.monotonic() + limits.all_seconds, aiter(parts)
            with temporary.open("xb") as file:
                while True:
                    try:
                        async with asyncio.timeout(max(0.0, min(limits.idle_seconds, end - time.monotonic()))):
                            part = await anext(iterator)
                    except StopAsyncIteration:
                        break
                    except TimeoutError:
                        raise RefusedError(408, "the file did not come to its end in time; try again") from None
                    total += len(part)
                    limits.check_size(total)
                    if part and shutil.disk_usage(self.folder).free < _SPARE_BYTES:
                        raise RefusedError(507, "the disk of the temporary folder is full")
                    await asyncio.to_thread(file.write, part)
            self.remove(place)
            name = plain_name(name)
            # In a folder of its own where the other file has the same name.
            self.files[place] = f"other/{name}" if name in self.files.values() else name
            target = self.folder / self.files[place]
            target.parent.mkdir(exist_ok=True)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


class Limits:
    """What an upload may take."""

    def __init__(self, most_bytes: int, idle_seconds: float = 30.0, all_seconds: float = 3_600.0) -> None:
        self.most_bytes, self.idle_seconds, self.all_seconds = most_bytes, idle_seconds, all_seconds

    def check_size(self, n_bytes: int) -> None:
        """Refuse a file that is too large."""
        if n_bytes > self.most_bytes:
            most = size_text(self.most_bytes)
            raise RefusedError(TOO_LARGE, f"the file is larger than {most}; uptonoise serve --max-size allows more")


async def drained(parts: AsyncIterator[bytes]) -> None:
    """Take what is still on the way of a refused file, within bounds: a client that still sends hears no answer."""
    left = _DRAINED_BYTES
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_DRAINED_SECONDS):
            async for part in parts:
                left -= len(part)
                if left < 0:
                    return


def plain_name(given: str) -> str:
    r"""Return a safe name for a file that a client calls `given`.

    Examples
    --------
    >>> from uptonoise.serve.uploads import plain_name
    >>> plain_name("../../etc/passwd"), plain_name("C:\\data\\old [1].csv"), plain_name("--report.csv")
    ('passwd', 'old _1_.csv', 'report.csv')
    """
    last = unicodedata.normalize("NFC", given).replace("\\", "/").rstrip("/").rpartition("/")[2]
    name = _FORBIDDEN.sub("_", last).strip().lstrip("".join(_FORBIDDEN_START)).strip()
    suffixes = "".join(Path(name).suffixes[-2:])[-20:]
    name = name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - len(suffixes)] + suffixes
    return f"file {name}" if name.lower() in _RESERVED else name or "file"
