"""Level and power of the phase test with its positivity part (beyond the paper).

`both` is the test, `phases` its first part alone, `positivity` the second part at its tenth of the level. The level: a
sparse design, and frequencies scaled on the clean sample alone while the other has noise 20 or 100 times larger. Power:
symmetric distributions that no noise makes of each other; then what the first part sees, of which it must lose little.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.experiments._alternatives import HIGGS, Alternative, chi2
from uptonoise.experiments._figures import cells_of_tests
from uptonoise.experiments._noisy_distributions import NoisyPair, cell
from uptonoise.experiments._peers import Outcome, scaled_on_first
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.experiments.noise_level import COLUMNS, KINDS, RATIOS, SCALED_PAIRS, SIZES
from uptonoise.twosample import POSITIVITY_SHARE, phase_test


def positivity_only(X: Any, Y: Any, random_state: Any) -> Outcome:
    """Return the p-value of positivity, at its share of the level."""
    of_positivity = phase_test(X, Y, random_state=random_state).positivity_pvalue
    assert of_positivity is not None
    return Outcome(of_positivity / POSITIVITY_SHARE)


BOTH: Tests = {"both": phase_test}
PHASES: Tests = {**BOTH, "phases": partial(phase_test, positivity=False)}
PARTS: Tests = {**PHASES, "positivity": positivity_only}
LEVEL_DISTRIBUTIONS = ("chi-squared", "lognormal", "counts", "mostly 0")


def cells() -> Sequence[Cell]:
    """Return the cells of the level, of symmetric differences, and of those that the phases see."""
    spread = [
        NoisyPair(LEVEL_DISTRIBUTIONS[i % 4], SIZES[(3 * i) % 7], COLUMNS[i % 4], RATIOS[(2 * i) % 5], KINDS[i % 5])
        for i in range(16)
    ]
    cells = [cell(BOTH, pair, frozenset()) for pair in spread]
    cells += [cell({"both": scaled_on_first}, pair, frozenset()) for pair in SCALED_PAIRS]
    symmetric = [(name, Alternative(sampler, 1), 500, PARTS) for name, sampler in SYMMETRIC.items()]
    for name, (draw, d, noise), n, tests in (*symmetric, *((*seen, PHASES) for seen in SEEN)):
        settings = {"law": name, "n": n, "k": n, "d": d, "noise": "gaussian", "n1": noise[0], "n2": noise[1]}
        cells.append(Cell(settings, partial(draw, sizes=(n, n)), tests))
    return cells


def _two_points(generator: np.random.Generator, sizes: tuple[int, int], sd: float) -> tuple[Floats, Floats]:
    X = generator.choice([-1.0, 1.0], (sizes[0], 1))
    return X + sd * generator.standard_normal(X.shape), np.zeros((sizes[1], 1))


def _uniform(generator: np.random.Generator, sizes: tuple[int, int], sd: float) -> tuple[Floats, Floats]:
    X = generator.uniform(-np.sqrt(3), np.sqrt(3), (sizes[0], 1))
    return X, sd * generator.standard_normal((sizes[1], 1))


SYMMETRIC = {
    "two points, one point": partial(_two_points, sd=0.0),
    "two points with noise, one point": partial(_two_points, sd=0.3),
    "uniform, Gaussian of half its SD": partial(_uniform, sd=0.5),
    "uniform, Gaussian of 0.75 its SD": partial(_uniform, sd=0.75),
    "uniform, Gaussian of the same SD": partial(_uniform, sd=1.0),
}
SEEN: Sequence[tuple[str, Alternative, int]] = (
    ("chi2(4)/4, chi2(8)/8", chi2(5, (0.0, 0.0)), 100),
    ("chi2(4)/4, chi2(8)/8", chi2(5, (0.0, 0.0)), 500),
    ("chi2(4)/4, chi2(8)/8", chi2(5, (0.5, 0.5)), 500),
    ("chi2(4)/4, chi2(8)/8", chi2(5, (2.0, 0.0)), 2_000),
    ("chi2(4)/4, chi2(8)/8", chi2(20, (1.0, 0.0)), 500),
    ("chi2(4)/4, chi2(8)/8", chi2(50, (1.0, 0.0)), 500),
    ("HIGGS high level", HIGGS, 100),
    ("HIGGS high level", HIGGS, 200),
)

EXPERIMENT = RejectionExperiment(
    "positivity",
    __doc__.splitlines()[0],
    cells(),
    draw=cells_of_tests(("law", "n", "k", "d", "noise", "n1", "n2"), [("both", "phases", "positivity")]),
)
