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
from typing import Any

__version__ = "0.2.0"

# The public names of each package, which is loaded when one of them is first used; __init__.pyi tells type checkers.
_NAMES = {
    "bags": "Bags",
    "comparison": "Comparison GroupComparison compare compare_groups",
    "engines": "scan_csv scan_dask scan_parquet",
    "fourier": (
        "FewerFrequenciesWarning Sketch UnreliablePhaseWarning ecf embedding_kernel fourier_kernel median_scale mmd "
        "paired_mmd pairwise_mmd pairwise_phd phase phase_kernel phd sample_frequencies show_versions"
    ),
    "learning": (
        "BagCheck BagClassifier BagRegressor BagRidgeCV BagSummary FourierFeatures GridEdgeWarning MeanFeatures "
        "NoiseAugmented PhaseFeatures RobustnessCurve RowTransformer UnusualBagsWarning add_noise ggrr glrr lgrr "
        "make_bag_classifier pgrr plrr robustness_curve"
    ),
    "monitor": "Monitor MonitorState",
    "rows": "DependentRowsWarning SharedClustersWarning SuspiciousValuesWarning blocks one_hot",
    "twosample": (
        "Plan TwoSampleResult UnequalNoiseWarning extra_noise flip_test me_test mmd_test paired_difference_test "
        "pairwise_phase_test phase_test phase_test_power phd_test plan sme_test"
    ),
}
_PACKAGES = ("datasets", "inference", "nets", "plots")
_HOMES = {name: package for package, names in _NAMES.items() for name in names.split()}

__all__ = sorted((*_HOMES, *_PACKAGES))


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"uptonoise.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"uptonoise.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
