"""Whether posteriors are right on average: coverage of intervals, and simulation-based calibration.

Parameters are sampled from the prior and a bag is simulated from each. Where the posterior is right, the rank of the
true parameter among draws from it is uniform, and an interval of probability q holds the truth in a share q of cases.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.progress import Progress
from uptonoise._util.results import Result
from uptonoise._util.typing import Floats
from uptonoise._util.validation import positive_int
from uptonoise._util.wording import counted
from uptonoise.inference.base import BagABC, UnlikeSimulationsWarning
from uptonoise.inference.budget import CHECKS
from uptonoise.inference.posterior import TRUSTED_SIZE
from uptonoise.inference.simulation import Simulations

_LEVELS = (0.5, 0.8, 0.9, 0.95)
_BINS = 20


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Calibration(Result):
    """Posteriors of data sets with known parameters: what :func:`calibration` returns.

    Attributes
    ----------
    names : tuple of str
        The names of the parameters.
    truth : array of shape (n, p)
        The parameters that bags were simulated from.
    means, sds : array of shape (n, p)
        Their posterior means and standard deviations.
    probabilities : array of shape (n, p)
        The posterior probability below the truth; uniform where posteriors are right.
    ranks : array of shape (n, p)
        How many of `n_draws` draws from the posterior are below the truth.
    n_draws : int
        The largest rank.
    sizes : array of shape (n,)
        The effective sample sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from uptonoise.inference import Calibration
    >>> rng = np.random.default_rng(0)
    >>> truth, uniform = rng.normal(size=(2, 400, 1))
    >>> below = rng.random((400, 1))
    >>> result = Calibration(
    ...     names=("location",), truth=truth, means=truth, sds=np.ones((400, 1)), probabilities=below,
    ...     ranks=np.floor(100 * below), n_draws=99, sizes=np.full(400, 200.0),
    ... )
    >>> bool(abs(result.coverage(0.9)[0] - 0.9) < 0.05), bool(result.pvalues[0] > 0.01)
    (True, True)
    """

    names: tuple[str, ...]
    truth: Floats
    means: Floats
    sds: Floats
    probabilities: Floats
    ranks: Floats
    n_draws: int
    sizes: Floats

    def coverage(self, level: float = 0.9) -> Floats:
        """Return the share of data sets whose interval of this probability holds the truth, for each parameter.

        Parameters
        ----------
        level : float
            The probability.

        Returns
        -------
        array of shape (p,)
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1; got {level!r}")
        return np.asarray((np.abs(self.probabilities - 0.5) <= level / 2).mean(axis=0))

    def coverage_error(self, level: float = 0.9) -> float:
        """Return the standard error of a coverage that is right."""
        return float(np.sqrt(level * (1 - level) / len(self.truth)))

    @property
    def rmse(self) -> Floats:
        """The root mean squared error of the posterior means, for each parameter."""
        return np.asarray(np.sqrt(np.mean((self.means - self.truth) ** 2, axis=0)))

    @property
    def pvalues(self) -> Floats:
        """The p-value of uniform ranks, for each parameter: chi-squared, five ranks or more to be expected in a bin."""
        from scipy.stats import chi2

        n = len(self.truth)
        bins = self.n_bins
        counts = np.stack([self.histogram(place) for place in range(len(self.names))])
        expected = n * np.diff(self._edges()) / (self.n_draws + 1)
        return np.asarray(chi2.sf(((counts - expected) ** 2 / expected).sum(axis=1), max(bins - 1, 1)))

    @property
    def n_bins(self) -> int:
        """The number of bins of a rank histogram."""
        return int(max(1, min(_BINS, self.n_draws + 1, len(self.truth) // 5)))

    def histogram(self, parameter: int = 0) -> NDArray[np.int64]:
        """Return how many ranks of a parameter are in each bin, of shape (n_bins,)."""
        return np.histogram(self.ranks[:, parameter], bins=self._edges() - 0.5)[0]

    def _edges(self) -> Floats:
        return np.asarray(np.round(np.linspace(0, self.n_draws + 1, self.n_bins + 1)))

    def table(self) -> Mapping[str, Any]:
        """Return the columns of :meth:`to_frame`: one row per data set and parameter."""
        n, p = self.truth.shape
        return {
            "parameter": list(self.names) * n,
            "truth": self.truth.ravel(),
            "mean": self.means.ravel(),
            "sd": self.sds.ravel(),
            "probability": self.probabilities.ravel(),
            "rank": self.ranks.ravel(),
            "ess": np.repeat(self.sizes, p),
        }

    def __repr__(self) -> str:
        width = max(12, *(len(name) + 2 for name in self.names))
        heads = [f"{100 * level:.0f} %" for level in _LEVELS]
        lines = [
            f"Calibration on {counted(len(self.truth), 'data set')}: coverage of intervals (p: uniform ranks)",
            " " * width + "".join(f"{head:>9}" for head in [*heads, "RMSE", "p"]),
        ]
        covered = [self.coverage(level) for level in _LEVELS]
        for place, name in enumerate(self.names):
            shares = "".join(f"{share[place]:9.3f}" for share in covered)
            lines.append(f"{name:<{width}}{shares}{self.rmse[place]:9.4g}{self.pvalues[place]:9.3f}")
        small = int((self.sizes < TRUSTED_SIZE).sum())
        if small:
            lines.append(f"{counted(small, 'posterior')} with an effective sample size below {TRUSTED_SIZE:g}")
        return "\n".join(lines)


def calibration(
    abc: BagABC,
    n: int = 200,
    *,
    simulations: Simulations | None = None,
    n_draws: int = 99,
    progress: bool | None = None,
) -> Calibration:
    """Check posteriors on data sets whose parameters are known.

    Parameters
    ----------
    abc : PhaseABC, or another kind of inference
        Fitted; its tolerance and its adjustment are used.
    n : int
        How many data sets are simulated, from the prior and with seeds that no particle had.
    simulations : Simulations, optional
        Data sets to check on instead, from another model too: with other noise, say.
    n_draws : int
        How many draws from each posterior the truth is ranked among.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> from scipy import stats
    >>> from uptonoise.inference import FourierABC, calibration
    >>> def simulator(theta, rng):
    ...     return rng.normal(theta, size=(20, 1))
    >>> abc = FourierABC(stats.norm(), simulator, n_training=200, n_particles=4_000, ess=200, random_state=0).fit()
    >>> result = calibration(abc, 100)
    >>> bool(abs(result.coverage(0.9)[0] - 0.9) < 0.1)
    True
    """
    if not isinstance(abc, BagABC):
        raise ValueError(f"abc must be a PhaseABC or another kind of inference; got a {type(abc).__name__}")
    if not hasattr(abc, "theta_"):
        raise ValueError("abc must be fitted; call its fit() first")
    n_draws = positive_int(n_draws, "n_draws")
    if simulations is None:
        if abc._plan is None:
            raise ValueError("abc has no simulator; give simulations to check on")
        simulations = abc._plan.gathered(CHECKS, positive_int(n, "n"))
    elif not isinstance(simulations, Simulations) or simulations.theta.shape[1] != len(abc.names_):
        raise ValueError(f"simulations must be Simulations with the parameters {list(abc.names_)}")
    return _checked_posteriors(abc, simulations, n_draws, progress)


def _checked_posteriors(abc: BagABC, known: Simulations, n_draws: int, progress: bool | None) -> Calibration:
    """Return how the posterior of each data set relates to its true parameters."""
    tolerance, at, truth = abc._tolerance(), abc.summary(known.bags), known.theta
    of_truth = {name: np.empty_like(truth) for name in ("means", "sds", "probabilities", "ranks")}
    sizes = np.empty(len(truth))
    generator = np.random.default_rng([abc.seed_ if abc._plan is not None else 0, CHECKS])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnlikeSimulationsWarning)
        for place in Progress("checking posteriors", len(truth), progress, units="data sets").over(range(len(truth))):
            posterior = abc._weighted(at[place], tolerance, abc.adjust)
            below = posterior.cdf(truth[place])
            # Draws are independent given the posterior, so that ranks have a discrete uniform distribution.
            ranks = generator.binomial(n_draws, np.clip(below, 0.0, 1.0))
            for values, value in zip(of_truth.values(), (posterior.mean(), posterior.sd(), below, ranks), strict=True):
                values[place] = value
            sizes[place] = posterior.ess
    return Calibration(names=abc.names_, truth=truth, n_draws=n_draws, sizes=sizes, **of_truth)
