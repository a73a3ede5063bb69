"""The waist: frequencies, the empirical characteristic function, sketches and distances."""

from uptonoise.fourier.characteristic import (
    Characteristic,
    UnreliablePhaseWarning,
    characteristic_function,
    ecf,
    phase,
    unit,
)
from uptonoise.fourier.compiled import kernel_name
from uptonoise.fourier.cosine_sine import CosineSine, as_complex, turned
from uptonoise.fourier.designs import (
    BLOCK_WEIGHTS,
    SKEWNESS,
    FewerFrequenciesWarning,
    check_design,
    default_design,
    joint_frequencies,
    pair_seconds,
)
from uptonoise.fourier.discrepancy import (
    fourier_features,
    mmd,
    paired_mmd,
    pairwise_mmd,
    pairwise_phd,
    phd,
    squared_mmd,
    squared_paired_mmd,
    squared_phd,
)
from uptonoise.fourier.frequencies import Law, Method, as_frequencies, sample_frequencies
from uptonoise.fourier.kernels import embedding_kernel, fourier_kernel, phase_kernel
from uptonoise.fourier.lengths import lengths_and_order
from uptonoise.fourier.moments import MomentSum
from uptonoise.fourier.resampling import FlipSums, Signs, column_variances, labelled_feature_sums
from uptonoise.fourier.scale import median_length, median_scale
from uptonoise.fourier.sketch import Sketch
from uptonoise.fourier.spread import spread_of_amplitudes
from uptonoise.fourier.sums import BagPart, BagSums, RowFeatures, SampleSum, bags_of_rows
from uptonoise.fourier.versions import show_versions
