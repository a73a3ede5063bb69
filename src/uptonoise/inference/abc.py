"""Approximate Bayesian computation with a learnt summary: Algorithms 2 and 3 of the paper's Appendix E.

    learn    theta_i ~ prior, bag B_i ~ simulator; m, a regression of theta on B
    weigh    theta_k ~ prior, bag B_k ~ simulator; weight exp(-norm(m(B_k) - m(B*))^2 / epsilon), B* what was observed

Parameters are standardised by their training draws before m is learnt, so that all of them count alike in the norm.
Particles come in blocks; of each only parameters and summaries are kept, so that memory does not hold rows.
"""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from uptonoise._util.random import RandomState
from uptonoise._util.typing import Floats
from uptonoise._util.validation import positive_int
from uptonoise.bags import Bags
from uptonoise.inference.docs import described
from uptonoise.inference.posterior import Posterior, effective_size, warn_where_small
from uptonoise.inference.priors import Prior
from uptonoise.inference.simulation import (
    DRAWS,
    PARTICLES,
    TRAINING,
    Part,
    Plan,
    SimulationError,
    Simulations,
    as_bags,
    joined,
    simulated,
    warn_of_failures,
)
from uptonoise.inference.statistics import Statistics, moments, quantile_powers
from uptonoise.rows import aligned, one_sample, read_rows

Summary = Callable[[Bags], Floats]

_QUANTILE = 0.02
_BLOCK_BAGS = 1_000
_LEAST_SIZE = 20.0
_LARGEST_EXPONENT = 700.0


class Options(TypedDict, total=False):
    """The options that all kinds of inference share."""

    n_particles: int
    epsilon: float | None
    quantile: float | None
    ess: float | None
    adjust: bool
    vectorized: bool
    block_size: int | None
    skip_failures: bool
    cache: str | os.PathLike[str] | None
    keep_rows: bool
    n_jobs: int | None
    progress: bool | None
    random_state: RandomState


class UnlikeSimulationsWarning(UserWarning):
    """What was observed has a summary outside the range of all that was simulated."""


class _Weighed(NamedTuple):
    """A block of particles after its rows have gone; the block itself where rows are kept."""

    theta: Floats
    summaries: Floats
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
    """A fit on its way: what is there already when it is taken up again after an interruption."""

    settings: tuple[Any, ...]
    plan: Plan | None
    training: dict[int, Part] = field(default_factory=dict)
    summary: Summary | None = None
    particles: dict[int, _Weighed] = field(default_factory=dict)


