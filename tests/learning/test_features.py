import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler
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
from uptonoise.fourier.characteristic import Characteristic
from uptonoise.learning import FourierFeatures, MeanFeatures, PhaseFeatures, RowTransformer
from uptonoise.rows import RowSource, as_rows, read_rows

WAVES = [FourierFeatures, PhaseFeatures]
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


def plain_features(bag, W, phase):
    """The paper's formula, a bag and a frequency at a time."""
    features = []
    for w in np.asarray(W):
        pair = np.array([np.cos(bag @ w).mean(), np.sin(bag @ w).mean()])
        features.extend(pair / np.linalg.norm(pair) if phase else pair)
    return np.array(features) / np.sqrt(len(W))


def paper(make):
    """Return the features as the paper has them."""
    return partial(make, amplitude="plain") if make is PhaseFeatures else make


# What the features are


@pytest.mark.parametrize("make", WAVES)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-12), ("fast", 1e-6)])
def test_features_are_those_of_the_paper(arrays, make, precision, tolerance):
    features = paper(make)(n_frequencies=7, scale=20.0, precision=precision, random_state=0).fit(arrays)
    expected = [plain_features(bag, features.frequencies_, make is PhaseFeatures) for bag in arrays]
    found = features.transform(arrays)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("make", WAVES)
def test_order_and_factor(make):
    W = np.array([[0.5], [2.0], [-1.0], [0.25]])
    found = make(frequencies=W, precision="float64").fit_transform([np.array([1.0])])
    expected = [wave(w) / 2 for w in W[:, 0] for wave in (np.cos, np.sin)]
    np.testing.assert_allclose(found, [expected], atol=1e-15)


def test_distances_are_mmd_and_phd(arrays):
    W = un.sample_frequencies(20, 3, scale=10, random_state=0)
    for make, distance in ((FourierFeatures, un.mmd), (PhaseFeatures, un.phd)):
        Z = paper(make)(frequencies=W).fit_transform([arrays[0], arrays[4]])
        assert ((Z[0] - Z[1]) ** 2).sum() == pytest.approx(distance(arrays[0], arrays[4], W), abs=1e-6)


def test_phase_features_have_norm_1_and_are_0_where_phi_is(arrays, monkeypatch):
    Z = paper(PhaseFeatures)(n_frequencies=30, scale_factor=0.1, random_state=0).fit_transform(arrays)
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), 1, atol=1e-12)
    features = paper(PhaseFeatures)(frequencies=[1.0, 2.0]).fit([np.zeros(3)])
    found = Characteristic(np.array([[0j, 0.1j]]), np.array([3.0]), np.array([3.0]))
    monkeypatch.setattr("uptonoise.learning.features.characteristic_function", lambda *args, **kwargs: found)
    np.testing.assert_allclose(features.transform([np.zeros(3)]), [[0, 0, 0, np.sqrt(0.5)]])


def test_amplitudes(arrays, plain_ecf):
    features = PhaseFeatures(n_frequencies=6, scale=10.0, random_state=0).fit(arrays)
    expected = [np.abs(plain_ecf(bag, features.frequencies_)) for bag in arrays]
    np.testing.assert_allclose(features.amplitudes(arrays), expected, atol=1e-6)


