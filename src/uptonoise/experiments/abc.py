"""Errors and coverage of posteriors in the paper's hierarchical gamma model, with noise seen in training and not (E).

theta ~ Gamma(7, rate 1), one noise variance Z ~ U[0, sigma] a data set, rows Gamma(theta/2, rate 1/2)/(2 theta) +
N(0, Z): the signal has a variance of about 0.08. For each sigma all methods have the same simulations; the exact
embeddings of DR-ABC take fewer of them, as time grows with the square of the rows. The paper's algorithm trains
networks; ridge regression on random frequencies stands beside them. They are judged on data sets with
noise as in training, with stronger noise (Z ~ U[sigma, 2 sigma + 0.05]), and with Laplace noise of the variances of
training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import stats

from uptonoise._util.typing import Floats
from uptonoise.experiments._experiment import Experiment, Row, Runner, Task
from uptonoise.experiments._figures import Draw, Rows, dots, draw_line, panels_of
from uptonoise.experiments._looks import look
from uptonoise.inference import (
    DRABC,
    FourierABC,
    PhaseABC,
    RejectionABC,
    SemiAutomaticABC,
    Simulations,
    calibration,
    simulate,
)
from uptonoise.learning import BagRidgeCV, plrr
from uptonoise.plots import GREY, add_legend, dress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRIOR = stats.gamma(7)
SIGMAS = (0.0, 0.05, 0.2, 1.0)
_AUGMENTED = 3.0  # times the variance of the rows: the largest extra noise that a model is fitted against


@dataclass(frozen=True)
class HierarchicalGamma:
    """The simulator: rows of the hierarchical model, with noise variances between two bounds."""

    low: float
    high: float
    kind: str = "gaussian"
    n_rows: int = 200

    def __call__(self, theta: Floats, rng: np.random.Generator) -> Floats:
        """Return bags of shape (k, n_rows, 1) for parameters of shape (k, 1)."""
        freedom = theta[:, :, None]
        rows = rng.chisquare(freedom, size=(len(theta), self.n_rows, 1)) / (2 * freedom)
        sd = np.sqrt(rng.uniform(self.low, self.high, size=(len(theta), 1, 1)))
        noise = rng.normal(size=rows.shape) if self.kind == "gaussian" else rng.laplace(size=rows.shape) / np.sqrt(2)
        return np.asarray(rows + sd * noise)


def _augmented(kind: str) -> BagRidgeCV:
    amplitude: Any = "shrunk" if kind == "phase" else "plain"
    return BagRidgeCV(kind, amplitude=amplitude, steady=False, noise_augmentation=_AUGMENTED)


def _network(kind: str) -> Any:
    """Return the paper's network, as its Algorithm E.1 trains it, with one of the settings that it is tuned over."""
    from uptonoise import nets

    network = {"phase": nets.PhaseNetRegressor, "fourier": nets.FourierNetRegressor}[kind]
    return network.paper(n_frequencies=60, learning_rate=0.03, progress=False)


METHODS: dict[str, Callable[..., Any]] = {
    "phase": PhaseABC,
    "phase, plain": lambda *model, **options: PhaseABC(*model, regressor=plrr(n_frequencies=100), **options),
    "phase, augmented": lambda *model, **options: PhaseABC(*model, regressor=_augmented("phase"), **options),
    "Fourier": FourierABC,
    "Fourier, augmented": lambda *model, **options: FourierABC(*model, regressor=_augmented("fourier"), **options),
    "phase network": lambda *model, **options: PhaseABC(*model, regressor=_network("phase"), **options),
    "Fourier network": lambda *model, **options: FourierABC(*model, regressor=_network("fourier"), **options),
    "DR": DRABC,
    "semi-automatic": SemiAutomaticABC,
    "rejection": RejectionABC,
}


def observed_noise(sigma: float, n_rows: int) -> dict[str, HierarchicalGamma]:
    """Return what data sets are observed where training had noise up to `sigma`."""
    settings = {
        "as trained": HierarchicalGamma(0.0, sigma, n_rows=n_rows),
        "stronger": HierarchicalGamma(sigma, 2 * sigma + 0.05, n_rows=n_rows),
    }
    if sigma > 0:
        settings["Laplace"] = HierarchicalGamma(0.0, sigma, "laplace", n_rows=n_rows)
    return settings


