"""Distances against closed forms: kernels, point masses, the propositions and Appendix A of the paper, invariance."""

import warnings

import numpy as np
import pytest
from scipy.special import gamma, kv

import uptonoise as un
from uptonoise.fourier import discrepancy
from uptonoise.fourier.discrepancy import squared_mmd, squared_paired_mmd, squared_phd


def gaussian_mmd(X, Y, scale):
    def mean_kernel(A, B):
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / (2 * scale**2)).mean()

    return mean_kernel(X, X) + mean_kernel(Y, Y) - 2 * mean_kernel(X, Y)


@pytest.fixture
def samples(rng):
    return rng.chisquare(4, size=(300, 2)) / 4, rng.chisquare(8, size=(400, 2)) / 8 + 0.3


@pytest.fixture
def W():
    return un.sample_frequencies(60, 2, random_state=0)


def test_mmd_converges_to_that_of_the_gaussian_kernel(samples):
    X, Y = samples
    W = un.sample_frequencies(2**14, 2, scale=0.8, method="sobol", random_state=0)
    assert un.mmd(X, Y, W) == pytest.approx(gaussian_mmd(X, Y, 0.8), rel=5e-3)


def test_paired_mmd_is_the_mmd_of_all_differences(samples):
    X, Y = samples[0][:60], samples[1][:50]
    W = un.sample_frequencies(2**14, 2, scale=0.8, method="sobol", random_state=0)
    differences = (X[:, None] - Y[None]).reshape(-1, 2)
    assert un.paired_mmd(X, Y, W) == pytest.approx(gaussian_mmd(differences, -differences, 0.8), rel=2e-2)


def test_mmd_of_two_points_is_the_kernel_distance():
    x, y, scale = np.array([0.2, -0.4]), np.array([1.0, 0.3]), 0.9
    W = un.sample_frequencies(2**16, 2, scale=scale, method="sobol", random_state=0)
    kernel = np.exp(-((x - y) ** 2).sum() / (2 * scale**2))
    assert un.mmd(x[None], y[None], W) == pytest.approx(2 - 2 * kernel, abs=2e-3)


def test_phd_of_two_points_plus_noise_is_the_squared_kernel_distance(rng):
    # The paper's Appendix B: for point masses plus noise, PhD is the squared RKHS distance of the points.
    x, y, scale, n = np.array([0.2, -0.4]), np.array([1.0, 0.3]), 2.0, 200_000
    W = un.sample_frequencies(2**7, 2, scale=scale, method="sobol", random_state=0)
    noisy_x = x + 0.7 * rng.normal(size=(n, 2))
    noisy_y = y + 0.5 * rng.laplace(size=(n, 2))
    exact = np.mean(np.abs(np.exp(1j * (W @ x)) - np.exp(1j * (W @ y))) ** 2)
    kernel = np.exp(-((x - y) ** 2).sum() / (2 * scale**2))
    assert exact == pytest.approx(2 - 2 * kernel, rel=0.01)
    assert un.phd(noisy_x, noisy_y, W) == pytest.approx(exact, rel=0.02)
    assert un.mmd(noisy_x, noisy_y, W) < 0.8 * exact


def test_phd_is_the_form_of_proposition_4(samples):
    # Written with expectations of cosines of differences of independent copies, over all pairs of rows.
    X, Y = samples
    W = np.asarray(un.sample_frequencies(40, 2, scale=2.0, random_state=1))

    def mean_cosine(A, B):
        angles_a, angles_b = A @ W.T, B @ W.T
        return np.array([np.cos(a[:, None] - b[None]).mean() for a, b in zip(angles_a.T, angles_b.T, strict=True)])

    ratio = mean_cosine(X, Y) / np.sqrt(mean_cosine(X, X) * mean_cosine(Y, Y))
    assert un.phd(X, Y, W, precision="float64") == pytest.approx(2 - 2 * ratio.mean(), abs=1e-12)


def appendix_a(w):
    return (1 - w**2) * np.exp(-(w**2) / 2), (1 - w**2) / (1 + w**2) ** 2


def test_appendix_a_pair_coincides_in_phase_and_not_in_mmd():
    w = np.linspace(-4, 4, 801)
    w = w[np.abs(np.abs(w) - 1) > 1e-9]
    phi_x, phi_y = (one.astype(complex) for one in appendix_a(w))
    assert squared_phd(phi_x, phi_y) == pytest.approx(0, abs=1e-30)
    assert squared_mmd(phi_x, phi_y) > 0.01
    assert squared_paired_mmd(phi_x, phi_y) == 0


