"""Masses of galaxy clusters from velocities: a simulated stand-in of the paper's catalogue, and its loader."""

from __future__ import annotations

import csv
import gzip
import numbers
import os
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.docs import described
from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import positive_int
from uptonoise.bags import Bags
from uptonoise.datasets.files import data_file

_LOG_MASS_MIN = 14.0  # log10 of solar masses / h: the lower bound of the catalogue
_LOG_MASS_RANGE = np.log10(30.0)  # the heaviest clusters known have a few 1e15 solar masses
_LOG_MASS_SLOPE = 1.0  # of the mass function: a label of variance 0.16, the error of the paper's mean predictor
_MEMBERS = 20.0  # on average at the smallest mass; more grow in proportion, as subhaloes above a fixed mass do
_DISPERSION = 503.0  # km/s at the smallest mass: the 1083 km/s at 1e15 of Evrard et al. 2008, times 0.1^(1/3)
_AXES_LOG_SD = 0.2  # clusters are no spheres: dispersions differ by some 20 % between their axes
_INTERLOPER_SPEED = 3_000.0  # km/s: where a usual cut around a cluster's velocity ends, and its uniform background too
_INTERLOPER_CONCENTRATION = 20.0  # of the beta distribution of their share: an SD of 0.065 about 0.1
_FILES = ("dark_matter.csv.gz", "dark_matter.csv")
_FILE_COLUMNS = ("cluster", "line_of_sight", "velocity", "log_mass")
_MISSING = (
    "no dark_matter.csv at {place}: ask the authors of Ntampaka et al. (2015) for their catalogue, write it as a CSV "
    f"file with the columns {', '.join(_FILE_COLUMNS)},"
)


_MODEL = """
The paper predicts the masses of 5,028 simulated clusters (Ntampaka et al. 2015, 2016) from the velocities of their
galaxies along some 15,000 lines of sight. Here, with M the mass in 1e14 solar masses / h,

- Mass: the label is y = 14 + log10 M, of density proportional to exp(-y) on 1 <= M <= 30. Its variance is 0.16, as
  in the paper; the universe has still fewer heavy clusters.
- Members: N ~ Poisson(20 M), at least 1: the same galaxies on all lines of sight.
- Velocities: a Gaussian with dispersions s_1, s_2, s_3 along three axes, which are lognormal (log-SD 0.2) before
  they are scaled to mean square s(M)^2, with the virial relation s(M) = 503 km/s M^(1/3) (Evrard et al. 2008). A line
  of sight has a uniform direction u, and shows the speed abs(u . v) of each member. So the mean square speed of
  members, over lines of sight, is s(M)^2.
- Interlopers: galaxies in front or behind, with uniform speeds up to 3,000 km/s. Their share q of a line of sight
  is Beta(20 i, 20 (1 - i)) with mean i = `interlopers`; their number is Poisson(N q / (1 - q)).

Speeds are absolute: the distribution of the velocities is symmetric about 0, so that its phase carries nothing.
Constants come from the physics and from the variance 0.16 of the label in the paper, not from how well models predict.
"""


