"""Two-sample tests, one file a test, and the result that they share."""

from uptonoise.twosample.flip import FlipResult, FlipSums, flip_test
from uptonoise.twosample.paper.mean_embedding import MeResult, me_test
from uptonoise.twosample.paper.mmd_permutation import MmdResult, mmd_of_pair, mmd_test
from uptonoise.twosample.paper.paired_difference import (
    PairedDifferenceResult,
    SmeResult,
    paired_difference_test,
    sme_test,
)
from uptonoise.twosample.paper.phase_discrepancy import PhdResult, UnequalNoiseWarning, phd_test
from uptonoise.twosample.phase.effect import EffectSize
from uptonoise.twosample.phase.noise_size import ExtraNoise, extra_noise, noise_difference
from uptonoise.twosample.phase.offset import fitted_shift
from uptonoise.twosample.phase.pair import FrequencyBlocks, Pair, SampleMoments, as_sketches
from uptonoise.twosample.phase.pairs import Adjustment, PairwiseResult, adjusted_pvalues, pairwise_phase_test
from uptonoise.twosample.phase.positivity import POSITIVITY_SHARE
from uptonoise.twosample.phase.power import phase_test_power
from uptonoise.twosample.phase.result import PhaseResult
from uptonoise.twosample.phase.statistic import decomposed
from uptonoise.twosample.phase.test import phase_pvalue, phase_result, phase_test
from uptonoise.twosample.result import TwoSampleResult, as_json, p_is, said_pvalue

__all__ = [
    "POSITIVITY_SHARE",
    "Adjustment",
    "EffectSize",
    "ExtraNoise",
    "FlipResult",
    "FlipSums",
    "FrequencyBlocks",
    "MeResult",
    "MmdResult",
    "Pair",
    "PairedDifferenceResult",
    "PairwiseResult",
    "PhaseResult",
    "PhdResult",
    "SampleMoments",
    "SmeResult",
    "TwoSampleResult",
    "UnequalNoiseWarning",
    "adjusted_pvalues",
    "as_json",
    "as_sketches",
    "decomposed",
    "extra_noise",
    "fitted_shift",
    "flip_test",
    "me_test",
    "mmd_of_pair",
    "mmd_test",
    "noise_difference",
    "p_is",
    "paired_difference_test",
    "pairwise_phase_test",
    "phase_pvalue",
    "phase_result",
    "phase_test",
    "phase_test_power",
    "phd_test",
    "said_pvalue",
    "sme_test",
]
