"""Rows: what every input becomes before anything is computed from it."""

from uptonoise.rows.arrays import (
    as_real_array,
    check_real_tensor,
    check_whole_numbers,
    is_tensor,
    object_array,
    plain_array,
)
from uptonoise.rows.block import CHUNK_ROWS, Accumulator, AnyAccumulator, Block, chunk_rows
from uptonoise.rows.categories import (
    Coding,
    SeenCategories,
    categories_in,
    check_coding,
    check_known,
    coded_names,
    coded_samples,
    expanded,
    one_hot,
    split_name,
    two_coded,
)
from uptonoise.rows.cluster_ids import as_ids, blocks, cluster_hashes, numbered
from uptonoise.rows.clustered import (
    LEAST_CLUSTERS,
    BlockedRows,
    ClusteredRows,
    GroupedClusters,
    SharedClustersWarning,
    clustered_rows,
    two_clustered,
    warn_of_shared,
)
from uptonoise.rows.convert import (
    as_rows,
    grouping,
    one_sample,
    register_rows,
    same_iterator,
    two_samples,
)
from uptonoise.rows.dependence import (
    Dependence,
    DependentRowsWarning,
    dependence_on_column,
    find_dependence,
)
from uptonoise.rows.derived import (
    Missing,
    RowsByBag,
    SelectedRows,
    difference,
    select_columns,
    with_weights,
    without_missing,
)
from uptonoise.rows.habits import DATE_TEXT, no_measurement
from uptonoise.rows.keys import BagSample, bag_keys, keyed_rows, rows_by_bag
from uptonoise.rows.matching import Columns, aligned, as_column_names, check_same_columns, numbered_columns
from uptonoise.rows.memory import ArrayRows, FrameRows, as_frame, is_frame, is_series, suspected_in_frame
from uptonoise.rows.record import (
    NOT_CHOSEN,
    FileStamp,
    InputRecord,
    SampleRecord,
    SourceRecord,
    check_dropped,
    left_out_text,
)
from uptonoise.rows.sampling import SCALE_ROWS, sample_rows, some_rows
from uptonoise.rows.source import RowSource, read_rows
from uptonoise.rows.suspicious import SuspiciousValuesWarning, warn_of_codes
