"""How simulations are made: in blocks that can be kept and completed.

Block b of a stream has seeds of its own: what it holds depends neither on the number of workers nor on which blocks
came before it. So a run that was interrupted goes on with the blocks that are missing, and within a block with the
simulations that failed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from uptonoise._util.files import written_whole
from uptonoise._util.progress import Progress
from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_flag, checked_jobs, positive_int
from uptonoise.inference.options import Simulating, documented
from uptonoise.inference.priors import Prior
from uptonoise.inference.simulation import Part, SimulationError, Simulations, joined, simulated

TRAINING, PARTICLES, CHECKS, DRAWS = range(4)
"""The streams of random numbers: no two of them share a simulation."""

_NAMES = ("training", "particles", "checks", "draws")
_BLOCK = 50
_VECTORIZED_BLOCK = 1_000
_AHEAD = 4  # blocks per worker between two looks at what has come back
_FORMAT = "uptonoise simulations"
_VERSION = 1


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
        vectorized: bool = False,
        block_size: int | None = None,
        skip_failures: bool = False,
        n_jobs: int | None = None,
        progress: bool | None = None,
        random_state: RandomState = None,
        cache: str | os.PathLike[str] | None = None,
    ) -> Plan:
        """Return a plan, or raise where it cannot be carried out."""
        if not callable(simulator):
            raise ValueError(f"simulator must be a function simulator(theta, rng); got a {type(simulator).__name__}")
        default = _VECTORIZED_BLOCK if checked_flag(vectorized, "vectorized") else _BLOCK
        size = default if block_size is None else positive_int(block_size, "block_size")
        generator, seed = seeded_generator(random_state)
        plan = cls(
            prior=Prior.of(prior),
            simulator=simulator,
            vectorized=bool(vectorized),
            block_size=size,
            skip_failures=checked_flag(skip_failures, "skip_failures"),
            n_jobs=checked_jobs(n_jobs),
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
        from joblib import Parallel, effective_n_jobs

        sizes = [min(self.block_size, n - start) for start in range(0, n, self.block_size)]
        blocks = [(number, size) for number, size in enumerate(sizes) if number not in set(known)]
        n_known = n - sum(size for _, size in blocks)
        bar = Progress(f"simulating {_NAMES[stream]}", n, self.progress, units="simulations")
        with bar, Parallel(n_jobs=self.n_jobs, return_as="generator") as parallel:
            bar.advance(n_known)
            step = _AHEAD * max(1, int(effective_n_jobs(self.n_jobs)))
            for start in range(0, len(blocks), step):
                yield from self._window(stream, blocks[start : start + step], parallel, bar)

    def _window(
        self, stream: int, blocks: list[tuple[int, int]], parallel: Any, bar: Progress
    ) -> Iterator[tuple[int, Part]]:
        """Yield some blocks; what failed is told after all of them have come and are kept."""
        from joblib import delayed

        kept = {number: self._kept(stream, number, size) for number, size in blocks}
        whole = {
            number for number, part in kept.items() if part is not None and (self.skip_failures or not part.problems)
        }
        work = (
            delayed(simulated)(
                self.simulator,
                self.vectorized,
                self.theta_of(stream, number, size),
                (self.seed, stream, number),
                kept[number],
            )
            for number, size in blocks
            if number not in whole
        )
        parts = iter(parallel(work))
        failed: list[Part] = []
        for number, size in blocks:
            part = kept[number]
            if number not in whole:
                part = self._kept_now(stream, number, part, next(parts))
                if part.problems and not self.skip_failures:
                    failed.append(part)
            assert part is not None
            if not failed:
                yield number, part
            bar.advance(size)
        if failed:
            first = failed[0]
            place, problem = next(iter(first.problems.items()))
            count = sum(len(other.problems) for other in failed)
            others = f" ({count - 1:,} more failed)" if count > 1 else ""
            raise SimulationError(
                f"the simulator failed for {self.prior.in_words(first.theta[place])}: {problem}{others}. What was "
                "simulated is kept: repair the simulator and run again, or leave such draws out with skip_failures=True"
            )

    def _kept_now(self, stream: int, number: int, before: Part | None, new: Part) -> Part:
        """Keep a block that was simulated now, together with what there was of it before, and return it."""
        if self.columns is None and len(new.values):
            self.columns = (new.columns, new.named)
        part = new if self.columns is None else new.checked(*self.columns)
        part = part if before is None else before.completed(part)
        if self.folder is not None:
            part.save(self._path(stream, number, len(part.theta)))
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
        part = Part.load(path)
        if not np.array_equal(part.theta, self.theta_of(stream, number, size)):
            raise ValueError(f"cache={str(self.folder)!r} holds simulations from another prior; name another folder")
        if self.columns is None and len(part.values):
            self.columns = (part.columns, part.named)
        return part

    def _path(self, stream: int, number: int, size: int) -> Path:
        assert self.folder is not None
        return self.folder / f"{_NAMES[stream]}-{number:06d}-{size}.npz"

    def gathered(self, stream: int, n: int, held: dict[int, Part] | None = None) -> Simulations:
        """Return n simulations with their rows; `held` keeps blocks from one call to the next."""
        held = {} if held is None else held
        for number, part in self.parts(stream, n, held):
            held[number] = part
        return joined([held[number] for number in sorted(held)], self.prior.names)


@documented
def simulate(
    prior: Any,
    simulator: Any,
    n: int,
    **options: Unpack[Simulating],
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
    return Plan.checked(prior, simulator, **options).gathered(TRAINING, positive_int(n, "n"))
