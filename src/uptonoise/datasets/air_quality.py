"""Hourly air pollution of one Beijing station: rows that depend on their neighbours in time."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets.files import csv_rows, data_file

_FILE = "beijing-aotizhongxin.csv.gz"
COLUMNS = ("PM2.5", "PM10", "SO2", "NO2", "CO", "O3")


class AirQuality(NamedTuple):
    """Hourly concentrations, of shape (hours, 6), and what the columns are called."""

    values: Floats
    columns: tuple[str, ...]


def load_air_quality(path: str | os.PathLike[str] | None = None) -> AirQuality:
    """Read the pollutants of each hour, in the order of time, from UCI's Beijing Multi-Site Air-Quality Data.

    Parameters
    ----------
    path : path, optional
        The file, CSV or gzipped CSV without gaps, or a folder that holds ``beijing-aotizhongxin.csv.gz``; by default
        the folder named in the environment variable ``UPTONOISE_DATA``, then ``data`` and ``../shared/data``.

    Returns
    -------
    AirQuality

    Examples
    --------
    >>> from uptonoise.datasets import load_air_quality
    >>> hours = load_air_quality("beijing-aotizhongxin.csv.gz")  # doctest: +SKIP
    """
    file = data_file(
        path, (_FILE,), "no {place}/" + _FILE + ": download UCI's Beijing Multi-Site Air-Quality Data and fill its gaps"
    )
    values = np.array([[float(row[name] or "nan") for name in COLUMNS] for row in csv_rows(file, COLUMNS)])
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"{file} must have no gaps; {COLUMNS[column]} is missing in row {row + 1}. Fill it first")
    return AirQuality(values, COLUMNS)
