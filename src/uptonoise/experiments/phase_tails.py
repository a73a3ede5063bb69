"""False-positive rate of the phase statistic far in the tail, at 0.001 and 0.0001 (ours only).

Those who look at many columns or pairs need p-values that are right there. The cells are small ones of `phase-level`,
with very many runs; four blocks of frequencies are merged where there are five columns, two where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence

from uptonoise.experiments._batched_phases import PairCell
from uptonoise.experiments._noisy_distributions import NoisyPair
from uptonoise.experiments._phase_rates import PhaseRates

PAIRS = (
    NoisyPair("chi-squared", (100, 100), 1, (0.0, 0.0), "gaussian"),
    NoisyPair("lognormal", (200, 200), 1, (0.5, 0.0), "laplace"),
    NoisyPair("gamma(0.5)", (100, 100), 5, (1.0, 0.5), "t"),
    NoisyPair("chi-squared", (300, 60), 2, (0.0, 0.0), "gaussian"),
)


def cells() -> Sequence[PairCell]:
    """Return the cells."""
    return [PairCell(pair.settings, pair.draw) for pair in PAIRS]


EXPERIMENT = PhaseRates(
    "phase-tails", __doc__.splitlines()[0], cells, (0.05, 0.01, 0.001, 0.0001), judged=False, repetitions=100_000
)
