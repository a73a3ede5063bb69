"""Rows on a GPU give the numbers of rows in memory; without one, the same code runs on torch's CPU."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

import uptonoise as un
from uptonoise.engines import on_device, tensor_bags, tensor_features

torch = pytest.importorskip("torch")

from uptonoise.engines.gpu import (  # noqa: E402
    features as _torch,
    folds as _folds,
    rows as _device,
    stream as _stream,
)

HAS_GPU = torch.cuda.is_available()
needs_gpu = pytest.mark.skipif(not HAS_GPU, reason="no GPU")
ERROR = 2e-6
COVARIANCE_ERROR = 5e-6  # the matrix units cut off where float32 rounds


@pytest.fixture(params=["cpu", "cuda", "no Triton"] if HAS_GPU else ["cpu"])
def device(request, monkeypatch):
    """The devices that there are; on a GPU with the kernels and without."""
    if request.param == "no Triton":
        monkeypatch.setattr(_torch, "has_triton", lambda: False)
        return "cuda"
    return request.param


def on(device, X, dtype=torch.float32):
    return torch.as_tensor(np.asarray(X)).to(dtype).to(device)


def rows(device, X, dtype=torch.float32):
    return _device.TensorRows(on(device, X, dtype))


def values_of(source):
    return np.asarray(source.tensor.cpu().double())


def ragged(rng, sizes, d=3):
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return rng.normal(size=(offsets[-1], d)).astype(np.float32), offsets


def bag_ecf(X, offsets, W, plain_ecf, weights=None):
    places = [slice(*place) for place in itertools.pairwise(offsets)]
    return np.array([plain_ecf(X[p], W, None if weights is None else weights[p]) for p in places])


class TestEcf:
    @pytest.mark.parametrize(("n", "d", "m"), [(1, 1, 1), (31, 3, 5), (8_192, 2, 64), (8_193, 7, 65), (9_001, 20, 130)])
    def test_equals_the_definition(self, device, rng, plain_ecf, n, d, m):
        X, W = rng.normal(size=(n, d)), rng.normal(size=(m, d))
        source = rows(device, X)
        found = un.ecf(source, W)
        assert isinstance(found, np.ndarray)
        assert found.dtype == np.complex128
        np.testing.assert_allclose(found, plain_ecf(values_of(source), W), atol=ERROR)

    @pytest.mark.parametrize("d", [64, 65, 200])
    def test_many_columns(self, device, rng, plain_ecf, d):
        X, W = rng.normal(size=(300, d)).astype(np.float32), rng.normal(size=(9, d))
        np.testing.assert_allclose(un.ecf(rows(device, X), W), plain_ecf(X, W), atol=ERROR)

    @pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64", "uint8", "bool"])
    def test_every_type_counts_as_the_numbers_it_holds(self, device, rng, plain_ecf, dtype):
        source = rows(device, 3 * rng.random((500, 2)), getattr(torch, dtype))
        W = rng.normal(size=(10, 2))
        np.testing.assert_allclose(un.ecf(source, W), plain_ecf(values_of(source), W), atol=ERROR)

    def test_weights(self, device, rng, plain_ecf):
        X, W, weights = rng.normal(size=(10_000, 3)).astype(np.float32), rng.normal(size=(20, 3)), rng.random(10_000)
        weights[:50] = 0
        for given in (weights, on(device, weights, torch.float64), 1e90 * weights):
            found = un.ecf(rows(device, X), W, given)
            np.testing.assert_allclose(found, plain_ecf(X, W, weights), atol=ERROR)

    @pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9])
    def test_angles_of_any_size(self, device, rng, offset):
        X, W = offset + rng.normal(size=(5_000, 2)), rng.normal(size=(30, 2))
        expected = un.ecf(X, W, precision="float64")
        np.testing.assert_allclose(un.ecf(rows(device, X, torch.float64), W), expected, atol=ERROR)

    def test_equal_rows_where_no_error_averages_out(self, device, rng, plain_ecf):
        X, W = np.repeat(rng.normal(size=(1, 5)), 30_000, axis=0).astype(np.float32), rng.normal(size=(200, 5))
        W *= 1e4 / np.abs(X[:1] @ W.T).max()
        np.testing.assert_allclose(un.ecf(rows(device, X), W), plain_ecf(X[:1], W), atol=ERROR)

    def test_float32_of_every_size(self, device, plain_ecf):
        X = np.array([0.0, -0.0, 1e-45, -1e-40, 1e-38, 1e-20, -1.5, 3e4], dtype=np.float32)
        W = np.array([[1.0], [-0.3], [1e10 / 3e4]])
        np.testing.assert_allclose(un.ecf(rows(device, X), W), plain_ecf(X, W), atol=ERROR)

    @pytest.mark.parametrize("view", ["transposed", "columns", "every other row", "backwards", "one column"])
    def test_views(self, device, rng, plain_ecf, view):
        whole = on(device, rng.normal(size=(1_000, 8)))
        X = {
            "transposed": whole.T.contiguous().T,
            "columns": whole[:, 2:5],
            "every other row": whole[::2],
            "backwards": whole.flip(0),
            "one column": whole[:, 3],
        }[view]
        array = np.asarray(X.cpu())
        W = rng.normal(size=(12, 1 if array.ndim == 1 else array.shape[1]))
        np.testing.assert_allclose(un.ecf(_device.TensorRows(X), W), plain_ecf(array, W), atol=ERROR)

    def test_float64_is_exact(self, device, rng, plain_ecf):
        X, W = rng.normal(size=(1_000, 3)), rng.normal(size=(20, 3))
        found = un.ecf(rows(device, X, torch.float64), W, precision="float64")
        np.testing.assert_allclose(found, plain_ecf(X, W), atol=1e-13)

    def test_the_same_twice(self, device, rng):
        source, W = rows(device, rng.normal(size=(20_000, 4))), rng.normal(size=(50, 4))
        np.testing.assert_array_equal(un.ecf(source, W), un.ecf(source, W))

    def test_a_tensor_of_this_machine_is_an_array(self, rng):
        X, W = rng.normal(size=(500, 3)), rng.normal(size=(9, 3))
        np.testing.assert_array_equal(un.ecf(torch.from_numpy(X), W), un.ecf(X, W))

    def test_a_tensor_with_a_gradient(self, device, rng, plain_ecf):
        X = on(device, rng.normal(size=(100, 2))).requires_grad_()
        W = rng.normal(size=(5, 2))
        found = un.ecf(_device.TensorRows(X), W)
        np.testing.assert_allclose(found, plain_ecf(X.detach().cpu().numpy(), W), atol=ERROR)


class TestBags:
    SIZES = (1, 5, 64, 65, 300, 3, 20, 20)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_ragged(self, device, rng, plain_ecf, weighted):
        X, offsets = ragged(rng, self.SIZES)
        W, weights = rng.normal(size=(70, 3)), rng.random(len(X)) if weighted else None
        found = un.ecf(tensor_bags(on(device, X), offsets), W, weights)
        np.testing.assert_allclose(found, bag_ecf(X, offsets, W, plain_ecf, weights), atol=ERROR)

    def test_weights_of_very_different_bags(self, device, rng, plain_ecf):
        X, offsets = ragged(rng, self.SIZES)
        W = rng.normal(size=(5, 3))
        weights = rng.random(len(X)) * np.repeat(10.0 ** np.arange(-90, 70, 20), self.SIZES)
        found = un.ecf(tensor_bags(on(device, X), offsets), W, weights)
        np.testing.assert_allclose(found, bag_ecf(X, offsets, W, plain_ecf, weights), atol=ERROR)

    def test_as_a_list_and_in_three_dimensions(self, device, rng):
        X, W = rng.normal(size=(40, 30, 2)).astype(np.float32), rng.normal(size=(8, 2))
        expected = un.ecf(X, W)
        for bags in (on(device, X), [on(device, x) for x in X]):
            source = _device.from_tensors(bags, "X")
            np.testing.assert_allclose(un.ecf(source, W), expected, atol=ERROR)

    def test_many_at_once_and_few(self, device, rng, monkeypatch):
        X, offsets = ragged(rng, rng.integers(1, 90, size=150))
        W, weights = rng.normal(size=(6, 3)), rng.random(len(X))
        source = tensor_bags(on(device, X), offsets)
        whole = un.ecf(source, W, weights)
        monkeypatch.setattr(_folds, "_BAG_ELEMENTS", 100)
        np.testing.assert_allclose(un.ecf(source, W, weights), whole, atol=1e-7)

    @pytest.mark.parametrize("kind", ["phase", "fourier"])
    @pytest.mark.parametrize("sizes", [SIZES, (20,) * 50])
    def test_features(self, device, rng, kind, sizes):
        X, offsets = ragged(rng, sizes)
        W = 0.5 * rng.normal(size=(20, 3))
        bags = un.Bags(np.split(X, offsets[1:-1]))
        make = partial(un.PhaseFeatures, amplitude="plain") if kind == "phase" else un.FourierFeatures
        model = make(frequencies=W).fit(bags)
        expected = model.transform(bags)
        source = tensor_bags(on(device, X), offsets)
        amplitudes = np.repeat(np.abs(un.ecf(bags, W)), 2, axis=1) if kind == "phase" else np.ones_like(expected)
        there = tensor_features(source, W, kind)
        assert there.device.type == device
        for found in (model.transform(source), there.cpu().numpy()):
            assert np.abs((found - expected) * amplitudes).max() < ERROR

    def test_features_of_vectors(self, device, rng):
        X = rng.normal(size=(300, 3))
        model = un.FourierFeatures(15, random_state=0).fit(X)
        np.testing.assert_allclose(model.transform(rows(device, X, torch.float64)), model.transform(X), atol=ERROR)

    def test_blocks_come_to_this_machine(self, device, rng):
        X, offsets = ragged(rng, [30, 50, 20])
        blocks = list(tensor_bags(on(device, X), offsets).blocks(40))
        np.testing.assert_allclose(np.concatenate([block.values for block in blocks]), X, rtol=1e-6)
        assert np.concatenate([block.bags for block in blocks]).tolist() == [0] * 30 + [1] * 50 + [2] * 20

    def test_fitting_draws_the_same_frequencies(self, device, rng):
        X, offsets = ragged(rng, self.SIZES)
        on_gpu = un.PhaseFeatures(5, random_state=0).fit(tensor_bags(on(device, X), offsets))
        here = un.PhaseFeatures(5, random_state=0).fit(un.Bags(np.split(X, offsets[1:-1])))
        np.testing.assert_array_equal(on_gpu.frequencies_, here.frequencies_)

    @pytest.mark.parametrize("offsets", [[0, 2], [1, 3], [0, 0, 3], [0, 2.5, 3], [0], [[0, 3]], [0, 3, 2, 3]])
    def test_offsets_that_are_none(self, offsets):
        with pytest.raises(
            ValueError, match="offsets must be whole numbers that go up from 0 to the number of rows, 3"
        ):
            tensor_bags(torch.zeros(3, 1), offsets)

    def test_bags_that_are_none(self):
        with pytest.raises(ValueError, match="values must be a torch tensor; got a ndarray"):
            tensor_bags(np.zeros((3, 1)), [0, 3])
        with pytest.raises(ValueError, match="ids must have one entry for each of the 2 bags; got 1"):
            tensor_bags(torch.zeros(3, 1), [0, 1, 3], ids=["a"])
        with pytest.raises(ValueError, match="X must be bags on a GPU"):
            tensor_features(np.zeros((3, 2, 1)), [[1.0]])
        with pytest.raises(ValueError, match="kind must be phase or fourier"):
            tensor_features(tensor_bags(torch.zeros(3, 1), [0, 3]), [[1.0]], "other")
        with pytest.raises(ValueError, match=r"X\[1\] must have at least one row, and 2 columns as X\[0\]"):
            _device.from_tensors([torch.zeros(3, 2), torch.zeros(3, 1)], "X")


class TestSketch:
    @pytest.mark.parametrize("m", [3, 64, 130])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_moments(self, device, rng, m, weighted):
        X, W = rng.exponential(size=(5_000, 4)).astype(np.float32), rng.normal(size=(m, 4))
        weights = rng.random(len(X)) if weighted else None
        expected = un.Sketch(W, precision="float64").update(X, weights)
        found = un.Sketch(W).update(rows(device, X), weights)
        assert found.n_rows == expected.n_rows
        np.testing.assert_allclose(found.mean, expected.mean, atol=ERROR)
        np.testing.assert_allclose(found.covariance, expected.covariance, atol=COVARIANCE_ERROR)
        np.testing.assert_array_equal(found.covariance, found.covariance.T)

    def test_few_different_rows_where_no_error_averages_out(self, device, rng):
        X, W = rng.integers(0, 2, size=(20_000, 5)).astype(np.float32), rng.normal(size=(40, 5))
        expected = un.Sketch(W, precision="float64").update(X).covariance
        found = un.Sketch(W).update(rows(device, X)).covariance
        np.testing.assert_allclose(found, expected, atol=COVARIANCE_ERROR)

    def test_a_large_offset_costs_nothing(self, device, rng):
        X, W = 1e9 + rng.normal(size=(5_000, 2)), rng.normal(size=(20, 2))
        expected = un.Sketch(W, precision="float64").update(X).covariance_about([1e9, 1e9])
        found = un.Sketch(W).update(rows(device, X, torch.float64)).covariance_about([1e9, 1e9])
        np.testing.assert_allclose(found, expected, atol=COVARIANCE_ERROR)

    def test_meets_a_sketch_of_rows_in_memory(self, device, rng):
        X, Y = rng.normal(size=(2, 3_000, 3))
        s = un.Sketch.for_samples(X).update(X)
        t = un.Sketch.like(s).update(rows(device, Y, torch.float64))
        here = un.Sketch.like(s).update(Y)
        assert un.phase_test(s, t).statistic == pytest.approx(un.phase_test(s, here).statistic, rel=1e-4)

    def test_saved_and_read(self, device, rng, tmp_path):
        constant = np.ones((100, 1))
        for X in (rng.normal(size=(100, 1)), constant):
            s = un.Sketch([[1.0], [2.0]]).update(rows(device, X))
            s.save(tmp_path / "s.npz")
            assert un.Sketch.load(tmp_path / "s.npz") == s


class TestTests:
    @pytest.fixture
    def samples(self, rng):
        X = rng.exponential(size=(4_000, 3))
        Y = rng.exponential(size=(3_000, 3)) + rng.laplace(size=(3_000, 3)) + [0.1, 0, 0]
        return X, Y

    def test_phase_test(self, device, samples):
        here = un.phase_test(*samples)
        there = un.phase_test(*(rows(device, X, torch.float64) for X in samples))
        assert there.statistic == pytest.approx(here.statistic, rel=1e-4)
        assert there.pvalue == pytest.approx(here.pvalue, rel=1e-3)
        np.testing.assert_array_equal(there.frequencies, here.frequencies)

    def test_with_weights(self, device, samples, rng):
        weights = tuple(rng.random(len(X)) for X in samples)
        here = un.phase_test(*samples, weights=weights)
        there = un.phase_test(*(rows(device, X, torch.float64) for X in samples), weights=weights)
        assert there.statistic == pytest.approx(here.statistic, rel=1e-4)

    @pytest.mark.parametrize("test", [un.flip_test, un.phd_test, un.me_test])
    @pytest.mark.filterwarnings("ignore::uptonoise.UnequalNoiseWarning")
    def test_resampling(self, device, samples, test):
        small = [X[:400] for X in samples]
        here = test(*small, random_state=0)
        there = test(*(rows(device, X, torch.float64) for X in small), random_state=0)
        assert there.statistic == pytest.approx(here.statistic, rel=1e-4)
        assert there.pvalue == pytest.approx(here.pvalue, abs=0.003)

    def test_paired_flips(self, device, samples):
        X, Y = samples[0][:300], samples[1][:300]
        X[:, 2] = Y[:, 2]
        here = un.flip_test(X, Y, paired=True, random_state=0)
        there = un.flip_test(*(rows(device, x, torch.float64) for x in (X, Y)), paired=True, random_state=0)
        assert there.statistic == pytest.approx(here.statistic, rel=1e-4)

    def test_one_sample_here_and_one_there(self, device, samples):
        X, Y = (x[:300] for x in samples)
        here = un.flip_test(X, Y, random_state=0)
        assert un.flip_test(rows(device, X, torch.float64), Y, random_state=0).statistic == here.statistic

    def test_compare(self, device, samples):
        samples = [X[:300] for X in samples]
        here = un.compare(*samples, random_state=0)
        there = un.compare(*(rows(device, X, torch.float64) for X in samples), random_state=0)
        assert str(there.verdict) == str(here.verdict)

    def test_rows_on_two_devices(self, samples, monkeypatch):
        left, right = (rows("cpu", X[:50]) for X in samples)
        monkeypatch.setattr(right, "resident", lambda: torch.zeros(50, 3, device="meta", dtype=torch.float64))
        with pytest.raises(
            ValueError, match="X and Y must be on the same device for the flip test; got X on cpu and Y"
        ):
            un.flip_test(left, right)


class TestNetworks:
    OPTIONS = (
        {},
        {"frequencies": "ridge"},
        {"noise_augmentation": 1.0},
        {"noise_augmentation": 1.0, "noise_domain": "rows"},
        {"scale": "median-per-column"},
    )

    @pytest.fixture
    def bags(self, rng):
        X, offsets = ragged(rng, rng.integers(5, 40, size=60), d=2)
        return X, offsets, un.Bags(np.split(X, offsets[1:-1])), rng.normal(size=60)

    @staticmethod
    def network(device, **options):
        return un.nets.PhaseNetRegressor(
            **({"n_frequencies": 8, "n_epochs": 3, "device": device, "progress": False, "random_state": 0} | options)
        )

    @pytest.mark.parametrize("options", OPTIONS)
    def test_the_network_is_that_of_rows_in_memory(self, device, bags, options):
        X, offsets, here, y = bags
        there = tensor_bags(on(device, X), offsets)
        expected = self.network(device, **options).fit(here, y)
        model = self.network(device, **options).fit(there, on(device, y, torch.float64))
        np.testing.assert_allclose(model.centre_, expected.centre_, atol=1e-6)
        np.testing.assert_allclose(model.scale_, expected.scale_, rtol=1e-6)
        found = model.predict(there)
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, expected.predict(here), atol=2e-3)
        np.testing.assert_allclose(model.predict(here), found, atol=1e-5)
        np.testing.assert_allclose(model.amplitudes(there), model.amplitudes(here), atol=1e-5)

    @pytest.mark.parametrize("options", [{}, {"frequencies": "ridge"}, {"noise_augmentation": 1.0}])
    def test_no_rows_leave_the_device_but_those_that_scales_are_drawn_from(self, device, bags, options, monkeypatch):
        X, offsets, _, y = bags
        there = tensor_bags(on(device, X), offsets)
        expected = self.network(device, **options).fit(there, y).predict(there)
        for kind in (_device.TensorRows, _device.TensorBagRows):
            monkeypatch.setattr(kind, "chunks", None)
        found = self.network(device, **options).fit(there, y).predict(there)
        np.testing.assert_allclose(found, expected, atol=1e-3)  # sums on a GPU come in any order

    @pytest.mark.parametrize("dtype", ["float16", "float64", "int64", "bool"])
    def test_every_type_counts_as_the_numbers_it_holds(self, device, rng, dtype):
        X = on(device, 3 * rng.random((40, 10, 2)), getattr(torch, dtype))
        y = rng.normal(size=40)
        model = self.network(device, scale=1.0).fit(_device.from_tensors(X, "X"), y)
        host = X.cpu().double().numpy()
        np.testing.assert_allclose(model.predict(_device.from_tensors(X, "X")), model.predict(host), atol=1e-3)
        np.testing.assert_allclose(model.centre_, host.mean(axis=(0, 1)), atol=1e-9)

    def test_vectors_and_classes(self, device, rng):
        X, y = rng.normal(size=(80, 2)), rng.integers(3, size=80)
        options = {"n_frequencies": 8, "n_epochs": 3, "device": device, "progress": False, "random_state": 0}
        expected = un.nets.FourierNetClassifier(**options).fit(X, y).predict_proba(X)
        there = rows(device, X, torch.float64)
        model = un.nets.FourierNetClassifier(**options).fit(there, on(device, y, torch.int64))
        np.testing.assert_allclose(model.predict_proba(there), expected, atol=1e-3)

    def test_columns_are_matched_by_name(self, device, bags):
        X, offsets, _, y = bags
        model = self.network(device).fit(tensor_bags(on(device, X), offsets, columns=["a", "b"]), y)
        swapped = tensor_bags(on(device, X[:, ::-1].copy()), offsets, columns=["b", "a"])
        expected = model.predict(tensor_bags(on(device, X), offsets, columns=["a", "b"]))
        np.testing.assert_allclose(model.predict(swapped), expected, atol=1e-5)
        with pytest.raises(ValueError, match="it lacks"):
            model.predict(tensor_bags(on(device, X), offsets, columns=["a", "c"]))
        with pytest.raises(ValueError, match="X has 1 features, but PhaseNetRegressor is expecting 2"):
            model.predict(tensor_bags(on(device, X[:, :1]), offsets))

    def test_bad_rows_are_named(self, device, bags):
        X, offsets, _, y = bags
        X[offsets[3] + 2, 1] = np.nan
        with pytest.raises(ValueError, match=r"X must be finite; got NaN .* in row 2 of bag 3, column 'x1'"):
            self.network(device).fit(tensor_bags(on(device, X), offsets), y)
        with pytest.raises(ValueError, match="X has no rows"):
            self.network(device).fit(_device.TensorRows(torch.zeros(0, 2, device=device)), y)
        X[offsets[3] + 2, 1] = 1e12
        with pytest.raises(ValueError, match="scales from the mean of the training rows"):
            self.network(device).fit(tensor_bags(on(device, X), offsets), y)


class TestStream:
    @pytest.fixture(autouse=True)
    def short_buffers(self, monkeypatch):
        monkeypatch.setattr(_stream, "_BUFFER_BYTES", 8 * 3 * 1_500)

    @pytest.fixture
    def place(self, device):
        return device

    @pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
    def test_arrays(self, place, rng, plain_ecf, dtype):
        X, W = (3 * rng.normal(size=(10_000, 3))).astype(dtype), rng.normal(size=(20, 3))
        weights = rng.random(len(X))
        np.testing.assert_allclose(un.ecf(on_device(X, place), W), plain_ecf(X, W), atol=ERROR)
        found = un.ecf(on_device(X, place, weights=weights), W)
        np.testing.assert_allclose(found, plain_ecf(X, W, weights), atol=ERROR)
        np.testing.assert_allclose(un.ecf(on_device(X, place), W, weights), found, atol=1e-12)

    def test_sketch_and_test(self, place, rng):
        X, Y = rng.exponential(size=(2, 8_000, 3))
        here, there = un.phase_test(X, Y), un.phase_test(on_device(X, place), on_device(Y, place))
        assert there.statistic == pytest.approx(here.statistic, rel=1e-4)

    def test_chunks_that_can_be_read_once(self, place, rng, plain_ecf):
        X, W = rng.normal(size=(5_000, 3)), rng.normal(size=(7, 3))
        found = un.ecf(on_device(iter(np.array_split(X, 13)), place), W)
        np.testing.assert_allclose(found, plain_ecf(X, W), atol=ERROR)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_bags(self, place, rng, plain_ecf, weighted):
        X, offsets = ragged(rng, [1, 2_000, 3, 800, 70, 5_000])
        W, weights = rng.normal(size=(5, 3)), rng.random(len(X)) if weighted else None
        bags = un.Bags(np.split(X, offsets[1:-1]))
        found = un.ecf(on_device(bags, place, weights=weights), W)
        np.testing.assert_allclose(found, bag_ecf(X, offsets, W, plain_ecf, weights), atol=ERROR)

    def test_groups_in_any_order(self, place, rng, plain_ecf):
        class Mixed(un.rows.RowSource):
            columns, n_rows, bag_ids = ("a", "b", "c"), 3_000, ("p", "q", "r")

            def __init__(self):
                self.values, self.numbers = rng.normal(size=(3_000, 3)), rng.integers(0, 3, size=3_000)

            def chunks(self):
                yield un.rows.Block(self.values, None, self.numbers)

        source, W = Mixed(), rng.normal(size=(4, 3))
        expected = [plain_ecf(source.values[source.numbers == bag], W) for bag in range(3)]
        np.testing.assert_allclose(un.ecf(on_device(source, place), W), expected, atol=ERROR)

    def test_names_of_columns_count(self, place, rng):
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
        s = un.Sketch.for_samples(X).update(on_device(X[["b", "a"]], place))
        np.testing.assert_allclose(s.ecf, un.Sketch.like(s).update(X).ecf, atol=ERROR)

    @pytest.mark.parametrize(
        ("place", "message"),
        [("tpu", "device must be"), ("mps", "device must be"), ("cuda:99", "is not there: torch sees")],
    )
    def test_devices_that_are_not_there(self, place, message):
        with pytest.raises(ValueError, match=message):
            on_device(np.zeros((3, 1)), place)

    def test_bad_rows_are_named(self, place, rng):
        X = rng.normal(size=(6_000, 3))
        X[4_321, 1] = np.nan
        with pytest.raises(ValueError, match=r"X must be finite; got NaN .* in row 4321, column 'x1'"):
            un.ecf(on_device(X, place), np.ones((1, 3)))


class TestBadInput:
    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_rows_that_are_not_finite(self, device, rng, bad):
        X = rng.normal(size=(10_000, 2))
        X[7_777, 1] = bad
        W = np.ones((3, 2))
        for function in (lambda s: un.ecf(s, W), lambda s: un.Sketch(W).update(s), lambda s: un.flip_test(s, s)):
            with pytest.raises(ValueError, match=r"must be finite; got .* in row 7777, column 'x1'"):
                function(rows(device, X))

    def test_a_bad_row_of_a_bag(self, device, rng):
        X, offsets = ragged(rng, [5, 6, 7])
        X[13, 0] = np.nan
        with pytest.raises(ValueError, match="in row 2 of bag 2, column 'x0'"):
            un.ecf(tensor_bags(on(device, X), offsets), np.ones((1, 3)))

    @pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, 1e-200])
    def test_weights_that_are_none(self, device, rng, weight):
        weights = np.ones(100)
        weights[42] = weight
        with pytest.raises(ValueError, match=r"weights must be 0, or between .* for row 42 of X"):
            un.ecf(rows(device, rng.normal(size=(100, 1))), [1.0], weights)

    def test_other_weights(self, device):
        source = rows(device, np.zeros((3, 1)))
        with pytest.raises(ValueError, match="one entry for each row of X"):
            un.ecf(source, [1.0], np.ones(4))
        with pytest.raises(ValueError, match="weights of X must not all be 0"):
            un.ecf(source, [1.0], np.zeros(3))
        with pytest.raises(ValueError, match="weights of X must not all be 0"):
            un.Sketch([1.0]).update(source, np.zeros(3))
        with pytest.raises(ValueError, match="not all be 0 in a bag; they are in bag 1"):
            un.ecf(tensor_bags(on(device, np.zeros((3, 1))), [0, 1, 3]), [1.0], [1, 0, 0])

    def test_angles_without_a_correct_digit(self, device):
        with pytest.raises(ValueError, match="float64 has no correct digit of a phase"):
            un.ecf(rows(device, [[1e10, 0.0]], torch.float64), [[1e6, 1.0]])
        found = un.ecf(rows(device, [[1e14, 0.0]], torch.float64), [[0.0, 1.0]])
        np.testing.assert_allclose(found, 1, atol=ERROR)

    def test_tensors_that_are_no_rows(self, device):
        for shape, message in (((0, 2), "no rows"), ((3, 0), "at least one column"), ((2, 2, 2, 2), "4 dimensions")):
            with pytest.raises(ValueError, match=message):
                un.ecf(_device.TensorRows(torch.zeros(*shape, device=device)), [[1.0, 1.0]])
        with pytest.raises(ValueError, match=r"must hold real numbers; got a tensor of dtype torch\.complex64"):
            _device.TensorRows(torch.zeros(3, 1, dtype=torch.complex64, device=device))
        with pytest.raises(ValueError, match="must be dense"):
            _device.TensorRows(torch.zeros(3, 1, device=device).to_sparse())

    def test_frequencies_of_other_columns(self, device):
        with pytest.raises(ValueError, match="frequencies must have shape"):
            un.ecf(rows(device, np.zeros((3, 2))), [[1.0]])


class TestMemory:
    @pytest.fixture
    def small(self, monkeypatch):
        """A device that has memory for 200 rows of waves."""
        plain, sizes = _torch.cosine_and_sine, []

        def cosine_and_sine(values, *others):
            if len(values) > 200:
                raise torch.OutOfMemoryError("out of memory")
            sizes.append(len(values))
            return plain(values, *others)

        monkeypatch.setattr(_torch, "cosine_and_sine", cosine_and_sine)
        return sizes

    def test_blocks_are_halved_until_they_fit(self, small, rng, plain_ecf):
        X, W = rng.normal(size=(1_000, 2)).astype(np.float32), rng.normal(size=(3, 2))
        np.testing.assert_allclose(un.ecf(rows("cpu", X), W), plain_ecf(X, W), atol=ERROR)
        assert sum(small) == 1_000
        assert max(small) == 125
        found = un.Sketch(W).update(rows("cpu", X)).covariance
        np.testing.assert_allclose(found, un.Sketch(W).update(X).covariance, atol=ERROR)
        bags = tensor_bags(torch.from_numpy(X), [0, 10, 600, 1_000])
        np.testing.assert_allclose(un.ecf(bags, W)[1], plain_ecf(X[10:600], W), atol=ERROR)

    def test_no_memory_at_all(self, monkeypatch):
        def cosine_and_sine(*_):
            raise torch.OutOfMemoryError("out of memory")

        monkeypatch.setattr(_torch, "cosine_and_sine", cosine_and_sine)
        with pytest.raises(MemoryError, match=r"the GPU has no memory left for .* rows; free some, or use fewer"):
            un.ecf(rows("cpu", np.zeros((1_000, 1))), [1.0])

    def test_buffers_are_halved_until_they_fit(self, monkeypatch, rng, plain_ecf):
        plain, tried = _stream._Buffer, []

        def buffer(n_rows, *others):
            tried.append(n_rows)
            if n_rows > 5_000:
                raise torch.OutOfMemoryError("out of memory")
            return plain(n_rows, *others)

        monkeypatch.setattr(_stream, "_Buffer", buffer)
        X, W = rng.normal(size=(12_000, 1)), [[1.0]]
        np.testing.assert_allclose(un.ecf(on_device(X, "cpu"), W), plain_ecf(X, W), atol=ERROR)
        assert tried[-1] <= 5_000 < tried[0]


@needs_gpu
class TestOnGpu:
    def test_tensors_are_sources(self, rng, plain_ecf):
        X, W = rng.normal(size=(5_000, 3)).astype(np.float32), rng.normal(size=(20, 3))
        there = torch.from_numpy(X).cuda()
        np.testing.assert_allclose(un.ecf(there, W), plain_ecf(X, W), atol=ERROR)
        np.testing.assert_allclose(un.ecf(there, torch.from_numpy(W).cuda()), plain_ecf(X, W), atol=ERROR)
        np.testing.assert_allclose(un.phase(there, W / 3), un.phase(X, W / 3), atol=1e-4)
        assert un.median_scale(there, random_state=0) == un.median_scale(X, random_state=0)
        assert un.mmd(there, X + 1, W) == pytest.approx(un.mmd(X, X + 1, W), rel=1e-4)

    def test_bags_are_sources(self, rng):
        X, W = rng.normal(size=(20, 30, 3)).astype(np.float32), rng.normal(size=(20, 3))
        there = torch.from_numpy(X).cuda()
        for bags in (there, list(there)):
            np.testing.assert_allclose(un.ecf(bags, W), un.ecf(X, W), atol=ERROR)
            assert un.PhaseFeatures(5, random_state=0).fit_transform(bags).shape == (20, 10)

    def test_bags_on_two_devices(self):
        with pytest.raises(ValueError, match="X must be on one device; got bags on cpu and cuda:0"):
            un.ecf([torch.zeros(3, 1), torch.zeros(3, 1, device="cuda")], [1.0])

    def test_weights_of_rows_in_memory(self):
        with pytest.raises(ValueError, match="weights must be in this machine's memory"):
            un.ecf(np.zeros((3, 1)), [1.0], torch.ones(3, device="cuda"))

    def test_networks(self, rng):
        X, y = rng.gamma(2, size=(60, 20, 2)).astype(np.float32), rng.normal(size=60)
        options = {"n_epochs": 3, "random_state": 0}
        here = un.nets.PhaseNetRegressor(8, device="cpu", **options).fit(X, y)
        on_gpu = torch.from_numpy(X).cuda()
        for bags in (on_gpu, list(on_gpu)):
            for device in ("cuda", "auto", "cpu"):
                there = un.nets.PhaseNetRegressor(8, device=device, **options).fit(bags, y)
                np.testing.assert_allclose(there.predict(bags), here.predict(X), atol=1e-3)
        vectors = un.nets.FourierNetRegressor(8, device="cuda", **options).fit(on_gpu[:, 0], y)
        np.testing.assert_allclose(vectors.predict(on_gpu[:, 0]), vectors.predict(X[:, 0]), atol=1e-5)

    def test_networks_leave_rows_on_the_device(self, rng, monkeypatch):
        X, y = torch.randn(200, 30, 2, device="cuda"), rng.normal(size=200)
        monkeypatch.setattr(_device.TensorBagRows, "chunks", None)
        model = un.nets.PhaseNetRegressor(8, n_epochs=2, frequencies="ridge", random_state=0).fit(X, y)
        assert model.predict(X).shape == (200,)

    def test_kernels_are_used_and_close_to_plain_torch(self, rng, monkeypatch):
        X, W = torch.randn(100_000, 7, device="cuda"), rng.normal(size=(100, 7))
        assert _torch.has_kernels(X)
        fused = un.ecf(X, W)
        monkeypatch.setattr(_torch, "has_triton", lambda: False)
        assert not _torch.has_kernels(X)
        np.testing.assert_allclose(un.ecf(X, W), fused, atol=ERROR)

    def test_memory_stays_small(self, rng):
        X, W = torch.randn(2_000_000, 7, device="cuda"), rng.normal(size=(500, 7))
        un.ecf(X, W)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        un.ecf(X, W)
        assert torch.cuda.max_memory_allocated() - before < 2**24  # one 200th of rows x frequencies