class BagABC(ABC):
    """What all kinds of inference here share; subclasses say how bags are summarised."""

    training_: Simulations
    theta_: Floats
    summaries_: Floats
    names_: tuple[str, ...]
    n_failed_: int
    particles_: Simulations | None
    seed_: int

    _uniform_kernel = False

    def __init__(
        self,
        prior: Any,
        simulator: Any,
        *,
        n_particles: int = 10_000,
        epsilon: float | None = None,
        quantile: float | None = None,
        ess: float | None = None,
        adjust: bool = False,
        vectorized: bool = False,
        block_size: int | None = None,
        skip_failures: bool = False,
        cache: str | os.PathLike[str] | None = None,
        keep_rows: bool = False,
        n_jobs: int | None = None,
        progress: bool | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.prior = prior
        self.simulator = simulator
        self.n_particles = n_particles
        self.epsilon = epsilon
        self.quantile = quantile
        self.ess = ess
        self.adjust = adjust
        self.vectorized = vectorized
        self.block_size = block_size
        self.skip_failures = skip_failures
        self.cache = cache
        self.keep_rows = keep_rows
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state
        self._run: _Run | None = None
        self._summary: Summary | None = None

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
        self._tolerance({})
        n_particles = positive_int(self.n_particles, "n_particles")
        run = self._start(particles is None or (training is None and self._learns()), training)
        self._forget()
        summary = self._learn(run, training)
        if particles is None:
            self._weigh(run, summary, n_particles)
        else:
            self._use(particles, summary)
        self._scale = self._scales(self.summaries_)
        self.summaries_ = self.summaries_ / self._scale
        self._support = (run.plan.prior.low, run.plan.prior.high) if run.plan is not None else self._unbounded()
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
        """Return the posterior of the parameters given one observed bag, of any number of rows.

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
            Where nothing that was simulated is like what was observed.
        """
        if not hasattr(self, "theta_"):
            raise ValueError("there are no particles yet; call fit() before posterior()")
        found = self._weighted(
            self._observed_summary(observed),
            self._tolerance({"epsilon": epsilon, "quantile": quantile, "ess": ess}),
            self.adjust if adjust is None else adjust,
        )
        warn_where_small(found.ess)
        return found

    def _observed_summary(self, observed: Any) -> Floats:
        source = one_sample(observed, "observed")
        columns, named = self._columns
        rows = read_rows(aligned(source, _Simulated(columns, named)))
        own = tuple(columns) if named else source.columns
        found = self.summary(as_bags(rows, np.array([len(rows)]), own, named or source.named))[0]
        low, high = self.summaries_.min(axis=0), self.summaries_.max(axis=0)
        if ((found < low) | (found > high)).any():
            warnings.warn(
                "the summary of what was observed is outside the range of all that was simulated: the model or its "
                "prior does not produce such data, and the posterior is an extrapolation",
                UnlikeSimulationsWarning,
                stacklevel=3,
            )
        return np.asarray(found)

    def _weighted(self, at: Floats, tolerance: tuple[str, float], adjust: bool) -> Posterior:
        """Return the posterior for an observed summary."""
        squares = np.sum((self.summaries_ - at) ** 2, axis=1)
        epsilon = _epsilon(squares, tolerance, self._uniform_kernel)
        weights = _kernel(squares, epsilon, self._uniform_kernel)
        total = weights.sum()
        if not total > 0:
            raise ValueError(_vanished(squares, epsilon, self._uniform_kernel))
        weights /= total
        theta = self._adjusted(self.summaries_ - at, weights) if adjust else self.theta_
        simulate = None if self._plan is None else self._predict
        return Posterior(theta, weights, self.names_, epsilon, np.sqrt(squares), self.theta_, simulate)

    def _adjusted(self, differences: Floats, weights: Floats) -> Floats:
        """Return particles as they would be at the observed summary, by a weighted linear regression."""
        q = differences.shape[1]
        if effective_size(weights) < q + 2:
            raise ValueError(
                f"adjust=True needs particles worth at least {q + 2}; they are worth {effective_size(weights):.1f}. "
                "Take a larger epsilon, quantile or ess"
            )
        low, high = self._support
        moved = to_line(self.theta_, low, high)
        root = np.sqrt(weights)[:, None]
        design = np.column_stack([np.ones(len(weights)), differences])
        coefficients = np.linalg.lstsq(root * design, root * moved, rcond=None)[0]
        return from_line(moved - differences @ coefficients[1:], low, high)

    def _predict(self, theta: Floats, generator: np.random.Generator) -> Bags:
        assert self._plan is not None
        words = (int(generator.integers(2**63)), DRAWS, 0)
        part = simulated(self.simulator, self.vectorized, theta, words, None)
        if part.problems:
            place, problem = next(iter(part.problems.items()))
            raise SimulationError(f"the simulator failed for {self._plan.prior.said(theta[place])}: {problem}")
        return part.bags

    def _tolerance(self, given: Mapping[str, float | None]) -> tuple[str, float]:
        """Return which of the three ways to choose epsilon is asked for, and its number."""
        own = {"epsilon": self.epsilon, "quantile": self.quantile, "ess": self.ess}
        for asked in (given, own):
            chosen = {name: value for name, value in asked.items() if value is not None}
            if len(chosen) > 1:
                raise ValueError(f"give one of epsilon, quantile and ess; got {' and '.join(chosen)}")
            for name, value in chosen.items():
                most = {"epsilon": np.inf, "quantile": 1.0, "ess": float(self.n_particles)}[name]
                number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
                if not number or not 0 < value <= most or value == np.inf:
                    raise ValueError(f"{name} must be a number above 0 and at most {most:g}; got {value!r}")
                return name, float(value)
        return "quantile", _QUANTILE

    def _start(self, simulates: bool, training: Simulations | None) -> _Run:
        """Return the run to go on with, or a new one."""
        settings = (*self._settings(), training)
        if not simulates and self.simulator is None:
            return _Run(settings, None)
        if self._run is not None and self._run.settings == settings and self._run.plan is not None:
            changes = {"simulator": self.simulator, "skip_failures": self.skip_failures, "n_jobs": self.n_jobs}
            self._run.plan = replace(self._run.plan, **changes)
            return self._run
        plan = Plan.checked(
            self.prior,
            self.simulator,
            vectorized=self.vectorized,
            block_size=self.block_size,
            skip_failures=self.skip_failures,
            n_jobs=self.n_jobs,
            progress=self.progress,
            random_state=self.random_state,
            cache=self.cache,
        )
        self._run = _Run(settings, plan)
        self.seed_ = plan.seed
        return self._run

    def _settings(self) -> tuple[Any, ...]:
        """Return what must be the same for a run to be taken up again."""
        return (
            self.prior,
            self.random_state,
            self.n_particles,
            self.vectorized,
            self.block_size,
            str(self.cache),
            self.keep_rows,
            *self._learning(),
        )

    def _forget(self) -> None:
        """Drop an earlier fit, so that nobody mistakes it for the new one where that fails."""
        self._summary = None
        for name in ("theta_", "summaries_", "particles_", "_scale"):
            if hasattr(self, name):
                delattr(self, name)

    def _learn(self, run: _Run, training: Simulations | None) -> Summary:
        if self._learns():
            if training is None:
                assert run.plan is not None
                training = run.plan.gathered(TRAINING, positive_int(self.n_training, "n_training"), run.training)  # type: ignore[attr-defined]
            elif not isinstance(training, Simulations):
                raise ValueError(f"training must be Simulations; got a {type(training).__name__}")
            self.training_ = training
            self.names_, self._columns = training.names, (training.bags.columns, training.bags.named)
        if run.summary is None:
            run.summary = self._learnt(self.training_ if self._learns() else None, self._seed_of(run))
        self._summary = run.summary
        return run.summary

    def _seed_of(self, run: _Run) -> int:
        if run.plan is None:
            return int(np.random.default_rng(0).integers(2**31))
        return int(run.plan.generator(TRAINING, 2**31).integers(2**31))

    def _weigh(self, run: _Run, summary: Summary, n: int) -> None:
        """Simulate the particles block by block, and keep of each what weights need."""
        plan = run.plan
        assert plan is not None
        if self._learns() and plan.columns is None:
            plan.columns = self._columns
        for number, part in plan.parts(PARTICLES, n, run.particles):
            summaries = summary(part.bags) if len(part.values) else np.empty((0, 0))
            run.particles[number] = _Weighed(part.came, summaries, len(part.problems), part if self.keep_rows else None)
        blocks = [run.particles[number] for number in sorted(run.particles)]
        came = [block for block in blocks if len(block.theta)]
        failed = sum(block.n_failed for block in blocks)
        warn_of_failures(failed, n, bool(came))
        self.theta_ = np.concatenate([block.theta for block in came])
        self.summaries_ = np.concatenate([block.summaries for block in came])
        self.n_failed_ = failed + (self.training_.n_failed if self._learns() else 0)
        self.names_ = plan.prior.names
        assert plan.columns is not None
        self._columns = plan.columns
        kept = [block.part for block in blocks if block.part is not None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # failures have been told above
            self.particles_ = joined(kept, self.names_) if self.keep_rows else None

    def _use(self, particles: Simulations, summary: Summary) -> None:
        """Take particles that are given, a block at a time."""
        if not isinstance(particles, Simulations):
            raise ValueError(f"particles must be Simulations; got a {type(particles).__name__}")
        if self._learns() and particles.theta.shape[1] != self.training_.theta.shape[1]:
            raise ValueError(
                f"particles must have the parameters of training, {list(self.names_)}; got {list(particles.names)}"
            )
        starts = range(0, len(particles), _BLOCK_BAGS)
        found = [summary(particles.bags[start : start + _BLOCK_BAGS]) for start in starts]
        self.theta_, self.summaries_ = particles.theta, np.concatenate(found)
        self.names_, self.particles_ = particles.names, particles
        self.n_failed_ = particles.n_failed + (self.training_.n_failed if self._learns() else 0)
        self._columns = (particles.bags.columns, particles.bags.named)

    def _unbounded(self) -> tuple[Floats, Floats]:
        if self.prior is not None:
            law = Prior.of(self.prior)
            return law.low, law.high
        return np.full(len(self.names_), -np.inf), np.full(len(self.names_), np.inf)

    def _learns(self) -> bool:
        """Tell whether there is anything to learn from training simulations."""
        return True

    def _learning(self) -> tuple[Any, ...]:
        """Return what the learnt summary depends on."""
        return ()

    def _scales(self, summaries: Floats) -> Floats:
        """Return what summaries are divided by before distances are taken: nothing, where they are in units already."""
        return np.ones(summaries.shape[1])

    @abstractmethod
    def _learnt(self, training: Simulations | None, seed: int) -> Summary:
        """Return the summary, learnt from simulations."""

    def __repr__(self) -> str:
        fitted = f", {len(self.theta_):,} particles" if hasattr(self, "theta_") else ", not fitted"
        names = f" of {', '.join(self.names_)}" if hasattr(self, "names_") else ""
        return f"{type(self).__name__}({getattr(self.simulator, '__name__', self.simulator)}{fitted}{names})"


class _Predicted:
    """The predictions of fitted regressors, one of all parameters or one for each, as a summary."""

    def __init__(self, regressors: list[Any]) -> None:
        self.regressors = regressors

    def __call__(self, bags: Bags) -> Floats:
        columns = [np.asarray(one.predict(bags), dtype=np.float64).reshape(len(bags), -1) for one in self.regressors]
        found = np.concatenate(columns, axis=1)
        if not np.isfinite(found).all():
            raise ValueError("regressor must predict finite numbers; got NaN or infinite ones")
        return found


class _RegressionABC(BagABC):
    """Inference whose summary is a regression of the parameters on bags."""

    def __init__(
        self,
        prior: Any,
        simulator: Any,
        *,
        regressor: Any = None,
        n_training: int = 2_000,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(prior, simulator, **options)
        self.regressor = regressor
        self.n_training = n_training

    def _learning(self) -> tuple[Any, ...]:
        return self.n_training, self.regressor

    def _learnt(self, training: Simulations | None, seed: int) -> Summary:
        assert training is not None
        targets = _standardised(training.theta, training.names)
        model = self._model(seed)
        if targets.shape[1] == 1 or not _takes_several(model):
            fitted = [_fresh(model).fit(training.bags, column) for column in targets.T]
        else:
            fitted = [_fresh(model).fit(training.bags, targets)]
        return _Predicted(fitted)

    @property
    def regressor_(self) -> Any:
        """The fitted regressor of standardised parameters, or a list of one for each parameter."""
        if self._summary is None:
            raise ValueError("there is no regressor yet; call fit() or train() first")
        fitted = self._summary.regressors  # type: ignore[attr-defined]
        return fitted[0] if len(fitted) == 1 else fitted

    def _model(self, seed: int) -> Any:
        """Return the regressor that is asked for, not fitted."""
        if self.regressor is None or isinstance(self.regressor, str):
            return self._named("ridge" if self.regressor is None else self.regressor, seed)
        if isinstance(self.regressor, type) or not all(hasattr(self.regressor, name) for name in ("fit", "predict")):
            kind = type(self.regressor).__name__
            raise ValueError(
                f"regressor must be None, a name, or a regressor on bags with fit and predict; got a {kind}"
            )
        model = _fresh(self.regressor)
        if hasattr(model, "get_params") and "random_state" in (params := model.get_params()):
            model.set_params(random_state=seed if params["random_state"] is None else params["random_state"])
        return model

    def _named(self, name: str, seed: int) -> Any:
        raise ValueError(f"regressor must be a regressor on bags with fit and predict; got {name!r}")


def _fresh(model: Any) -> Any:
    from sklearn.base import clone

    return clone(model, safe=False)


def _takes_several(model: Any) -> bool:
    """Tell whether a regressor predicts several targets at once; this library's own do."""
    from sklearn.utils import get_tags

    return type(model).__module__.startswith("uptonoise.") or bool(get_tags(model).target_tags.multi_output)


def _standardised(theta: Floats, names: tuple[str, ...]) -> Floats:
    """Return parameters about their medians, in units of their spread, which a law without a variance has too."""
    first, middle, third = np.quantile(theta, [0.25, 0.5, 0.75], axis=0)
    spread = np.where(third > first, (third - first) / 1.349, theta.std(axis=0))
    if not (spread > 0).all():
        raise ValueError(f"prior must let every parameter vary; {names[int(np.argmin(spread))]} is constant")
    return np.asarray((theta - middle) / spread)


@described
class FourierABC(_RegressionABC):
    """Fourier-ABC: the summary is a regression on Fourier features of bags (the paper's Appendix E).

    Parameters
    ----------
    {model}
    regressor : None, "ridge", "network", or estimator
        What predicts parameters from bags: :func:`~uptonoise.glrr` with 100 frequencies ("ridge", the default),
        :class:`~uptonoise.nets.FourierNetRegressor` ("network", the paper's choice), or any regressor on bags, such as
        a Pipeline that begins with :class:`~uptonoise.FourierFeatures`. It predicts standardised parameters.
    {training}
    {parameters}

    Attributes
    ----------
    {learnt}
    {attributes}

    See Also
    --------
    PhaseABC : The same with phases, which symmetric noise leaves as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from uptonoise.inference import FourierABC
    >>> def simulator(theta, rng):
    ...     return rng.gamma(theta, size=(100, 1))
    >>> abc = FourierABC(stats.uniform(1, 5), simulator, n_training=300, n_particles=2_000, ess=150, random_state=0)
    >>> observed = simulator(3.0, np.random.default_rng(1))
    >>> low, high = abc.fit().posterior(observed).interval(0.95)
    >>> low < 3.0 < high
    True
    """

    _first = "fourier"
    _amplitude: Literal["plain", "shrunk"] = "plain"
    _network = "FourierNetRegressor"

    def _named(self, name: str, seed: int) -> Any:
        from uptonoise.learning import BagRidgeCV

        if name == "ridge":
            # Summaries of noisy data that were drawn to the mean would look like those of the mean's parameters.
            return BagRidgeCV(self._first, amplitude=self._amplitude, steady=False, random_state=seed)
        if name == "network":
            from uptonoise import nets

            return getattr(nets, self._network)(progress=self.progress, random_state=seed)
        raise ValueError(f"regressor must be one of ridge, network, or a regressor on bags; got {name!r}")


@described
class PhaseABC(FourierABC):
    """Phase-ABC: the summary is a regression on phase features of bags (the paper's Appendix E).

    Phases do not see additive symmetric noise with a positive characteristic function. So a summary that was learnt
    with one law of noise keeps its meaning with another, and noise need not be a parameter.

    Parameters
    ----------
    {model}
    regressor : None, "ridge", "network", or estimator
        What predicts parameters from bags: :class:`~uptonoise.BagRidgeCV` on 100 phases, drawn to their mean where they
        are less reliable than in training ("ridge", the default); :class:`~uptonoise.nets.PhaseNetRegressor`
        ("network", the paper's choice); or any regressor on bags, such as :func:`~uptonoise.plrr` or a Pipeline that
        begins with :class:`~uptonoise.PhaseFeatures`. It predicts standardised parameters.
    {training}
    {parameters}

    Attributes
    ----------
    {learnt}
    {attributes}

    See Also
    --------
    FourierABC, DRABC, SemiAutomaticABC, RejectionABC : Other summaries.
    calibration : Whether the intervals of a posterior are right.

    Examples
    --------
    The observed bag has noise that no simulation had:

    >>> import numpy as np
    >>> from scipy import stats
    >>> from uptonoise.inference import PhaseABC
    >>> def simulator(theta, rng):
    ...     return rng.gamma(theta, size=(400, 1))
    >>> abc = PhaseABC(stats.uniform(1, 5), simulator, n_training=300, n_particles=2_000, ess=150, random_state=0)
    >>> rng = np.random.default_rng(1)
    >>> observed = simulator(3.0, rng) + rng.normal(scale=0.8, size=(400, 1))
    >>> low, high = abc.fit().posterior(observed).interval(0.95)
    >>> low < 3.0 < high
    True
    """

    _first = "phase"
    _amplitude = "shrunk"
    _network = "PhaseNetRegressor"


@described
class DRABC(_RegressionABC):
    """DR-ABC: the summary is kernel regression with exact mean embeddings of bags (Mitrovic et al. 2016).

    Parameters
    ----------
    {model}
    regressor : None or estimator
        By default :class:`KernelBagRidge`, a Gaussian kernel between embeddings.
    {training} Time is proportional to it, and to the square of the number of rows in a bag.
    {parameters}

    Attributes
    ----------
    {learnt}
    {attributes}

    See Also
    --------
    FourierABC : The same with random features, in a time proportional to the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from uptonoise.inference import DRABC
    >>> def simulator(theta, rng):
    ...     return rng.gamma(theta, size=(40, 1))
    >>> abc = DRABC(stats.uniform(1, 5), simulator, n_training=80, n_particles=1_000, ess=120, random_state=0)
    >>> low, high = abc.fit().posterior(simulator(3.0, np.random.default_rng(1))).interval(0.95)
    >>> low < 3.0 < high
    True
    """

    def __init__(
        self,
        prior: Any,
        simulator: Any,
        *,
        regressor: Any = None,
        n_training: int = 200,
        **options: Unpack[Options],
    ) -> None:
        options.setdefault("n_particles", 2_000)
        super().__init__(prior, simulator, regressor=regressor, n_training=n_training, **options)

    def _model(self, seed: int) -> Any:
        from uptonoise.inference.kernel_ridge import KernelBagRidge

        return KernelBagRidge() if self.regressor is None else super()._model(seed)


@described
class SemiAutomaticABC(_RegressionABC):
    """Semi-automatic ABC: the summary is a linear regression on statistics of a bag (Fearnhead and Prangle 2012).

    Parameters
    ----------
    {model}
    summaries : callable
        From a bag, of shape (n, d), to the statistics that the regression is linear in; :func:`quantile_powers` by
        default. The regression has a small penalty, chosen by leaving one simulation out.
    {training}
    {parameters}

    Attributes
    ----------
    {learnt}
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from uptonoise.inference import SemiAutomaticABC
    >>> def simulator(theta, rng):
    ...     return rng.gamma(theta, size=(100, 1))
    >>> prior = stats.uniform(1, 5)
    >>> abc = SemiAutomaticABC(prior, simulator, n_training=300, n_particles=2_000, ess=150, random_state=0)
    >>> low, high = abc.fit().posterior(simulator(3.0, np.random.default_rng(1))).interval(0.95)
    >>> low < 3.0 < high
    True
    """

    def __init__(
        self,
        prior: Any,
        simulator: Any,
        *,
        summaries: Any = quantile_powers,
        n_training: int = 2_000,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(prior, simulator, n_training=n_training, **options)
        self.summaries = summaries

    def _learning(self) -> tuple[Any, ...]:
        return self.n_training, self.summaries

    def _model(self, seed: int) -> Any:
        from sklearn.linear_model import RidgeCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer, StandardScaler

        statistics = FunctionTransformer(Statistics(self.summaries))
        return make_pipeline(statistics, StandardScaler(), RidgeCV(np.geomspace(1e-6, 1e3, 19)))


@described
class RejectionABC(BagABC):
    """Plain rejection: particles within the tolerance count alike, others not; the summary is written down, not learnt.

    Each statistic is in units of its median absolute deviation among the particles.

    Parameters
    ----------
    {model}
    summaries : callable
        From a bag, of shape (n, d), to a number or a vector; :func:`moments` by default.
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from uptonoise.inference import RejectionABC
    >>> def simulator(theta, rng):
    ...     return rng.gamma(theta, size=(100, 1))
    >>> abc = RejectionABC(stats.uniform(1, 5), simulator, n_particles=2_000, ess=150, random_state=0)
    >>> low, high = abc.fit().posterior(simulator(3.0, np.random.default_rng(1))).interval(0.95)
    >>> low < 3.0 < high
    True
    """

    _uniform_kernel = True

    def __init__(
        self,
        prior: Any,
        simulator: Any,
        *,
        summaries: Any = moments,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(prior, simulator, **options)
        self.summaries = summaries

    def _learns(self) -> bool:
        return False

    def _learning(self) -> tuple[Any, ...]:
        return (self.summaries,)

    def _learnt(self, training: Simulations | None, seed: int) -> Summary:
        return Statistics(self.summaries)

    def _scales(self, summaries: Floats) -> Floats:
        deviations = np.abs(summaries - np.median(summaries, axis=0))
        found = 1.4826 * np.median(deviations, axis=0)
        found = np.where(found > 0, found, summaries.std(axis=0))
        return np.where(found > 0, found, 1.0)


def _kernel(squares: Floats, epsilon: float, uniform: bool) -> Floats:
    """Return weights, not normalised, of particles at these squared distances."""
    if uniform:
        return (squares <= epsilon).astype(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(-squares / epsilon)


def _epsilon(squares: Floats, tolerance: tuple[str, float], uniform: bool) -> float:
    """Return the epsilon that a tolerance stands for."""
    name, value = tolerance
    if name == "epsilon":
        return value
    if name == "quantile":
        return max(float(np.quantile(squares, value)), np.finfo(np.float64).tiny)
    if uniform:
        return float(np.partition(squares, place := min(int(np.ceil(value)), len(squares)) - 1)[place])
    return _for_size(squares, min(value, 0.999 * len(squares)))


def _for_size(squares: Floats, ess: float) -> float:
    """Return the epsilon that gives this effective sample size."""
    nearest = float(squares.min())

    def beyond(log_epsilon: float) -> float:
        # Relative to the nearest particle, which changes no share: so nothing vanishes on the way.
        return effective_size(_kernel(squares - nearest, float(np.exp(log_epsilon)), False)) - ess

    spread = squares - nearest
    least = spread[spread > 0].min(initial=np.inf)
    if not np.isfinite(least):
        return max(nearest, np.finfo(np.float64).tiny)
    low, high = np.log(least) - 7, np.log(spread.max()) + 12
    if beyond(low) >= 0:
        return float(np.exp(low))
    found = float(np.exp(brentq(beyond, low, high, xtol=1e-3)))
    return max(found, nearest / _LARGEST_EXPONENT)


def _vanished(squares: Floats, epsilon: float, uniform: bool) -> str:
    if uniform:
        useful = np.partition(squares, place := min(int(_LEAST_SIZE), len(squares)) - 1)[place]
    else:
        useful = _for_size(squares, min(_LEAST_SIZE, len(squares) / 2))
    return (
        f"epsilon={epsilon:g} leaves no particle any weight: the nearest one is at a squared distance of "
        f"{squares.min():.3g}. The smallest useful epsilon here is about {useful:.3g}, with particles worth "
        f"{_LEAST_SIZE:g}; quantile or ess choose it for you"
    )


def to_line(theta: Floats, low: Floats, high: Floats) -> Floats:
    """Return parameters on the whole line: logarithms above a bound, log odds between two.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.inference.abc import from_line, to_line
    >>> theta, low, high = np.array([[0.25, 2.0, -3.0]]), np.array([0.0, 0.0, -np.inf]), np.array([1.0, np.inf, np.inf])
    >>> to_line(theta, low, high).round(3)
    array([[-1.099,  0.693, -3.   ]])
    >>> from_line(to_line(theta, low, high), low, high)
    array([[ 0.25,  2.  , -3.  ]])
    """
    moved = theta.copy()
    for place, (one, other) in enumerate(zip(low, high, strict=True)):
        column = theta[:, place]
        above, below = (_above_zero(column - one), _above_zero(other - column))
        if np.isfinite(one) and np.isfinite(other):
            moved[:, place] = np.log(above) - np.log(below)
        elif np.isfinite(one):
            moved[:, place] = np.log(above)
        elif np.isfinite(other):
            moved[:, place] = -np.log(below)
    return moved


def from_line(moved: Floats, low: Floats, high: Floats) -> Floats:
    """Return parameters from where :func:`to_line` has put them."""
    from scipy.special import expit

    theta = moved.copy()
    for place, (one, other) in enumerate(zip(low, high, strict=True)):
        column = moved[:, place]
        with np.errstate(over="ignore"):
            if np.isfinite(one) and np.isfinite(other):
                theta[:, place] = one + (other - one) * expit(column)
            elif np.isfinite(one):
                theta[:, place] = one + np.exp(column)
            elif np.isfinite(other):
                theta[:, place] = other - np.exp(-column)
    return np.clip(theta, low, np.minimum(high, np.finfo(np.float64).max))


def _above_zero(values: NDArray[np.float64]) -> Floats:
    """Return positive numbers: a draw on the bound itself counts as just inside."""
    return np.maximum(values, 1e-300)
