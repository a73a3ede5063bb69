"""Two distributions that differ and have the same phase function: the paper's Figure A.1.

The densities are x^2 exp(-x^2/2)/sqrt(2 pi) and abs(x) exp(-abs(x))/2, the characteristic functions (1 - w^2)
exp(-w^2/2) and (1 - w^2)/(1 + w^2)^2: both change sign at 1 and nowhere else. No test up to noise can tell such
distributions apart. The dots are of samples of each distribution, and check the formulas.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from uptonoise.experiments._experiment import Row
from uptonoise.experiments._figures import Figure, Rows, grouped, panels_of
from uptonoise.experiments._looks import look
from uptonoise.experiments._tasks import TaskExperiment, Values, tasks_of
from uptonoise.fourier import ecf
from uptonoise.plots import GREY, add_legend, dress

DENSITIES = {
    "X": lambda x: x**2 * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi),
    "Y": lambda x: np.abs(x) * np.exp(-np.abs(x)) / 2,
}
CHARACTERISTIC = {
    "X": lambda w: (1 - w**2) * np.exp(-(w**2) / 2),
    "Y": lambda w: (1 - w**2) / (1 + w**2) ** 2,
}


def sampled(distribution: str, number: int, values: Values, seed: int) -> dict[str, Any]:
    """Return density and characteristic function of a distribution on a grid, and the same of a sample."""
    generator, n_rows = np.random.default_rng([seed, "XY".index(distribution)]), values["n_rows"]
    # Random signs, of a chi distribution with 3 degrees of freedom, or of a gamma one.
    size = np.sqrt(generator.chisquare(3, n_rows)) if distribution == "X" else generator.gamma(2, size=n_rows)
    rows = np.where(generator.random(n_rows) < 0.5, -size, size)
    edges = np.linspace(-6, 6, values["points"] + 1)
    x, w = (edges[:-1] + edges[1:]) / 2, np.linspace(-5, 5, values["points"])
    density = np.histogram(rows, edges)[0] / (len(rows) * np.diff(edges))
    phi = ecf(rows, w[:, None]).real
    return {
        "law": distribution,
        "density": [x.tolist(), DENSITIES[distribution](x).tolist(), density.tolist()],
        "characteristic function": [w.tolist(), CHARACTERISTIC[distribution](w).tolist(), phi.tolist()],
    }


def table(values: Values, results: list[Any]) -> list[Row]:
    """Return a row for each function, distribution and point."""
    return [
        {"function": function, "law": result["law"], "at": f"{at:.5g}"}
        | {"value": f"{value:.5f}", "sample": f"{sampled_value:.5f}"}
        for function in ("density", "characteristic function")
        for result in results
        for at, value, sampled_value in zip(*result[function], strict=True)
    ]


def draw(title: str, rows: Rows) -> Figure:
    """Draw both functions of both distributions, with those of samples as dots."""
    functions = grouped(rows, "function")
    figure, axes = panels_of(title, len(functions), (5.0, 3.6))
    for ax, ((function,), of_function) in zip(axes, functions.items(), strict=True):
        entries = []
        for place, ((distribution,), chosen) in enumerate(grouped(of_function, "law").items()):
            at, value, sampled_value = ([float(row[key]) for row in chosen] for key in ("at", "value", "sample"))
            style = look(place)
            (line,) = ax.plot(at, value, color=style.color, linestyle=style.line)
            ax.plot(at, sampled_value, ".", color=style.color, markersize=2)
            entries.append((line, distribution))
        ax.axhline(0, color=GREY, linewidth=0.8)
        dress(ax, function, "x" if function == "density" else "w")
        add_legend(ax, entries, loc="best")
    return figure


EXPERIMENT = TaskExperiment(
    "same-phase",
    __doc__.splitlines()[0],
    {"n_rows": 100_000, "points": 201},
    tasks_of(sampled, lambda values: [("X",), ("Y",)], once=True),
    table,
    quick_values={"n_rows": 10_000},
    draw=draw,
)
