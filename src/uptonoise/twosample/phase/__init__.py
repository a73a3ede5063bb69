"""The phase test and what is built on it."""

from uptonoise.twosample.phase.effect import EffectSize
from uptonoise.twosample.phase.noise_size import ExtraNoise, extra_noise
from uptonoise.twosample.phase.pairs import PairwiseResult, pairwise_phase_test
from uptonoise.twosample.phase.places import centre_of, comparable
from uptonoise.twosample.phase.power import phase_test_power
from uptonoise.twosample.phase.statistic import Sample
from uptonoise.twosample.phase.test import PhaseResult, cluster_counts, phase_test

__all__ = [
    "EffectSize",
    "ExtraNoise",
    "PairwiseResult",
    "PhaseResult",
    "Sample",
    "centre_of",
    "cluster_counts",
    "comparable",
    "extra_noise",
    "pairwise_phase_test",
    "phase_test",
    "phase_test_power",
]