def test_phases_at_the_sampling_error_are_no_warning(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PhaseFeatures(scale=0.01, random_state=0).fit_transform(rng.normal(size=(20, 30, 2)))


def test_noise_moves_amplitudes_and_not_phases(rng):
    clean = rng.exponential(size=(3, 20_000, 2))
    noisy = clean + rng.normal(size=clean.shape)
    moved = [
        np.linalg.norm(features.fit_transform(clean) - features.transform(noisy), axis=1).max()
        for features in (make(scale=2.0, random_state=0) for make in (PhaseFeatures, FourierFeatures))
    ]
    assert moved[0] < 0.03 < 0.1 < moved[1]


def test_means(arrays):
    expected = [bag.mean(axis=0) for bag in arrays]
    np.testing.assert_allclose(MeanFeatures().fit_transform(arrays), expected, rtol=1e-13)
    np.testing.assert_allclose(MeanFeatures().fit(arrays).transform(arrays), expected, rtol=1e-13)


def test_means_over_many_blocks(rng, monkeypatch):
    monkeypatch.setattr("uptonoise.learning.mean_features.TotalsByBag.block_rows", 16)
    ragged = [rng.normal(size=(size, 2)) for size in rng.integers(1, 60, size=40)]
    np.testing.assert_allclose(MeanFeatures().fit_transform(ragged), [bag.mean(axis=0) for bag in ragged], rtol=1e-10)


# The second level


@pytest.mark.parametrize("method", ["iid", "orthogonal", "sobol"])
def test_inner_products_are_the_gaussian_kernel_of_that_length(rng, method):
    X = rng.normal(size=(15, 4))
    length = 1.7
    Z = FourierFeatures(40_000, scale=length, method=method, precision="float64", random_state=0).fit_transform(X)
    exact = rbf_kernel(X, gamma=1 / (2 * length**2))
    # The standard error is at most sqrt(1/2/40,000) = 0.0035; a bandwidth that is 3 % off shows at this tolerance.
    np.testing.assert_allclose(Z @ Z.T, exact, atol=0.015)
    assert np.abs(rbf_kernel(X, gamma=1 / (2 * (1.05 * length) ** 2)) - exact).max() > 0.03
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), 1, atol=1e-12)


def test_second_level_agrees_with_rbf_sampler(rng):
    X = rng.normal(size=(10, 3))
    ours = FourierFeatures(20_000, scale=2.0, random_state=0).fit_transform(X)
    peer = RBFSampler(gamma=1 / 8, n_components=40_000, random_state=0).fit_transform(X)
    np.testing.assert_allclose(ours @ ours.T, peer @ peer.T, atol=0.03)


@pytest.mark.parametrize("transformer", TO_VECTORS, ids=named)
@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, torch.tensor, lambda X: X.tolist()])
def test_vectors_are_bags_of_one_row(rng, transformer, make):
    X = rng.normal(size=(3_000, 4))
    of_bags = clone(transformer).fit(X[:, None, :]).transform(X[:, None, :])
    of_vectors = clone(transformer).fit(make(X)).transform(make(X))
    np.testing.assert_allclose(of_vectors, of_bags, atol=1e-7)


def test_phase_and_fourier_are_the_same_for_one_row(rng):
    X = rng.normal(size=(20, 4))
    phase, fourier = (paper(make)(random_state=0, precision="float64").fit_transform(X) for make in WAVES[::-1])
    np.testing.assert_allclose(phase, fourier, atol=1e-14)


# Frequencies and scales


@pytest.mark.parametrize("make", WAVES)
def test_scale_factor_divides_the_same_directions(bags, make):
    one = make(random_state=3).fit(bags)
    assert one.scale_ == un.median_scale(bags)
    for factor in (0.5, 4.0):
        other = make(random_state=3, scale_factor=factor).fit(bags)
        assert other.scale_ == pytest.approx(factor * one.scale_)
        np.testing.assert_allclose(other.frequencies_ * factor, one.frequencies_, rtol=1e-14)
    unit_frequencies = un.sample_frequencies(100, 3, random_state=3)
    np.testing.assert_allclose(one.frequencies_ * one.scale_, unit_frequencies, rtol=1e-14)


def test_scales(bags):
    lengths = un.median_scale(bags, per_column=True)
    covariance = np.cov(bags.values.T)
    unit_frequencies = un.sample_frequencies(100, 3, random_state=0)
    for scale, expected in (
        ("median-per-column", unit_frequencies / (2 * lengths)),
        (lengths, unit_frequencies / (2 * lengths)),
        (3, unit_frequencies / 6),
        (covariance, un.sample_frequencies(100, 3, scale=4 * covariance, random_state=0)),
    ):
        features = FourierFeatures(scale=scale, scale_factor=2, random_state=0).fit(bags)
        np.testing.assert_allclose(features.frequencies_, expected, rtol=1e-10)


@pytest.mark.parametrize(
    "params", [{"law": "laplace"}, {"law": "radial", "method": "sobol"}, {"law": "matern", "nu": 9}]
)
def test_laws_and_methods_are_those_of_sample_frequencies(bags, params):
    features = PhaseFeatures(11, scale=2.0, random_state=5, **params).fit(bags)
    expected = un.sample_frequencies(11, 3, scale=2.0, random_state=5, **params)
    np.testing.assert_array_equal(features.frequencies_, expected)
    assert features.frequencies_.provenance["seed"] == 5


