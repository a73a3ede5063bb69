"""Two-sample tests and learning on distributions, up to symmetric noise of unknown size and kind.

>>> import numpy as np
>>> import uptonoise as un
>>> rng = np.random.default_rng(0)
>>> X, Y = rng.exponential(size=(2, 10_000))
>>> noisy = Y + rng.normal(size=Y.shape)
>>> W = un.sample_frequencies(100, 1, scale=2, random_state=0)
>>> bool(un.mmd(X, noisy, W) > 100 * un.phd(X, noisy, W))
True
"""

from uptonoise import datasets
from uptonoise.bags import Bags
from uptonoise.characteristic import UnreliablePhaseWarning, ecf, phase
from uptonoise.comparison import Comparison, GroupComparison, compare, compare_groups
from uptonoise.discrepancy import mmd, paired_mmd, phd
from uptonoise.engines import scan_csv, scan_parquet
from uptonoise.frequencies import median_scale, sample_frequencies
from uptonoise.sketch import Sketch
from uptonoise.twosample import (
    TwoSampleResult,
    UnequalNoiseWarning,
    extra_noise,
    flip_test,
    me_test,
    mmd_test,
    paired_difference_test,
    pairwise_phase_test,
    phase_test,
    phase_test_power,
    phd_test,
    sme_test,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "Bags",
    "Comparison",
    "GroupComparison",
    "Sketch",
    "TwoSampleResult",
    "UnequalNoiseWarning",
    "UnreliablePhaseWarning",
    "compare",
    "compare_groups",
    "datasets",
    "ecf",
    "extra_noise",
    "flip_test",
    "me_test",
    "median_scale",
    "mmd",
    "mmd_test",
    "paired_difference_test",
    "paired_mmd",
    "pairwise_phase_test",
    "phase",
    "phase_test",
    "phase_test_power",
    "phd",
    "phd_test",
    "sample_frequencies",
    "scan_csv",
    "scan_parquet",
    "sme_test",
]