@dataclass(frozen=True)
class InferenceExperiment(Experiment):
    """A table of errors of posterior means and of coverage, by sigma, by what is observed, and by method."""

    sigmas: Sequence[float] = SIGMAS
    methods: Sequence[str] = tuple(METHODS)
    observed: Callable[[float, int], dict[str, HierarchicalGamma]] = observed_noise
    n_training: int = 600
    n_particles: int = 3_000
    n_exact: tuple[int, int] = (100, 1_000)
    n_rows: int = 200
    quantile: float = 0.05
    repetitions: int = field(default=200, kw_only=True)

    def quickened(self) -> Self:
        """Return the experiment with two sigmas at most, and few simulations of few rows."""
        few: dict[str, Any] = {"n_training": 40, "n_particles": 150, "n_exact": (20, 60), "n_rows": 20}
        return replace(self, sigmas=self.sigmas[:2], repetitions=5, **few)

    def described(self) -> Any:
        """Return the sigmas, the methods and the sizes."""
        names = ("sigmas", "methods", "n_training", "n_particles", "n_exact", "n_rows", "quantile")
        return {name: getattr(self, name) for name in names}

    def drawing(self) -> Draw:
        """Return what draws the figure: errors against sigma, or dots where there is one sigma."""
        several = dots(("observed", "method"), ["RMSE"], "RMSE of posterior mean", float(PRIOR.std()))
        return _against_sigma if len(self.sigmas) > 1 else several

    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the rows of all sigmas and methods, by what is observed."""
        cells = [(sigma, method) for sigma in self.sigmas for method in self.methods]
        tasks = [Task(f"sigma {sigma}, {method}", self._rows, (sigma, method, repetitions)) for sigma, method in cells]
        return [row for rows in runner.map(tasks) for row in rows]

    def _rows(self, sigma: float, method: str, n: int) -> list[dict[str, Any]]:
        """Return the rows of the table of one method at one sigma; all methods have the same simulations."""
        trained_on = HierarchicalGamma(0.0, sigma, n_rows=self.n_rows)
        total = self.n_training + self.n_particles
        everything = simulate(PRIOR, trained_on, total, vectorized=True, random_state=self.seed)
        training, particles = everything[: self.n_training], everything[self.n_training :]
        make = METHODS[method]
        if make is DRABC:
            training, particles = training[: self.n_exact[0]], particles[: self.n_exact[1]]
        inference = make(PRIOR, trained_on, vectorized=True, quantile=self.quantile, random_state=self.seed)
        inference.n_particles = len(particles)
        inference.fit(training, particles)
        rows = []
        for name, simulator in self.observed(sigma, self.n_rows).items():
            bags = simulate(PRIOR, simulator, n, vectorized=True, random_state=self.seed + 1)
            rows.append(_row(sigma, name, method, inference, bags))
        return rows


def _row(sigma: float, observed: str, method: str, inference: Any, bags: Simulations) -> dict[str, Any]:
    calibrated = calibration(inference, simulations=bags)
    squares = (calibrated.means[:, 0] - calibrated.truth[:, 0]) ** 2
    rmse = float(np.sqrt(squares.mean()))
    return {
        "sigma": sigma,
        "observed": observed,
        "method": method,
        "RMSE": f"{rmse:.3f}",
        "+-": f"{squares.std() / np.sqrt(len(squares)) / (2 * rmse):.3f}",
        "90 % covers": f"{calibrated.coverage(0.9)[0]:.3f}",
        "mean sd": f"{calibrated.sds.mean():.3f}",
        "data sets": len(squares),
    }


_DRAWN = {
    "phases": ("phase", "phase, plain", "phase, augmented", "Fourier"),
    "others": ("phase", "Fourier", "Fourier, augmented", "DR", "semi-automatic", "rejection"),
}


def _against_sigma(title: str, rows: Rows) -> Figure:
    """Draw the errors against sigma, with two standard errors: a column for each kind of observed noise."""
    kinds = list(dict.fromkeys(row["observed"] for row in rows))
    looks = {method: look(place) for place, method in enumerate(METHODS)}
    figure, axes = panels_of(title, len(kinds) * len(_DRAWN), (4.6, 3.8), most=len(kinds))
    for line, (group, methods) in zip(axes.reshape(len(_DRAWN), -1), _DRAWN.items(), strict=True):
        for ax, kind in zip(line, kinds, strict=True):
            entries = []
            for method in methods:
                chosen = [row for row in rows if (row["observed"], row["method"]) == (kind, method)]
                x, y, error = ([float(row[name]) for row in chosen] for name in ("sigma", "RMSE", "+-"))
                low, high = np.array(y) - 2 * np.array(error), np.array(y) + 2 * np.array(error)
                ax.vlines(x, low, high, color=looks[method].color, linewidth=1)
                if chosen:
                    entries.append((draw_line(ax, x, y, looks[method]), method))
            entries.append((ax.axhline(float(PRIOR.std()), color=GREY, linestyle=":"), "the prior"))
            ax.set_xscale("symlog", linthresh=0.02)
            ax.set_xticks(SIGMAS, [f"{sigma:g}" for sigma in SIGMAS])
            ax.minorticks_off()
            ax.sharey(line[0])
            dress(ax, f"{group}, observed noise {kind}", "largest noise variance in training", "RMSE of the mean")
            add_legend(ax, entries if kind == kinds[-1] else [], loc="upper left", bbox_to_anchor=(1.01, 1.0))
    return figure


EXPERIMENT = InferenceExperiment("abc", __doc__.splitlines()[0])
