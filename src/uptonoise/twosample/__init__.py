"""Two-sample tests, one file a test, and the result that they share."""

from uptonoise.twosample.flip import FlipResult, flip_test
from uptonoise.twosample.paper import (
    MeResult,
    MmdResult,
    PairedDifferenceResult,
    PhdResult,
    SmeResult,
    UnequalNoiseWarning,
    me_test,
    mmd_test,
    paired_difference_test,
    phd_test,
    sme_test,
)
from uptonoise.twosample.phase import (
    EffectSize,
    ExtraNoise,
    PairwiseResult,
    PhaseResult,
    extra_noise,
    pairwise_phase_test,
    phase_test,
    phase_test_power,
)
from uptonoise.twosample.phase.offset import why_no_shift
from uptonoise.twosample.phase.pairs import Adjustment, adjusted_pvalues
from uptonoise.twosample.phase.places import Places
from uptonoise.twosample.phase.statistic import Sample, decomposed
from uptonoise.twosample.phase.test import POSITIVITY_SHARE, as_sketches
from uptonoise.twosample.result import TwoSampleResult, as_json, p_is, said_pvalue

__all__ = [
    "POSITIVITY_SHARE",
    "Adjustment",
    "EffectSize",
    "ExtraNoise",
    "FlipResult",
    "MeResult",
    "MmdResult",
    "PairedDifferenceResult",
    "PairwiseResult",
    "PhaseResult",
    "PhdResult",
    "Places",
    "Sample",
    "SmeResult",
    "TwoSampleResult",
    "UnequalNoiseWarning",
    "adjusted_pvalues",
    "as_json",
    "as_sketches",
    "decomposed",
    "extra_noise",
    "flip_test",
    "me_test",
    "mmd_test",
    "p_is",
    "paired_difference_test",
    "pairwise_phase_test",
    "phase_test",
    "phase_test_power",
    "phd_test",
    "said_pvalue",
    "sme_test",
    "why_no_shift",
]
