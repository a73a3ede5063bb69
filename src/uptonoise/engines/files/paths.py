"""Which files a path means: a file, all files of a folder, those that match a pattern, or a list of these."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from pathlib import Path

AnyPath = str | os.PathLike[str]
Paths = AnyPath | Sequence[AnyPath]
PACKED_SUFFIXES = (".gz", ".zst", ".bz2")
Chooser = Callable[[Path, list[Path]], list[Path]]


def data_files(path: Paths, in_folder: Chooser) -> list[Path]:
    """Return the files that `path` means, at least one.

    ``in_folder(folder, files)`` picks among the files of a folder, which come sorted, without hidden ones and those
    whose name starts with an underscore.
    """
    if isinstance(path, str | os.PathLike):
        return _matching_files(os.fspath(path), in_folder)
    if not isinstance(path, Sequence) or not path or not all(isinstance(part, str | os.PathLike) for part in path):
        raise ValueError(f"path must be a file, a folder, a pattern such as 'data/*.csv', or a list; got {path!r}")
    return [file for part in path for file in _matching_files(os.fspath(part), in_folder)]


def shown_paths(path: Paths) -> str:
    """Return how messages call the path: as it was given.

    Examples
    --------
    >>> from uptonoise.engines.files.paths import shown_paths
    >>> shown_paths("data/*.csv"), shown_paths(["a.csv", "b.csv", "c.csv"])
    ('data/*.csv', 'a.csv and 2 more')
    """
    if isinstance(path, str | os.PathLike):
        return os.fspath(path)
    return os.fspath(path[0]) + (f" and {len(path) - 1} more" if len(path) > 1 else "")


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


def _matching_files(text: str, in_folder: Chooser) -> list[Path]:
    path = Path(text)
    if path.is_dir():
        chosen = in_folder(path, _visible_files(path))
        if chosen:
            return chosen
        raise FileNotFoundError(f"no data files in the folder {text}; name the files, or a pattern such as '*.csv'")
    if path.is_file():
        return [path]
    if path.exists():
        raise ValueError(f"{text} must be a file or a folder; a pipe or a device cannot be read twice")
    if not glob.has_magic(text):
        raise FileNotFoundError(f"no such file: {text}")
    # Path.glob refuses absolute patterns.
    matches = sorted(Path(match) for match in glob.glob(text, recursive=True))  # noqa: PTH207
    files = [match for match in matches if match.is_file()]
    if not files:
        raise FileNotFoundError(f"no file matches the pattern {text}")
    return files


def _visible_files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    )
