import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

from uptonoise.rows import (
    Accumulator,
    as_rows,
    difference,
    one_sample,
    sample_rows,
    select_columns,
    some_rows,
    two_samples,
)

VALUES = np.arange(12.0).reshape(6, 2)


def all_values(source, size=4):
    return np.concatenate([block.values for block in source.blocks(size)])


def inputs():
    frame = pd.DataFrame(VALUES, columns=["a", "b"])
    return {
        "array": VALUES,
        "float32": VALUES.astype(np.float32),
        "integers": VALUES.astype(int),
        "unsigned": VALUES.astype(np.uint8),
        "half": VALUES.astype(np.float16),
        "big endian": VALUES.astype(">f8"),
        "fortran": np.asfortranarray(VALUES),
        "strided": np.repeat(np.repeat(VALUES, 2, axis=0), 2, axis=1)[::2, ::2],
        "reversed": VALUES[::-1][::-1],
        "list": VALUES.tolist(),
        "tensor": torch.tensor(VALUES),
        "tensor with gradient": torch.tensor(VALUES, requires_grad=True),
        "bfloat16 tensor": torch.tensor(VALUES, dtype=torch.bfloat16),
        "pandas": frame,
        "pandas nullable": frame.convert_dtypes(),
        "polars": pl.DataFrame(frame.to_dict("list")),
        "polars lazy": pl.LazyFrame(frame.to_dict("list")),
        "pyarrow": pa.Table.from_pandas(frame),
        "record batch": pa.RecordBatch.from_pandas(frame),
        "record batch reader": pa.Table.from_pandas(frame).to_reader(max_chunksize=2),
        "iterator of arrays": iter([VALUES[:1], VALUES[1:1], VALUES[1:5], VALUES[5:]]),
        "iterator of frames": iter([frame[:2], frame[["b", "a"]][2:]]),
        "iterator of tensors": iter([torch.tensor(VALUES[:3]), torch.tensor(VALUES[3:])]),
    }


@pytest.mark.parametrize("kind", list(inputs()))
def test_every_kind_of_input_gives_the_same_rows(kind):
    source = as_rows(inputs()[kind])
    named = any(word in kind for word in ("pandas", "polars", "pyarrow", "record", "frames"))
    assert source.columns == (("a", "b") if named else ("x0", "x1"))
    assert source.named == named
    assert source.n_rows == (None if "iterator" in kind or "reader" in kind else 6)
    blocks = list(source.blocks(4))
    assert [len(block.values) for block in blocks] == [4, 2]
    assert all(block.values.dtype == np.float64 for block in blocks)
    np.testing.assert_array_equal(np.concatenate([block.values for block in blocks]), VALUES)


def test_read_only_array_works_and_stays_as_it_was():
    values = VALUES.copy()
    values.flags.writeable = False
    np.testing.assert_array_equal(all_values(as_rows(values)), VALUES)


@pytest.mark.parametrize(
    "one_column",
    [
        np.arange(3.0),
        [0, 1, 2],
        pd.Series([0.0, 1, 2], name="a"),
        pl.Series([0.0, 1, 2]),
        pa.chunked_array([[0.0, 1, 2]]),
        torch.arange(3.0),
    ],
)
def test_one_dimension_is_one_unnamed_column(one_column):
    source = as_rows(one_column)
    assert source.columns == ("x0",)
    assert not source.named
    np.testing.assert_array_equal(all_values(source), [[0.0], [1.0], [2.0]])


def test_two_series_with_other_names_are_comparable():
    frame = pd.DataFrame({"lab1": [1.0, 2.0], "lab2": [3.0, 4.0]})
    left, right = two_samples(frame["lab1"], frame["lab2"])
    assert left.columns == right.columns


def test_pandas_frame_of_an_array_has_no_names():
    assert not as_rows(pd.DataFrame(VALUES)).named


def test_booleans_are_numbers():
    np.testing.assert_array_equal(all_values(as_rows(pd.DataFrame({"a": [True, False]}))), [[1.0], [0.0]])
    np.testing.assert_array_equal(all_values(as_rows(np.array([True, False]))), [[1.0], [0.0]])


def test_frames_are_matched_by_name():
    left = pd.DataFrame({"a": [1.0], "b": [2.0]})
    right = pl.DataFrame({"b": [20.0], "a": [10.0]})
    _, aligned = two_samples(left, right)
    assert aligned.columns == ("a", "b")
    np.testing.assert_array_equal(all_values(aligned), [[10.0, 20.0]])
    np.testing.assert_array_equal(aligned.head(), [[10.0, 20.0]])


