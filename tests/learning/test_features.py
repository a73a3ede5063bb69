import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

import uptonoise as un
from uptonoise.fourier.characteristic import Characteristic
from uptonoise.learning import FourierFeatures, MeanFeatures, PhaseFeatures, RowTransformer

WAVES = [FourierFeatures, PhaseFeatures]


SIZES = [30, 1, 57, 8, 200, 3]


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


def test_phase_and_fourier_are_the_same_for_one_row(rng):
    X = rng.normal(size=(20, 4))
    phase, fourier = (paper(make)(random_state=0, precision="float64").fit_transform(X) for make in WAVES[::-1])
    np.testing.assert_allclose(phase, fourier, atol=1e-14)


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


def test_names_of_features(bags):
    phase = PhaseFeatures(n_frequencies=2).fit(bags)
    assert phase.get_feature_names_out().tolist() == ["phase_re0", "phase_im0", "phase_re1", "phase_im1"]
    assert FourierFeatures(n_frequencies=1).fit(bags).get_feature_names_out().tolist() == ["fourier_re0", "fourier_im0"]
    assert MeanFeatures().fit(bags).get_feature_names_out().tolist() == ["u", "v", "w"]
    assert MeanFeatures().fit(list(bags)).get_feature_names_out().tolist() == ["x0", "x1", "x2"]


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
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
        ({"scale_factor": 0}, "scale_factor must be a number above 0 and below inf; got 0"),
        ({"scale_factor": np.nan}, "scale_factor must be a number above 0 and below inf; got nan"),
        ({"scale_factor": "2"}, "scale_factor must be a number above 0 and below inf; got '2'"),
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