def test_appendix_a_pair_from_rows(rng):
    # x^2 exp(-x^2 / 2) / sqrt(2 pi) is a chi(3) with a random sign, abs(x) exp(-abs(x)) / 2 a gamma(2) with one.
    n = 200_000
    X = np.sqrt(rng.chisquare(3, n)) * rng.choice([-1, 1], n)
    Y = rng.gamma(2, size=n) * rng.choice([-1, 1], n)
    w = np.concatenate([np.linspace(0.1, 0.8, 15), np.linspace(1.3, 2.2, 15)])
    assert np.abs(un.ecf(X, w) - appendix_a(w)[0]).max() < 0.01
    assert np.abs(un.ecf(Y, w) - appendix_a(w)[1]).max() < 0.01
    assert un.phd(X, Y, w) < 1e-3
    assert un.mmd(X, Y, w) > 1e-2


def chi2_phi(w, df):
    return np.prod((1 - 2j * w / df) ** (-df / 2), axis=1)


NOISES = {
    "gaussian": lambda w: np.exp(-0.5 * 0.8 * (w**2).sum(1)),
    "laplace": lambda w: np.prod(1 / (1 + 0.5 * w**2), axis=1),
    "cauchy": lambda w: np.exp(-0.7 * np.abs(w).sum(1)),
    "multivariate t": lambda w: _t_phi(np.linalg.norm(w, axis=1), 3.0),
}


def _t_phi(r, df):
    z = np.sqrt(df) * np.maximum(r, 1e-9)
    return kv(df / 2, z) * z ** (df / 2) / (gamma(df / 2) * 2 ** (df / 2 - 1))


@pytest.mark.parametrize("noise", NOISES)
def test_population_phd_does_not_see_noise_and_the_others_do(noise):
    w = np.asarray(un.sample_frequencies(200, 3, random_state=0))
    phi_x, phi_y = chi2_phi(w, 4), chi2_phi(w, 8)
    factor = NOISES[noise](w)
    assert (factor > 0).all()
    clean = squared_phd(phi_x, phi_y)
    assert clean > 0.01
    assert squared_phd(phi_x * factor, phi_y) == pytest.approx(clean, abs=1e-14)
    assert squared_phd(phi_x, phi_y * factor) == pytest.approx(clean, abs=1e-14)
    assert squared_phd(phi_x * factor, phi_x) == pytest.approx(0, abs=1e-14)
    assert squared_paired_mmd(phi_x * factor, phi_x) == pytest.approx(0, abs=1e-14)
    assert squared_mmd(phi_x * factor, phi_x) > 0.01
    # The paper's Appendix C: on differing laws the paired distance is not invariant.
    assert squared_paired_mmd(phi_x * factor, phi_y) < 0.9 * squared_paired_mmd(phi_x, phi_y)


def test_population_phd_sees_uniform_noise():
    w = np.asarray(un.sample_frequencies(200, 1, scale=0.2, random_state=0))
    phi = chi2_phi(w, 4)
    uniform = np.sinc(w[:, 0] / np.pi)
    assert (uniform < 0).any()
    assert squared_phd(phi * uniform, phi) > 0.1


def test_chi_squared_samples_have_the_population_distances(rng):
    n = 200_000
    w = np.asarray(un.sample_frequencies(50, 2, scale=2.0, random_state=0))
    X, Y = rng.chisquare(4, size=(n, 2)) / 4, rng.chisquare(8, size=(n, 2)) / 8
    for sample, population in ((un.mmd, squared_mmd), (un.phd, squared_phd), (un.paired_mmd, squared_paired_mmd)):
        assert sample(X, Y, w) == pytest.approx(population(chi2_phi(w, 4), chi2_phi(w, 8)), rel=0.1)


@pytest.mark.parametrize("distance", [un.mmd, un.phd, un.paired_mmd])
def test_rows_and_sketches_agree(distance, samples, W):
    X, Y = samples
    s = un.Sketch(W, precision="float64").update(X)
    t = un.Sketch(W, precision="float64").update(Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.UnreliablePhaseWarning)
        assert distance(s, t) == pytest.approx(distance(X, Y, W, precision="float64"), abs=1e-12)
        assert distance(s, t) == pytest.approx(distance(t, s), abs=1e-12)
        assert distance(s, t, W) == distance(s, t)
        assert distance(s, s) == pytest.approx(0, abs=1e-30)
        assert isinstance(distance(X, Y, W), float)


def test_distances_of_far_away_sketches(rng):
    X, Y = rng.chisquare(4, size=(500, 1)), rng.chisquare(8, size=(500, 1))
    W = un.sample_frequencies(20, 1, scale=8.0, random_state=0)
    near = un.phd(X, Y, W, precision="float64")
    far = [un.Sketch(W, precision="float64").update(one + 2.0**30) for one in (X, Y)]
    assert un.phd(*far) == pytest.approx(near, abs=1e-6)


