import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

import uptonoise as un
from uptonoise.rows import as_rows


@pytest.fixture
def ragged(rng):
    arrays = [rng.normal(loc=number, size=(size, 2)) for number, size in enumerate([3, 1, 5, 2, 4, 6])]
    return arrays, un.Bags(arrays, ids=list("abcdef"), labels=[0, 1, 2, 3, 4, 5])


class BagMean(TransformerMixin, BaseEstimator):
    def __init__(self, power=1):
        self.power = power

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        assert isinstance(X, un.Bags)
        return np.stack([(bag**self.power).mean(axis=0) for bag in X])


def test_values_lie_in_one_array(ragged):
    arrays, bags = ragged
    np.testing.assert_array_equal(bags.values, np.concatenate(arrays))
    assert bags.offsets.tolist() == [0, 3, 4, 9, 11, 15, 21]
    assert bags.sizes.tolist() == [3, 1, 5, 2, 4, 6]
    assert len(bags) == 6
    assert bags.shape == (6,)
    assert not bags.values.flags.writeable


def test_one_bag_is_an_array_and_a_selection_is_bags(ragged):
    arrays, bags = ragged
    np.testing.assert_array_equal(bags[2], arrays[2])
    np.testing.assert_array_equal(bags[-1], arrays[-1])
    np.testing.assert_array_equal(bags[np.int64(1)], arrays[1])
    assert isinstance(bags[[3]], un.Bags)
    with pytest.raises(IndexError):
        bags[6]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ([3], [3]),
        ([5, 0, 5], [5, 0, 5]),
        (np.array([1, 2]), [1, 2]),
        (np.array([True, False, True, False, False, True]), [0, 2, 5]),
        (slice(1, 4), [1, 2, 3]),
        (slice(None, None, -2), [5, 3, 1]),
        ((np.array([4, 1]), Ellipsis), [4, 1]),
        ((np.array([True, False, False, False, False, True]), Ellipsis), [0, 5]),
        ([-1], [5]),
    ],
)
def test_selection_keeps_ids_labels_and_rows(ragged, key, expected):
    arrays, bags = ragged
    picked = bags[key]
    assert picked.ids.tolist() == ["abcdef"[number] for number in expected]
    assert picked.labels.tolist() == expected
    assert picked.sizes.tolist() == [len(arrays[number]) for number in expected]
    for one, number in zip(picked, expected, strict=True):
        np.testing.assert_array_equal(one, arrays[number])


@pytest.mark.parametrize("key", [[1.5], np.array([[0]]), None])
def test_bad_keys(ragged, key):
    with pytest.raises(IndexError, match="index array"):
        ragged[1][key]


def test_numpy_refuses_with_advice(ragged):
    with pytest.raises(TypeError, match=r"bags\.values"):
        np.asarray(ragged[1])


def test_repr_tells_what_is_inside(ragged):
    assert repr(ragged[1]) == "Bags(6 bags of 1 to 6 rows (median 3.5), 21 rows in all, 2 columns: x0, x1)"


def test_from_a_3d_array_and_a_tensor(rng):
    cube = rng.normal(size=(4, 3, 2))
    assert un.Bags(cube) == un.Bags(list(cube)) == un.Bags(torch.tensor(cube))
    np.testing.assert_array_equal(un.Bags(cube.transpose(0, 2, 1))[1], cube[1].T)


def test_frames_are_matched_by_name():
    bags = un.Bags([pd.DataFrame({"a": [1.0], "b": [2.0]}), pl.DataFrame({"b": [4.0], "a": [3.0]})])
    assert bags.columns == ("a", "b")
    np.testing.assert_array_equal(bags.values, [[1.0, 2.0], [3.0, 4.0]])


def test_one_dimensional_arrays_are_one_column():
    assert un.Bags([np.zeros(3), [1, 2]]).values.shape == (5, 1)


def test_float32_stays_and_integers_become_float64():
    assert un.Bags([np.zeros((2, 1), dtype=np.float32)]).values.dtype == np.float32
    assert un.Bags([np.zeros((2, 1), dtype=int)]).values.dtype == np.float64


def long_frame():
    return {
        "patient": ["q", "p", "q", "r", "p"],
        "size": [1.0, 2.0, 3.0, 4.0, 5.0],
        "ill": [1, 0, 1, 0, 0],
        "shape": [10, 20, 30, 40, 50],
    }


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_from_long_gathers_rows_that_are_not_adjacent(make):
    bags = un.Bags.from_long(make(long_frame()), by="patient", values=["shape", "size"], label="ill")
    assert bags.ids.tolist() == ["q", "p", "r"]
    assert bags.labels.tolist() == [1, 0, 0]
    assert bags.columns == ("shape", "size")
    np.testing.assert_array_equal(bags[0], [[10.0, 1.0], [30.0, 3.0]])
    np.testing.assert_array_equal(bags[1], [[20.0, 2.0], [50.0, 5.0]])


