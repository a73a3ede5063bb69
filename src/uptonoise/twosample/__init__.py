"""Two-sample tests, one file per test, and the result that they share.

All tests start from ``random_state=0``, so that the same data give the same answer. `weights`, `frequencies` and
`random_state` are the last arguments, in this order. Only tests that work from sketches take weights: those that
permute, pair or learn from rows need rows that count alike. The ME test and tests of paired differences have no
frequencies.
"""

from uptonoise.twosample.flip import FlipResult, flip_of_pairs, flip_test, pairs_as_given, random_pairs
from uptonoise.twosample.paper import (
    MeResult,
    MmdResult,
    PairedDifferenceResult,
    PhdResult,
    SmeResult,
    UnequalNoiseWarning,
    me_of_samples,
    me_test,
    mmd_of_pair,
    mmd_of_samples,
    mmd_test,
    paired_difference_test,
    phd_test,
    sme_test,
)
from uptonoise.twosample.permutation import label_blocks, permutation_pvalue
from uptonoise.twosample.phase import (
    CONSTANTS,
    NEEDS_SINGLE_COLUMNS,
    POSITIVITY_SHARE,
    Adjustment,
    Constants,
    EffectSize,
    ExtraNoise,
    FrequencyBlocks,
    Movable,
    Noncentrality,
    Pair,
    PairwiseResult,
    PhaseResult,
    Phases,
    Plan,
    SampleMoments,
    adjusted_pvalues,
    as_sketches,
    categories_of_sketch,
    cauchy_combination,
    check_size,
    column_spreads,
    decomposed,
    extra_noise,
    fitted_shift,
    noise_difference,
    pair_pvalue,
    pairwise_phase_test,
    phase_pvalue,
    phase_result,
    phase_test,
    phase_test_power,
    plan,
    warn_of_shared_clusters,
)
from uptonoise.twosample.result import TwoSampleResult, p_is, pvalue_text
from uptonoise.twosample.samples import Samples, check_same_clusters, check_values, read_samples
