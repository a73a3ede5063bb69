"""The tests that people use, and ours, where signals are equal and where they differ, with equal and unequal noise.

One column, 500 rows in each sample. Noise is told by its standard deviation, in units of that of the first signal. In
the cells with equal signals every rejection is an error of a test that is asked about signals; tests for any difference
see the noise, as they should. Where noises differ, their rates are no power.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._figures import cells_of_tests
from uptonoise.experiments._peers import classifier_test, epps_singleton_test, ks_test, pted_test, stability_rule
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.twosample import flip_test, mmd_test, phase_test

N = 500
TESTS: Tests = {
    "phase test": phase_test,
    "phase test, up to an offset": partial(phase_test, invariant_to="noise+shift"),
    "flip test": flip_test,
    "Kolmogorov-Smirnov": ks_test,
    "energy distance": pted_test,
    "MMD": partial(mmd_test, n_permutations=199),
    "Epps-Singleton": epps_singleton_test,
    "classifier": classifier_test,
    "stability index": stability_rule,
}
_EXACT = frozenset(("flip test", "energy distance", "MMD"))
_AT_MOST = frozenset(("phase test", "phase test, up to an offset"))


def _sample(name: str, noise: tuple[float, float], kind: str, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Sample gamma distributions with SD 1 and noise of these standard deviations."""
    shapes = (1.0, 6.0) if name == "other shape" else (2.0, 2.0)
    X, Y = ((generator.gamma(shape, size=N) - shape) / np.sqrt(shape) for shape in shapes)
    Y = (-Y if name == "mirror image" else Y) + (0.3 if name == "moved by 0.3 SD" else 0.0)
    errors = generator.normal(size=(2, N)) if kind == "Gaussian" else generator.laplace(size=(2, N)) / np.sqrt(2)
    return (X + noise[0] * errors[0])[:, None], (Y + noise[1] * errors[1])[:, None]


_GAUSSIAN: tuple[tuple[float, float, str], ...] = ((0.0, 0.0, "Gaussian"), (1.0, 1.0, "Gaussian"))
NOISES: dict[str, tuple[tuple[float, float, str], ...]] = {
    "equal": (*_GAUSSIAN, (0.0, 0.5, "Gaussian"), (0.0, 1.0, "Gaussian"), (0.0, 1.0, "Laplace")),
    "other shape": ((0.0, 0.0, "Gaussian"), (0.5, 0.5, "Gaussian"), (0.0, 0.5, "Gaussian")),
    "mirror image": (*_GAUSSIAN, (0.0, 1.0, "Gaussian")),
    "moved by 0.3 SD": ((0.0, 0.0, "Gaussian"), (0.0, 0.5, "Gaussian")),
}


def cells() -> Sequence[Cell]:
    """Return equal signals with equal and unequal noise, then signals that differ."""
    cells = []
    for name, first, second, kind in ((name, *noise) for name, noises in NOISES.items() for noise in noises):
        words = "none" if first == second == 0 else f"{kind}, {first:g} and {second:g} SD"
        cell = Cell({"signals": name, "noise": words, "N": N}, partial(_sample, name, (first, second), kind), TESTS)
        if name == "equal":
            at_level = _EXACT if first == second else frozenset({"flip test"})
            cell = replace(cell, at_level=at_level, at_most=_AT_MOST)
        cells.append(cell)
    return cells


EXPERIMENT = RejectionExperiment(
    "other-tests",
    __doc__.splitlines()[0],
    cells(),
    repetitions=200,
    draw=cells_of_tests(("signals", "noise"), [tuple(TESTS)[:3], tuple(TESTS)[3:]]),
)
