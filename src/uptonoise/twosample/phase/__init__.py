"""The phase test and what is built on it."""

from uptonoise.twosample.phase.covariance import CONSTANTS, Constants
from uptonoise.twosample.phase.effect import EffectSize, Phases, column_spreads
from uptonoise.twosample.phase.noise_size import NEEDS_SINGLE_COLUMNS, ExtraNoise, extra_noise, noise_difference
from uptonoise.twosample.phase.noncentrality import Noncentrality
from uptonoise.twosample.phase.offset import fitted_shift
from uptonoise.twosample.phase.pair import (
    FrequencyBlocks,
    Movable,
    Pair,
    SampleMoments,
    as_sketches,
    categories_of_sketch,
    check_size,
    comparable,
    warn_of_shared_clusters,
)
from uptonoise.twosample.phase.pairs import Adjustment, PairwiseResult, adjusted_pvalues, pairwise_phase_test
from uptonoise.twosample.phase.planned import Plan, plan
from uptonoise.twosample.phase.positivity import POSITIVITY_SHARE
from uptonoise.twosample.phase.power import phase_test_power
from uptonoise.twosample.phase.result import PhaseResult
from uptonoise.twosample.phase.statistic import decomposed
from uptonoise.twosample.phase.test import cauchy_combination, pair_pvalue, phase_pvalue, phase_result, phase_test
