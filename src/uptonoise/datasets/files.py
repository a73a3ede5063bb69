"""Where the files of public data are looked for."""

from __future__ import annotations

import csv
import gzip
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


def csv_rows(file: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Return the rows of a CSV file, gzipped or not, which must have these columns."""
    with gzip.open(file, "rt", newline="") if file.suffix == ".gz" else file.open(newline="") as lines:
        rows = csv.DictReader(lines)
        absent = [name for name in columns if name not in (rows.fieldnames or ())]
        if absent:
            raise ValueError(f"{file} must have the columns {', '.join(columns)}; it lacks {absent}")
        return list(rows)
