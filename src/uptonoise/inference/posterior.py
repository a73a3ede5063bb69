"""Weighted particles that represent a posterior: means, quantiles, intervals, draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from uptonoise._util.docs import described
from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.results import Result
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_choice, checked_columns, checked_number, positive_int
from uptonoise._util.wording import counted
from uptonoise.bags import Bags
from uptonoise.rows import as_real_array

TRUSTED_SIZE = 100.0
"""The effective sample size from which on there is no warning."""

_PREDICTED = 100

_documented = described(
    draws="""
        Parameters
        ----------
        n : int
            How many draws.
        random_state : None, int, Generator or RandomState
            The seed.
        """
)


class SmallSampleWarning(UserWarning):
    """So few particles carry the weight of a posterior that its quantiles are not to be trusted."""


def effective_size(weights: Floats) -> float:
    """Return how many equally weighted particles are worth as much as these."""
    return float(weights.sum() ** 2 / (weights @ weights))


def checked_names(names: Sequence[str] | None, p: int) -> tuple[str, ...]:
    """Return the names of p parameters, or raise where there are more or fewer; none stand for theta0, theta1, ..."""
    if names is None or (isinstance(names, list | tuple) and not names):
        return ("theta",) if p == 1 else tuple(f"theta{number}" for number in range(p))
    own = tuple(checked_columns(names, "names"))
    if len(own) != p or not all(isinstance(name, str) for name in own):
        raise ValueError(f"names must be {p}, one for each parameter; got {list(own)}")
    return own


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Result):
    """Weighted particles: what ``posterior`` of :class:`PhaseABC` and the others returns.

    Where there is one parameter, means, standard deviations and quantiles are floats; where there are several they have
    an entry for each.

    Attributes
    ----------
    theta : array of shape (n, p)
        The particles, after the regression adjustment where it was asked for.
    weights : array of shape (n,)
        Their weights, which add up to 1.
    names : tuple of str
        The names of the parameters.
    epsilon : float
        The tolerance that the weights were made with.
    distances : array of shape (n,)
        How far the summary of each particle is from that of the observed bag.
    prior_draws : array of shape (n, p)
        The particles before any adjustment: draws from the prior.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.inference import Posterior
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.normal(size=(5_000, 1))
    >>> posterior = Posterior.of(theta, np.exp(-((theta[:, 0] - 1) ** 2) / 2), ["location"])
    >>> posterior
    Posterior of 5,000 particles worth 3,652
                    mean        sd       5 %      95 %
    location      0.5014    0.7178   -0.6779     1.675
    """

    theta: Floats
    weights: Floats
    names: tuple[str, ...]
    epsilon: float
    distances: Floats
    prior_draws: Floats
    _simulate: Callable[[Floats, np.random.Generator], Bags] | None = field(default=None)

    hidden = ("_simulate",)
    derived = ("ess",)

    @classmethod
    def of(cls, theta: ArrayLike, weights: ArrayLike, names: Any = None) -> Posterior:
        """Return a posterior of particles and weights of your own.

        Parameters
        ----------
        theta : array of shape (n,) or (n, p)
            The particles.
        weights : array of shape (n,)
            Their weights, of any sum.
        names : sequence of str, optional
            The names of the parameters.

        Returns
        -------
        Posterior
        """
        particles = as_real_array(theta, "theta").astype(np.float64)
        particles = particles[:, None] if particles.ndim == 1 else particles
        shares = as_real_array(weights, "weights").astype(np.float64)
        if particles.ndim != 2 or shares.shape != (len(particles),):
            raise ValueError(f"weights must be one for each particle; got shapes {shares.shape} and {particles.shape}")
        if not (np.isfinite(shares).all() and (shares >= 0).all() and shares.sum() > 0):
            raise ValueError("weights must be finite and not negative, and not all 0")
        own_names, distances = checked_names(names, particles.shape[1]), np.full(len(particles), np.nan)
        return cls(particles, shares / shares.sum(), own_names, np.nan, distances, particles)

    @property
    def ess(self) -> float:
        """The effective sample size: how many particles of equal weight would be worth as much."""
        return effective_size(self.weights)

    def mean(self) -> Any:
        """Return the posterior mean.

        Returns
        -------
        float, or array of shape (p,)
        """
        return self._flat(self.weights @ self.theta)

    def sd(self) -> Any:
        """Return the posterior standard deviation.

        Returns
        -------
        float, or array of shape (p,)
        """
        centred = self.theta - self.weights @ self.theta
        return self._flat(np.sqrt(self.weights @ centred**2))

    def covariance(self) -> Floats:
        """Return the posterior covariance of the parameters, of shape (p, p)."""
        centred = self.theta - self.weights @ self.theta
        return np.asarray(centred.T @ (centred * self.weights[:, None]))

    def quantile(self, q: ArrayLike) -> Any:
        """Return posterior quantiles.

        Parameters
        ----------
        q : float or array
            Levels between 0 and 1.

        Returns
        -------
        float, array of shape (p,), of shape (n_levels,), or of shape (n_levels, p)
        """
        levels = as_real_array(q, "q").astype(np.float64)
        if levels.ndim > 1 or levels.size == 0 or not ((levels >= 0) & (levels <= 1)).all():
            raise ValueError(f"q must be between 0 and 1; got {q!r}")
        sorted_columns = [_sorted(column, self.weights) for column in self.theta.T]
        table = np.stack([np.interp(np.atleast_1d(levels), below, x) for x, below in sorted_columns], axis=1)
        return self._flat(table[0]) if levels.ndim == 0 else (table[:, 0] if len(self.names) == 1 else table)

    def interval(self, level: float = 0.9, kind: Literal["equal", "highest"] = "equal") -> tuple[Any, Any]:
        """Return a credible interval for each parameter.

        Parameters
        ----------
        level : float
            The posterior probability in it.
        kind : {"equal", "highest"}
            With equal probabilities on both sides, or the shortest one.

        Returns
        -------
        low, high : floats, or arrays of shape (p,)
        """
        checked_number(level, "level", above=True, most=1.0)
        checked_choice(kind, ("equal", "highest"), "kind")
        if kind == "equal":
            return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)
        starts: Floats = np.linspace(0, 1 - level, 501)  # of intervals between quantiles that hold this probability
        bounds = []
        for column in self.theta.T:
            values, below = _sorted(column, self.weights)
            low, high = np.interp(starts, below, values), np.interp(starts + level, below, values)
            best = int(np.argmin(high - low))
            bounds.append((low[best], high[best]))
        lows, highs = np.array(bounds).T
        return self._flat(lows), self._flat(highs)

    def cdf(self, theta: ArrayLike) -> Any:
        """Return the posterior probability of each parameter being below a value.

        Parameters
        ----------
        theta : float or array of shape (p,)
            The values.

        Returns
        -------
        float, or array of shape (p,)
        """
        at, p = as_real_array(theta, "theta").astype(np.float64), len(self.names)
        if at.shape not in ((), (1,), (p,)) or np.isnan(at).any():
            raise ValueError(f"theta must be a number, or one for each of {counted(p, 'parameter')}; got {theta!r}")
        return self._flat(self.weights @ ((self.theta < at) + 0.5 * (self.theta == at)))

    @_documented
    def resample(self, n: int = 1_000, random_state: RandomState = None) -> Floats:
        """Return draws of equal weight, by systematic resampling, in random order.

        {draws}

        Returns
        -------
        array of shape (n, p)
        """
        generator = as_generator(random_state)
        n = positive_int(n, "n")
        chosen = np.searchsorted(np.cumsum(self.weights), (np.arange(n) + generator.random()) / n, side="right")
        return np.asarray(self.theta[generator.permutation(np.minimum(chosen, len(self.theta) - 1))])

    @_documented
    def predictive(self, n: int = _PREDICTED, random_state: RandomState = None) -> Bags:
        """Simulate bags from draws of the posterior, to be compared with what was observed.

        {draws}

        Returns
        -------
        Bags
        """
        if self._simulate is None:
            raise ValueError("predictive draws need a simulator; this posterior was made of particles alone")
        generator = as_generator(random_state)
        return self._simulate(self.resample(n, generator), generator)

    def table(self) -> Mapping[str, Any]:
        """Return the columns of :meth:`to_frame`: one row per particle, with its weight."""
        return dict(zip(self.names, self.theta.T.copy(), strict=True)) | {"weight": self.weights}

    @_documented
    def to_arviz(self, n: int = 1_000, random_state: RandomState = None) -> Any:
        """Return draws of equal weight as ArviZ takes them, with draws from the prior beside them.

        {draws}

        Returns
        -------
        arviz.InferenceData, or what has taken its place in the ArviZ that is installed
        """
        try:
            import arviz
        except ImportError:
            raise ImportError("to_arviz needs ArviZ: pip install arviz") from None
        generator = as_generator(random_state)
        draws = self.resample(n, generator)
        prior = self.prior_draws[generator.integers(len(self.prior_draws), size=len(draws))]
        groups = {
            group: {name: column[None].copy() for name, column in zip(self.names, values.T, strict=True)}
            for group, values in (("posterior", draws), ("prior", prior))
        }
        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict(groups)
        return arviz.from_dict(**groups)

    def _flat(self, values: Floats) -> Any:
        return float(values[0]) if len(self.names) == 1 else np.asarray(values)

    def __repr__(self) -> str:
        rows = zip(*(np.atleast_1d(values) for values in (self.mean(), self.sd(), *self.interval(0.9))), strict=True)
        width = max(10, *(len(name) + 2 for name in self.names))
        lines = [
            f"Posterior of {len(self.theta):,} particles worth {self.ess:,.0f}",
            " " * width + "".join(f"{head:>10}" for head in ("mean", "sd", "5 %", "95 %")),
        ]
        for name, numbers in zip(self.names, rows, strict=True):
            lines.append(f"{name:<{width}}" + "".join(f"{number:10.4g}" for number in numbers))
        return "\n".join(lines)


def _sorted(column: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return values with weight in increasing order, and the probability below the middle of each."""
    carrying = weights > 0
    values, shares = column[carrying], weights[carrying]
    order = np.argsort(values, kind="stable")
    values, shares = values[order], shares[order]
    return values, np.asarray((np.cumsum(shares) - shares / 2) / shares.sum())
