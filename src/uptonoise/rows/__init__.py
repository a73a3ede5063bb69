"""Rows: what every input becomes before anything is computed from it."""

from uptonoise.rows.arrays import as_real_array, as_table, check_real_tensor, is_tensor, tensor_values
from uptonoise.rows.block import CHUNK_ROWS, Accumulator, AnyAccumulator, Block
from uptonoise.rows.convert import (
    as_rows,
    grouped_rows,
    one_sample,
    refuse_one_iterator_twice,
    register_rows,
    two_samples,
)
from uptonoise.rows.derived import (
    RowsByBag,
    SelectedRows,
    difference,
    select_columns,
    with_weights,
    without_missing,
)
from uptonoise.rows.frames import as_frame, is_frame, is_series
from uptonoise.rows.keys import BagSample, bag_keys, keyed_rows, rows_by_bag, smallest
from uptonoise.rows.matching import Columns, aligned, as_column_names, check_same_columns, numbered_columns
from uptonoise.rows.memory import ArrayRows, FrameRows
from uptonoise.rows.record import NOT_CHOSEN, InputRecord, SampleRecord, SourceRecord, left_out_text
from uptonoise.rows.sampling import sample_rows, some_rows
from uptonoise.rows.source import RowSource, read_rows

__all__ = [
    "CHUNK_ROWS",
    "NOT_CHOSEN",
    "Accumulator",
    "AnyAccumulator",
    "ArrayRows",
    "BagSample",
    "Block",
    "Columns",
    "FrameRows",
    "InputRecord",
    "RowSource",
    "RowsByBag",
    "SampleRecord",
    "SelectedRows",
    "SourceRecord",
    "aligned",
    "as_column_names",
    "as_frame",
    "as_real_array",
    "as_rows",
    "as_table",
    "bag_keys",
    "check_real_tensor",
    "check_same_columns",
    "difference",
    "grouped_rows",
    "is_frame",
    "is_series",
    "is_tensor",
    "keyed_rows",
    "left_out_text",
    "numbered_columns",
    "one_sample",
    "read_rows",
    "refuse_one_iterator_twice",
    "register_rows",
    "rows_by_bag",
    "sample_rows",
    "select_columns",
    "smallest",
    "some_rows",
    "tensor_values",
    "two_samples",
    "with_weights",
    "without_missing",
]