def test_from_long_takes_all_other_columns_by_default():
    bags = un.Bags.from_long(pd.DataFrame(long_frame()), by="patient", label="ill")
    assert bags.columns == ("size", "shape")


def test_from_long_with_numbers_and_mixed_ids():
    frame = pd.DataFrame({"id": [7, 3, 7], "x": [1.0, 2.0, 3.0]})
    assert un.Bags.from_long(frame, by="id").ids.tolist() == [7, 3]
    mixed = pd.DataFrame({"id": [7, "seven", 7], "x": [1.0, 2.0, 3.0]})
    assert un.Bags.from_long(mixed, by="id").ids.tolist() == [7, "seven"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"ill": [1, 0, 0, 0, 0]}, r"'ill'.*bag 'q' has 1 and 0"),
        ({"patient": ["q", None, "q", "r", "p"]}, r"'patient', first in row 1"),
        ({"size": [1.0, np.nan, 3.0, 4.0, 5.0]}, r"frame.*row 1, column 'size'"),
        ({"ill": [1, 0, None, 0, 0]}, r"'ill', first in row 2"),
        ({"shape": list("abcde")}, r"'shape'"),
    ],
)
def test_from_long_refuses(change, match):
    with pytest.raises(ValueError, match=match):
        un.Bags.from_long(pd.DataFrame(long_frame() | change), by="patient", label="ill")


def test_from_long_names_a_column_that_is_missing():
    with pytest.raises(ValueError, match=r"no column 'person'.*patient"):
        un.Bags.from_long(pd.DataFrame(long_frame()), by="person")
    with pytest.raises(ValueError, match="data frame"):
        un.Bags.from_long(np.zeros((3, 2)), by="person")
    with pytest.raises(ValueError, match="no rows"):
        un.Bags.from_long(pd.DataFrame(long_frame())[:0], by="patient")


def test_concatenation_keeps_ids_and_matches_names(ragged):
    _, bags = ragged
    assert un.Bags.concatenate([bags[:2], bags[2:]]) == bags
    other = un.Bags([pd.DataFrame({"b": [1.0], "a": [2.0]})], ids=["z"])
    first = un.Bags([pd.DataFrame({"a": [3.0], "b": [4.0]})], ids=["y"])
    np.testing.assert_array_equal(un.Bags.concatenate([first, other]).values, [[3.0, 4.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="labels"):
        un.Bags.concatenate([bags, un.Bags(bags, ids=list("uvwxyz"))[[0]], un.Bags([np.zeros((1, 2))])])
    for bad in ([], None, [np.zeros((2, 2))]):
        with pytest.raises(ValueError, match="parts must be Bags, at least one"):
            un.Bags.concatenate(bad)


def test_bags_of_bags_are_the_same(ragged):
    assert un.Bags(ragged[1]) == ragged[1]
    assert ragged[1] != un.Bags(ragged[1], ids=list("uvwxyz"))


def test_runs_have_at_most_so_many_values_or_one_bag():
    bags = un.Bags([[[1.0], [2.0]], [[3.0]], [[4.0]]])
    assert [run.ids.tolist() for run in bags._runs(2)] == [[0], [1, 2]]
    assert [run.ids.tolist() for run in bags._runs(1)] == [[0], [1], [2]]


def test_pickle(ragged):
    assert pickle.loads(pickle.dumps(ragged[1])) == ragged[1]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: un.Bags([np.zeros((2, 1)), np.zeros((0, 1))]), "bag 1 has no rows"),
        (lambda: un.Bags([np.zeros((2, 1)), np.zeros((0, 1))], ids=["a", "b"]), "bag 'b' has no rows"),
        (lambda: un.Bags([]), "at least one bag"),
        (lambda: un.Bags([np.zeros((2, 1)), np.zeros((2, 2))]), r"bags\[1\].*columns"),
        (lambda: un.Bags([np.zeros((2, 1)), np.array([[1.0], [np.inf]])], ids=["a", "b"]), "row 1 of bag 'b'"),
        (lambda: un.Bags([np.zeros((1, 1))] * 2, ids=[["a"], ["b"]]), "ids must be"),
        (lambda: un.Bags([np.zeros((1, 1))] * 2, labels=3), "labels"),
        (lambda: un.Bags([np.zeros((1, 2))], columns=3), "columns"),
        (lambda: un.Bags([np.zeros((1, 2))], columns=[1, "1"]), "distinct"),
        (lambda: un.Bags(np.zeros((2, 2))), "3-D array"),
        (lambda: un.Bags(pd.DataFrame({"a": [1.0]})), "from_long"),
        (lambda: un.Bags(3), "list of samples"),
        (lambda: un.Bags([np.zeros((1, 1))], ids=["a", "b"]), "ids"),
        (lambda: un.Bags([np.zeros((1, 1))] * 2, ids=["a", "a"]), "'a' more than once"),
        (lambda: un.Bags([np.zeros((1, 1))], labels=[1, 2]), "labels"),
        (lambda: un.Bags([np.zeros((1, 2))], columns=["a"]), "columns"),
        (lambda: un.Bags([np.zeros((1, 2), dtype=complex)]), "real numbers"),
    ],
)
def test_bad_bags(make, match):
    with pytest.raises(ValueError, match=match):
        make()