def test_phd_warns_where_the_phase_is_noise(rng):
    X, Y = rng.normal(size=(2, 500))
    W = np.linspace(5, 50, 20)
    s, t = un.Sketch(W).update(X), un.Sketch(W).update(Y)
    with pytest.warns(un.UnreliablePhaseWarning):
        un.phd(X, Y, W)
    with pytest.warns(un.UnreliablePhaseWarning):
        un.phd(s, t)


@pytest.mark.parametrize("distance", [un.mmd, un.phd, un.paired_mmd])
def test_bad_combinations(distance, samples, W):
    X, Y = samples
    s = un.Sketch(W).update(X)
    with pytest.raises(ValueError, match="frequencies must be given"):
        distance(X, Y)
    with pytest.raises(ValueError, match=r"Sketch\.like"):
        distance(s, Y)
    with pytest.raises(ValueError, match="have their own"):
        distance(s, s, 2 * W)
    with pytest.raises(ValueError, match="Y is a sketch without rows"):
        distance(s, un.Sketch.like(s))


PAIRWISE = {"mmd": (un.pairwise_mmd, un.mmd), "phd": (un.pairwise_phd, un.phd)}


def small_bags(rng, n_bags):
    return [rng.chisquare(4, size=(rng.integers(2, 60), 2)) for _ in range(n_bags)]


@pytest.mark.filterwarnings("ignore::uptonoise.UnreliablePhaseWarning")
@pytest.mark.parametrize("name", PAIRWISE)
def test_pairwise_distances_are_those_of_each_pair(name, rng, W):
    matrix, distance = PAIRWISE[name]
    bags, other = small_bags(rng, 9), small_bags(rng, 4)
    for right in (bags, other):
        plain = [[distance(X, Y, W, precision="float64") for Y in right] for X in bags]
        found = matrix(bags, None if right is bags else right, W, precision="float64")
        np.testing.assert_allclose(found, plain, rtol=1e-9, atol=1e-14)


@pytest.mark.filterwarnings("ignore::uptonoise.UnreliablePhaseWarning")
@pytest.mark.parametrize("block_elements", [2**20, 2_000, 1])
@pytest.mark.parametrize("name", PAIRWISE)
def test_pairwise_distances_are_distances(name, block_elements, rng, W, monkeypatch):
    matrix = PAIRWISE[name][0]
    bags = small_bags(rng, 50)
    whole = matrix(bags, frequencies=W)
    monkeypatch.setattr(discrepancy, "_BLOCK_ELEMENTS", block_elements)
    squared = matrix([*bags, bags[0]], frequencies=W)
    assert np.array_equal(squared[:-1, :-1], whole)
    assert np.array_equal(squared, squared.T)
    assert (np.diag(squared) == 0).all()
    assert squared[0, -1] == 0
    assert (squared >= 0).all()
    assert np.array_equal(matrix(bags, bags[:3], W), whole[:, :3])


def test_inner_products_in_blocks_are_symmetric(rng, monkeypatch):
    features = rng.normal(size=(100, 7))
    monkeypatch.setattr(discrepancy, "_BLOCK_ELEMENTS", 1_300)
    gram = discrepancy.matrix_of_pairs(lambda rows, others: rows @ others.T, features)
    assert np.array_equal(gram, gram.T)
    np.testing.assert_allclose(gram, features @ features.T, atol=1e-13)


@pytest.mark.parametrize("name", PAIRWISE)
def test_pairwise_distances_of_bad_input(name, rng, W):
    matrix = PAIRWISE[name][0]
    bags = small_bags(rng, 3)
    with pytest.raises(ValueError, match="frequencies must be given"):
        matrix(bags)
    with pytest.raises(ValueError, match=r"frequencies must have shape \(n_frequencies, 2\)"):
        matrix(bags, frequencies=W[:, :1])
    with pytest.raises(ValueError, match="frequencies must be given, by name"):
        matrix(bags, W)
    with pytest.raises(ValueError, match="other must be Bags"):
        matrix(bags, bags[0], W)
    with pytest.raises(ValueError, match="other must have the columns of bags"):
        matrix(bags, [np.zeros(3)], W)
    with pytest.raises(ValueError, match="bags must be Bags"):
        matrix(bags[0], frequencies=W)


def test_pairwise_phd_warns_where_the_phase_is_noise(rng):
    bags = rng.normal(size=(5, 50, 1))
    with pytest.warns(un.UnreliablePhaseWarning, match="the phase of bags") as caught:
        un.pairwise_phd(bags, frequencies=np.linspace(5, 50, 20))
    assert caught[0].filename == __file__
    with pytest.warns(un.UnreliablePhaseWarning) as caught:
        un.pairwise_phd(bags, bags, np.linspace(5, 50, 20))
    assert [str(one.message)[:18] for one in caught] == ["the phase of bags ", "the phase of other"]
