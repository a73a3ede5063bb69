"""The paper's two-sample tests."""

from uptonoise.twosample.paper.mean_embedding import MeResult, me_of_samples, me_test
from uptonoise.twosample.paper.mmd_permutation import MmdResult, mmd_of_pair, mmd_of_samples, mmd_test
from uptonoise.twosample.paper.paired_difference import (
    PairedDifferenceResult,
    SmeResult,
    paired_difference_test,
    sme_test,
)
from uptonoise.twosample.paper.phase_discrepancy import PhdResult, UnequalNoiseWarning, phd_test
