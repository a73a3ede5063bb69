"""Approximate Bayesian computation with a learnt summary: Algorithms 2 and 3 of the paper's Appendix E.

    learn    theta_i ~ prior, bag B_i ~ simulator; m, a regression of theta on B
    weigh    theta_k ~ prior, bag B_k ~ simulator; weight exp(-norm(m(B_k) - m(B*))^2 / epsilon), B* the observed bag

Parameters are standardised by their training draws before m is learnt, so that all of them count alike in the norm.
Particles come in blocks. Of each block only parameters and summaries are kept, so that memory does not hold rows.
"""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.parameters import with_parameters
from uptonoise._util.random import RandomState
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_flag, positive_int
from uptonoise._util.warning import warn
from uptonoise.bags import Bags
from uptonoise.inference.budget import DRAWS, PARTICLES, TRAINING, Plan
from uptonoise.inference.observed import BLOCK_BAGS, Sized, Units, is_unlike, particles_of
from uptonoise.inference.options import Simulating
from uptonoise.inference.posterior import TRUSTED_SIZE, Posterior, SmallSampleWarning
from uptonoise.inference.priors import Prior
from uptonoise.inference.simulation import (
    Part,
    SimulationError,
    Simulations,
    as_bags,
    joined,
    simulated,
    warn_of_failures,
)
from uptonoise.inference.tolerance import Tolerance, chosen_tolerance, weights_within
from uptonoise.inference.transforms import adjusted
from uptonoise.rows import aligned, one_sample, read_rows

Summary = Callable[[Bags], Floats]


class UnlikeSimulationsWarning(UserWarning):
    """The observed bag has a summary outside the range of all simulations."""


class _Weighed(NamedTuple):
    """A block of particles, with its rows in `part` where they are kept."""

    theta: Floats
    summaries: Floats
    profiles: Floats
    sizes: NDArray[np.int64]
    n_failed: int
    part: Part | None


@dataclass
class _Simulated:
    """The columns that simulated bags have, for matching and for messages."""

    columns: tuple[str, ...]
    named: bool
    name: str = "the simulations"


@dataclass
class _Run:
    """A fit that is not finished: what it has so far, to go on with after an interruption."""

    settings: tuple[Any, ...]
    plan: Plan | None
    training: dict[int, Part] = field(default_factory=dict)
    summary: Summary | None = None
    units: Units | None = None
    particles: dict[int, _Weighed] = field(default_factory=dict)


class _Fitted:
    """What there is after a fit."""

    training_: Simulations
    theta_: Floats
    summaries_: Floats
    names_: tuple[str, ...]
    n_failed_: int
    particles_: Simulations | None
    seed_: int
    _run: _Run | None = None
    _summary: Summary | None = None
    _columns: tuple[tuple[str, ...], bool]
    _support: tuple[Floats, Floats]
    _plan: Plan | None
    _units: Units  # of profiles, which particles and what is observed have
    _profiles: Floats
    _sizes: tuple[int, int]  # the fewest and the most rows of particles
    _sized: dict[int, Sized]


