"""The MMD test: against the kernel matrix, and from sketches."""

import numpy as np
import pytest

import uptonoise as un


class TestMmd:
    @pytest.mark.parametrize("scale", ["median", 0.7])
    def test_statistics_are_those_of_the_kernel_matrix(self, rng, scale):
        X, Y = rng.normal(size=(40, 2)), rng.normal(size=(55, 2)) + 0.4
        result = un.mmd_test(X, Y, scale=scale, n_permutations=50, random_state=0)
        length = result.scale
        if scale != "median":
            assert length == 0.7
        else:
            in_units = length / un.median_scale(X, Y, per_column=True)  # one number for all columns
            assert in_units[0] == pytest.approx(in_units[1])
        pooled = np.concatenate([X, Y])
        K = np.exp(-(((pooled[:, None] - pooled[None]) / length) ** 2).sum(-1) / 2)
        n, k = 40, 55
        expected = K[:n, :n].mean() + K[n:, n:].mean() - 2 * K[:n, n:].mean()
        assert result.statistic == pytest.approx(expected, rel=1e-4)
        assert result.permuted.shape == (50,)
        # The mean over permutations in closed form: within-pairs minus between-pairs of the pooled kernel.
        off = (K.sum() - np.trace(K)) / ((n + k) * (n + k - 1))
        on = np.trace(K) / (n + k)
        mean = (1 / n + 1 / k) * (on - off)
        many = un.mmd_test(X, Y, scale=scale, n_permutations=4000, random_state=0).permuted
        assert many.mean() == pytest.approx(mean, abs=5 * many.std() / np.sqrt(4000))

    def test_more_rows_than_a_block(self, rng, monkeypatch):
        X, Y = rng.normal(size=(40, 2)), rng.normal(size=(55, 2)) + 0.4
        whole = un.mmd_test(X, Y, n_permutations=50, random_state=0)
        monkeypatch.setattr("uptonoise.twosample.paper.mmd_permutation._BLOCK_ROWS", 7)
        blocks = un.mmd_test(X, Y, n_permutations=50, random_state=0)
        np.testing.assert_allclose(blocks.permuted, whole.permuted, rtol=1e-4)
        assert blocks.statistic == pytest.approx(whole.statistic, rel=1e-4)

    def test_fourier_is_the_distance_of_the_library(self, rng):
        X, Y, W = rng.normal(size=(40, 2)), rng.normal(size=(55, 2)) + 0.4, rng.normal(size=(30, 2))
        result = un.mmd_test(X, Y, method="fourier", frequencies=W, random_state=0)
        assert result.statistic == pytest.approx(un.mmd(X, Y, W), rel=1e-4)
        assert result.scale is None

    @pytest.mark.parametrize(
        ("change", "match"),
        [
            ({"method": "linear"}, "method must be one of quadratic, fourier"),
            ({"n_permutations": 0}, "n_permutations"),
            ({"scale": -1}, "scale"),
            ({"scale": "mean"}, "scale"),
            ({"frequencies": np.ones((3, 2))}, "frequencies must be left out"),
            ({"method": "fourier", "frequencies": np.ones((3, 5))}, "frequencies"),
            ({"method": "fourier", "n_frequencies": 0}, "n_frequencies"),
        ],
    )
    def test_bad_arguments(self, samples, change, match):
        with pytest.raises(ValueError, match=match):
            un.mmd_test(*samples, **change)


def gamma(n, d=2, seed=0, noise=0.0):
    generator = np.random.default_rng(seed)
    return generator.gamma(2.0, size=(n, d)) + noise * generator.normal(size=(n, d))


class TestMmdOfSketches:
    @pytest.mark.parametrize("n_runs", [40, pytest.param(500, marks=pytest.mark.slow)])
    def test_level_from_sketches(self, n_runs):
        generator, pvalues = np.random.default_rng(0), []
        for _ in range(n_runs):
            X, Y = generator.exponential(size=(2, 100, 1))
            left = un.Sketch.for_samples(X, Y, random_state=generator).update(X)
            pvalues.append(un.mmd_test(left, un.Sketch.like(left).update(Y)).pvalue)
        rate = np.mean(np.array(pvalues) <= 0.05)
        assert abs(rate - 0.05) < 3.29 * np.sqrt(0.05 * 0.95 / n_runs)

    def test_power_from_sketches(self):
        left = un.Sketch.for_samples(gamma(500)).update(gamma(500))
        noisier = un.Sketch.like(left).update(gamma(500, seed=1, noise=1.5))
        assert un.mmd_test(left, noisier).pvalue < 1e-4

    def test_its_statistic_is_the_mmd(self):
        left = un.Sketch.for_samples(gamma(100)).update(gamma(100))
        right = un.Sketch.like(left).update(gamma(100, seed=1))
        assert un.mmd_test(left, right).statistic == pytest.approx(un.mmd(left, right), rel=1e-9)
