import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_global_output_transform_pandas,
    check_global_set_output_transform_polars,
    check_n_features_in,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    parametrize_with_checks,
)

import uptonoise as un
from uptonoise.learning import FourierFeatures, MeanFeatures, PhaseFeatures, RowTransformer
from uptonoise.rows import read_rows

TO_VECTORS = [
    FourierFeatures(n_frequencies=5, random_state=0),
    PhaseFeatures(n_frequencies=5, random_state=0),
    MeanFeatures(),
]


ALL = [*TO_VECTORS, RowTransformer(StandardScaler())]


SIZES = [30, 1, 57, 8, 200, 3]


def named(transformer):
    return type(transformer).__name__


@pytest.fixture
def arrays(rng):
    return [rng.gamma(2.0, size=(size, 3)) + number for number, size in enumerate(SIZES)]


@pytest.fixture
def bags(arrays):
    return un.Bags(arrays, ids=list("abcdef"), labels=range(6), columns=["u", "v", "w"])


@pytest.mark.parametrize("transformer", TO_VECTORS, ids=named)
@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, torch.tensor, lambda X: X.tolist()])
def test_vectors_are_bags_of_one_row(rng, transformer, make):
    X = rng.normal(size=(3_000, 4))
    of_bags = clone(transformer).fit(X[:, None, :]).transform(X[:, None, :])
    of_vectors = clone(transformer).fit(make(X)).transform(make(X))
    np.testing.assert_allclose(of_vectors, of_bags, atol=1e-7)


@pytest.mark.parametrize("transformer", TO_VECTORS, ids=named)
def test_kinds_of_bags(arrays, bags, transformer):
    expected = clone(transformer).fit_transform(bags)
    kinds = [
        arrays,
        tuple(arrays),
        np.array([*arrays, None], dtype=object)[:-1],
        [pd.DataFrame(bag, columns=["u", "v", "w"]) for bag in arrays],
        [torch.tensor(bag) for bag in arrays],
        [bag.astype(np.float32) for bag in arrays],
    ]
    for given in kinds:
        found = clone(transformer).fit(given).transform(given)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("transformer", TO_VECTORS, ids=named)
def test_a_bag_does_not_depend_on_the_others(bags, transformer):
    transformer = clone(transformer).fit(bags)
    together = transformer.transform(bags)
    for number in range(len(bags)):
        np.testing.assert_allclose(transformer.transform(bags[[number]])[0], together[number], rtol=0, atol=1e-7)
    order = [4, 0, 5, 4]
    np.testing.assert_allclose(transformer.transform(bags[order]), together[order], rtol=0, atol=1e-7)


@pytest.mark.parametrize("transformer", TO_VECTORS, ids=named)
def test_fit_transform_is_fit_and_transform(bags, transformer):
    np.testing.assert_array_equal(clone(transformer).fit_transform(bags), clone(transformer).fit(bags).transform(bags))


def test_columns_are_matched_by_name(bags):
    other_order = un.Bags([bag[:, ::-1] for bag in bags], columns=["w", "v", "u"])
    for transformer in TO_VECTORS:
        transformer = clone(transformer).fit(bags)
        assert transformer.feature_names_in_.tolist() == ["u", "v", "w"]
        np.testing.assert_array_equal(transformer.transform(other_order), transformer.transform(bags))
        np.testing.assert_array_equal(transformer.transform(list(bags)), transformer.transform(bags))
    lifted = RowTransformer(StandardScaler()).fit(bags)
    np.testing.assert_array_equal(lifted.transform(other_order).values, lifted.transform(bags).values)
    frame = pd.DataFrame(bags.values, columns=bags.columns)
    np.testing.assert_array_equal(lifted.transform(frame[["v", "w", "u"]]), lifted.transform(frame))


@pytest.mark.parametrize("transformer", ALL, ids=named)
def test_other_columns_are_an_error_that_names_them(bags, transformer):
    transformer = clone(transformer).fit(bags)
    with pytest.raises(ValueError, match=r"lacks \['v'\] and has \['t'\]"):
        transformer.transform(un.Bags(bags, columns=["u", "t", "w"]))
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 .*it has s, t, and fit had u, v, w"):
        transformer.transform(un.Bags([np.zeros((2, 2))], columns=["s", "t"]))
    unnamed = clone(transformer).fit(list(bags))
    with pytest.raises(ValueError, match=f"X has 4 features, but {named(transformer)} is expecting 3 features"):
        unnamed.transform([np.zeros((2, 4))])


@pytest.mark.parametrize("transformer", ALL, ids=named)
def test_a_second_fit_forgets_the_first(bags, transformer):
    transformer = clone(transformer).fit(bags).fit(np.random.default_rng(0).normal(size=(5, 8, 2)))
    assert transformer.n_features_in_ == 2
    assert not hasattr(transformer, "feature_names_in_")


@pytest.fixture
def scattered(tmp_path, bags):
    """A file whose bags are not adjacent, and the bags in the order of their first rows."""
    numbers = np.repeat(np.arange(len(bags)), bags.sizes)
    order = np.random.default_rng(1).permutation(len(numbers))
    frame = pd.DataFrame(bags.values[order], columns=bags.columns).assign(patient=bags.ids[numbers[order]])
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, row_group_size=50)
    return path, un.Bags.from_long(frame, by="patient")


