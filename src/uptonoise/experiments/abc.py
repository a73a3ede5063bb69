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
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from uptonoise._util.typing import Floats
from uptonoise.experiments._experiment import Row, Task
from uptonoise.experiments._figures import Draw, Figure, Rows, draw_line, grouped, panels_of
from uptonoise.experiments._looks import look
from uptonoise.experiments._tasks import TaskExperiment, Values
from uptonoise.inference import DRABC, FourierABC, PhaseABC, RejectionABC, SemiAutomaticABC, calibration, simulate
from uptonoise.learning import BagRidgeCV, plrr
from uptonoise.plots import GREY, add_legend, dress

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

    return getattr(nets, kind).paper(n_frequencies=60, learning_rate=0.03, progress=False)


METHODS: dict[str, Callable[..., Any]] = {
    "phase": PhaseABC,
    "phase, plain": lambda *model, **options: PhaseABC(*model, regressor=plrr(n_frequencies=100), **options),
    "phase, augmented": lambda *model, **options: PhaseABC(*model, regressor=_augmented("phase"), **options),
    "Fourier": FourierABC,
    "Fourier, augmented": lambda *model, **options: FourierABC(*model, regressor=_augmented("fourier"), **options),
    "phase network": lambda *model, **options: PhaseABC(*model, regressor=_network("PhaseNetRegressor"), **options),
    "Fourier network": lambda *model, **options: FourierABC(
        *model, regressor=_network("FourierNetRegressor"), **options
    ),
    "DR": DRABC,
    "semi-automatic": SemiAutomaticABC,
    "rejection": RejectionABC,
}


def observed_noise(sigma: float, n_rows: int) -> dict[str, HierarchicalGamma]:
    """Return what data sets are observed where training had noise up to `sigma`."""
    laplace = {"Laplace": HierarchicalGamma(0.0, sigma, "laplace", n_rows)} if sigma > 0 else {}
    stronger = HierarchicalGamma(sigma, 2 * sigma + 0.05, n_rows=n_rows)
    return {"as trained": HierarchicalGamma(0.0, sigma, n_rows=n_rows), "stronger": stronger} | laplace


def rows_of_method(
    sigma: float, method: str, values: Values, observed: Callable[..., Any], seed: int, n: int
) -> list[Row]:
    """Return the rows of the table of one method at one sigma; all methods have the same simulations."""
    trained_on = HierarchicalGamma(0.0, sigma, n_rows=values["n_rows"])
    n_training, total = values["n_training"], values["n_training"] + values["n_particles"]
    everything = simulate(PRIOR, trained_on, total, vectorized=True, random_state=seed)
    training, particles = everything[:n_training], everything[n_training:]
    make = METHODS[method]
    if make is DRABC:
        training, particles = training[: values["n_exact"][0]], particles[: values["n_exact"][1]]
    inference = make(PRIOR, trained_on, vectorized=True, quantile=values["quantile"], random_state=seed)
    inference.n_particles = len(particles)
    inference.fit(training, particles)
    rows = []
    for name, simulator in observed(sigma, values["n_rows"]).items():
        bags = simulate(PRIOR, simulator, n, vectorized=True, random_state=seed + 1)
        calibrated = calibration(inference, simulations=bags)
        squares = (calibrated.means[:, 0] - calibrated.truth[:, 0]) ** 2
        rmse = float(np.sqrt(squares.mean()))
        numbers = {
            "RMSE": rmse,
            "+-": squares.std() / np.sqrt(len(squares)) / (2 * rmse),
            "90 % covers": calibrated.coverage(0.9)[0],
            "mean sd": calibrated.sds.mean(),
        }
        formatted = {key: f"{number:.3f}" for key, number in numbers.items()}
        rows.append({"sigma": sigma, "observed": name, "method": method} | formatted | {"data sets": len(squares)})
    return rows


def inference_experiment(
    name: str,
    paper: str,
    observed: Callable[[float, int], dict[str, HierarchicalGamma]],
    draw: Draw,
    repetitions: int,
    sigmas: Sequence[float],
    methods: Sequence[str],
) -> TaskExperiment:
    """Return a table of errors of posterior means and of coverage, by sigma, by what is observed, and by method."""
    sizes = {"n_training": 600, "n_particles": 3_000, "n_exact": (100, 1_000), "n_rows": 200, "quantile": 0.05}
    few = {"n_training": 40, "n_particles": 150, "n_exact": (20, 60), "n_rows": 20}
    return TaskExperiment(
        name,
        paper,
        {"sigmas": sigmas, "methods": methods, **sizes},
        lambda values, seed, n: [
            Task(f"sigma {sigma}, {method}", rows_of_method, (sigma, method, values, observed, seed, n))
            for sigma in values["sigmas"]
            for method in values["methods"]
        ],
        lambda values, results: [row for rows in results for row in rows],
        quick_values={"sigmas": sigmas[:2], **few},
        quick_runs=5,
        repetitions=repetitions,
        draw=draw,
    )


_DRAWN = {
    "phases": ("phase", "phase, plain", "phase, augmented", "Fourier"),
    "others": ("phase", "Fourier", "Fourier, augmented", "DR", "semi-automatic", "rejection"),
}


def _against_sigma(title: str, rows: Rows) -> Figure:
    """Draw the errors against sigma, with two standard errors: a column for each kind of observed noise."""
    cells = grouped(rows, "observed", "method")
    kinds = list(dict.fromkeys(row["observed"] for row in rows))
    looks = {method: look(place) for place, method in enumerate(METHODS)}
    figure, axes = panels_of(title, len(kinds) * len(_DRAWN), (4.6, 3.8), most=len(kinds))
    for line, (group, methods) in zip(axes.reshape(len(_DRAWN), -1), _DRAWN.items(), strict=True):
        for ax, kind in zip(line, kinds, strict=True):
            entries = []
            for method in methods:
                chosen = cells.get((kind, method), [])
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


EXPERIMENT = inference_experiment(
    "abc", __doc__.splitlines()[0], observed_noise, _against_sigma, 200, SIGMAS, tuple(METHODS)
)
