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

from importlib import import_module
from typing import TYPE_CHECKING, Any

from uptonoise import datasets
from uptonoise.bags import Bags
from uptonoise.characteristic import UnreliablePhaseWarning, ecf, phase
from uptonoise.comparison import Comparison, GroupComparison, compare, compare_groups
from uptonoise.discrepancy import mmd, paired_mmd, pairwise_mmd, pairwise_phd, phd
from uptonoise.engines import scan_csv, scan_dask, scan_parquet
from uptonoise.frequencies import median_scale, sample_frequencies
from uptonoise.kernels import embedding_kernel, fourier_kernel, phase_kernel
from uptonoise.noise import RobustnessCurve, add_noise, robustness_curve
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

if TYPE_CHECKING:
    from uptonoise import inference, nets
    from uptonoise.features import FourierFeatures, MeanFeatures, NoiseAugmented, PhaseFeatures, RowTransformer
    from uptonoise.ridge import BagRidgeCV, ggrr, glrr, lgrr, make_bag_classifier, pgrr, plrr

__version__ = "0.1.0.dev0"

__all__ = [
    "BagRidgeCV",
    "Bags",
    "Comparison",
    "FourierFeatures",
    "GroupComparison",
    "MeanFeatures",
    "NoiseAugmented",
    "PhaseFeatures",
    "RobustnessCurve",
    "RowTransformer",
    "Sketch",
    "TwoSampleResult",
    "UnequalNoiseWarning",
    "UnreliablePhaseWarning",
    "add_noise",
    "compare",
    "compare_groups",
    "datasets",
    "ecf",
    "embedding_kernel",
    "extra_noise",
    "flip_test",
    "fourier_kernel",
    "ggrr",
    "glrr",
    "inference",
    "lgrr",
    "make_bag_classifier",
    "me_test",
    "median_scale",
    "mmd",
    "mmd_test",
    "nets",
    "paired_difference_test",
    "paired_mmd",
    "pairwise_mmd",
    "pairwise_phase_test",
    "pairwise_phd",
    "pgrr",
    "phase",
    "phase_kernel",
    "phase_test",
    "phase_test_power",
    "phd",
    "phd_test",
    "plrr",
    "robustness_curve",
    "sample_frequencies",
    "scan_csv",
    "scan_dask",
    "scan_parquet",
    "sme_test",
]

# What is loaded only when it is asked for: torch is an extra, and scikit-learn's estimators take a while to import.
_LATER = {
    "uptonoise.features": ("FourierFeatures", "MeanFeatures", "NoiseAugmented", "PhaseFeatures", "RowTransformer"),
    "uptonoise.ridge": ("BagRidgeCV", "ggrr", "glrr", "lgrr", "make_bag_classifier", "pgrr", "plrr"),
}


def __getattr__(name: str) -> Any:
    if name in ("inference", "nets"):
        return import_module(f"uptonoise.{name}")
    module = next((module for module, names in _LATER.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