def test_seeds(bags):
    for seed in (0, np.random.RandomState):
        first, second = (FourierFeatures(random_state=seed(1) if seed else seed).fit(bags) for _ in range(2))
        np.testing.assert_array_equal(first.frequencies_, second.frequencies_)
    one, other = (FourierFeatures().fit(bags) for _ in range(2))
    assert (one.frequencies_ != other.frequencies_).all()
    assert one.scale_ == other.scale_


def test_given_frequencies(bags):
    W = un.sample_frequencies(8, 3, random_state=0)
    features = FourierFeatures(frequencies=W).fit(bags)
    np.testing.assert_array_equal(features.frequencies_, W)
    assert features.transform(bags).shape == (6, 16)
    halved = FourierFeatures(frequencies=W, scale_factor=2.0).fit(bags)
    np.testing.assert_array_equal(halved.frequencies_, W / 2)
    assert halved.scale_ == 2
    np.testing.assert_array_equal(clone(features).fit(bags).frequencies_, W)


# Bags in, row i is bag i


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


# Streams


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


# Row transformers


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
    with pytest.raises(TypeError, match="clone"):
        RowTransformer(StandardScaler).fit(bags)


# Conduct of scikit-learn


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


def test_names_of_features(bags):
    phase = PhaseFeatures(n_frequencies=2).fit(bags)
    assert phase.get_feature_names_out().tolist() == ["phase_re0", "phase_im0", "phase_re1", "phase_im1"]
    assert FourierFeatures(n_frequencies=1).fit(bags).get_feature_names_out().tolist() == ["fourier_re0", "fourier_im0"]
    assert MeanFeatures().fit(bags).get_feature_names_out().tolist() == ["u", "v", "w"]
    assert MeanFeatures().fit(list(bags)).get_feature_names_out().tolist() == ["x0", "x1", "x2"]


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


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_finds_the_scale(rng, n_jobs):
    y = rng.uniform(1, 6, size=60)
    bags = un.Bags([rng.gamma(shape, size=(40, 1)) for shape in y])
    model = make_pipeline(RowTransformer(StandardScaler()), PhaseFeatures(30, random_state=0), Ridge(alpha=0.01))
    grid = {"phasefeatures__scale_factor": [0.001, 1.0]}
    search = GridSearchCV(model, grid, cv=3, n_jobs=n_jobs).fit(bags, y)
    assert search.best_params_ == {"phasefeatures__scale_factor": 1.0}
    assert search.best_score_ > 0.5
    assert cross_val_predict(model, bags, y, cv=3).shape == (60,)


def test_feature_union_and_two_levels(bags):
    union = FeatureUnion([("phase", PhaseFeatures(3, random_state=0)), ("fourier", FourierFeatures(2, random_state=0))])
    found = union.fit_transform(bags)
    np.testing.assert_array_equal(found[:, :6], PhaseFeatures(3, random_state=0).fit_transform(bags))
    np.testing.assert_array_equal(found[:, 6:], FourierFeatures(2, random_state=0).fit_transform(bags))
    assert union.get_feature_names_out()[6] == "fourier__fourier_re0"
    two_levels = make_pipeline(union, FourierFeatures(50, random_state=0), Ridge())
    assert two_levels.fit(bags, np.arange(6)).predict(bags).shape == (6,)
    assert two_levels[:-1].get_feature_names_out().shape == (100,)


