"""Simulated bags with the parameters that they were simulated from, in blocks that can be kept and taken up again.

Block b of a stream has seeds of its own: what it holds depends neither on the number of workers nor on which blocks
came before it. So a run that was interrupted goes on with the blocks that are missing, and within a block with the
simulations that failed.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.files import read_arrays, write_arrays, written_whole
from uptonoise._util.progress import Progress
from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import positive_int
from uptonoise._util.wording import counted
from uptonoise.bags import BagRows, Bags
from uptonoise.inference.docs import described
from uptonoise.inference.priors import Prior
from uptonoise.rows import aligned, as_real_array, numbered_columns, one_sample, read_rows

TRAINING, PARTICLES, CHECKS, DRAWS = range(4)
"""The streams of random numbers: no two of them share a simulation."""

_NAMES = ("training", "particles", "checks", "draws")
_BLOCK = 50
_VECTORIZED_BLOCK = 1_000
_AHEAD = 4  # blocks for each worker between two looks at what has come back
_FORMAT = "uptonoise simulations"
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
        p = theta.shape[1]
        names = tuple(self.names) or (("theta",) if p == 1 else tuple(f"theta{number}" for number in range(p)))
        if len(names) != p:
            raise ValueError(f"names must be {p}, one for each parameter; got {list(names)}")
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
    def bags(self) -> Bags:
        """The bags that came."""
        return as_bags(self.values, self.sizes[self.sizes > 0], self.columns, self.named)

    def completed(self, other: Part) -> Part:
        """Return this block with those simulations of another that this one lacks."""
        sizes = np.where(self.sizes > 0, self.sizes, other.sizes)
        pieces = dict(zip(np.flatnonzero(other.sizes).tolist(), _pieces(other), strict=True))
        pieces |= dict(zip(np.flatnonzero(self.sizes).tolist(), _pieces(self), strict=True))
        columns = self if self.values.size else other
        values = np.concatenate([pieces[place] for place in sorted(pieces)]) if pieces else self.values
        return Part(self.theta, values, sizes, columns.columns, columns.named, other.problems)

    def checked(self, columns: tuple[str, ...], named: bool) -> Part:
        """Return this block, its bags turned to failures where they have other columns than the first ones had."""
        same = set(self.columns) == set(columns) if self.named and named else len(self.columns) == len(columns)
        if same or not len(self.values):
            return self
        problem = f"it returned {_listed(self.columns, self.named)}, and other simulations {_listed(columns, named)}"
        problems = self.problems | {int(place): problem for place in np.flatnonzero(self.sizes)}
        nothing = np.empty((0, len(columns)))
        return Part(self.theta, nothing, np.zeros_like(self.sizes), columns, named, problems)


def as_bags(values: Floats, sizes: NDArray[np.int64], columns: tuple[str, ...], named: bool) -> Bags:
    """Return bags of rows that are checked already."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return Bags.__new__(Bags)._set(values, offsets, np.arange(len(sizes)), None, columns, named)


def _pieces(part: Part) -> list[Floats]:
    return np.split(part.values, np.cumsum(part.sizes[part.sizes > 0])[:-1]) if len(part.values) else []


def _listed(columns: tuple[str, ...], named: bool) -> str:
    return f"the columns {list(columns)}" if named else counted(len(columns), "column")


