"""Two-sample tests, one file a test, and the result that they share."""

from uptonoise.twosample._effect import EffectSize
from uptonoise.twosample._extra_noise import ExtraNoise, extra_noise
from uptonoise.twosample._flip import FlipResult, flip_test
from uptonoise.twosample._me import MeResult, me_test
from uptonoise.twosample._mmd import MmdResult, mmd_test
from uptonoise.twosample._paired import PairedDifferenceResult, SmeResult, paired_difference_test, sme_test
from uptonoise.twosample._pairwise import PairwiseResult, pairwise_phase_test
from uptonoise.twosample._phase import PhaseResult, phase_test
from uptonoise.twosample._phd import PhdResult, UnequalNoiseWarning, phd_test
from uptonoise.twosample._planning import phase_test_power
from uptonoise.twosample._result import TwoSampleResult

__all__ = [
    "EffectSize",
    "ExtraNoise",
    "FlipResult",
    "MeResult",
    "MmdResult",
    "PairedDifferenceResult",
    "PairwiseResult",
    "PhaseResult",
    "PhdResult",
    "SmeResult",
    "TwoSampleResult",
    "UnequalNoiseWarning",
    "extra_noise",
    "flip_test",
    "me_test",
    "mmd_test",
    "paired_difference_test",
    "pairwise_phase_test",
    "phase_test",
    "phase_test_power",
    "phd_test",
    "sme_test",
]