@described(model=_MODEL)
def make_dark_matter_like(
    n_clusters: int = 5_000, n_lines_of_sight: int = 3, *, interlopers: float = 0.1, random_state: RandomState = None
) -> tuple[Bags, Floats, NDArray[np.int64]]:
    """Simulate clusters of galaxies seen from several sides, whose label is log mass: a stand-in of the ML1 catalogue.

    {model}

    Parameters
    ----------
    n_clusters, n_lines_of_sight : int
        The number of clusters, and of bags made of each.
    interlopers : float
        The mean share of galaxies that do not belong to the cluster, from 0 to 0.5.
    random_state : None, int, Generator or RandomState
        The seed.

    Returns
    -------
    bags : Bags
        One bag for each line of sight, those of one cluster in a row, with one column, the speed in km/s; members come
        before interlopers. Their labels are `y`.
    y : array of shape (n_clusters * n_lines_of_sight,)
        The decadic logarithm of the mass in solar masses / h.
    groups : array of shape (n_clusters * n_lines_of_sight,)
        The number of the bag's cluster, for splitters as GroupKFold: the lines of sight to one cluster share its
        galaxies, and must not be split.

    See Also
    --------
    load_dark_matter : A catalogue of one's own.

    Examples
    --------
    >>> from sklearn.model_selection import GroupShuffleSplit
    >>> from uptonoise.datasets import make_dark_matter_like
    >>> bags, y, groups = make_dark_matter_like(100, 3, random_state=0)
    >>> len(bags), bags.columns, groups[:5]
    (300, ('speed',), array([0, 0, 0, 1, 1]))
    >>> train, test = next(GroupShuffleSplit(random_state=0).split(bags, y, groups))
    >>> set(groups[train]) & set(groups[test])
    set()
    """
    n, lines = positive_int(n_clusters, "n_clusters"), positive_int(n_lines_of_sight, "n_lines_of_sight")
    if not isinstance(interlopers, numbers.Real) or not 0 <= interlopers <= 0.5:
        raise ValueError(f"interlopers must be a share from 0 to 0.5; got {interlopers!r}")
    generator = as_generator(random_state)
    y = np.repeat(_log_masses(generator, n), lines)
    mass = 10 ** (y[::lines] - _LOG_MASS_MIN)
    n_members = np.maximum(generator.poisson(_MEMBERS * mass), 1)
    members = _member_speeds(generator, _DISPERSION * np.cbrt(mass), n_members, lines)
    n_interlopers = _interloper_counts(generator, n_members, lines, interlopers)
    background = generator.uniform(0, _INTERLOPER_SPEED, size=n_interlopers.sum())
    bag_numbers = np.arange(n * lines).reshape(n, lines)
    bag_of_row = np.concatenate(
        [np.repeat(bag_numbers, n_members, axis=0).ravel(), np.repeat(bag_numbers.ravel(), n_interlopers.ravel())]
    )
    speeds = np.concatenate([members.ravel(), background])[np.argsort(bag_of_row, kind="stable")]
    return Bags(_split(speeds, bag_of_row), labels=y.tolist(), columns=["speed"]), y, np.repeat(np.arange(n), lines)


def _log_masses(generator: np.random.Generator, n_clusters: int) -> Floats:
    below = generator.random(n_clusters)
    above_min = -np.log1p(below * np.expm1(-_LOG_MASS_SLOPE * _LOG_MASS_RANGE)) / _LOG_MASS_SLOPE
    return np.asarray(_LOG_MASS_MIN + above_min)


def _member_speeds(
    generator: np.random.Generator, dispersion: Floats, n_members: NDArray[np.int64], n_lines_of_sight: int
) -> Floats:
    """Return the speed of each member, cluster after cluster, along each line of sight."""
    n = len(dispersion)
    axes = np.exp(_AXES_LOG_SD * generator.standard_normal((n, 3)))
    axes *= dispersion[:, None] / np.sqrt((axes**2).mean(axis=1, keepdims=True))
    directions = generator.standard_normal((n, n_lines_of_sight, 3))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    along = np.repeat(axes[:, None] * directions, n_members, axis=0)
    return np.asarray(np.abs(np.einsum("mlk,mk->ml", along, generator.standard_normal((len(along), 3)))))


def _interloper_counts(
    generator: np.random.Generator, n_members: NDArray[np.int64], n_lines_of_sight: int, mean_share: float
) -> NDArray[np.int64]:
    shape = (len(n_members), n_lines_of_sight)
    if mean_share == 0:
        return np.zeros(shape, dtype=np.int64)
    a, b = _INTERLOPER_CONCENTRATION * mean_share, _INTERLOPER_CONCENTRATION * (1 - mean_share)
    share = generator.beta(a, b, size=shape)
    return generator.poisson(n_members[:, None] * share / (1 - share))


def _split(speeds: Floats, bag_of_row: NDArray[np.int64]) -> list[Floats]:
    return np.split(speeds[:, None], np.cumsum(np.bincount(bag_of_row))[:-1])


