"""Extra noise: its estimate and its error, what it does not depend on, and what it says where it knows nothing."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import uptonoise as un
from uptonoise.twosample.phase.noise_size import ExtraNoise, extra_noise


@pytest.fixture
def samples(rng):
    X, Y = rng.exponential(size=(2, 1_000, 3))
    X[:, 0] += rng.normal(scale=0.8, size=1_000)
    Y[:, 2] += rng.normal(scale=0.6, size=1_000)
    return X, Y


class TestEstimate:
    @pytest.mark.parametrize("n", [100, 500])
    @pytest.mark.parametrize("variance", [0.0, 1.0])
    @pytest.mark.parametrize("n_runs", [10, pytest.param(150, marks=pytest.mark.slow)])
    def test_mean_error_and_coverage(self, n, variance, n_runs):
        estimates, inside = [], []
        for seed in range(n_runs):
            rng = np.random.default_rng(seed)
            X = rng.exponential(size=n) + rng.normal(scale=np.sqrt(variance), size=n)
            result = extra_noise(X, rng.exponential(size=n), random_state=seed)
            low, high = result.interval()[0]
            estimates.append((result.variances[0], result.standard_errors[0]))
            inside.append(low < variance < high)
        (mean, error), spread = np.mean(estimates, axis=0), np.std(estimates, axis=0)[0]
        assert abs(mean - variance) < 3.5 * spread / np.sqrt(n_runs)
        assert error == pytest.approx(spread, rel=0.25 if n_runs > 100 else 0.8)
        assert np.mean(inside) > 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / n_runs)

    def test_every_column_has_its_own(self, samples):
        result = extra_noise(*samples)
        truth = np.array([0.64, 0.0, -0.36])
        assert (np.abs(result.variances - truth) < 3.5 * result.standard_errors).all()
        assert (result.standard_errors < 0.12).all()

    def test_changing_places_changes_the_sign(self, samples):
        X, Y = samples
        one, other = (extra_noise(*pair, frequencies=np.repeat(np.eye(3), 2, axis=0)) for pair in ((X, Y), (Y, X)))
        np.testing.assert_allclose(one.variances, -other.variances, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(one.standard_errors, other.standard_errors, rtol=1e-4)

    def test_places_do_not_matter_and_units_do_as_they_should(self, samples):
        X, Y = samples
        here, there = extra_noise(X, Y), extra_noise(4 * X + 64, 4 * Y - 1024)
        np.testing.assert_allclose(there.variances, 16 * here.variances, rtol=1e-2, atol=1e-2)
        np.testing.assert_allclose(there.standard_errors, 16 * here.standard_errors, rtol=1e-2)


class TestInput:
    def test_rows_are_sketches(self, samples):
        X, Y = samples
        left = un.Sketch.for_samples(X, Y).update(X)
        sketches = extra_noise(left, un.Sketch.like(left).update(Y[:400]).update(Y[400:]))
        np.testing.assert_allclose(sketches.variances, extra_noise(X, Y).variances, rtol=1e-3, atol=1e-4)
        assert sketches.sizes == (1_000, 1_000)

    def test_frames_and_streams(self, samples):
        X, Y = samples
        named = extra_noise(pd.DataFrame(X, columns=list("abc")), pd.DataFrame(Y, columns=list("abc"))[["b", "c", "a"]])
        assert named.columns == ("a", "b", "c")
        np.testing.assert_allclose(named.variances, extra_noise(X, Y).variances, rtol=1e-6)
        assert np.isfinite(extra_noise(iter([X[:500], X[500:]]), iter([Y])).variances).all()

    def test_weights_of_zero_drop_rows(self, samples):
        X, Y = samples
        W = un.Sketch.for_samples(X, Y).frequencies
        kept = extra_noise(X[:300], Y, frequencies=W)
        dropped = extra_noise(X, Y, weights=(np.r_[np.ones(300), np.zeros(700)], None), frequencies=W)
        np.testing.assert_allclose(dropped.variances, kept.variances, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(dropped.standard_errors, kept.standard_errors, rtol=1e-3)

    @pytest.mark.parametrize(
        ("arguments", "options", "message"),
        [
            (([1.0], [1.0, 2.0]), {}, "X must have at least 2 rows"),
            (([1.0, 2.0], [1.0]), {}, "Y must have at least 2 rows"),
            (([[1.0, 2.0]] * 3, [1.0, 2.0]), {}, "column"),
            (([1.0, 2.0], [1.0, np.nan]), {}, "Y"),
            (([1.0, 2.0], [1.0, 2.0]), {"weights": None}, "weights must be a pair"),
            (([[1.0, 2.0]] * 3, [[1.0, 2.0]] * 3), {"frequencies": [[1.0, 1.0]]}, "on a single column"),
            ((un.Sketch([[1.0]]).update([1.0, 2.0]), [1.0, 2.0]), {}, "both be samples or both be sketches"),
            ((un.Sketch([[1.0]]), un.Sketch([[1.0]]).update([1.0, 2.0])), {}, "X must have at least 2 rows"),
            ((un.Sketch([[1.0]]).update([1.0, 2.0]), un.Sketch([[2.0]])), {}, "different frequencies"),
        ],
    )
    def test_bad_input(self, arguments, options, message):
        with pytest.raises(ValueError, match=message):
            extra_noise(*arguments, **options)


class TestWhatItDoesNotKnow:
    def test_no_reliable_frequency(self, rng):
        X, Y = rng.normal(size=(2, 50, 2))
        result = extra_noise(X, Y, frequencies=[[0.3, 0.0], [0.0, 9.0]])
        assert np.isfinite(result.standard_errors[0])
        assert (result.variances[1], result.standard_errors[1]) == (0.0, np.inf)
        assert result.interval()[1].tolist() == [-np.inf, np.inf]
        assert "x1: unknown" in repr(result)
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["standard_errors"][1] is None

    def test_a_column_without_frequencies_of_its_own(self, rng):
        X, Y = rng.normal(size=(2, 50, 2))
        assert extra_noise(X, Y, frequencies=[[0.3, 0.0], [0.3, 0.3]]).standard_errors[1] == np.inf

    @pytest.mark.parametrize("n", [2, 100])
    def test_constant_columns(self, rng, n):
        X, Y = rng.normal(size=(2, n, 2))
        X[:, 1] = Y[:, 1] = 5.0
        result = extra_noise(X, Y)
        assert result.variances[1] == pytest.approx(0, abs=1e-5)
        assert result.standard_errors[1] == pytest.approx(0, abs=1e-5)
        assert not np.isnan(result.variances).any()

    def test_noise_about_a_constant(self, rng):
        result = extra_noise(rng.normal(scale=2, size=2_000), np.zeros(2_000))
        assert abs(result.variances[0] - 4) < 3.5 * result.standard_errors[0]


class TestResult:
    def test_what_people_read(self, samples):
        shown = repr(extra_noise(*samples)).splitlines()
        assert shown[1].endswith("X is noisier")
        assert shown[2].endswith("neither is clearly noisier")
        assert shown[3].endswith("Y is noisier")
        many = ExtraNoise(
            variances=np.zeros(30), standard_errors=np.ones(30), columns=("c",) * 30, sizes=(5, 6), phase_pvalue=None
        )
        assert "... and 20 more columns" in repr(many)
        assert "signals differ" in repr(replace(many, phase_pvalue=0.001))

    def test_interval(self):
        result = ExtraNoise(
            variances=np.ones(2),
            standard_errors=np.array([0.0, 1.0]),
            columns=("a", "b"),
            sizes=(5, 6),
            phase_pvalue=0.01,
        )
        np.testing.assert_allclose(result.interval(), [[1, 1], [1 - 1.96, 1 + 1.96]], atol=1e-3)
        assert (result.interval(0.5)[1] > result.interval(0.9)[1])[0]
        for level in (0, 1, 95, -0.1):
            with pytest.raises(ValueError, match="level must be a number above 0 and below 1"):
                result.interval(level)


def test_few_clusters_widen_the_interval(rng):
    ids = np.repeat(np.arange(12), 50)
    X, Y = (rng.gamma(2, size=12)[ids] + rng.normal(size=600) for _ in range(2))
    noise = un.extra_noise(X, Y, clusters=(ids, ids + 12))
    assert noise.freedom == pytest.approx(11)
    low, high = noise.interval()[0]
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 11) * noise.standard_errors[0])
    assert np.isinf(un.extra_noise(X, Y).freedom)
    assert un.extra_noise(X, Y).to_dict()["freedom"] is None