@dataclass
class Plan:
    """How to simulate: what, with which seeds, by how many workers, and where the blocks are kept.

    `unfinished` has blocks with failures, by stream and number, where there is no folder; their bags are not lost.
    """

    prior: Prior
    simulator: Any
    vectorized: bool
    block_size: int
    skip_failures: bool
    n_jobs: int | None
    progress: bool | None
    seed: int
    folder: Path | None = None
    columns: tuple[tuple[str, ...], bool] | None = None
    unfinished: dict[tuple[int, int], Part] = field(default_factory=dict)

    @classmethod
    def checked(
        cls,
        prior: Any,
        simulator: Any,
        *,
        vectorized: bool,
        block_size: int | None,
        skip_failures: bool,
        n_jobs: int | None,
        progress: bool | None,
        random_state: RandomState,
        cache: str | os.PathLike[str] | None,
    ) -> Plan:
        """Return a plan, or raise where it cannot be carried out."""
        if not callable(simulator):
            raise ValueError(f"simulator must be a function simulator(theta, rng); got a {type(simulator).__name__}")
        of_kind = _VECTORIZED_BLOCK if vectorized else _BLOCK
        size = of_kind if block_size is None else positive_int(block_size, "block_size")
        law = Prior.of(prior)
        generator, seed = seeded_generator(random_state)
        plan = cls(
            prior=law,
            simulator=simulator,
            vectorized=bool(vectorized),
            block_size=size,
            skip_failures=bool(skip_failures),
            n_jobs=n_jobs,
            progress=progress,
            seed=int(generator.integers(2**63)) if seed is None else seed,
        )
        return plan if cache is None else plan._in_folder(Path(cache), fresh=random_state is None)

    def _in_folder(self, folder: Path, *, fresh: bool) -> Plan:
        """Return this plan with blocks kept in a folder, which remembers how they were made."""
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"cache must be a folder; {folder} is a file")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "simulations.json"
        made = {
            "format": _FORMAT,
            "version": _VERSION,
            "seed": str(self.seed),
            "block_size": self.block_size,
            "vectorized": self.vectorized,
            "names": list(self.prior.names),
        }
        if not path.exists():
            with written_whole(path) as file:
                file.write(json.dumps(made, indent=1).encode())
            return replace(self, folder=folder)
        try:
            there = json.loads(path.read_text())
            seed = int(there["seed"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} was not written by uptonoise, or is damaged: {error}") from None
        if fresh:
            made["seed"] = there["seed"]
        other = [name for name in made if there.get(name) != made[name]]
        if other:
            differing = ", ".join(f"{name} {there.get(name)!r} there and {made[name]!r} here" for name in other)
            raise ValueError(f"cache={str(folder)!r} holds other simulations ({differing}); name another folder")
        return replace(self, folder=folder, seed=seed if fresh else self.seed)

    def generator(self, *words: int) -> np.random.Generator:
        """Return the random numbers of one place in one stream."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=words))

    def theta_of(self, stream: int, number: int, size: int) -> Floats:
        """Return the parameters of a block."""
        return self.prior.draw(size, self.generator(stream, number, 0))

    def parts(self, stream: int, n: int, known: Iterable[int] = ()) -> Iterator[tuple[int, Part]]:
        """Yield the blocks of n simulations but those known, each with its number; simulate what is not kept.

        Raises
        ------
        SimulationError
            After all that has come is kept, where simulations failed and are not to be skipped.
        """
        sizes = [min(self.block_size, n - start) for start in range(0, n, self.block_size)]
        blocks = [(number, size) for number, size in enumerate(sizes) if number not in set(known)]
        n_known = n - sum(size for _, size in blocks)
        bar = Progress(f"simulating {_NAMES[stream]}", n, self.progress, units="simulations")
        with bar, _parallel(self.n_jobs) as parallel:
            bar.advance(n_known)
            step = _AHEAD * _n_workers(self.n_jobs)
            for start in range(0, len(blocks), step):
                yield from self._window(stream, blocks[start : start + step], parallel, bar)

    def _window(
        self, stream: int, blocks: list[tuple[int, int]], parallel: Any, bar: Progress
    ) -> Iterator[tuple[int, Part]]:
        """Yield some blocks; what failed is told after all of them have come and are kept."""
        from joblib import delayed

        kept = {number: self._kept(stream, number, size) for number, size in blocks}
        missing = [(number, size) for number, size in blocks if not _is_whole(kept[number], self.skip_failures)]
        work = (
            delayed(simulated)(
                self.simulator,
                self.vectorized,
                self.theta_of(stream, number, size),
                (self.seed, stream, number),
                kept[number],
            )
            for number, size in missing
        )
        places = {number for number, _ in missing}
        found = iter(parallel(work))
        failed: list[tuple[int, Part]] = []
        for number, size in blocks:
            part = kept[number]
            if number in places:
                part = self._kept_now(stream, number, part, next(found))
                if part.problems and not self.skip_failures:
                    failed.append((number, part))
            assert part is not None
            if not failed:
                yield number, part
            bar.advance(size)
        if failed:
            raise self._failure(stream, failed)

    def _kept_now(self, stream: int, number: int, before: Part | None, found: Part) -> Part:
        """Keep a block that was simulated now, together with what there was of it before, and return it."""
        if self.columns is None and len(found.values):
            self.columns = (found.columns, found.named)
        part = found if self.columns is None else found.checked(*self.columns)
        part = part if before is None else before.completed(part)
        if self.folder is not None:
            write_arrays(self._path(stream, number, len(part.theta)), _as_arrays(part))
        elif part.problems:
            self.unfinished[stream, number] = part
        else:
            self.unfinished.pop((stream, number), None)
        return part

    def _kept(self, stream: int, number: int, size: int) -> Part | None:
        """Return a block that is kept, whole or in part."""
        if self.folder is None:
            return self.unfinished.get((stream, number))
        path = self._path(stream, number, size)
        if not path.exists():
            return None
        part = _from_arrays(read_arrays(path, "a block of simulations"), path)
        if not np.array_equal(part.theta, self.theta_of(stream, number, size)):
            raise ValueError(f"cache={str(self.folder)!r} holds simulations from another prior; name another folder")
        if self.columns is None and len(part.values):
            self.columns = (part.columns, part.named)
        return part

    def _path(self, stream: int, number: int, size: int) -> Path:
        assert self.folder is not None
        return self.folder / f"{_NAMES[stream]}-{number:06d}-{size}.npz"

    def _failure(self, stream: int, failed: list[tuple[int, Part]]) -> SimulationError:
        _, part = failed[0]
        place, problem = next(iter(part.problems.items()))
        count = sum(len(one.problems) for _, one in failed)
        others = f" ({count - 1:,} more failed)" if count > 1 else ""
        return SimulationError(
            f"the simulator failed for {self.prior.said(part.theta[place])}: {problem}{others}. What was simulated is "
            "kept: repair the simulator and run again, or leave such draws out with skip_failures=True"
        )

    def gathered(self, stream: int, n: int, held: dict[int, Part] | None = None) -> Simulations:
        """Return n simulations with their rows; `held` keeps blocks from one call to the next."""
        held = {} if held is None else held
        for number, part in self.parts(stream, n, held):
            held[number] = part
        return joined([held[number] for number in sorted(held)], self.prior.names)


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
        warnings.warn(
            f"{n_failed:,} of {n:,} simulations failed and are left out: what is learnt is as if the prior excluded "
            "such parameters",
            UserWarning,
            stacklevel=4,
        )


@described
def simulate(
    prior: Any,
    simulator: Any,
    n: int,
    *,
    vectorized: bool = False,
    block_size: int | None = None,
    skip_failures: bool = False,
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    random_state: RandomState = None,
) -> Simulations:
    """Draw parameters from a prior and simulate a bag from each.

    The same seed gives the same simulations whatever `n_jobs`; a larger `n` adds to them where it is a multiple of
    `block_size`. They are those that :class:`PhaseABC` and the others train on with this seed.

    Parameters
    ----------
    {model}
    n : int
        How many.
    {simulating}

    Returns
    -------
    Simulations

    Examples
    --------
    >>> from scipy import stats
    >>> from uptonoise.inference import simulate
    >>> prior = {"location": stats.norm(0, 2), "spread": stats.gamma(2)}
    >>> simulate(prior, lambda theta, rng: rng.normal(theta[0], theta[1], size=(30, 1)), 200, random_state=0)
    Simulations(200 of location, spread: 30 rows, 1 column)
    """
    plan = Plan.checked(
        prior,
        simulator,
        vectorized=vectorized,
        block_size=block_size,
        skip_failures=skip_failures,
        n_jobs=n_jobs,
        progress=progress,
        random_state=random_state,
        cache=cache,
    )
    return plan.gathered(TRAINING, positive_int(n, "n"))


def _parallel(n_jobs: int | None) -> Any:
    from joblib import Parallel

    return Parallel(n_jobs=n_jobs, return_as="generator")


def _n_workers(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    return max(1, int(effective_n_jobs(n_jobs)))


def _is_whole(part: Part | None, skip_failures: bool) -> bool:
    return part is not None and (skip_failures or not part.problems)


def simulated(
    simulator: Any, vectorized: bool, theta: Floats, words: tuple[int, int, int], before: Part | None
) -> Part:
    """Return a block of simulations, or of those that a block before has not; failures are told in it."""
    seed, *place = words

    def generator(key: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*place, key)))

    if vectorized and before is None:
        try:
            return _of_block(theta, simulator(theta, generator(1)))
        except Exception as error:
            whole: Exception = error
    wanted = range(len(theta)) if before is None else np.flatnonzero(before.sizes == 0).tolist()
    found: dict[int, Any] = {}
    problems: dict[int, str] = {}
    for number in wanted:
        try:
            found[number] = _one(simulator, vectorized, theta[number], generator(2 + number))
        except Exception as error:
            problems[number] = _told(error)
    if vectorized and before is None and not problems:
        problems = dict.fromkeys(found, f"{_told(whole)} (for {len(theta)} draws at once; each of them alone works)")
        found = {}
    return _gathered(theta, found, problems)


def _one(simulator: Any, vectorized: bool, theta: Floats, generator: np.random.Generator) -> Any:
    """Return one bag's rows, checked."""
    if vectorized:
        made = _of_block(theta[None], simulator(theta[None], generator))
        if made.problems:
            raise ValueError(made.problems[0])
        return made.bags
    given = simulator(float(theta[0]) if len(theta) == 1 else theta.copy(), generator)
    source = one_sample(given, "what it returned")
    return as_bags(rows := read_rows(source), np.array([len(rows)]), source.columns, source.named)


def _of_block(theta: Floats, given: Any) -> Part:
    """Return what a vectorised simulator made, its bags without finite rows told as failures."""
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


def _gathered(theta: Floats, found: Mapping[int, Bags], problems: dict[int, str]) -> Part:
    """Return a block from single bags; those with other columns than the first are failures."""
    sizes = np.zeros(len(theta), dtype=np.int64)
    if not found:
        return Part(theta, np.empty((0, 0)), sizes, (), False, problems)
    first = next(iter(found.values()))
    good: list[Floats] = []
    for number, bags in found.items():
        part = Part(theta[:1], bags.values, bags.sizes, bags.columns, bags.named, {})
        wrong = part.checked(first.columns, first.named).problems
        if wrong:
            problems[number] = wrong[0]
            continue
        good.append(bags.values if bags.columns == first.columns else read_rows(aligned(BagRows(bags), BagRows(first))))
        sizes[number] = len(bags.values)
    return Part(theta, np.concatenate(good), sizes, first.columns, first.named, problems)


def _told(error: Exception) -> str:
    message = " ".join(str(error).split())
    return (
        message
        if isinstance(error, ValueError) and message.startswith(("it ", "what it"))
        else (f"{type(error).__name__}: {message}" if message else type(error).__name__)
    )


def _as_arrays(part: Part) -> dict[str, Any]:
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "columns": list(part.columns),
        "named": part.named,
        "problems": {str(place): problem for place, problem in part.problems.items()},
    }
    return {"header": np.array(json.dumps(header)), "theta": part.theta, "values": part.values, "sizes": part.sizes}


def _from_arrays(arrays: dict[str, Any], path: Path) -> Part:
    try:
        header = json.loads(str(arrays["header"]))
        if header["format"] != _FORMAT or int(header["version"]) > _VERSION:
            raise ValueError("it was written by something else, or by a newer version of uptonoise")
        problems = {int(place): str(problem) for place, problem in header["problems"].items()}
        columns, named = tuple(header["columns"]), bool(header["named"])
        return Part(arrays["theta"], arrays["values"], arrays["sizes"], columns, named, problems)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a block of simulations: {error}") from None
