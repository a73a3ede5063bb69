import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import uptonoise as un
from uptonoise.fourier import CosineSine, characteristic_function, cosine_sine, unit
from uptonoise.fourier.sums import BagSums
from uptonoise.rows import as_rows


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that small samples have many."""
    monkeypatch.setattr(cosine_sine, "BLOCK_ELEMENTS", 64)


@pytest.mark.parametrize(("precision", "tolerance"), [("fast", 3e-7), ("float64", 1e-13)])
@pytest.mark.parametrize("weighted", [False, True])
def test_ecf_is_the_definition(rng, plain_ecf, precision, tolerance, weighted):
    X, W = rng.normal(size=(3000, 4)), rng.normal(size=(33, 4))
    weights = rng.exponential(size=3000) if weighted else None
    found = un.ecf(X, W, weights, precision=precision)
    assert found.shape == (33,)
    assert found.dtype == np.complex128
    np.testing.assert_allclose(found, plain_ecf(X, W, weights), rtol=0, atol=tolerance)


@pytest.mark.parametrize("reach", [1.0, 1e2, 1e4])
def test_error_stays_small_for_large_angles_and_ties(rng, plain_ecf, reach):
    X, W = rng.normal(size=(2000, 5)), rng.normal(size=(50, 5))
    W *= reach / np.abs(X @ W.T).max()
    assert np.abs(un.ecf(X, W) - plain_ecf(X, W)).max() < 5e-7
    ties = np.repeat(X[:3], 1000, axis=0)
    assert np.abs(un.ecf(ties, W) - plain_ecf(ties, W)).max() < 5e-7


@pytest.mark.parametrize(("precision", "tolerance"), [("fast", 3e-7), ("float64", 1e-13)])
def test_ecf_of_bags_is_that_of_each(rng, plain_ecf, small_blocks, precision, tolerance):
    arrays = [rng.normal(size=(size, 2)) for size in [1, 50, 2, 3, 200, 1, 1, 7]]
    W = rng.normal(size=(5, 2))
    expected = np.stack([plain_ecf(array, W) for array in arrays])
    bags = un.Bags(arrays)
    np.testing.assert_allclose(un.ecf(bags, W, precision=precision), expected, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(un.ecf(arrays, W), un.ecf(bags, W))
    weights = rng.exponential(size=len(bags.values))
    parts = np.split(weights, bags.offsets[1:-1])
    expected = np.stack([plain_ecf(array, W, part) for array, part in zip(arrays, parts, strict=True)])
    np.testing.assert_allclose(un.ecf(bags, W, weights, precision=precision), expected, rtol=0, atol=tolerance)


def test_sums_that_are_written_in_place_are_those_that_are_added(rng, small_blocks):
    bags = un.Bags([rng.normal(size=(n_rows, 2)) for n_rows in (3, 500, 1, 40, 7)])
    features = CosineSine(rng.normal(size=(9, 2)), "fast")
    written, added = (as_rows(bags).fold(BagSums(features, 5, in_order=flag)).total() for flag in (True, False))
    for of_written, of_added in zip(written, added, strict=True):
        np.testing.assert_array_equal(of_written, of_added)


def test_rows_of_a_bag_may_lie_anywhere(rng, plain_ecf, small_blocks):
    from uptonoise.rows import ArrayRows, Block

    class Scattered(ArrayRows):
        def chunks(self):
            yield Block(self.values, None, numbers)

    values, numbers = rng.normal(size=(500, 2)), rng.integers(4, size=500)
    W = rng.normal(size=(6, 2))
    found = un.ecf(Scattered(values, bag_ids=list("abcd")), W, precision="float64")
    expected = np.stack([plain_ecf(values[numbers == number], W) for number in range(4)])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


def test_3d_array_is_bags(rng, plain_ecf):
    cube, W = rng.normal(size=(3, 10, 2)), rng.normal(size=(4, 2))
    np.testing.assert_allclose(un.ecf(cube, W), np.stack([plain_ecf(bag, W) for bag in cube]), atol=3e-7)


@pytest.mark.parametrize("bags", [False, True])
def test_neither_threads_nor_chunks_change_a_bit(rng, monkeypatch, small_blocks, bags):
    X, W = rng.normal(size=(1000, 3)), rng.normal(size=(7, 3))
    sample = un.Bags(np.array_split(X, 60)) if bags else X
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("UPTONOISE_NUM_THREADS", threads)
        results.append(un.ecf(sample, W))
        if not bags:
            results += [un.ecf(iter(np.array_split(X, parts)), W) for parts in (1, 7, 90)]
            results.append(un.ecf(pd.DataFrame(X), W))
    assert all(np.array_equal(result, results[0]) for result in results)


def test_many_callers_at_once_get_the_same(rng):
    from concurrent.futures import ThreadPoolExecutor

    X, W = rng.normal(size=(20_000, 3)), rng.normal(size=(30, 3))
    expected = un.ecf(X, W)
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(one, expected) for one in pool.map(lambda _: un.ecf(X, W), range(12)))


def test_rows_times_frequencies_are_never_in_memory():
    X, W = np.zeros((400_000, 2)), np.zeros((200, 2))
    un.ecf(X[:10], W)
    tracemalloc.start()
    un.ecf(X, W)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64e6 < X.shape[0] * W.shape[0] * 8


@pytest.mark.parametrize(
    ("name", "draw", "law"),
    [
        ("normal", lambda rng, n: rng.normal(size=n), lambda w: np.exp(-(w**2) / 2)),
        ("chi2(4)/4", lambda rng, n: rng.chisquare(4, n) / 4, lambda w: (1 - 2j * w / 4) ** -2),
        ("gamma", lambda rng, n: rng.gamma(0.5, size=n), lambda w: (1 - 1j * w) ** -0.5),
        ("cauchy", lambda rng, n: rng.standard_cauchy(n), lambda w: np.exp(-np.abs(w))),
        ("laplace", lambda rng, n: rng.laplace(size=n), lambda w: 1 / (1 + w**2)),
        ("uniform", lambda rng, n: rng.uniform(-1, 1, n), lambda w: np.sinc(w / np.pi)),
    ],
)
def test_known_characteristic_functions(rng, name, draw, law):
    n = 200_000
    w = np.linspace(-3, 3, 25)
    found = un.ecf(draw(rng, n), w)
    assert np.abs(found - law(w)).max() < 4.5 / np.sqrt(n), name


def test_phase_has_modulus_one_and_is_the_same_under_noise(rng):
    X = rng.chisquare(4, size=(100_000, 1)) / 4
    W = np.linspace(0.2, 2, 10)
    clean = un.phase(X, W)
    np.testing.assert_allclose(np.abs(clean), 1, atol=1e-12)
    for noise in (rng.normal(size=X.shape), rng.laplace(size=X.shape), 0.5 * rng.standard_cauchy(size=X.shape)):
        np.testing.assert_allclose(un.phase(X + noise, W), clean, atol=0.06)


def test_phase_is_zero_where_phi_is():
    # exp(i 0) + exp(i pi) = 0, up to rounding; the symmetric pair gives it exactly.
    assert unit(np.array([0j, 2j, -3 + 0j])).tolist() == [0, 1j, -1]


def test_phase_warns_where_it_is_noise(rng):
    X = rng.normal(size=(1000, 1))
    with pytest.warns(
        un.UnreliablePhaseWarning, match=r"phase of X is not reliable at \d+ of 20 frequencies:.*more rows"
    ):
        un.phase(X, np.linspace(5, 50, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        un.phase(X, np.linspace(0.1, 1.5, 20))


def test_the_phase_of_one_row_is_reliable(rng):
    rows, w = rng.normal(size=(50, 1)), rng.normal(size=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        un.phase(rows[:1], w)
        un.phase(un.Bags(rows[:, None, :]), w)


def test_phase_of_bags_warns_only_where_much_of_it_is_noise(rng):
    bags, w = rng.normal(size=(10, 100, 1)), np.linspace(0.1, 1, 19)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        un.phase(bags, np.append(w, 9.0))
    with pytest.warns(un.UnreliablePhaseWarning, match="of bags"):
        un.phase(bags, np.linspace(3, 30, 20))


def test_sampling_error_knows_weights():
    found = characteristic_function(np.zeros(4), [1.0], np.array([1.0, 1.0, 0.0, 0.0]))
    assert float(found.sampling_error) == pytest.approx(1 / np.sqrt(2))


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_shift_and_merge_laws(n, d, m, seed):
    rng = np.random.default_rng(seed)
    X, W, shift = rng.normal(size=(n, d)), rng.normal(size=(m, d)), rng.normal(size=d)
    phi = un.ecf(X, W, precision="float64")
    shifted = un.ecf(X + shift, W, precision="float64")
    np.testing.assert_allclose(shifted, phi * np.exp(1j * (W @ shift)), atol=1e-12)
    np.testing.assert_allclose(un.ecf(-X, W, precision="float64"), phi.conj(), atol=1e-12)
    doubled = un.ecf(np.concatenate([X, X]), W, precision="float64")
    np.testing.assert_allclose(doubled, phi, atol=1e-12)
    assert (np.abs(phi) <= 1 + 1e-12).all()


def test_one_column_of_frequencies_may_be_flat(rng):
    X, w = rng.normal(size=50), np.array([0.5, 1.0])
    np.testing.assert_array_equal(un.ecf(X, w), un.ecf(X[:, None], w[:, None]))


def test_angles_without_a_digit_are_refused():
    with pytest.raises(ValueError, match="no correct digit"):
        un.ecf([1e300, 1.0], [1e10])
    with pytest.raises(ValueError, match="no correct digit"):
        un.ecf([1e17, 1.0], [1.0])
    with pytest.raises(ValueError, match="Y times frequencies"):
        un.mmd([1.0], [1e17], [1.0])


def test_a_source_of_bags_must_tell_the_bags():
    from uptonoise.rows import ArrayRows

    with pytest.raises(ValueError, match="must tell each row's bag"):
        un.ecf(ArrayRows(np.zeros((3, 1)), bag_ids=["a", "b"]), [1.0])


def test_rows_mistaken_for_bags_are_explained():
    with pytest.raises(ValueError, match="X was read as 2 bags of 1 column"):
        un.ecf([np.array([1.0, 2.0]), np.array([3.0, 4.0])], np.ones((3, 2)))


def test_columns_of_very_different_size_are_fine(rng, plain_ecf):
    X = rng.normal(size=(500, 2)) * [1e33, 1e-33]
    W = rng.normal(size=(9, 2)) * [1e-33, 1e33]
    np.testing.assert_allclose(un.ecf(X, W), plain_ecf(X, W), atol=3e-7)
