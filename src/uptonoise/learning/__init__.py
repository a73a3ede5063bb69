"""What a bag of rows predicts, also when new bags are noisier."""

from uptonoise.learning.augmentation import (
    VIRTUAL_ROWS,
    check_no_target,
    checked_levels,
    checked_target,
    pooled_variances,
)
from uptonoise.learning.features import FourierFeatures, MeanFeatures, NoiseAugmented, PhaseFeatures, RowTransformer
from uptonoise.learning.noise import RobustnessCurve, add_noise, robustness_curve
from uptonoise.learning.ridge import BagRidgeCV, ggrr, glrr, lgrr, make_bag_classifier, pgrr, plrr

__all__ = [
    "VIRTUAL_ROWS",
    "BagRidgeCV",
    "FourierFeatures",
    "MeanFeatures",
    "NoiseAugmented",
    "PhaseFeatures",
    "RobustnessCurve",
    "RowTransformer",
    "add_noise",
    "check_no_target",
    "checked_levels",
    "checked_target",
    "ggrr",
    "glrr",
    "lgrr",
    "make_bag_classifier",
    "pgrr",
    "plrr",
    "pooled_variances",
    "robustness_curve",
]