# Bad input


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"n_frequencies": 0}, "n_frequencies must be a positive integer"),
        ({"law": "uniform"}, "law must be one of"),
        ({"method": "grid"}, "method must be one of"),
        ({"precision": "half"}, "precision must be one of"),
        ({"random_state": "a"}, "random_state must be"),
        ({"scale": "mean"}, "scale must be one of median, median-per-column, or a length; got 'mean'"),
        ({"scale": -1.0}, "scale must be positive"),
        ({"scale": None}, "scale must hold real numbers"),
        ({"scale": [1.0, 2.0]}, "scale must be a length, 3 lengths"),
        ({"scale_factor": 0}, "scale_factor must be a positive number; got 0"),
        ({"scale_factor": np.nan}, "scale_factor must be a positive number; got nan"),
        ({"scale_factor": "2"}, "scale_factor must be a positive number; got '2'"),
        ({"nu": 0, "law": "matern"}, "nu must be a number above 0"),
        ({"frequencies": np.ones((4, 2))}, r"frequencies must have shape \(n_frequencies, 3\)"),
        ({"frequencies": np.ones((4, 3)), "scale": 2.0}, "scale has no meaning for frequencies that are given"),
        ({"frequencies": np.ones((4, 3)), "scale_factor": -1}, "scale_factor"),
    ],
)
@pytest.mark.parametrize("make", WAVES)
def test_bad_parameters_are_found_in_fit(bags, make, params, match):
    features = make(**params)
    for fit in (features.fit, features.fit_transform):
        with pytest.raises(ValueError, match=match):
            fit(bags)


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


def test_rows_that_give_no_scale():
    with pytest.raises(ValueError, match="only 1 sample; give a length"):
        FourierFeatures().fit([np.zeros((1, 2))])
    with pytest.raises(ValueError, match="equal, so there is no scale; give a length"):
        FourierFeatures().fit(np.zeros((4, 3, 2)))
    assert FourierFeatures(3, scale=1.0).fit_transform([np.zeros((1, 2))]).shape == (1, 6)


def test_rows_are_checked_in_a_fit_that_does_not_need_them():
    X = np.array([[1.0, 2.0], [np.nan, 0.0]])
    for transformer in (FourierFeatures(scale=1.0), PhaseFeatures(frequencies=np.ones((2, 2))), MeanFeatures()):
        with pytest.raises(ValueError, match=r"NaN .*row 1, column 'x0'"):
            transformer.fit(X)


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


