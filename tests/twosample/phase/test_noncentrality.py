"""Noncentralities and the power against a reference: known shifts, and what they say where nothing is known."""

import json

import numpy as np
import pytest
from scipy import stats

import uptonoise as un
from uptonoise.twosample import decomposed, fitted_shift
from uptonoise.twosample.phase.noncentrality import NoncentralF


def test_a_shift_of_s_standard_deviations_is_about_s_squared(rng):
    for s in (0.1, 0.3):
        effect = un.phase_test(rng.normal(s, size=100_000), rng.normal(size=100_000)).noncentrality
        assert effect.estimate == pytest.approx(s**2, rel=0.15)
        assert effect.low < effect.estimate < effect.high


def test_it_does_not_depend_on_the_sizes(rng):
    def estimate(n, k):
        X, Y = rng.exponential(size=(n, 2)), 2 - rng.exponential(size=(k, 2))
        return un.phase_test(X, Y, positivity=False).noncentrality.estimate

    expected = estimate(50_000, 50_000)
    for sizes, n_runs in (((4_000, 4_000), 3), ((300, 300), 10), ((8_000, 1_000), 5), ((500, 2_000), 8)):
        assert np.mean([estimate(*sizes) for _ in range(n_runs)]) == pytest.approx(expected, rel=0.15), sizes


def test_two_equal_samples_have_no_effect(rng):
    X = rng.exponential(size=(500, 2))
    effect = un.phase_test(X, X).noncentrality
    assert effect.estimate == effect.low == 0
    assert effect.phase_discrepancy == 0
    assert effect.upper_bound() < 0.1


def test_bounds_of_the_effect(rng):
    result = un.phase_test(rng.normal(0.3, size=2_000), rng.normal(size=2_000))
    effect = result.noncentrality
    assert effect.upper_bound(0.025) == pytest.approx(effect.high)
    assert effect.upper_bound(0.2) < effect.upper_bound(0.01)
    assert json.dumps(result.to_dict()["noncentrality"])


def test_it_is_noncentral_f_where_all_directions_count_alike():
    law = NoncentralF(value=30.0, s1=10.0, s2=10.0, share=1.0, denominator=50.0)
    expected = stats.ncf(10, 50, 7.0).cdf(30.0 / 10 * 50 / 48)
    assert law.cdf(7.0) == pytest.approx(expected)
    assert law.cdf(law.noncentrality_at(0.3)) == pytest.approx(0.3, abs=1e-6)
    assert law._replace(value=1.0).noncentrality_at(0.9) == 0


def test_constant_samples_have_no_effect_and_no_power():
    result = un.phase_test(np.zeros(20), np.zeros(20))
    assert result.pvalue == 1
    assert result.noncentrality.estimate == 0
    assert result.noncentrality.to_dict()["high"] is None
    assert result.too_noisy


def test_very_few_rows_bound_nothing(rng):
    effect = un.phase_test(rng.normal(size=3), rng.normal(size=3)).noncentrality
    assert effect.high > 1
    assert effect.upper_bound() > 0.5


@pytest.mark.parametrize(
    ("n", "noise", "too_noisy"), [(500, 0.0, False), (500, 1.0, False), (500, 12.0, True), (10, 0.0, True)]
)
def test_too_noisy_to_tell(rng, n, noise, too_noisy):
    X, Y = rng.exponential(size=n), rng.exponential(size=n) + noise * rng.normal(size=n)
    result = un.phase_test(X, Y)
    assert result.too_noisy == too_noisy
    assert ("too noisy to tell" in repr(result)) == (too_noisy and result.pvalue > 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d", "noise"), [(60, 1, 2.0), (25, 1, 0.0), (40, 2, 0.0), (60, 5, 0.5)])
def test_the_reference_power_is_the_power(rng, n, d, noise):
    """A shift of one column by half a spread, with noise in the other sample."""
    rejected, powers = [], []
    for _ in range(150):
        X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, d)) + noise * rng.normal(size=(n, d))
        rejected.append(un.phase_test(X + 0.5 * np.eye(d)[0], Y, positivity=False).pvalue <= 0.05)
        powers.append(un.phase_test(X, Y, positivity=False).reference_power)
    assert np.mean(powers) == pytest.approx(np.mean(rejected), abs=0.15)


def test_frequencies_that_hear_nothing_are_too_noisy(rng):
    X, Y = 1_000 * rng.normal(size=(2, 200, 5))
    empty = un.Sketch.for_samples(X / 1_000, Y / 1_000)
    result = un.phase_test(un.Sketch.like(empty).update(X), un.Sketch.like(empty).update(Y))
    assert result.too_noisy


def test_a_clear_difference_is_not_too_noisy(rng):
    assert "too noisy" not in repr(un.phase_test(np.zeros(5000), rng.normal(1, size=5000)))


def test_the_ridge_from_traces_is_the_shrinkage_of_the_statistic(rng):
    X, Y = rng.gamma(2, size=(2, 300, 2))
    left = un.Sketch.for_samples(X, Y).update(X)
    pair = fitted_shift(left, un.Sketch.like(left).update(Y[:200]))
    decomposition = decomposed(pair.left, pair.right, nuisance=pair.nuisance)
    lam = np.asarray(1.0)
    for _ in range(4):
        lam = decomposition.ridge(lam).shrinkage
    expected, found = decomposition.ridge(lam), decomposition.noncentral()
    assert found.nu == pytest.approx(expected.nu, rel=1e-9)
    assert found.shrinkage == pytest.approx(expected.shrinkage, rel=1e-9)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