def test_frames_with_numbers_as_names_are_matched_by_them_too():
    left = pd.DataFrame([[1.0, 2.0]])
    _, right = two_samples(left, left[[1, 0]])
    np.testing.assert_array_equal(all_values(right), [[1.0, 2.0]])
    with pytest.raises(ValueError, match="distinct"):
        as_rows(pd.DataFrame([[1.0, 2.0]], columns=["1", 1]))


def test_one_iterator_is_not_two_samples():
    chunks = iter([VALUES, VALUES])
    with pytest.raises(ValueError, match="same one"):
        two_samples(chunks, chunks)


def test_large_integers_and_arrow_backed_frames():
    moment = 1_700_000_000_123_456_789
    for frame in (pa.table({"a": [moment]}), pl.DataFrame({"a": [moment]}), pd.DataFrame({"a": [moment]})):
        with pytest.raises(ValueError, match=f"whole numbers up to 2.53 .*got {moment} in the column 'a'"):
            all_values(as_rows(frame))
    arrow = pd.DataFrame({"a": pd.array([1, 2], dtype="int64[pyarrow]"), "b": [1.0, 2.0]})
    np.testing.assert_array_equal(all_values(as_rows(arrow)), [[1.0, 1.0], [2.0, 2.0]])


def test_an_array_and_a_frame_are_matched_by_position():
    left, right = two_samples(pd.DataFrame({"b": [1.0], "a": [2.0]}), np.array([[3.0, 4.0]]))
    np.testing.assert_array_equal(all_values(right), [[3.0, 4.0]])
    assert left.columns == ("b", "a")


def test_weights_from_an_array_and_from_a_column():
    frame = pd.DataFrame({"a": [1.0, 2.0], "w": [3.0, 4.0], "b": [5.0, 6.0]})
    by_name = as_rows(frame, weights="w")
    assert by_name.columns == ("a", "b")
    block = next(by_name.blocks(10))
    np.testing.assert_array_equal(block.weights, [3.0, 4.0])
    np.testing.assert_array_equal(block.values, [[1.0, 5.0], [2.0, 6.0]])
    np.testing.assert_array_equal(by_name.head(), block.values)
    streamed = as_rows(iter([VALUES[:4], VALUES[4:]]), weights=np.arange(6))
    np.testing.assert_array_equal(np.concatenate([block.weights for block in streamed.blocks(5)]), np.arange(6))


def test_weights_of_the_wrong_length_are_refused_in_a_stream_too():
    for n_weights in (5, 7):
        streamed = as_rows(iter([VALUES[:4], VALUES[4:]]), weights=np.ones(n_weights))
        with pytest.raises(ValueError, match="weights"):
            list(streamed.blocks(4))


def test_head_of_an_iterator_loses_no_rows():
    source = as_rows(iter([VALUES[:1], VALUES[1:3], VALUES[3:]]))
    np.testing.assert_array_equal(source.head(2), VALUES[:2])
    np.testing.assert_array_equal(source.head(100), VALUES)
    np.testing.assert_array_equal(all_values(source), VALUES)


def test_an_iterator_is_read_once():
    source = as_rows(iter([VALUES]))
    all_values(source)
    with pytest.raises(ValueError, match="read already"):
        all_values(source)


def test_chunks_with_other_columns_name_the_chunk():
    source = as_rows(iter([pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]})]))
    with pytest.raises(ValueError, match="chunk 1"):
        all_values(source)


def test_a_bad_value_is_named_by_row_and_column():
    frame = pd.DataFrame({"a": np.zeros(100), "pt": np.zeros(100)})
    frame.loc[57, "pt"] = np.nan
    with pytest.raises(ValueError, match=r"X.*NaN.*row 57.*'pt'"):
        list(as_rows(frame).blocks(10))


def test_missing_values_of_every_frame_are_refused():
    for frame in (
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pl.DataFrame({"a": [1, None]}),
        pa.table({"a": [1, None]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="int64[pyarrow]"), "b": [1.0, 2.0]}),
    ):
        with pytest.raises(ValueError, match=r"NaN.*row 1"):
            list(as_rows(frame).blocks(10))


def test_sampling_is_without_replacement_and_the_same_from_a_stream(rng):
    X = rng.normal(size=(5000, 2))
    known = sample_rows([as_rows(X)], 1000, np.random.default_rng(1))
    streamed = sample_rows([as_rows(iter(np.array_split(X, 7)))], 1000, np.random.default_rng(1))
    np.testing.assert_array_equal(known, streamed)
    assert len(np.unique(known, axis=0)) == 1000


