import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

import uptonoise as un
from uptonoise.learning import PhaseFeatures, RowTransformer
from uptonoise.rows import RowSource, as_rows, read_rows

SIZES = [30, 1, 57, 8, 200, 3]


@pytest.fixture
def arrays(rng):
    return [rng.gamma(2.0, size=(size, 3)) + number for number, size in enumerate(SIZES)]


@pytest.fixture
def bags(arrays):
    return un.Bags(arrays, ids=list("abcdef"), labels=range(6), columns=["u", "v", "w"])


@pytest.fixture
def scattered(tmp_path, bags):
    """A file whose bags are not adjacent, and the bags in the order of their first rows."""
    numbers = np.repeat(np.arange(len(bags)), bags.sizes)
    order = np.random.default_rng(1).permutation(len(numbers))
    frame = pd.DataFrame(bags.values[order], columns=bags.columns).assign(patient=bags.ids[numbers[order]])
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, row_group_size=50)
    return path, un.Bags.from_long(frame, by="patient")


def test_streams_through_a_pipeline(scattered):
    path, in_memory = scattered
    model = make_pipeline(RowTransformer(StandardScaler()), PhaseFeatures(n_frequencies=4, random_state=0))
    expected = model.fit_transform(in_memory)
    stream = un.scan_parquet(path, by="patient", progress=False)
    scaled = RowTransformer(StandardScaler()).fit_transform(stream)
    assert isinstance(scaled, RowSource)
    assert scaled.columns == ("u", "v", "w")
    np.testing.assert_allclose(model.fit_transform(stream), expected, atol=1e-6)
    np.testing.assert_allclose(
        model.transform(un.scan_parquet(path, by="patient", progress=False)), expected, atol=1e-6
    )


def test_a_stream_stays_as_it_was_transformed(scattered):
    stream = un.scan_parquet(scattered[0], by="patient", progress=False)
    lifted = RowTransformer(StandardScaler())
    scaled = lifted.fit_transform(stream)
    before = read_rows(scaled)
    lifted.fit(np.random.default_rng(0).normal(size=(50, 3)))
    np.testing.assert_array_equal(read_rows(scaled), before)
    pca = RowTransformer(PCA(2)).fit(stream)  # it has no partial_fit
    assert pca.transform(stream).columns == ("pca0", "pca1")


def test_row_transformer_keeps_ids_and_labels(bags):
    lifted = RowTransformer(StandardScaler()).fit(bags)
    scaled = lifted.transform(bags)
    np.testing.assert_allclose(scaled.values, StandardScaler().fit_transform(bags.values))
    assert scaled.ids.tolist() == bags.ids.tolist()
    assert scaled.labels.tolist() == bags.labels.tolist()
    assert scaled.columns == bags.columns
    assert scaled.named
    assert scaled.sizes.tolist() == SIZES
    assert lifted.fit_transform(bags) == scaled
    assert lifted.transform(bags[[2, 2]]).ids.tolist() == ["c", "c"]
    assert not hasattr(lifted.transformer, "mean_")
    np.testing.assert_allclose(lifted.transformer_.mean_, bags.values.mean(axis=0))
    with pytest.raises(ValueError, match="read-only"):
        scaled.values[0] = 0


@pytest.mark.parametrize(
    ("transformer", "columns"),
    [
        (PCA(2), ("pca0", "pca1")),
        (PolynomialFeatures(2, include_bias=False, interaction_only=True), ("u", "v", "w", "u v", "u w", "v w")),
        (FunctionTransformer(np.log1p), ("u", "v", "w")),
        (FunctionTransformer(lambda X: X[:, :2]), ("x0", "x1")),
        (FunctionTransformer(lambda X: X[:, 0]), ("x0",)),
    ],
    ids=["pca", "polynomial", "function", "fewer", "one"],
)
def test_columns_of_row_transformers(bags, transformer, columns):
    lifted = RowTransformer(transformer).fit(bags)
    assert lifted.transform(bags).columns == columns
    if hasattr(transformer, "get_feature_names_out"):
        assert tuple(lifted.get_feature_names_out()) == columns
    else:
        assert not hasattr(lifted, "get_feature_names_out")


def test_row_transformer_of_unnamed_bags_and_of_frames(arrays):
    scaled = RowTransformer(StandardScaler()).fit_transform(arrays)
    assert isinstance(scaled, un.Bags)
    assert scaled.columns == ("x0", "x1", "x2")
    assert not scaled.named
    inner = StandardScaler().set_output(transform="pandas")
    assert RowTransformer(inner).fit_transform(arrays) == scaled


def test_bad_row_transformers(bags):
    with pytest.raises(ValueError, match="the output of FunctionTransformer must be finite; got NaN"):
        RowTransformer(FunctionTransformer(lambda X: np.where(X > 2, np.nan, X))).fit_transform(bags)
    with pytest.raises(ValueError, match="a row for each of the 299 rows; got 10"):
        RowTransformer(FunctionTransformer(lambda X: X[:10])).fit_transform(bags)
    with pytest.raises(ValueError, match="must be dense"):
        RowTransformer(FunctionTransformer(csr_array)).fit_transform(bags)
    with pytest.raises(ValueError, match="transformer must be a transformer of rows; got <class"):
        RowTransformer(StandardScaler).fit(bags)


class Doubling(TransformerMixin, BaseEstimator):
    """The least that a row transformer can be."""

    def fit(self, X, y=None):
        assert y is None
        return self

    def transform(self, X):
        return 2 * X


def test_the_least_row_transformer(bags):
    doubled = RowTransformer(Doubling()).fit_transform(bags, np.arange(6))
    np.testing.assert_array_equal(doubled.values, 2 * bags.values)
    assert doubled.columns == bags.columns
    assert as_rows(doubled).named
