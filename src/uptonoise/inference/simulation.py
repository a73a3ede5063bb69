"""Simulated bags with the parameters that they were simulated from, and blocks of them.

A block holds what came and what failed, so that it can be completed later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.storage import load_archive, save_archive
from uptonoise._util.typing import Floats
from uptonoise._util.warning import warn
from uptonoise._util.wording import counted
from uptonoise.bags import BagRows, Bags, offsets_of
from uptonoise.inference.posterior import checked_names
from uptonoise.rows import aligned, as_real_array, numbered_columns, one_sample, read_rows

_KIND = "block of simulations"
_VERSION = 1


class SimulationError(RuntimeError):
    """A simulator failed, or returned what is not a bag; the message says for which parameters."""


@dataclass(frozen=True, eq=False, repr=False)
class Simulations:
    """Parameters and the bags that were simulated from them: what several summaries can be trained on.

    Parameters
    ----------
    theta : array of shape (n,) or (n, p)
        The parameters.
    bags : Bags, list of arrays, or 3-D array
        A bag for each of them.
    names : sequence of str, optional
        What the parameters are called.
    n_failed : int
        How many simulations failed and were left out.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.inference import Simulations
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.normal(size=100)
    >>> Simulations(theta, rng.normal(theta[:, None, None], size=(100, 20, 1)), ["location"])
    Simulations(100 of location: 20 rows, 1 column)
    """

    theta: Floats
    bags: Bags
    names: tuple[str, ...] = ()
    n_failed: int = 0

    def __post_init__(self) -> None:
        theta = as_real_array(self.theta, "theta").astype(np.float64)
        theta = theta[:, None] if theta.ndim == 1 else theta
        bags = self.bags if isinstance(self.bags, Bags) else Bags(self.bags)
        if theta.ndim != 2 or len(theta) != len(bags):
            raise ValueError(f"theta must have a row for each of {counted(len(bags), 'bag')}; got shape {theta.shape}")
        if not np.isfinite(theta).all():
            raise ValueError("theta must be finite; got NaN or infinite numbers")
        names = checked_names(self.names, theta.shape[1])
        for name, value in (("theta", theta), ("bags", bags), ("names", names)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.theta)

    def __getitem__(self, key: slice | NDArray[Any]) -> Simulations:
        return Simulations(self.theta[key], self.bags[key], self.names)

    def __repr__(self) -> str:
        sizes = self.bags.sizes
        rows = counted(int(sizes.min()), "row") if np.ptp(sizes) == 0 else f"{sizes.min():,} to {sizes.max():,} rows"
        failed = f", {self.n_failed:,} failed" if self.n_failed else ""
        columns = counted(self.bags.n_columns, "column")
        return f"Simulations({len(self):,} of {', '.join(self.names)}: {rows}, {columns}{failed})"


class Part(NamedTuple):
    """A block of simulations: all parameters, the rows of the bags that came, their sizes (0: none), what failed."""

    theta: Floats
    values: Floats
    sizes: NDArray[np.int64]
    columns: tuple[str, ...]
    named: bool
    problems: dict[int, str]

    @property
    def came(self) -> Floats:
        """The parameters of the bags that came."""
        return self.theta[self.sizes > 0]

    @property
    def came_sizes(self) -> NDArray[np.int64]:
        """The sizes of the bags that came."""
        return self.sizes[self.sizes > 0]

    @property
    def bags(self) -> Bags:
        """The bags that came."""
        return as_bags(self.values, self.came_sizes, self.columns, self.named)

    def completed(self, other: Part) -> Part:
        """Return this block with those simulations of another that this one lacks."""
        sizes = np.where(self.sizes > 0, self.sizes, other.sizes)
        pieces: dict[int, Floats] = {}
        for part in (other, self):
            rows = np.split(part.values, np.cumsum(part.came_sizes)[:-1]) if len(part.values) else []
            pieces |= dict(zip(np.flatnonzero(part.sizes).tolist(), rows, strict=True))
        columns = self if self.values.size else other
        values = np.concatenate([pieces[place] for place in sorted(pieces)]) if pieces else self.values
        return Part(self.theta, values, sizes, columns.columns, columns.named, other.problems)

    def checked(self, columns: tuple[str, ...], named: bool) -> Part:
        """Return this block, its bags turned to failures where they have other columns than the first ones had."""
        same = set(self.columns) == set(columns) if self.named and named else len(self.columns) == len(columns)
        if same or not len(self.values):
            return self
        own, others = (
            f"the columns {list(names)}" if are_named else counted(len(names), "column")
            for names, are_named in ((self.columns, self.named), (columns, named))
        )
        problem = f"it returned {own}, and other simulations {others}"
        problems = self.problems | {int(place): problem for place in np.flatnonzero(self.sizes)}
        return Part(self.theta, np.empty((0, len(columns))), np.zeros_like(self.sizes), columns, named, problems)

    def save(self, path: Path) -> None:
        """Write this block to a file."""
        problems = {str(place): problem for place, problem in self.problems.items()}
        header = {"columns": list(self.columns), "named": self.named, "problems": problems}
        save_archive(path, _KIND, _VERSION, header, {"theta": self.theta, "values": self.values, "sizes": self.sizes})

    @classmethod
    def load(cls, path: Path) -> Part:
        """Read a block that :meth:`save` wrote."""
        header, arrays = load_archive(path, _KIND, _VERSION)
        try:
            problems = {int(place): str(problem) for place, problem in header["problems"].items()}
            columns, named = tuple(header["columns"]), bool(header["named"])
            return cls(arrays["theta"], arrays["values"], arrays["sizes"], columns, named, problems)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is not a {_KIND}: {error}") from None


def as_bags(values: Floats, sizes: NDArray[np.int64], columns: tuple[str, ...], named: bool) -> Bags:
    """Return bags of rows that are checked already."""
    return Bags._in_order(values, offsets_of(sizes), np.arange(len(sizes)), None, columns, named)


def joined(parts: list[Part], names: tuple[str, ...]) -> Simulations:
    """Return the simulations of blocks, and warn of those that failed."""
    came = [part for part in parts if len(part.values)]
    n_failed = sum(len(part.problems) for part in parts)
    warn_of_failures(n_failed, sum(len(part.theta) for part in parts), bool(came))
    theta = np.concatenate([part.came for part in came])
    return Simulations(theta, Bags.concatenate([part.bags for part in came]), names, n_failed)


def warn_of_failures(n_failed: int, n: int, any_came: bool) -> None:
    """Warn where simulations were left out, and raise where none is left."""
    if not any_came:
        raise SimulationError(f"all {n:,} simulations failed; look at one with skip_failures=False")
    if n_failed:
        warn(
            f"{n_failed:,} of {n:,} simulations failed and are left out: what is learnt is as if the prior excluded "
            "such parameters",
            UserWarning,
        )


def simulated(
    simulator: Any, vectorized: bool, theta: Floats, words: tuple[int, int, int], before: Part | None
) -> Part:
    """Return a block of simulations, or only of those that the block before lacks; it names the failures."""
    seed, *place = words

    def generator(key: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*place, key)))

    if vectorized and before is None:
        try:
            return _block_of_vectorized(theta, simulator(theta, generator(1)))
        except Exception as error:
            whole: Exception = error
    wanted = range(len(theta)) if before is None else np.flatnonzero(before.sizes == 0).tolist()
    bags: dict[int, Any] = {}
    problems: dict[int, str] = {}
    for number in wanted:
        try:
            bags[number] = _simulated_bag(simulator, vectorized, theta[number], generator(2 + number))
        except Exception as error:
            problems[number] = _in_words(error)
    if vectorized and before is None and not problems:
        problems = dict.fromkeys(bags, f"{_in_words(whole)} (for {len(theta)} draws at once; each of them alone works)")
        bags = {}
    return _gathered(theta, bags, problems)


def _simulated_bag(simulator: Any, vectorized: bool, theta: Floats, generator: np.random.Generator) -> Any:
    """Return one bag, checked."""
    if vectorized:
        made = _block_of_vectorized(theta[None], simulator(theta[None], generator))
        if made.problems:
            raise ValueError(made.problems[0])
        return made.bags
    given = simulator(float(theta[0]) if len(theta) == 1 else theta.copy(), generator)
    source = one_sample(given, "what it returned")
    return as_bags(rows := read_rows(source), np.array([len(rows)]), source.columns, source.named)


def _block_of_vectorized(theta: Floats, given: Any) -> Part:
    """Return what a vectorised simulator made; bags with rows that are not finite are failures."""
    k = len(theta)
    if isinstance(given, np.ndarray) and given.ndim == 3 and given.dtype != object:
        cube = as_real_array(given, "what it returned").astype(np.float64, copy=False)
        if len(cube) != k:
            raise ValueError(f"it returned {counted(len(cube), 'bag')} for {k} draws")
        if 0 in cube.shape[1:]:
            raise ValueError(f"it returned empty bags, an array of shape {cube.shape}")
        fine = np.isfinite(cube).all(axis=(1, 2))
        columns, named = numbered_columns(cube.shape[2]), False
        sizes = np.where(fine, cube.shape[1], 0)
        values = cube if fine.all() else cube[fine]
        problems = {int(place): "it returned NaN or infinite numbers" for place in np.flatnonzero(~fine)}
        return Part(theta, values.reshape(-1, cube.shape[2]), sizes, columns, named, problems)
    bags = given if isinstance(given, Bags) else Bags(given)
    if len(bags) != k:
        raise ValueError(f"it returned {counted(len(bags), 'bag')} for {k} draws")
    return Part(theta, np.asarray(bags.values, dtype=np.float64), bags.sizes, bags.columns, bags.named, {})


def _gathered(theta: Floats, bags_by_number: Mapping[int, Bags], problems: dict[int, str]) -> Part:
    """Return a block from single bags; those with other columns than the first are failures."""
    sizes = np.zeros(len(theta), dtype=np.int64)
    if not bags_by_number:
        return Part(theta, np.empty((0, 0)), sizes, (), False, problems)
    first = next(iter(bags_by_number.values()))
    good: list[Floats] = []
    for number, bags in bags_by_number.items():
        part = Part(theta[:1], bags.values, bags.sizes, bags.columns, bags.named, {})
        wrong = part.checked(first.columns, first.named).problems
        if wrong:
            problems[number] = wrong[0]
            continue
        good.append(bags.values if bags.columns == first.columns else read_rows(aligned(BagRows(bags), BagRows(first))))
        sizes[number] = len(bags.values)
    return Part(theta, np.concatenate(good), sizes, first.columns, first.named, problems)


def _in_words(error: Exception) -> str:
    message = " ".join(str(error).split())
    if isinstance(error, ValueError) and message.startswith(("it ", "what it")):
        return message  # our own words about what the simulator returned
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