def load_dark_matter(path: str | os.PathLike[str] | None = None) -> tuple[Bags, Floats, NDArray[np.int64]]:
    """Read a catalogue of galaxy velocities in clusters, from a CSV file with one row for each galaxy.

    The paper's ML1 catalogue is not public: it came from the authors of Ntampaka et al., "A machine learning approach
    for dynamical mass measurements of galaxy clusters" (Astrophysical Journal 803, 2015), who made it from the
    MultiDark MDPL simulation. Its file format is not known here; bring it, or a catalogue of your own, into this one.

    Parameters
    ----------
    path : path, optional
        The file, or a folder that holds ``dark_matter.csv`` or ``dark_matter.csv.gz``; by default the folder named in
        the environment variable ``UPTONOISE_DATA``, then ``data`` and ``../shared/data``. Its first line must name the
        columns, in any order: ``cluster`` and ``line_of_sight``, whole numbers that together make a bag; ``velocity``
        along the line of sight, relative to the cluster's; ``log_mass``, one value for each cluster. Other columns are
        left out.

    Returns
    -------
    bags : Bags
        One bag for each line of sight to a cluster, sorted by both, with one column, the absolute velocity; ids are
        strings "cluster/line_of_sight", the labels are `y`.
    y : array of shape (n_bags,)
        The log masses, as the file has them.
    groups : array of shape (n_bags,)
        The cluster of each bag; lines of sight to one cluster must not be split.

    See Also
    --------
    make_dark_matter_like : A simulated stand-in.

    Examples
    --------
    >>> from uptonoise.datasets import load_dark_matter
    >>> bags, y, groups = load_dark_matter("dark_matter.csv")  # doctest: +SKIP
    """
    file = data_file(path, _FILES, _MISSING)
    table = _galaxies(file)
    keys, first_rows, bag_of_row = np.unique(table[:, :2], axis=0, return_index=True, return_inverse=True)
    bag_of_row = bag_of_row.ravel()  # numpy 2.0 gives it a second axis
    groups, y = keys[:, 0].astype(np.int64), table[first_rows, 3]
    _, first_bags, cluster_of_bag = np.unique(groups, return_index=True, return_inverse=True)
    differs = table[:, 3] != y[first_bags[cluster_of_bag]][bag_of_row]
    if differs.any():
        row = int(np.argmax(differs))
        changes = f"that of cluster {table[row, 0]:.0f} changes in row {row + 1} below the header"
        raise ValueError(f"{file} must have one log_mass for each cluster; {changes}")
    speeds = np.abs(table[:, 2])[np.argsort(bag_of_row, kind="stable")]
    ids = [f"{cluster:.0f}/{line:.0f}" for cluster, line in keys]
    return Bags(_split(speeds, bag_of_row), ids=ids, labels=y.tolist(), columns=["speed"]), y, groups


def _galaxies(file: Path) -> Floats:
    """Return the columns of the file that are used, in their order."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8-sig") as lines:
        try:
            header = [name.strip() for name in next(csv.reader(lines), [])]
            absent = [name for name in _FILE_COLUMNS if name not in header]
            if absent:
                raise ValueError(f"its first line must name the columns {', '.join(_FILE_COLUMNS)}; it lacks {absent}")
            wanted = [header.index(name) for name in _FILE_COLUMNS]
            rows = [line for line in lines if line.strip()]
            if not rows:
                raise ValueError("it has no rows")
            table = np.loadtxt(rows, delimiter=",", quotechar='"', comments=None, usecols=wanted, ndmin=2)
        except (EOFError, OSError, ValueError, zlib.error) as error:
            raise ValueError(f"{file} is not a CSV file of galaxies: {error}") from None
    fractional = table[:, :2] % 1 != 0
    for wrong, expected in (
        (~np.isfinite(table), "finite numbers"),
        (fractional, "whole numbers as cluster and line_of_sight"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=1))) + 1
            raise ValueError(f"{file} must have {expected}; row {row} below the header has not")
    return table
