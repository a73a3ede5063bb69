"""False-positive rate of the phase test and the flip test over many distributions and noises (beyond the paper).

The phase test is run without its positivity part. A sparse design over the whole grid: every pair of values of any two
settings occurs in some cell. Then cells with frequencies that were scaled on the clean sample alone, while the other
has noise 20 or 100 times larger; rare events at very unequal sizes, and very heavy tails; and HIGGS: jet phi, in which
the processes hardly differ, and seven columns of disjoint rows of one process.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from uptonoise.datasets import HIGGS_HIGH_LEVEL, HIGGS_JET_PHI
from uptonoise.experiments._higgs import cell as higgs_cell
from uptonoise.experiments._noisy_distributions import DISTRIBUTIONS, NoisyPair, cell
from uptonoise.experiments._peers import scaled_on_first
from uptonoise.experiments._rejections import Cell, RejectionExperiment, Tests
from uptonoise.twosample import flip_test, phase_test

SIZES = ((50, 50), (100, 100), (200, 200), (500, 500), (1_000, 100), (100, 1_000), (2_000, 2_000))
COLUMNS = (1, 2, 5, 20, 50)
RATIOS = ((0.0, 0.0), (0.5, 0.0), (1.0, 0.5), (2.0, 0.0), (5.0, 0.0))
KINDS = ("gaussian", "laplace", "cauchy", "t", "mixture")
N_CELLS = 84


TESTS: Tests = {"phase": partial(phase_test, positivity=False), "flip": partial(flip_test, n_flips=199)}
SCALED: Tests = {"phase": partial(scaled_on_first, positivity=False)}
EXACT = frozenset({"flip"})
SCALED_PAIRS = [
    NoisyPair(distribution, (500, 500), d, (0.0, ratio), "gaussian")
    for distribution in ("chi-squared", "gamma(0.5)")
    for d in (1, 5)
    for ratio in (20.0, 100.0)
]
"""Samples of which the second has much more noise than the first, which alone chooses the frequencies."""
EXTREME_PAIRS = [
    NoisyPair("rare events", (100, 5_000), 1, (0.0, 0.0), "none"),
    NoisyPair("rare events", (60, 20_000), 1, (0.0, 0.0), "none"),
    NoisyPair("Pareto(0.5)", (200, 200), 3, (1.0, 1.0), "cauchy"),
]
"""Samples at the limits: the smaller one often has no event at all, or tails are heavier than those of the noise."""


def cells() -> Sequence[Cell]:
    """Return the cells of the sparse design, those with frequencies from the clean sample, and those of HIGGS."""
    distributions = list(DISTRIBUTIONS)
    design = [
        NoisyPair(
            distributions[i % 6],
            SIZES[i % 7],
            COLUMNS[(i // 7 + i) % 5],
            RATIOS[(i // 5 + 2 * i) % 5],
            KINDS[(i // 6 + 3 * i) % 5],
        )
        for i in range(N_CELLS)
    ]
    cells = [cell(TESTS, pair, EXACT) for pair in (*design, *EXTREME_PAIRS)]
    cells += [cell(SCALED, pair, EXACT) for pair in SCALED_PAIRS]
    of_higgs: list[tuple[int, Sequence[str], bool]] = [(n, HIGGS_JET_PHI, False) for n in (500, 1_000, 2_000)]
    of_higgs += [(n, HIGGS_HIGH_LEVEL, True) for n in (100, 200, 500)]
    for n, columns, same in of_higgs:
        processes = "signal, signal" if same else "background, signal"
        settings = {"law": f"HIGGS: {processes}", "n": n, "k": n, "d": len(columns), "noise": "none"}
        settings |= {"n1": 0.0, "n2": 0.0}
        cells.append(Cell(settings, higgs_cell(TESTS, n, columns, same).draw, TESTS, at_most=frozenset(TESTS)))
    return cells


EXPERIMENT = RejectionExperiment("noise-level", __doc__.splitlines()[0], cells(), alphas=(0.05, 0.01))
