"""Characteristic and phase functions of two chi-squared samples and of noisy bags: the paper's Figures F.2 to F.5.

The paper draws a bag of 1,000 rows of chi2(4)/4 and one of chi2(8)/8 with some Gaussian noise, and shows real and
imaginary parts at 750 frequencies beside the true functions, then the differences of the two distributions: noise
moves the characteristic function, but not the phase function where the amplitude is not small. The frequencies are
those of a Gaussian kernel of width 2, so Gaussian with standard deviation 1/2; the noise has a tenth of the signal's
variance, where the paper names none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.datasets import make_chi2_samples
from uptonoise.experiments._experiment import Row, Task
from uptonoise.experiments._figures import Rows, new_figure
from uptonoise.experiments._tasks import TaskExperiment, Values
from uptonoise.fourier import ecf
from uptonoise.plots import LOOKS, dress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FREEDOMS = (4, 8)
FUNCTIONS = ("characteristic function", "phase function")
PARTS = ("real", "imaginary")
VALUES = {"n_rows": 1_000, "n_frequencies": 750, "width": 2.0, "noise": 0.1}
DISTRIBUTIONS = ("X", "Y", "X - Y")


def tasks(values: Values, seed: int, repetitions: int) -> Sequence[Task]:
    """Return the one task."""
    return [Task("functions", functions, (dict(values), seed))]


def functions(values: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return frequencies, and the characteristic functions there: true ones and those of noisy bags."""
    generator = np.random.default_rng(seed)
    ratio = values["noise"]
    bags = make_chi2_samples(values["n_rows"], 1, noise=(ratio, ratio), freedoms=FREEDOMS, random_state=generator)
    w = np.sort(generator.standard_normal(values["n_frequencies"]) / values["width"])
    true = [(1 - 2j * w / freedom) ** (-freedom / 2) for freedom in FREEDOMS]
    sampled = [ecf(bag, w[:, None]) for bag in bags]
    listed = [[[phi.real.tolist(), phi.imag.tolist()] for phi in both] for both in (true, sampled)]
    return {"w": w.tolist(), "true": listed[0], "sampled": listed[1]}


def table(values: Values, results: list[Any]) -> list[Row]:
    """Return a row for each function, distribution and frequency."""
    (result,) = results
    rows: list[Row] = []
    for function in FUNCTIONS:
        true, sampled = (_with_difference(result[key], function) for key in ("true", "sampled"))
        for distribution, exact, noisy in zip(DISTRIBUTIONS, true, sampled, strict=True):
            columns = {"w": result["w"]} | {f"true, {part}": _part(exact, part) for part in PARTS}
            columns |= {f"noisy bag, {part}": _part(noisy, part) for part in PARTS}
            rows += [
                {"function": function, "law": distribution}
                | dict(zip(columns, (f"{number:.4f}" for number in numbers), strict=True))
                for numbers in zip(*columns.values(), strict=True)
            ]
    return rows


def _part(phi: Any, part: str) -> Any:
    return phi.real if part == "real" else phi.imag


def _with_difference(parts: Any, function: str) -> list[Any]:
    phis = [np.array(real) + 1j * np.array(imaginary) for real, imaginary in parts]
    if function == FUNCTIONS[1]:
        phis = [phi / np.abs(phi) for phi in phis]
    return [*phis, phis[0] - phis[1]]


def _sampling_error(w: Floats, function: str, part: str, distribution: str) -> Floats:
    """Return the standard error of a part of a function of a noisy bag; those of X and Y add up in X - Y."""
    chosen = FREEDOMS if distribution == DISTRIBUTIONS[-1] else (FREEDOMS[DISTRIBUTIONS.index(distribution)],)
    return np.sqrt(sum(_sampling_variance(w, freedom, function, part) for freedom in chosen))


def _sampling_variance(w: Floats, freedom: int, function: str, part: str) -> Floats:
    """Return the sampling variance for one bag, whose noise has a part of the signal's variance 2 / freedom."""

    def phi(at: Floats) -> Any:
        return (1 - 2j * at / freedom) ** (-freedom / 2) * np.exp(-VALUES["noise"] / freedom * at**2)

    n, here, twice = VALUES["n_rows"], phi(w), phi(2 * w)
    if function == FUNCTIONS[0]:
        sign = 1 if part == "real" else -1
        return np.asarray((1 + sign * twice.real - 2 * _part(here, part) ** 2) / (2 * n))
    unit = here / np.abs(here)
    of_phase = (1 - (twice / unit**2).real) / (2 * n * np.abs(here) ** 2)
    return np.asarray(of_phase * _part(unit, "imaginary" if part == "real" else "real") ** 2)


def draw(title: str, rows: Rows) -> Figure:
    """Draw the true functions as lines, those of the bags as dots, and a 95 % band of the bags' sampling error."""
    figure = new_figure(title, 12.0, 11.0)
    axes = figure.subplots(len(FUNCTIONS) * len(PARTS), len(DISTRIBUTIONS), sharex=True)
    for line, (function, part) in zip(axes, product(FUNCTIONS, PARTS), strict=True):
        for ax, distribution in zip(line, DISTRIBUTIONS, strict=True):
            chosen = [row for row in rows if (row["function"], row["law"]) == (function, distribution)]
            keys = ("w", f"true, {part}", f"noisy bag, {part}")
            w, true, sampled = ([float(row[key]) for row in chosen] for key in keys)
            reach = 1.96 * _sampling_error(np.array(w), function, part, distribution)
            middle = np.array(sampled)
            ax.fill_between(w, middle - reach, middle + reach, color=LOOKS[1].color, alpha=0.25, linewidth=0)
            ax.plot(w, sampled, ".", color=LOOKS[1].color, markersize=2, rasterized=True)
            ax.plot(w, true, color="black", linewidth=1)
            dress(ax, f"{function} of {distribution}, {part}", "frequency")
    return figure


EXPERIMENT = TaskExperiment("phase-functions", __doc__.splitlines()[0], VALUES, tasks, table, draw=draw)