class TestShrunkPhases:
    def bags(self, n_bags=150, n_rows=100, seed=0, noise=0.0):
        generator = np.random.default_rng(seed)
        shapes = generator.uniform(1, 6, size=(n_bags, 1, 1))
        rows = generator.gamma(shapes, size=(n_bags, n_rows, 2)) / shapes
        return rows + noise * generator.normal(size=rows.shape), shapes.ravel()

    def test_phases_are_drawn_to_the_mean_by_their_errors(self):
        bags, _ = self.bags()
        shrunk = PhaseFeatures(30, amplitude="shrunk", random_state=0).fit(bags)
        learnt = shrunk.reliability_
        phi = np.full((1, 30), 0.8) * learnt.mean / np.abs(learnt.mean) * np.exp(0.01j)
        error = (1 - 0.8**2) / (2 * 100 * 0.8**2)
        expected = learnt.spread / (learnt.spread + error)
        moved = learnt.shrunk(phi, np.array([100.0])) - learnt.mean
        np.testing.assert_allclose(np.abs(moved / (phi / 0.8 - learnt.mean)), expected[None], rtol=0.05)

    def test_bags_of_other_sizes_are_drawn_as_those_of_fit(self):
        bags, _ = self.bags()
        several = un.Bags([*bags[:100], *bags[100:, :50]])
        learnt = PhaseFeatures(30, amplitude="shrunk", random_state=0).fit(several).reliability_
        assert learnt.rows.tolist() == [50, 100]
        phi = np.full((1, 30), 0.6 + 0.3j)
        away = {size: np.abs(learnt.shrunk(phi, np.array([size])) - learnt.mean) for size in (20.0, 50.0, 100.0, 1e6)}
        assert (away[50.0] < away[100.0]).all()
        # What is left is what the number of rows says of the amplitude.
        np.testing.assert_allclose(away[20.0], away[50.0], rtol=0.2)
        np.testing.assert_allclose(away[1e6], away[100.0], rtol=0.05)

    def test_bounded_phases_are_drawn_no_further_than_nearly_all_of_fit(self):
        bags, _ = self.bags()
        free, bounded = (PhaseFeatures(30, bounded=one, random_state=0).fit(bags) for one in (False, True))
        found, sizes = free.characteristic(bags), np.full(150, 100.0)
        same = np.isclose(free.reliability_.kept(found.phi, sizes), bounded.reliability_.kept(found.phi, sizes))
        assert (same.mean(axis=0) > 0.89).all()
        assert np.median(same.mean(axis=0)) == pytest.approx(0.9, abs=0.01)
        lost = np.full((1, 30), 0.01 + 0j)
        assert np.mean(free.reliability_.kept(lost, sizes[:1]) < bounded.reliability_.kept(lost, sizes[:1])) > 0.9
        least = bounded.reliability_.kept(found.phi, sizes).min(axis=0)
        np.testing.assert_allclose(bounded.reliability_.kept(lost, sizes[:1])[0], least)

    def test_phases_lost_in_noise_go_to_the_mean(self):
        bags, _ = self.bags()
        shrunk = PhaseFeatures(30, amplitude="shrunk", random_state=0).fit(bags)
        mean = shrunk.reliability_.mean / np.sqrt(30)
        noisy, _ = self.bags(50, seed=1, noise=30.0)
        plain = PhaseFeatures(30, amplitude="plain", random_state=0).fit(bags)

        def distance(features):
            return np.linalg.norm(features.transform(noisy).view(complex) - mean, axis=1).mean()

        assert distance(shrunk) < 0.5 * distance(plain)

    @pytest.mark.parametrize("n_rows", [1, 2, 3])
    def test_bags_of_a_few_rows_work(self, n_rows):
        bags, _ = self.bags(30, n_rows)
        features = PhaseFeatures(10, amplitude="shrunk", random_state=0)
        found = features.fit_transform(bags)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(features.transform(bags), found, atol=1e-7)
        many = PhaseFeatures(10, amplitude="shrunk", random_state=0).fit(self.bags()[0])
        assert np.isfinite(many.transform(bags)).all()

    def test_constant_and_equal_bags_work(self):
        for bags in (np.ones((5, 4, 1)), np.zeros((3, 1, 2))):
            found = PhaseFeatures(5, amplitude="shrunk", scale=1.0, random_state=0).fit_transform(bags)
            assert np.isfinite(found).all()

    def test_an_unknown_amplitude_is_refused(self):
        with pytest.raises(ValueError, match="amplitude must be one of plain, shrunk"):
            PhaseFeatures(5, amplitude="soft").fit(self.bags(5)[0])

    def test_it_predicts_better_under_noise(self):
        bags, y = self.bags(300)
        errors = {}
        for amplitude in ("plain", "shrunk"):
            model = un.BagRidgeCV(PhaseFeatures(40, amplitude=amplitude, random_state=0), random_state=0)
            model.fit(un.Bags(bags[:200]), y[:200])
            noisy = bags[200:] + 1.5 * np.random.default_rng(1).normal(size=bags[200:].shape)
            errors[amplitude] = np.sqrt(np.mean((model.predict(un.Bags(noisy)) - y[200:]) ** 2))
        assert errors["shrunk"] < 0.8 * errors["plain"]


class TestNoiseAugmented:
    def test_features_are_noisy_in_fitting_only(self):
        bags = np.random.default_rng(0).gamma(2.0, size=(50, 40, 2))
        features = un.NoiseAugmented(PhaseFeatures(10, random_state=0), level=2.0, random_state=0)
        noisy = features.fit_transform(bags)
        plain = PhaseFeatures(10, random_state=0).fit(bags).transform(bags)
        np.testing.assert_array_equal(features.transform(bags), plain)
        assert np.abs(noisy - plain).max() > 0.01
        none = un.NoiseAugmented(PhaseFeatures(10, random_state=0), level=0.0, random_state=0)
        np.testing.assert_allclose(none.fit_transform(bags), plain, atol=1e-12)
        assert list(features.get_feature_names_out()) == list(PhaseFeatures(10).fit(bags).get_feature_names_out())

    def test_bad_input(self):
        bags = np.random.default_rng(0).gamma(2.0, size=(5, 4, 2))
        with pytest.raises(ValueError, match="level must be"):
            un.NoiseAugmented(PhaseFeatures(3), level=-1.0).fit_transform(bags)
        with pytest.raises(ValueError, match="transformer must be PhaseFeatures"):
            un.NoiseAugmented(StandardScaler()).fit(bags)
        with pytest.raises(NotFittedError):
            un.NoiseAugmented(PhaseFeatures(3)).transform(bags)
