__version__: str

from uptonoise import datasets as datasets, inference as inference, nets as nets, plots as plots
from uptonoise.bags import (
    Bags as Bags,
)
from uptonoise.comparison import (
    Comparison as Comparison,
    GroupComparison as GroupComparison,
    compare as compare,
    compare_groups as compare_groups,
)
from uptonoise.engines import (
    scan_csv as scan_csv,
    scan_dask as scan_dask,
    scan_parquet as scan_parquet,
)
from uptonoise.fourier import (
    FewerFrequenciesWarning as FewerFrequenciesWarning,
    Sketch as Sketch,
    UnreliablePhaseWarning as UnreliablePhaseWarning,
    ecf as ecf,
    embedding_kernel as embedding_kernel,
    fourier_kernel as fourier_kernel,
    median_scale as median_scale,
    mmd as mmd,
    paired_mmd as paired_mmd,
    pairwise_mmd as pairwise_mmd,
    pairwise_phd as pairwise_phd,
    phase as phase,
    phase_kernel as phase_kernel,
    phd as phd,
    sample_frequencies as sample_frequencies,
    show_versions as show_versions,
)
from uptonoise.learning import (
    BagCheck as BagCheck,
    BagClassifier as BagClassifier,
    BagRegressor as BagRegressor,
    BagRidgeCV as BagRidgeCV,
    BagSummary as BagSummary,
    FourierFeatures as FourierFeatures,
    GridEdgeWarning as GridEdgeWarning,
    MeanFeatures as MeanFeatures,
    NoiseAugmented as NoiseAugmented,
    PhaseFeatures as PhaseFeatures,
    RobustnessCurve as RobustnessCurve,
    RowTransformer as RowTransformer,
    UnusualBagsWarning as UnusualBagsWarning,
    add_noise as add_noise,
    ggrr as ggrr,
    glrr as glrr,
    lgrr as lgrr,
    make_bag_classifier as make_bag_classifier,
    pgrr as pgrr,
    plrr as plrr,
    robustness_curve as robustness_curve,
)
from uptonoise.monitor import (
    Monitor as Monitor,
    MonitorState as MonitorState,
)
from uptonoise.rows import (
    DependentRowsWarning as DependentRowsWarning,
    SharedClustersWarning as SharedClustersWarning,
    SuspiciousValuesWarning as SuspiciousValuesWarning,
    blocks as blocks,
    one_hot as one_hot,
)
from uptonoise.twosample import (
    Plan as Plan,
    TwoSampleResult as TwoSampleResult,
    UnequalNoiseWarning as UnequalNoiseWarning,
    extra_noise as extra_noise,
    flip_test as flip_test,
    me_test as me_test,
    mmd_test as mmd_test,
    paired_difference_test as paired_difference_test,
    pairwise_phase_test as pairwise_phase_test,
    phase_test as phase_test,
    phase_test_power as phase_test_power,
    phd_test as phd_test,
    plan as plan,
    sme_test as sme_test,
)
