"""One versioned file format for everything that is saved: an .npz archive with a JSON header, free of pickles."""

from __future__ import annotations

import io
import json
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, BinaryIO, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.files import check_readable, copy_pipe, is_pipe, written_whole

_HEADER = "header"
_BAD_HEADERS = (
    *(KeyError, SyntaxError, TypeError, ValueError, OverflowError, MemoryError, RecursionError),
    *(AttributeError, tokenize.TokenError),
)
_DAMAGES = (
    *(ValueError, TypeError, KeyError, EOFError, OSError, RuntimeError, NotImplementedError, OverflowError),
    *(SyntaxError, struct.error, zipfile.BadZipFile, zlib.error),
)


class Archive(NamedTuple):
    """What a file holds: its header and its arrays."""

    header: dict[str, Any]
    arrays: dict[str, Any]


def save_archive(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    header: Mapping[str, Any],
    arrays: Mapping[str, Any],
    *,
    force: bool = True,
) -> None:
    """Write a header and arrays to a file, whole or not at all; `force` replaces a file that exists.

    The header has values that JSON knows. `kind` says in a word or two what the file holds, such as "sketch", and
    `version` is that of the kind's format.

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
    whole = {"format": f"uptonoise {kind}", "version": version, "arrays": list(arrays), **header}
    try:
        text = json.dumps(whole)
    except TypeError as error:
        raise ValueError(f"a saved {kind} can hold only numbers and strings: {error}") from None
    with written_whole(Path(path), force=force) as file:
        np.savez(file, header=np.array(text), **arrays)


def load_archive(path: str | os.PathLike[str], kind: str, version: int) -> Archive:
    """Read a file that :func:`save_archive` wrote with the same kind and at most this version; execute nothing.

    Only the arrays that the header names are read, and no more than the file's own size is ever in memory.
    """
    content = _opened(Path(path))  # an error from here on is about the content
    try:
        with content, zipfile.ZipFile(content) as archive:
            members, header = _members_and_header(archive)
            written, number = str(header.get("format", "")), header.get("version")
            if written != f"uptonoise {kind}" or not isinstance(number, int):
                is_ours = written.startswith("uptonoise ") and written != f"uptonoise {kind}"
                what = f"; it is a {written.removeprefix('uptonoise ')}" if is_ours else ""
                raise _ForeignError(f"{path} is not a {kind} that uptonoise saved{what}")
            if number > version:
                raise _ForeignError(
                    f"{path} has version {number} of the {kind} format, and this version of uptonoise reads up to "
                    f"{version}; upgrade uptonoise"
                )
            names = header.get("arrays", [name for name in members if name != _HEADER])
            return Archive(header, {name: member_array(archive, members[name]) for name in names if name in members})
    except _ForeignError as error:
        raise ValueError(str(error)) from None
    except _DAMAGES as error:
        raise ValueError(f"{path} is not a {kind}, or it is truncated: {first_words(error)}") from None


class _ForeignError(Exception):
    """A file of another kind or of a newer version."""


def _opened(path: Path) -> BinaryIO:
    check_readable(path)
    if not is_pipe(path):
        return path.open("rb")
    content = io.BytesIO()
    copy_pipe(path, content)
    content.seek(0)
    return content


def _members_and_header(archive: zipfile.ZipFile) -> tuple[dict[str, zipfile.ZipInfo], dict[str, Any]]:
    """Return the members by the names of their arrays, none larger than what the file holds of it, and the header."""
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise ValueError(f"its part {name!r} is compressed, which uptonoise never writes")
        if name in members:
            raise ValueError(f"it has the part {name!r} twice")
        members[name] = info
    if _HEADER not in members:
        return members, {}
    try:
        header = json.loads(str(member_array(archive, members[_HEADER])))
    except RecursionError:
        raise ValueError("its header is nested too deeply") from None
    return members, header if isinstance(header, dict) else {}


def member_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """Return the array of a member of an .npz file, whose header must say what its size says."""
    content = archive.read(info)  # which compares the checksum
    stream = io.BytesIO(content)
    shape, is_fortran, dtype = npy_header(stream)
    if dtype.hasobject:
        raise ValueError(f"its part {info.filename!r} holds Python objects, which are never loaded")
    n_items = math.prod(shape)
    if n_items * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(f"its part {info.filename!r} does not have the size that its shape {shape} needs")
    array = np.frombuffer(content, dtype=dtype, count=n_items, offset=stream.tell()) if n_items else np.empty(0, dtype)
    return array.reshape(shape, order="F" if is_fortran else "C")


def npy_header(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and dtype that the header of an array in numpy's format tells; the array follows."""
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, is_fortran, dtype = read(stream)
    except _BAD_HEADERS as error:
        raise ValueError(f"its header is not one of numpy's format: {first_words(error)}") from None
    if any(length < 0 for length in shape):
        raise ValueError(f"its shape {shape} is none")
    return shape, bool(is_fortran), dtype


def archive_kind(path: str | os.PathLike[str]) -> str | None:
    """Return what a file that :func:`save_archive` wrote holds, such as "sketch"; None for any other file."""
    try:
        with _opened(Path(path)) as content, zipfile.ZipFile(content) as archive:
            written_kind = _members_and_header(archive)[1].get("format")
    except _DAMAGES:
        return None
    return None if written_kind is None else str(written_kind).removeprefix("uptonoise ")


def check_finite(arrays: Mapping[str, Any]) -> None:
    """Raise where an array that was read holds NaN or an infinite number."""
    for name, array in arrays.items():
        if np.asarray(array).dtype.kind in "fc" and not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite; got NaN or an infinite number")


def first_words(error: BaseException) -> str:
    """Return what an error says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def flattened(value: Any, name: str) -> dict[str, NDArray[Any]]:
    """Return all arrays, numbers and texts of nested dataclasses and tuples, by names such as ``stack.learners.0``.

    Examples
    --------
    >>> from uptonoise._util.storage import flattened
    >>> list(flattened((1.0, ("a", None)), "example"))
    ['example.0', 'example.1.0']
    """
    if value is None:
        return {}
    if _is_record(type(value)):
        parts = {field: getattr(value, field) for field in get_type_hints(type(value))}
    elif isinstance(value, tuple):
        parts = {str(place): part for place, part in enumerate(value)}
    else:
        return {name: np.asarray(value)}
    return {key: array for field, part in parts.items() for key, array in flattened(part, f"{name}.{field}").items()}


def rebuilt(kind: Any, arrays: Mapping[str, NDArray[Any]], name: str) -> Any:
    """Return what :func:`flattened` took apart."""
    inside = {key.removeprefix(f"{name}.").split(".")[0] for key in arrays if key.startswith(f"{name}.")}
    if isinstance(kind, UnionType):
        if not inside and name not in arrays:
            return None
        kind = next(choice for choice in get_args(kind) if choice is not type(None))
    if _is_record(kind):
        return kind(**{field: rebuilt(hint, arrays, f"{name}.{field}") for field, hint in get_type_hints(kind).items()})
    if get_origin(kind) is tuple:  # of any length, all of one kind
        return tuple(rebuilt(get_args(kind)[0], arrays, f"{name}.{place}") for place in range(len(inside)))
    array = arrays[name]
    return array if get_origin(kind) is np.ndarray else kind(array.item())


def _is_record(kind: Any) -> bool:
    return is_dataclass(kind) or (isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"))
