"""Repeated blood pressure readings of the NHANES survey: the same quantity with more and with less noise."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.datasets.files import csv_rows, data_file

_FILE = "nhanes-blood-pressure.csv"
_READINGS = ("BPSys1", "BPSys2", "BPSys3")


class BloodPressure(NamedTuple):
    """Three systolic readings of each person in mmHg, of shape (people, 3), and who is a man."""

    systolic: Floats
    male: NDArray[np.bool_]


def load_blood_pressure(path: str | os.PathLike[str] | None = None) -> BloodPressure:
    """Read the people with three systolic readings, from a CSV file as the R package NHANES has it.

    Parameters
    ----------
    path : path, optional
        The file, with columns Gender, BPSys1, BPSys2 and BPSys3, or a folder that holds it; by default the folder named
        in the environment variable ``UPTONOISE_DATA``, then ``data`` and ``../shared/data``.

    Returns
    -------
    BloodPressure

    Examples
    --------
    >>> from uptonoise.datasets import load_blood_pressure
    >>> people = load_blood_pressure("nhanes-blood-pressure.csv")  # doctest: +SKIP
    """
    file = data_file(path, (_FILE,), "no {place}/" + _FILE + ": export the data set NHANESraw of the R package NHANES")
    people = [row for row in csv_rows(file, ("Gender", *_READINGS)) if all(row[name] for name in _READINGS)]
    readings = np.array([[float(row[name]) for name in _READINGS] for row in people])
    return BloodPressure(readings, np.array([row["Gender"] == "male" for row in people]))