@with_parameters
class BagABC(_Fitted, ABC):
    """Base class of all kinds of inference here; a subclass says how bags are summarised."""

    prior: Any = field(kw_only=False)
    simulator: Any = field(kw_only=False)
    n_particles: int = 10_000
    epsilon: float | None = None
    quantile: float | None = None
    ess: float | None = None
    adjust: bool = False
    keep_rows: bool = False
    vectorized: bool = False
    block_size: int | None = None
    skip_failures: bool = False
    cache: str | os.PathLike[str] | None = None
    n_jobs: int | None = None
    progress: bool | None = None
    random_state: RandomState = None

    _uniform_kernel = False
    _learns = True  # from training simulations

    def train(self, training: Simulations | None = None) -> Self:
        """Learn the summary, and simulate no particles: for :func:`pyabc_sumstat`, which has its own.

        Parameters
        ----------
        training : Simulations, optional
            What to learn from, instead of new simulations.

        Returns
        -------
        self
        """
        self._forget()
        self._learn(self._start(training is None, training), training)
        return self

    def fit(self, training: Simulations | None = None, particles: Simulations | None = None) -> Self:
        """Simulate, learn the summary, and summarise the particles.

        After an interruption, or after a simulator that failed was repaired, it goes on with what is there already.

        Parameters
        ----------
        training, particles : Simulations, optional
            Simulations to learn from and to weigh, instead of new ones: those of another fit, or your own. They should
            not be the same ones.

        Returns
        -------
        self
        """
        self._tolerance()
        n_particles = positive_int(self.n_particles, "n_particles")
        run = self._start(particles is None or (training is None and self._learns), training)
        self._forget()
        summary = self._learn(run, training)
        if particles is None:
            self._weigh(run, summary, n_particles)
        else:
            self._use(particles, summary)
        self._scale = self._scales(self.summaries_)
        self.summaries_ = self.summaries_ / self._scale
        self._sized = {}
        if run.plan is not None or self.prior is not None:
            prior = Prior.of(self.prior) if run.plan is None else run.plan.prior
            self._support = prior.low, prior.high
        else:
            self._support = np.full(len(self.names_), -np.inf), np.full(len(self.names_), np.inf)
        self._plan = run.plan
        self._run = None
        return self

    def summary(self, bags: Any) -> Floats:
        """Return the summary of each bag, in the units that distances are taken in once particles were simulated.

        Parameters
        ----------
        bags : Bags, list of arrays, or 3-D array
            The bags.

        Returns
        -------
        array of shape (n_bags, q)
        """
        if self._summary is None:
            raise ValueError("this summary is not learnt yet; call fit() or train() first")
        given = bags if isinstance(bags, Bags) else Bags(bags)
        return np.asarray(self._summary(given) / getattr(self, "_scale", 1.0))

    def posterior(
        self,
        observed: Any,
        *,
        epsilon: float | None = None,
        quantile: float | None = None,
        ess: float | None = None,
        adjust: bool | None = None,
    ) -> Posterior:
        """Return the posterior of the parameters given one observed bag.

        Where the bag has fewer rows than all simulated ones, particles are summarised again with as many. Where it has
        more, that is done if the simulator takes ``n_rows``; else the posterior is wider than it could be.

        Parameters
        ----------
        observed : array, tensor, frame or RowSource
            One sample, with the columns of the simulated ones.
        epsilon, quantile, ess : float, optional
            The tolerance for this bag, instead of that of the constructor.
        adjust : bool, optional
            Whether to adjust by regression, instead of what the constructor says.

        Returns
        -------
        Posterior

        Warns
        -----
        SmallSampleWarning
            Where the effective sample size is too small to trust.
        UnlikeSimulationsWarning
            Where nothing that was simulated is like what was observed: another location, more noise.
        """
        if not hasattr(self, "theta_"):
            raise ValueError("there are no particles yet; call fit() before posterior()")
        tolerance = self._tolerance(epsilon=epsilon, quantile=quantile, ess=ess)
        source = one_sample(observed, "observed")
        columns, named = self._columns
        rows = read_rows(aligned(source, _Simulated(columns, named)))
        bag = as_bags(rows, np.array([len(rows)]), columns if named else source.columns, named or source.named)
        particles, at = particles_of(self, int(bag.sizes[0])), self.summary(bag)[0]
        posterior = self._weighted(at, tolerance, self.adjust if adjust is None else adjust, particles)
        outside = (at < particles.summaries.min(axis=0)).any() or (at > particles.summaries.max(axis=0)).any()
        if outside or is_unlike(self._units.profiles(bag)[0], particles.profiles, posterior.weights):
            what = "the summary" if outside else "the location, the spread or the noise"
            warn(
                f"{what} of what was observed is outside the range of all that was simulated: the model or its "
                "prior does not produce such data, and the posterior is an extrapolation",
                UnlikeSimulationsWarning,
            )
        if round(posterior.ess) < TRUSTED_SIZE:  # a target that is met up to rounding is met
            warn(
                f"the posterior rests on particles worth only {posterior.ess:.1f}, fewer than {TRUSTED_SIZE:g}: "
                "simulate more particles, or take a larger epsilon, quantile or ess",
                SmallSampleWarning,
            )
        return posterior

    def _weighted(self, at: Floats, tolerance: Tolerance, adjust: bool, particles: Sized | None = None) -> Posterior:
        """Return the posterior for an observed summary."""
        theta, summaries, _ = particles or Sized(self.theta_, self.summaries_, self._profiles)
        squares = np.sum((summaries - at) ** 2, axis=1)
        weights, epsilon = weights_within(squares, tolerance, self._uniform_kernel)
        moved = adjusted(theta, summaries - at, weights, self._support) if checked_flag(adjust, "adjust") else theta
        simulate = None if self._plan is None else self._predict
        return Posterior(moved, weights, self.names_, epsilon, np.sqrt(squares), theta, simulate)

    def _predict(self, theta: Floats, generator: np.random.Generator) -> Bags:
        assert self._plan is not None
        part = simulated(self.simulator, self.vectorized, theta, (int(generator.integers(2**63)), DRAWS, 0), None)
        if part.problems:
            place, problem = next(iter(part.problems.items()))
            raise SimulationError(f"the simulator failed for {self._plan.prior.in_words(theta[place])}: {problem}")
        return part.bags

    def _tolerance(self, **given: float | None) -> Tolerance:
        """Return the tolerance given, or else that of the constructor."""
        own = {"epsilon": self.epsilon, "quantile": self.quantile, "ess": self.ess}
        return chosen_tolerance(given, own, n_particles=self.n_particles)

    def _start(self, simulates: bool, training: Simulations | None) -> _Run:
        """Return the run to go on with, or a new one."""
        own = (self.prior, self.random_state, self.n_particles, self.vectorized, self.block_size, self.keep_rows)
        settings = (*own, str(self.cache), *self._learning(), training)  # which must be the same to go on
        if not simulates and self.simulator is None:
            return _Run(settings, None)
        if self._run is not None and self._run.settings == settings and self._run.plan is not None:
            changes = {"simulator": self.simulator, "skip_failures": self.skip_failures, "n_jobs": self.n_jobs}
            self._run.plan = replace(self._run.plan, **changes)
            return self._run
        options: dict[str, Any] = {name: getattr(self, name) for name in Simulating.__annotations__}
        plan = Plan.checked(self.prior, self.simulator, **options)
        self._run = _Run(settings, plan)
        self.seed_ = plan.seed
        return self._run

    def _forget(self) -> None:
        """Drop an earlier fit, so that it is not mistaken for the new one where that fails."""
        self._summary = None
        for name in ("theta_", "summaries_", "particles_", "_scale", "_sized"):
            self.__dict__.pop(name, None)

    def _learn(self, run: _Run, training: Simulations | None) -> Summary:
        if self._learns:
            if training is None:
                assert run.plan is not None
                training = run.plan.gathered(TRAINING, positive_int(self.n_training, "n_training"), run.training)  # type: ignore[attr-defined]
            elif not isinstance(training, Simulations):
                raise ValueError(f"training must be Simulations; got a {type(training).__name__}")
            self.training_ = training
            self.names_, self._columns = training.names, (training.bags.columns, training.bags.named)
        if run.summary is None:
            generator = np.random.default_rng(0) if run.plan is None else run.plan.generator(TRAINING, 2**31)
            run.summary = self._learnt(self.training_ if self._learns else None, int(generator.integers(2**31)))
        self._summary = run.summary
        return run.summary

    def _weigh(self, run: _Run, summary: Summary, n: int) -> None:
        """Simulate the particles block by block, and keep of each what weights need."""
        plan = run.plan
        assert plan is not None
        keep_rows = checked_flag(self.keep_rows, "keep_rows")
        if self._learns and plan.columns is None:
            plan.columns = self._columns
        for number, part in plan.parts(PARTICLES, n, run.particles):
            summaries = profiles = part.values  # none where all failed
            if len(part.values):
                bags = part.bags
                run.units = self._units = run.units or Units.of(bags)
                profiles, summaries = self._units.profiles(bags), summary(bags)
            kept_part = part if keep_rows else None
            run.particles[number] = _Weighed(
                part.came, summaries, profiles, part.came_sizes, len(part.problems), kept_part
            )
        blocks = [run.particles[number] for number in sorted(run.particles)]
        came = [block for block in blocks if len(block.theta)]
        failed = sum(block.n_failed for block in blocks)
        warn_of_failures(failed, n, bool(came))
        self.theta_ = np.concatenate([block.theta for block in came])
        self.summaries_ = np.concatenate([block.summaries for block in came])
        self._profiles = np.concatenate([block.profiles for block in came])
        self._sizes = min(block.sizes.min() for block in came), max(block.sizes.max() for block in came)
        self.n_failed_ = failed + (self.training_.n_failed if self._learns else 0)
        self.names_ = plan.prior.names
        assert plan.columns is not None
        self._columns = plan.columns
        kept = [block.part for block in blocks if block.part is not None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of failures, as above
            self.particles_ = joined(kept, self.names_) if self.keep_rows else None

    def _use(self, particles: Simulations, summary: Summary) -> None:
        """Take particles that are given, a block at a time."""
        if not isinstance(particles, Simulations):
            raise ValueError(f"particles must be Simulations; got a {type(particles).__name__}")
        if self._learns and particles.theta.shape[1] != self.training_.theta.shape[1]:
            known, given = list(self.names_), list(particles.names)
            raise ValueError(f"particles must have the parameters of training, {known}; got {given}")
        starts = range(0, len(particles), BLOCK_BAGS)
        blocks = [summary(particles.bags[start : start + BLOCK_BAGS]) for start in starts]
        self.theta_, self.summaries_ = particles.theta, np.concatenate(blocks)
        self._units = Units.of(particles.bags[:BLOCK_BAGS])
        self._profiles = self._units.profiles(particles.bags)
        self._sizes = particles.bags.sizes.min(), particles.bags.sizes.max()
        self.names_, self.particles_ = particles.names, particles
        self.n_failed_ = particles.n_failed + (self.training_.n_failed if self._learns else 0)
        self._columns = (particles.bags.columns, particles.bags.named)

    def _learning(self) -> tuple[Any, ...]:
        """Return what the learnt summary depends on."""
        return ()

    def _scales(self, summaries: Floats) -> Floats:
        """Return what summaries are divided by before distances are taken; 1 where they have units already."""
        return np.ones(summaries.shape[1])

    @abstractmethod
    def _learnt(self, training: Simulations | None, seed: int) -> Summary:
        """Return the summary, learnt from simulations."""

    def __repr__(self) -> str:
        fitted = f", {len(self.theta_):,} particles" if hasattr(self, "theta_") else ", not fitted"
        names = f" of {', '.join(self.names_)}" if hasattr(self, "names_") else ""
        return f"{type(self).__name__}({getattr(self.simulator, '__name__', self.simulator)}{fitted}{names})"
