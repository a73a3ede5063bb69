"""One versioned file format for everything that is saved: an .npz archive with a JSON header, free of pickles."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from uptonoise._util.files import written_whole


class Archive(NamedTuple):
    """What a file holds: its header and its arrays."""

    header: dict[str, Any]
    arrays: dict[str, Any]


def save_archive(
    path: str | os.PathLike[str], kind: str, version: int, header: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write a header and arrays to a file, whole or not at all.

    Parameters
    ----------
    path : path
        The file.
    kind : str
        What the file holds, in a word or two, such as "sketch".
    version : int
        The version of this kind's format.
    header : mapping
        Values that JSON knows.
    arrays : mapping
        Arrays by name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from uptonoise._util.storage import load_archive, save_archive
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.npz")
    ...     save_archive(path, "example", 1, {"columns": ["a"]}, {"mean": np.zeros(1)})
    ...     load_archive(path, "example", 1).header["columns"]
    ['a']
    """
    whole = {"format": f"uptonoise {kind}", "version": version, **header}
    try:
        text = json.dumps(whole)
    except TypeError as error:
        raise ValueError(f"a saved {kind} can hold only numbers and strings: {error}") from None
    with written_whole(Path(path)) as file:
        np.savez(file, header=np.array(text), **arrays)


def load_archive(path: str | os.PathLike[str], kind: str, version: int) -> Archive:
    """Read a file that :func:`save_archive` wrote with the same kind and at most this version; execute nothing."""
    arrays = _read_arrays(Path(path), kind)
    try:
        header = json.loads(str(arrays.pop("header")))
        written_kind, written_version = header["format"], int(header["version"])
    except (KeyError, TypeError, ValueError):
        written_kind, written_version, header = None, 0, {}
    if written_kind != f"uptonoise {kind}":
        raise ValueError(f"{path} is not a {kind} that uptonoise saved" + _what_it_is(written_kind))
    if written_version > version:
        raise ValueError(
            f"{path} has version {written_version} of the {kind} format, and this version of uptonoise reads up to "
            f"{version}; upgrade uptonoise"
        )
    return Archive(header, arrays)


def archive_kind(path: str | os.PathLike[str]) -> str | None:
    """Return what a file that :func:`save_archive` wrote holds, such as "sketch"; None for any other file."""
    try:
        written_kind = json.loads(str(_read_arrays(Path(path), "file")["header"]))["format"]
    except (KeyError, TypeError, ValueError):
        return None
    return str(written_kind).removeprefix("uptonoise ")


def _what_it_is(written_kind: Any) -> str:
    is_ours = isinstance(written_kind, str) and written_kind.startswith("uptonoise ")
    return f"; it is a {written_kind.removeprefix('uptonoise ')}" if is_ours else ""


def _read_arrays(path: Path, kind: str) -> dict[str, Any]:
    content = io.BytesIO(path.read_bytes())  # so that an error from here on is about the content
    try:
        with np.lib.npyio.NpzFile(content, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, RuntimeError) as error:
        raise ValueError(f"{path} is not a {kind}, or it is truncated: {error}") from None
