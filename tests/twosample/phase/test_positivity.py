"""Positivity: against direct sums, where waves do not vary, its level and its power."""

import numpy as np
import pytest

import uptonoise as un
from uptonoise.twosample.phase.pair import SampleMoments
from uptonoise.twosample.phase.positivity import positivity_test

RADII = np.array([1.5, 2.4, 1.1, 1.75, 3.3, 2.05, 1.3, 2.8])


def sample(rows, frequencies):
    rows = np.asarray(rows, dtype=float).reshape(len(rows), -1)
    sketch = un.Sketch(frequencies, precision="float64").update(rows)
    return SampleMoments.of(sketch, np.zeros(rows.shape[1]))


def run(X, Y, frequencies=RADII[:, None]):
    return positivity_test(1.0, sample(X, frequencies), sample(Y, frequencies))


def share_below(alpha, draw, n_runs):
    return np.mean([run(*draw(np.random.default_rng(seed))).pvalue <= alpha for seed in range(n_runs)])


def uniform(rng, n):
    return rng.uniform(-np.sqrt(3), np.sqrt(3), n)


class TestScores:
    def test_they_are_those_of_the_rows(self, rng):
        X, Y, W = rng.exponential(size=(40, 2)), rng.normal(size=(30, 2)), rng.normal(size=(5, 2))
        waves_X, waves_Y = (np.exp(1j * (rows @ W.T)) for rows in (X, Y))
        phi_X, phi_Y = waves_X.mean(0), waves_Y.mean(0)
        variances = (waves_X * phi_Y.conj()).real.var(axis=0, ddof=1) / 40
        variances += (phi_X * waves_Y.conj()).real.var(axis=0, ddof=1) / 30
        expected = -(phi_X * phi_Y.conj()).real / np.sqrt(variances)
        np.testing.assert_allclose(run(X, Y, W).scores, expected, rtol=1e-9)

    def test_the_centre_does_not_matter(self, rng):
        X, Y = rng.exponential(size=(2, 60))
        here, there = run(X, Y), run(X + 50, Y + 50)
        np.testing.assert_allclose(there.scores, here.scores, rtol=1e-6)
        assert there.pvalue == here.pvalue

    def test_the_samples_can_change_places(self, rng):
        X, Y = rng.exponential(size=60), rng.normal(size=80)
        assert run(X, Y).pvalue == pytest.approx(run(Y, X).pvalue)

    def test_the_same_generator_gives_the_same_pvalue(self, rng):
        X, Y = rng.normal(size=(2, 100))
        assert run(X, Y).pvalue == run(X, Y).pvalue


class TestFeaturesThatDoNotVary:
    def test_equal_constants(self):
        result = run(np.zeros(20), np.zeros(20))
        assert result.pvalue > 0.5
        assert np.isfinite(result.scores).all()

    def test_constants_that_differ_need_some_rows_to_count(self):
        def differ(n):
            return run(np.zeros(n), np.full(n, 2.0)).pvalue

        assert differ(2) > 0.05
        assert differ(100) < 1e-6

    def test_no_wave_varies_and_no_amplitude_is_left(self):
        signs = np.resize([1.0, -1.0], 100)
        result = run(signs, signs, np.array([[np.pi / 2]]))
        assert (result.statistic, result.pvalue) == (pytest.approx(0, abs=1e-6), 1.0)

    def test_one_of_several(self, rng):
        X, Y = rng.integers(0, 3, (2, 200))
        result = run(X, Y, np.array([[2 * np.pi], [1.0]]))
        assert 0 < result.pvalue <= 1
        assert np.isfinite(result.scores).all()

    def test_clearly_positive_everywhere(self, rng):
        X, Y = rng.normal(scale=0.01, size=(2, 200))
        result = run(X, Y)
        assert result.pvalue == 1
        assert result.statistic < -8


class TestLevel:
    @pytest.mark.slow
    @pytest.mark.parametrize("sd", [0.5, 2.0, 10.0])
    def test_noise_on_one_sample(self, sd):
        def draw(rng):
            return rng.gamma(0.5, size=200), rng.gamma(0.5, size=150) + rng.normal(scale=sd, size=150)

        assert share_below(0.05, draw, 200) < 0.105  # 3.5 standard errors

    def test_two_silent_samples(self):
        def draw(rng):
            return rng.normal(scale=10, size=(2, 100))

        assert share_below(0.05, draw, 40) < 0.05


class TestPower:
    @pytest.mark.parametrize(("left", "right"), [(0.0, 0.0), (0.2, 0.0), (0.0, 0.2), (0.5, 0.5)])
    def test_two_points_and_one(self, left, right):
        def draw(rng):
            X, Y = rng.choice([-1.0, 1.0], 500), np.zeros(500)
            return X + rng.normal(scale=left, size=500), Y + rng.normal(scale=right, size=500)

        assert share_below(0.01, draw, 10) == 1

    @pytest.mark.parametrize("sd", [0.25, 0.5])
    def test_uniform_and_normal(self, sd):
        assert share_below(0.01, lambda rng: (uniform(rng, 500), rng.normal(scale=sd, size=500)), 10) == 1

    def test_small_pvalues_are_not_cut_off_by_the_number_of_draws(self, rng):
        assert run(rng.choice([-1.0, 1.0], 500), np.zeros(500)).pvalue < 1e-6


def test_the_error_of_a_shift_is_no_sign_of_negative_noise():
    """Rare values keep their amplitudes at high frequencies, at which a small error of the shift turns phases far."""
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(40):
        X, Y = ((rng.random((size, 1)) < 0.02).astype(float) for size in (100, 5_000))
        rejected += un.phase_test(X, Y, invariant_to="noise+shift").pvalue < 0.05
    assert rejected <= 2


def test_up_to_a_shift_two_points_are_still_not_noise():
    rng = np.random.default_rng(0)
    X, Y = 5 + rng.choice([-1.0, 1.0], size=(500, 1)) + 0.1 * rng.normal(size=(500, 1)), 0.5 * rng.normal(size=(500, 1))
    assert un.phase_test(X, Y, invariant_to="noise+shift").pvalue < 1e-6
