"""Where the files of public data are looked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def data_file(path: str | os.PathLike[str] | None, names: Sequence[str], missing: str) -> Path:
    """Return a file at `path`, or of one of these names in a folder: that, or one of the usual ones.

    `missing` says what to do where there is none; it may name the first `{place}` that was looked at.
    """
    usual = [os.environ.get("UPTONOISE_DATA", "data"), "data", "../shared/data"]
    places = [Path(place) for place in (usual if path is None else [path])]
    for place in places:
        for candidate in (place, *(place / name for name in names)):
            if candidate.is_file():
                return candidate
    raise FileNotFoundError(
        missing.format(place=places[0])
        + " and give its path, or name its folder in the environment variable UPTONOISE_DATA"
    )