def test_ids_keep_their_types():
    arrays = [np.zeros((1, 1))] * 2
    assert un.Bags(arrays, ids=[1, "a"]).ids.tolist() == [1, "a"]
    assert un.Bags(arrays, ids=[1, "1"]).ids.tolist() == [1, "1"]
    assert un.Bags(arrays, ids=[None, "a"]).ids.tolist() == [None, "a"]
    assert un.Bags(arrays, ids=[("p", 1), ("p", 2)]).ids.tolist() == [("p", 1), ("p", 2)]
    joined = un.Bags.concatenate([un.Bags(arrays), un.Bags(arrays, ids=["a", "b"])])
    assert joined.ids.tolist() == [0, 1, "a", "b"]
    assert un.Bags(joined[[0, 0]]).ids.tolist() == [0, 0]


def test_nothing_can_be_changed_also_after_a_pickle(ragged):
    for bags in (ragged[1], pickle.loads(pickle.dumps(ragged[1]))):
        for array in (bags.values, bags.offsets, bags.ids, bags.labels, bags[0]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]


def test_numbers_outside_and_tuples_are_no_keys(ragged):
    with pytest.raises(IndexError, match="6 bags; got the number 6"):
        ragged[1][6]
    with pytest.raises(IndexError, match="index array"):
        ragged[1][1, 2]


def test_from_long_with_names_that_are_no_strings_and_one_value_column():
    frame = pd.DataFrame({0: [1, 2, 1], 1: [3.0, 4.0, 5.0]})
    bags = un.Bags.from_long(frame, by=0)
    assert bags.columns == ("1",)
    assert bags.sizes.tolist() == [2, 1]
    long = pd.DataFrame(long_frame())
    assert un.Bags.from_long(long, by="patient", values="size").columns == ("size",)
    for bad in (3, [], ["size", "size"], "nothing"):
        with pytest.raises(ValueError, match=r"values|no column"):
            un.Bags.from_long(long, by="patient", values=bad)
    nested = pl.DataFrame({"id": [[1], [2]], "x": [1.0, 2.0]})
    with pytest.raises(ValueError, match="'id' must hold numbers, strings or dates"):
        un.Bags.from_long(nested, by="id")


@pytest.mark.parametrize(
    "ids", [pd.Categorical(["b", "a", "b"]), pd.to_datetime(["2020-01-02", "2020-01-01", "2020-01-02"])]
)
def test_from_long_with_other_kinds_of_ids(ids):
    bags = un.Bags.from_long(pd.DataFrame({"id": ids, "x": [1.0, 2.0, 3.0]}), by="id")
    assert bags.sizes.tolist() == [2, 1]
    np.testing.assert_array_equal(bags[0], [[1.0], [3.0]])


def test_an_empty_selection_is_an_error(ragged):
    with pytest.raises(ValueError, match="no bag"):
        ragged[1][[]]


def test_rows_carry_the_number_of_their_bag(ragged):
    _, bags = ragged
    numbers = np.concatenate([block.bags for block in as_rows(bags).blocks(4)])
    np.testing.assert_array_equal(numbers, np.repeat(np.arange(6), bags.sizes))


def test_bag_numbers_over_many_chunks(rng, monkeypatch):
    monkeypatch.setattr("uptonoise.bags.rows.CHUNK_ROWS", 7)
    sizes = rng.integers(1, 30, size=50)
    bags = un.Bags([np.full((size, 1), number) for number, size in enumerate(sizes)])
    for block in as_rows(bags).blocks(11):
        np.testing.assert_array_equal(block.values[:, 0], block.bags)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])  # processes take seconds to start
def test_scikit_learn_takes_bags(rng, n_jobs):
    y = rng.normal(size=40)
    bags = un.Bags([rng.normal(loc=target, size=(rng.integers(2, 9), 1)) for target in y], ids=np.arange(100, 140))
    model = make_pipeline(BagMean(), Ridge(alpha=0.1))
    assert cross_val_score(model, bags, y, cv=KFold(4), n_jobs=n_jobs).shape == (4,)
    search = GridSearchCV(model, {"bagmean__power": [1, 2]}, cv=3, n_jobs=n_jobs).fit(bags, y)
    assert search.best_params_ == {"bagmean__power": 1}
    train, test, y_train, y_test = train_test_split(bags, y, random_state=0)
    assert set(train.ids) | set(test.ids) == set(bags.ids)
    np.testing.assert_array_equal(y_train, y[train.ids - 100])
    assert model.fit(train, y_train).predict(test).shape == y_test.shape
