"""What a bag of rows predicts, also when new bags are noisier."""

from uptonoise.learning.augmentation import (
    VIRTUAL_ROWS,
    NoiseAugmented,
    check_no_target,
    checked_noise_range,
    checked_noise_sizes,
    pooled_variances,
)
from uptonoise.learning.bag_classifier import BagClassifier
from uptonoise.learning.bag_model import BagCheck, UnusualBagsWarning
from uptonoise.learning.bag_regressor import BagRegressor
from uptonoise.learning.classifier import make_bag_classifier
from uptonoise.learning.features import FourierFeatures, PhaseFeatures
from uptonoise.learning.inputs import FittedColumns, as_bags, bag_source, fitted_columns
from uptonoise.learning.mean_features import MeanFeatures
from uptonoise.learning.noise import add_noise
from uptonoise.learning.noisy_copies import LARGEST, NOISE_BOUNDS
from uptonoise.learning.paper_models import ggrr, glrr, lgrr, pgrr, plrr
from uptonoise.learning.ridge import BagRidgeCV
from uptonoise.learning.robustness import RobustnessCurve, robustness_curve
from uptonoise.learning.row_transformer import RowTransformer
from uptonoise.learning.search import checked_numbers
from uptonoise.learning.summary import BagSummary
from uptonoise.learning.targets import checked_targets, given_targets
from uptonoise.learning.tuning import GridEdgeWarning
