"""Kernels between bags against plain double loops, and as scikit-learn uses them."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

import uptonoise as un
from uptonoise.fourier import kernel_means
from uptonoise.rows import as_rows

W = un.sample_frequencies(40, 2, scale=2.0, random_state=0)
KERNELS = {
    "embedding": un.embedding_kernel,
    "fourier": lambda *bags, **options: un.fourier_kernel(*bags, frequencies=W, **options),
    "phase": lambda *bags, **options: un.phase_kernel(*bags, frequencies=W, **options),
}


def make_bags(rng, n_bags, sizes=(3, 40)):
    return [rng.gamma(2, size=(rng.integers(*sizes), 2)) + rng.normal(size=2) / 2 for _ in range(n_bags)]


@pytest.fixture
def bags(rng):
    return make_bags(rng, 12)


@pytest.fixture
def other(rng):
    return make_bags(rng, 7)


def plain_embedding(left, right, **options):
    return np.array([[pairwise_kernels(x, y, **options).mean() for y in right] for x in left])


def plain_features(bags, normalise, plain_ecf):
    phi = np.array([plain_ecf(bag, W) for bag in bags])
    phi = phi / np.abs(phi) if normalise else phi
    return np.hstack([phi.real, phi.imag]) / np.sqrt(len(W))


def plain_squared_mmd(gram, left, right):
    return np.array([[x + y - 2 * gram[i, j] for j, y in enumerate(right)] for i, x in enumerate(left)])


def median_square(squared):
    return np.median([squared[i, j] for i in range(len(squared)) for j in range(i)])


ROWWISE = {
    "rbf": ({"kernel": "rbf", "scale": 1.3}, {"metric": "rbf", "gamma": 1 / (2 * 1.3**2)}),
    "laplacian": ({"kernel": "laplacian", "scale": 1.3}, {"metric": "laplacian", "gamma": 1 / 1.3}),
    "linear": ({"kernel": "linear"}, {"metric": "linear"}),
    "poly": ({"kernel": "poly", "kernel_params": {"degree": 2}}, {"metric": "poly", "degree": 2}),
    "cosine": ({"kernel": "cosine"}, {"metric": "cosine"}),
    "callable": ({"kernel": RBF(1.3)}, {"metric": "rbf", "gamma": 1 / (2 * 1.3**2)}),
    "callable with parameters": (
        {"kernel": lambda a, b, power: (a @ b.T) ** power, "kernel_params": {"power": 2}},
        {"metric": "poly", "degree": 2, "coef0": 0, "gamma": 1},
    ),
}


@pytest.mark.parametrize("case", ROWWISE)
def test_embedding_kernel_is_the_mean_over_all_pairs_of_rows(case, bags, other):
    ours, theirs = ROWWISE[case]
    np.testing.assert_allclose(un.embedding_kernel(bags, **ours), plain_embedding(bags, bags, **theirs), rtol=1e-11)
    np.testing.assert_allclose(
        un.embedding_kernel(bags, other, **ours), plain_embedding(bags, other, **theirs), rtol=1e-11
    )


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_length_for_each_column(kernel, bags):
    scaled = [bag / [0.5, 3.0] for bag in bags]
    given = un.embedding_kernel(bags, kernel=kernel, scale=[0.5, 3.0])
    np.testing.assert_allclose(given, un.embedding_kernel(scaled, kernel=kernel, scale=1.0), rtol=1e-12)


@pytest.mark.parametrize("normalise", [False, True])
def test_fourier_and_phase_kernels_are_inner_products(normalise, bags, other, plain_ecf):
    kernel = un.phase_kernel if normalise else un.fourier_kernel
    left, right = (plain_features(one, normalise, plain_ecf) for one in (bags, other))
    np.testing.assert_allclose(kernel(bags, frequencies=W, precision="float64"), left @ left.T, atol=1e-13)
    np.testing.assert_allclose(kernel(bags, other, W, precision="float64"), left @ right.T, atol=1e-13)
    np.testing.assert_allclose(kernel(bags, other, W), left @ right.T, atol=1e-5)


@pytest.mark.parametrize(("kernel", "law"), [("rbf", "gaussian"), ("laplacian", "laplace")])
def test_fourier_kernel_converges_to_the_embedding_kernel(kernel, law, bags, other):
    many = un.sample_frequencies(2**14, 2, law=law, scale=1.3, method="sobol", random_state=0)
    for options in ({}, {"second": "gaussian", "second_scale": 0.5}):
        exact = un.embedding_kernel(bags, other, kernel=kernel, scale=1.3, **options)
        np.testing.assert_allclose(un.fourier_kernel(bags, other, many, **options), exact, atol=2e-3)


def test_gaussian_second_level_of_embeddings(bags, other):
    gamma = 1 / (2 * 1.3**2)
    within, within_other = (np.diag(plain_embedding(one, one, gamma=gamma, metric="rbf")) for one in (bags, other))
    gram = plain_embedding(bags, other, gamma=gamma, metric="rbf")
    squared = plain_squared_mmd(gram, within, within_other)
    among = plain_squared_mmd(plain_embedding(other, other, gamma=gamma, metric="rbf"), within_other, within_other)
    given = un.embedding_kernel(bags, other, scale=1.3, second="gaussian", second_scale=0.4)
    np.testing.assert_allclose(given, np.exp(-squared / (2 * 0.4**2)), rtol=1e-10)
    median = un.embedding_kernel(bags, other, scale=1.3, second="gaussian")
    np.testing.assert_allclose(median, np.exp(-squared / median_square(among)), rtol=1e-10)
    own = un.embedding_kernel(bags, other, scale=1.3, second=lambda squared: 1 / (1 + squared))
    np.testing.assert_allclose(own, 1 / (1 + squared), rtol=1e-12)


@pytest.mark.parametrize("name", ["fourier", "phase"])
def test_gaussian_second_level_of_features(name, bags, other):
    squared, among = (
        (un.pairwise_mmd if name == "fourier" else un.pairwise_phd)(*which, frequencies=W)
        for which in ((bags, other), (other,))
    )
    given = KERNELS[name](bags, other, second="gaussian", second_scale=0.4)
    np.testing.assert_allclose(given, np.exp(-squared / (2 * 0.4**2)), rtol=1e-12)
    median = KERNELS[name](bags, other, second="gaussian")
    np.testing.assert_allclose(median, np.exp(-squared / median_square(among)), rtol=1e-12)


@pytest.mark.parametrize("second", [None, "gaussian"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_symmetric_and_positive_semidefinite(name, second, rng):
    matrix = KERNELS[name](make_bags(rng, 80), second=second)
    assert np.array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix)[0] >= -1e-10
    if second or name == "phase":
        np.testing.assert_allclose(np.diag(matrix), 1, atol=1e-12)


@pytest.mark.parametrize("second", [None, "gaussian"])
@pytest.mark.parametrize("name", KERNELS)
def test_training_and_prediction_see_the_same_kernel(name, second, bags):
    square = KERNELS[name](bags, second=second)
    np.testing.assert_allclose(KERNELS[name](bags, bags, second=second), square, atol=1e-12)
    np.testing.assert_allclose(KERNELS[name](bags[:4], bags, second=second), square[:4], atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_every_form_of_bags(name, rng):
    cube = rng.normal(size=(5, 30, 2))
    expected = KERNELS[name](cube)
    for form in (list(cube), un.Bags(cube), as_rows(un.Bags(cube)), cube.tolist()):
        assert np.array_equal(KERNELS[name](form), expected)


@pytest.mark.parametrize("name", KERNELS)
def test_columns_are_matched_by_name(name, bags, other):
    frames, others = ([pd.DataFrame(bag, columns=["a", "b"]) for bag in some] for some in (bags, other))
    swapped = [frame[["b", "a"]] for frame in others]
    assert np.array_equal(KERNELS[name](frames, swapped), KERNELS[name](bags, other))
    with pytest.raises(ValueError, match=r"other must have the columns of bags.*lacks \['b'\]"):
        KERNELS[name](frames, [frame.rename(columns={"b": "c"}) for frame in others])


def test_weights_of_a_source_count(bags):
    weighted = un.Bags([np.repeat(bag, 2, axis=0)[1:] for bag in bags])
    weights = np.concatenate([[1.0, *[2.0] * (len(bag) - 1)] for bag in bags])
    given = un.embedding_kernel(as_rows(un.Bags(bags), weights=weights), scale=1.0)
    np.testing.assert_allclose(given, un.embedding_kernel(weighted, scale=1.0), rtol=1e-12)
    weights[: len(bags[0])] = 0
    with pytest.raises(ValueError, match=r"weights of bags .* in bag 0"):
        un.embedding_kernel(as_rows(un.Bags(bags), weights=weights), scale=1.0)


@pytest.mark.parametrize("second", [None, "gaussian"])
@pytest.mark.parametrize("strip_rows", [5, 16, 64])
def test_blocks_do_not_change_the_embedding_kernel(strip_rows, second, bags, other, monkeypatch):
    whole = [un.embedding_kernel(*which, second=second) for which in ((bags,), (bags, other))]
    monkeypatch.setattr(kernel_means, "_STRIP_ROWS", strip_rows)
    for which, expected in zip(((bags,), (bags, other)), whole, strict=True):
        matrix = un.embedding_kernel(*which, second=second)
        np.testing.assert_allclose(matrix, expected, rtol=1e-11)
        assert len(which) == 2 or np.array_equal(matrix, matrix.T)


@pytest.mark.parametrize("name", KERNELS)
def test_threads_do_not_change_a_bit(name, rng, monkeypatch):
    bags = rng.normal(size=(30, 100, 2))
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("UPTONOISE_NUM_THREADS", threads)
        found.append(KERNELS[name](bags, second="gaussian"))
    assert np.array_equal(*found)


def test_memory_does_not_grow_with_pairs_of_rows(rng):
    bags = rng.normal(size=(4, 2_000, 1))
    tracemalloc.start()
    un.embedding_kernel(bags, scale=1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 8_000**2 / 8


def test_far_away_rows_keep_their_digits(bags):
    near = un.embedding_kernel(bags, scale=1.0)
    far = [bag + 2.0**40 for bag in bags]
    shifted = [bag - 2.0**40 for bag in far]
    np.testing.assert_allclose(un.embedding_kernel(far, scale=1.0), un.embedding_kernel(shifted, scale=1.0), rtol=1e-11)
    outlier = [*bags, np.array([[1e9, 0.0], [1e9, 1.0], [1e300, 0.0]])]
    found = un.embedding_kernel(outlier, scale=1.0)
    np.testing.assert_allclose(found[:-1, :-1], near, rtol=1e-11)
    assert found[-1, -1] == pytest.approx((3 + 2 * np.exp(-0.5)) / 9, rel=1e-12)


def test_models_with_a_precomputed_kernel(rng):
    skewness = np.repeat([1.0, -1.0], 20)
    X = skewness[:, None] * (rng.exponential(size=(40, 1_000)) - 1) + rng.normal(size=(40, 1_000)) * 0.5
    bags, frequencies = X[:, :, None], un.sample_frequencies(50, 1, scale=2.0, random_state=0)
    train, test = bags[::2], bags[1::2]
    fitted, predicted = un.phase_kernel(train, None, frequencies), un.phase_kernel(test, train, frequencies)
    # Skewness is a small part of a phase, so both models get little regularisation.
    assert SVC(kernel="precomputed", C=1e3).fit(fitted, skewness[::2]).score(predicted, skewness[1::2]) == 1
    ridge = KernelRidge(kernel="precomputed", alpha=1e-2).fit(fitted, skewness[::2])
    assert np.array_equal(np.sign(ridge.predict(predicted)), skewness[1::2])
    affinity = un.phase_kernel(bags, frequencies=frequencies, second="gaussian")
    found = SpectralClustering(2, affinity="precomputed", random_state=0).fit_predict(affinity)
    assert abs(np.corrcoef(found, skewness)[0, 1]) == pytest.approx(1)
    distances = np.sqrt(un.pairwise_phd(bags, frequencies=frequencies))
    found = AgglomerativeClustering(2, metric="precomputed", linkage="average").fit_predict(distances)
    assert abs(np.corrcoef(found, skewness)[0, 1]) == pytest.approx(1)


def test_equal_bags_need_a_length(rng):
    bag = rng.normal(size=(9, 2))
    for kernel in KERNELS.values():
        for bags in ([bag], [bag, bag, bag]):
            with pytest.raises(ValueError, match='second_scale="median" needs at least 2 bags that differ'):
                kernel(bags, second="gaussian")
        for length in (1.0, 1e-300):
            assert np.array_equal(kernel([bag, bag], second="gaussian", second_scale=length), np.ones((2, 2)))
    mostly = un.embedding_kernel([bag, bag, bag, bag, bag + 1], second="gaussian")
    assert mostly[0, -1] == pytest.approx(np.exp(-1))


def test_phase_kernel_warns_where_the_phase_is_noise(rng):
    bags = rng.normal(size=(5, 50, 1))
    with pytest.warns(un.UnreliablePhaseWarning, match="the phase of bags") as caught:
        un.phase_kernel(bags, frequencies=np.linspace(5, 50, 20))
    assert caught[0].filename == __file__
    with pytest.warns(un.UnreliablePhaseWarning) as caught:
        un.phase_kernel(bags, bags, np.linspace(5, 50, 20))
    assert [str(one.message)[:18] for one in caught] == ["the phase of bags ", "the phase of other"]


@pytest.mark.parametrize("name", KERNELS)
def test_bad_bags(name, bags, other):
    kernel = KERNELS[name]
    with pytest.raises(ValueError, match="other must have the columns of bags, 2 columns"):
        kernel(bags, [np.zeros((3, 1))])
    with pytest.raises(ValueError, match="bags must be Bags, a list of samples or a 3-D array; got a single sample"):
        kernel(bags[0])
    with pytest.raises(ValueError, match="other must be Bags"):
        kernel(bags, other[0])
    with pytest.raises(ValueError, match=r"bags must be finite; got NaN .*row 1 of bag 1"):
        kernel([bags[0], np.array([[1.0, 2.0], [np.nan, 1.0]])])
    with pytest.raises(ValueError, match=r"bags.*None"):
        kernel(None)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"second": "rbf"}, "second must be None, .*'rbf'"),
        ({"second": 2.0}, "second must be None"),
        ({"second": "gaussian", "second_scale": 0.0}, "second_scale must be .* positive length; got 0.0"),
        ({"second": "gaussian", "second_scale": "mean"}, "second_scale must be .*'mean'"),
        ({"second_scale": 1.0}, "second_scale is the length of"),
        ({"second": lambda squared: squared[0]}, "second must return a matrix of shape"),
        ({"second": lambda squared: squared * np.nan}, "second must return finite numbers"),
    ],
)
def test_bad_second_level(name, options, match, bags):
    with pytest.raises(ValueError, match=match):
        KERNELS[name](bags, **options)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"kernel": "gauss"}, "kernel must be a function or one of .*laplacian.*; got 'gauss'"),
        ({"kernel": 3}, "kernel must be a function or one of"),
        ({"kernel": "poly", "scale": 1.0}, "scale is the length of .*'poly'"),
        ({"kernel": "poly", "kernel_params": {"power": 2}}, "kernel_params do not fit kernel='poly': .*power"),
        ({"kernel_params": {"gamma": 2}}, "kernel_params must be left out for kernel='rbf'"),
        ({"kernel": lambda a, b: a[0] @ b[0]}, "kernel must return a matrix of shape"),
        ({"kernel": lambda a, b: np.full((len(a), len(b)), np.nan)}, "kernel must return finite numbers"),
        ({"scale": -1.0}, "scale must be .* positive length"),
        ({"scale": [1.0, 2.0, 3.0]}, "scale must be .* one for each column"),
        ({"scale": "mean"}, "scale must"),
    ],
)
def test_bad_kernel(options, match, bags):
    with pytest.raises(ValueError, match=match):
        un.embedding_kernel(bags, **options)


def test_the_median_length_needs_rows_that_differ():
    with pytest.raises(ValueError, match='scale="median" needs rows of bags that differ'):
        un.embedding_kernel([np.zeros(3), np.zeros(2)])


@pytest.mark.parametrize("kernel", [un.fourier_kernel, un.phase_kernel])
def test_bad_frequencies(kernel, bags):
    with pytest.raises(ValueError, match="frequencies must be given"):
        kernel(bags)
    with pytest.raises(ValueError, match=r"frequencies must have shape \(n_frequencies, 2\).*bags was read as 12 bags"):
        kernel(bags, frequencies=np.ones((5, 3)))
    with pytest.raises(ValueError, match="precision must be one of"):
        kernel(bags, frequencies=W, precision="half")
