"""Which files a path means: one file, those of a folder, those that match a pattern, or a list of these."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

AnyPath = str | os.PathLike[str]
Paths = AnyPath | Sequence[AnyPath]
PACKED_SUFFIXES = (".gz", ".zst", ".bz2")


def data_files(path: Paths, *suffixes: Sequence[str]) -> tuple[list[Path], str]:
    """Return the files that `path` means, at least one, and what messages call them: the path as it was given.

    Of a folder these are the sorted files with one of the `suffixes`; where there are none, with one of the next.
    """
    parts = [path] if isinstance(path, str | os.PathLike) else path
    if not isinstance(parts, Sequence) or not parts or not all(isinstance(part, str | os.PathLike) for part in parts):
        raise ValueError(f"path must be a file, a folder, a pattern such as 'data/*.csv', or a list; got {path!r}")
    files = []
    for part in parts:
        text, place = os.fspath(part), Path(part)
        if place.is_dir():
            found = _files_below(place, suffixes)
            if not found:
                problem = f"no data files in the folder {text}; name the files, or a pattern such as '*.csv'"
                raise FileNotFoundError(problem)
        elif place.is_file():
            found = [place]
        elif place.exists():
            raise ValueError(f"{text} must be a file or a folder; a pipe or a device cannot be read twice")
        elif not glob.has_magic(text):
            raise FileNotFoundError(f"no such file: {text}")
        else:
            # Path.glob refuses absolute patterns.
            matches = sorted(Path(match) for match in glob.glob(text, recursive=True))  # noqa: PTH207
            found = [match for match in matches if match.is_file()]
            if not found:
                raise FileNotFoundError(f"no file matches the pattern {text}")
        files += found
    return files, os.fspath(parts[0]) + (f" and {len(parts) - 1} more" if len(parts) > 1 else "")


def _files_below(folder: Path, suffixes: Sequence[Sequence[str]]) -> list[Path]:
    """Return the files of a folder and of those in it, without hidden ones and those that start with an underscore."""
    visible = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    )
    for known in suffixes:
        found = [path for path in visible if suffix_of(path) in known]
        if found:
            return found
    return []


def suffix_of(path: Path) -> str:
    """Return the suffix in lower case, without that of a compressed file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from uptonoise.engines.files.paths import suffix_of
    >>> suffix_of(Path("a.CSV")), suffix_of(Path("a.b.tsv.gz"))
    ('.csv', '.tsv')
    """
    return (Path(path.stem) if path.suffix.lower() in PACKED_SUFFIXES else path).suffix.lower()