def test_some_rows_are_the_same_from_a_stream():
    X = np.arange(100.0)
    known, streamed = (some_rows(as_rows(x), 3, np.random.default_rng(0)) for x in (X, iter([X[:40], X[40:]])))
    np.testing.assert_array_equal(known, streamed)


def test_differences_of_rows():
    np.testing.assert_array_equal(all_values(difference(as_rows([3.0, 5.0]), as_rows([1.0, 1.0]))), [[2.0], [4.0]])


def test_sampling_takes_from_all_sources_in_proportion():
    left, right = as_rows(np.zeros(9000)), as_rows(np.ones(1000))
    share = np.mean([sample_rows([left, right], 500, np.random.default_rng(seed)).mean() for seed in range(20)])
    assert abs(share - 0.1) < 0.02


def test_selected_frame_rows_can_be_sampled():
    left = pd.DataFrame({"a": np.zeros(10), "b": np.ones(10)})
    _, right = two_samples(left, left[["b", "a"]])
    np.testing.assert_array_equal(sample_rows([right], 3, np.random.default_rng(0)), [[0.0, 1.0]] * 3)


def test_bags_are_not_one_sample():
    with pytest.raises(ValueError, match="one sample"):
        one_sample([np.zeros((2, 1)), np.zeros((3, 1))])


@pytest.mark.parametrize(
    ("tensor", "match"),
    [
        (torch.ones(2, 2).to_sparse(), "dense"),
        (torch.ones(2, 2, dtype=torch.complex64), "real numbers"),
    ],
)
def test_tensors_that_hold_no_rows(tensor, match):
    with pytest.raises(ValueError, match=f"X.*{match}"):
        as_rows(tensor)


def test_lists_of_samples_are_bags_however_they_come():
    bag = np.zeros((2, 1))
    objects = np.empty(2, dtype=object)
    objects[:] = [bag, np.ones((3, 1))]
    for bags in (
        [bag, bag],
        [[[1.0]], [[2.0], [3.0]]],
        objects,
        [as_rows(bag), as_rows(bag)],
        [pl.LazyFrame({"a": [1.0]}), pl.LazyFrame({"a": [2.0]})],
    ):
        assert len(as_rows(bags).bag_ids) == 2
    assert as_rows([np.array(1.0), np.array(2.0)]).bag_ids is None


def test_import_is_light():
    code = (
        "import sys, uptonoise; "
        "print([name for name in ('torch', 'dask', 'matplotlib', 'pyarrow', 'pandas', 'polars', 'typer', 'scipy.stats')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_source_keeps_its_name():
    source = as_rows(VALUES)
    _, right = two_samples(VALUES, source)
    assert (source.name, right.name) == ("X", "Y")
    named = as_rows(VALUES, name="a.csv")
    assert as_rows(named, name="Y") is named


def test_an_iterator_is_read_once_under_all_its_names():
    source = as_rows(iter([VALUES]))
    assert len(all_values(source.renamed("Y"))) == 6
    with pytest.raises(ValueError, match="X is an iterator and has been read already"):
        all_values(source)


def test_selected_rows_are_sampled_by_their_weights():
    frame = pd.DataFrame({"a": np.arange(10.0), "b": np.ones(10), "w": np.arange(10) == 7})
    for weighted in (as_rows(frame[["a", "b"]], weights=frame["w"].to_numpy()), as_rows(frame, weights="w")):
        rows = sample_rows([select_columns(weighted, ["b", "a"])], 3, np.random.default_rng(0))
        np.testing.assert_array_equal(rows, [[1.0, 7.0]])


def test_an_accumulator_needs_no_more_than_its_part():
    class Rows(Accumulator):
        block_rows = 4

        def part(self, block):
            return len(block.values)

    total = as_rows(VALUES).fold(Rows())
    assert total.total() == 6
    assert total.empty().total() is None
    assert total.renumbered(3, np.arange(2)) == 3
    assert not total.needs_known_bags


def test_engines_are_asked_before_bags_whatever_is_imported_first():
    code = (
        "import numpy as np; import uptonoise.engines; from uptonoise.rows.convert import _CONVERTERS\n"
        "print([converter.matches([np.zeros((2, 1))]) for converter in _CONVERTERS])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "[False, False, True]\n"