@pytest.mark.parametrize("transformer", TO_VECTORS, ids=named)
def test_streams(scattered, transformer):
    path, in_memory = scattered
    expected = clone(transformer).fit_transform(in_memory)
    stream = un.scan_parquet(path, by="patient", progress=False)
    np.testing.assert_allclose(clone(transformer).fit_transform(stream), expected, atol=1e-7)
    assert list(stream.bag_ids) == in_memory.ids.tolist()
    for_fit, to_transform = (un.scan_parquet(path, by="patient", progress=False) for _ in range(2))
    np.testing.assert_allclose(clone(transformer).fit(for_fit).transform(to_transform), expected, atol=1e-7)


def test_iterators_are_read_once(rng):
    X = rng.normal(size=(100, 2))

    def chunks():
        return iter([X[:30], X[30:]])

    fixed = FourierFeatures(4, scale=1.0, random_state=0)
    np.testing.assert_array_equal(fixed.fit_transform(chunks()), fixed.fit_transform(X))
    np.testing.assert_array_equal(FourierFeatures(4, random_state=0).fit(chunks()).scale_, un.median_scale(X))
    with pytest.raises(ValueError, match="iterator and has been read already"):
        FourierFeatures().fit_transform(chunks())
    lifted = RowTransformer(StandardScaler())
    with pytest.raises(ValueError, match="iterator can be read once"):
        lifted.fit_transform(chunks())
    scaled = lifted.fit(chunks()).transform(chunks())
    np.testing.assert_allclose(read_rows(scaled), StandardScaler().fit_transform(X), atol=1e-12)


@parametrize_with_checks(
    [
        FourierFeatures(n_frequencies=5),
        PhaseFeatures(n_frequencies=5),
        FourierFeatures(n_frequencies=5, scale=1.0),
        MeanFeatures(),
        RowTransformer(StandardScaler()),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("transformer", TO_VECTORS, ids=named)
@pytest.mark.parametrize(
    "check",
    [
        check_n_features_in,
        check_set_output_transform,
        check_set_output_transform_pandas,
        check_set_output_transform_polars,
        check_global_output_transform_pandas,
        check_global_set_output_transform_polars,
        check_transformer_get_feature_names_out,
        check_transformer_get_feature_names_out_pandas,
    ],
    ids=lambda check: check.__name__,
)
def test_checks_that_scikit_learn_keeps_to_itself(transformer, check):
    check(named(transformer), transformer)


@pytest.mark.parametrize("transformer", ALL, ids=named)
def test_nothing_before_fit(bags, transformer):
    with pytest.raises(NotFittedError):
        clone(transformer).transform(bags)
    with pytest.raises(NotFittedError):
        clone(transformer).get_feature_names_out()
    with pytest.raises(NotFittedError):
        PhaseFeatures().amplitudes(bags)


@pytest.mark.parametrize("transformer", ALL, ids=named)
def test_clone_params_and_pickle(bags, transformer):
    fitted = clone(transformer).fit(bags)
    assert repr(clone(fitted)) == repr(transformer)
    assert not hasattr(clone(fitted), "n_features_in_")
    again = pickle.loads(pickle.dumps(fitted)).transform(bags)
    if isinstance(again, un.Bags):
        assert again == fitted.transform(bags)
        assert fitted.set_params(transformer__with_mean=False).get_params()["transformer__with_mean"] is False
    else:
        np.testing.assert_array_equal(again, fitted.transform(bags))


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_out(bags, output, frame):
    for transformer in TO_VECTORS:
        transformer = clone(transformer).set_output(transform=output)
        for found in (transformer.fit_transform(bags), transformer.transform(bags)):
            assert isinstance(found, frame)
            assert list(found.columns) == transformer.get_feature_names_out().tolist()
            np.testing.assert_array_equal(found.to_numpy(), clone(transformer).set_output().fit_transform(bags))
    both = make_pipeline(RowTransformer(StandardScaler()), MeanFeatures()).set_output(transform=output)
    assert list(both.fit_transform(bags).columns) == ["u", "v", "w"]


@pytest.mark.parametrize("transformer", ALL, ids=named)
@pytest.mark.parametrize(
    ("X", "match"),
    [
        (np.zeros(5), "2D array"),
        ([1.0, 2.0], "one dimension"),
        (pd.Series([1.0, 2.0]), "one dimension"),
        (torch.zeros(3), "one dimension"),
        ([], "X is empty"),
        (np.zeros((2, 2, 2, 2)), "dim 4"),
        ([np.zeros((2, 3)), np.zeros((0, 3))], "bag 1 has no rows"),
        ([np.zeros((2, 3)), np.zeros((2, 2))], r"X\[1\] must have the columns of X\[0\]"),
        ([np.zeros((2, 3)), np.full((1, 3), np.nan)], "got NaN .*row 0 of bag 1"),
        (np.ma.masked_array(np.ones((3, 2)), mask=np.eye(3, 2, dtype=bool)), "masked"),
        (pd.DataFrame({"a": ["x", "y"]}), "not numeric: 'a'"),
        (None, "None"),
        ("file.csv", "path"),
    ],
)
def test_bad_bags(transformer, X, match):
    with pytest.raises(ValueError, match=match):
        clone(transformer).fit(X)
    fitted = clone(transformer).fit(np.random.default_rng(0).normal(size=(5, 3)))
    with pytest.raises(ValueError, match=match):
        fitted.transform(X)
