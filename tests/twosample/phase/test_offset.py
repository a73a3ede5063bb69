"""The shift between samples, and the test up to noise and a shift: recovered, invariant, and at its level."""

import numpy as np
import pytest
from scipy import stats

import uptonoise as un
from uptonoise._util.threads import single_threaded_blas
from uptonoise.datasets import make_chi2_samples, symmetric_noise
from uptonoise.twosample.phase.offset import fitted_shift
from uptonoise.twosample.phase.pair import SampleMoments
from uptonoise.twosample.phase.statistic import decomposed


def own_centres(X, Y, seed=0):
    empty = un.Sketch.for_samples(X, Y, random_state=seed)
    return un.Sketch.like(empty).update(X), un.Sketch.like(empty).update(Y)


def one_centre(X, Y, seed=0):
    empty = un.Sketch.for_samples(X, Y, random_state=seed)
    left = un.Sketch(empty.frequencies, provenance=empty.provenance, centre=np.median(X, axis=0)).update(X)
    return left, un.Sketch.like(left).update(Y)


def shift_pvalue(X, Y, seed=0, sketched=own_centres):
    return un.phase_test(*sketched(X, Y, seed), invariant_to="noise+shift", positivity=False).pvalue


def block_pvalue(fit, place):
    return float(decomposed(fit.left.at(place), fit.right.at(place), nuisance=fit.nuisance[place]).test().pvalue())


@pytest.fixture(autouse=True)
def one_thread():
    with single_threaded_blas():  # as the test has it
        yield


@pytest.fixture
def samples():
    return make_chi2_samples((400, 300), 3, freedoms=(4, 4), noise=(0.5, 0.0), random_state=0)


class TestShift:
    @pytest.mark.parametrize("sketched", [own_centres, one_centre])
    @pytest.mark.parametrize("kind", ["gaussian", "cauchy"])
    @pytest.mark.parametrize("shift", [0.0, 1.0, -10.0])
    def test_is_recovered(self, rng, sketched, kind, shift):
        X, Y = rng.exponential(size=(2, 2000, 3))
        true = shift * np.array([1.0, -1.0, 0.5])
        fit = fitted_shift(*sketched(X + true + symmetric_noise(2000, 3, 1.0, kind, rng), Y))
        errors = np.sqrt(np.diag(fit.shift.covariance))
        assert (errors < 0.15).all()
        assert (np.abs(fit.shift.shift - true) < 4 * errors).all()

    def test_noise_five_times_the_signal(self, rng):
        X, Y = rng.exponential(size=(2, 2000, 2))
        fit = fitted_shift(*own_centres(X + 10 + symmetric_noise(2000, 2, 5.0, "cauchy", rng), Y))
        assert (np.abs(fit.shift.shift - 10) < 4 * np.sqrt(np.diag(fit.shift.covariance))).all()

    def test_moves_with_a_constant(self, samples):
        X, Y = samples
        away = np.array([1e6, -3.0, 0.25])
        here, there = (fitted_shift(*own_centres(rows, Y)) for rows in (X, X + away))
        np.testing.assert_allclose(there.shift.shift - away, here.shift.shift, atol=1e-4)
        np.testing.assert_allclose(there.shift.covariance, here.shift.covariance, rtol=1e-3, atol=1e-8)

    def test_swapping_the_samples_turns_its_sign(self, samples):
        left, right = own_centres(*samples)
        there, back = fitted_shift(left, right).shift, fitted_shift(right, left).shift
        np.testing.assert_allclose(there.shift, -back.shift, atol=1e-3 * np.sqrt(np.diag(back.covariance)).min())
        np.testing.assert_allclose(there.covariance, back.covariance, rtol=1e-2, atol=1e-6)

    @pytest.mark.slow
    def test_interval_covers(self):
        hits = []
        for seed in range(150):
            X, Y = make_chi2_samples(200, 1, freedoms=(4, 4), noise=(1.0, 0.0), random_state=seed)
            low, high = fitted_shift(*own_centres(X + 1, Y, seed)).shift.interval[0]
            hits.append(low < 1 < high)
        assert 0.9 <= np.mean(hits) <= 0.99

    def test_interval_is_that_of_t(self, samples):
        shift = fitted_shift(*own_centres(*samples)).shift
        half = stats.t(shift.freedom).ppf(0.975) * np.sqrt(np.diag(shift.covariance))
        np.testing.assert_allclose(shift.interval, np.stack([shift.shift - half, shift.shift + half], axis=1))

    def test_doubt_is_how_far_its_error_turns_phases(self, samples):
        fit = fitted_shift(*own_centres(*samples))
        W = fit.X.frequencies
        errors = np.sqrt([w @ fit.shift.covariance @ w for w in W])
        np.testing.assert_allclose(fit.doubt, np.sqrt(stats.chi2(3).isf(1e-4)) * errors)

    def test_directions_of_nuisance_are_derivatives(self, samples):
        left, right = one_centre(*samples)
        fit, h = fitted_shift(left, right), 1e-4
        lengths = 1 / np.sqrt(np.mean(left.frequencies[left.blocks["all frequencies"]] ** 2, axis=0))
        still = fit.left.phi * fit.right.phi.conj()
        for column, step in enumerate(h * np.diag(lengths)):
            moved = SampleMoments.of(left, left.centre + fit.shift.shift + step).phi * fit.right.phi.conj()
            np.testing.assert_allclose((moved - still).imag / h, fit.nuisance[:, column], atol=1e-2)

    def test_constant_columns(self, rng):
        X, Y = rng.exponential(size=(2, 300, 2))
        X[:, 1], Y[:, 1] = 7.0, 4.0
        fit = fitted_shift(*one_centre(X, Y))
        assert fit.shift.shift[1] == pytest.approx(3, abs=1e-3)
        assert fit.shift.interval[1] == pytest.approx([3, 3], abs=1e-2)
        assert shift_pvalue(X, Y) > 0.01


class TestPvalue:
    @pytest.mark.parametrize("away", [1.0, 1e6])
    def test_does_not_change_with_a_constant(self, samples, away):
        X, Y = samples
        assert shift_pvalue(X + away, Y) == pytest.approx(shift_pvalue(X, Y), rel=1e-3)

    def test_does_not_depend_on_units(self, samples):
        X, Y = samples
        units = np.array([1.0, 1e12, 1e-9])
        here, there = fitted_shift(*own_centres(X + 1, Y)), fitted_shift(*own_centres((X + 1) * units, Y * units))
        np.testing.assert_allclose(there.shift.shift, here.shift.shift * units, rtol=1e-4)
        np.testing.assert_allclose(there.shift.covariance, here.shift.covariance * np.outer(units, units), rtol=1e-3)
        assert shift_pvalue(X * units, Y * units) == pytest.approx(shift_pvalue(X, Y), rel=1e-3)

    @pytest.mark.parametrize("shift", [0.0, 7.0])
    def test_sketches_are_rows(self, samples, shift):
        X, Y = samples
        rows, sketches = (shift_pvalue(X + shift, Y, sketched=sketched) for sketched in (own_centres, one_centre))
        assert sketches == pytest.approx(rows, rel=1e-3)

    def test_a_start_without_frequencies_on_single_columns(self, samples):
        X, Y = samples
        W = un.sample_frequencies(40, 3, random_state=0)
        fits = [fitted_shift(un.Sketch(W).update(X + away), un.Sketch(W).update(Y)) for away in (0.0, 50.0)]
        block = slice(0, 40)
        assert block_pvalue(fits[1], block) == pytest.approx(block_pvalue(fits[0], block), rel=1e-3)
        np.testing.assert_allclose(fits[1].shift.shift, fits[0].shift.shift + 50, atol=1e-3)

    @pytest.mark.slow
    def test_level(self):
        rejected = 0
        for seed in range(500):
            X, Y = make_chi2_samples(200, 1, freedoms=(4, 4), noise=(2.0, 0.0), random_state=seed)
            rejected += shift_pvalue(X + 5, Y, seed) <= 0.05
        assert rejected <= stats.binom.ppf(0.999, 500, 0.05)

    def test_power(self):
        runs = [shift_pvalue(*make_chi2_samples(500, 5, random_state=seed), seed) for seed in range(10)]
        assert np.mean(np.array(runs) <= 0.05) >= 0.9

    def test_the_plain_test_sees_the_shift(self, samples):
        X, Y = samples
        assert un.phase_test(X + 1, Y).pvalue < 1e-6
        assert shift_pvalue(X + 1, Y) > 0.01

    def test_a_block_with_no_rank_left_does_not_reject(self, samples):
        X, Y = samples
        fit = fitted_shift(*own_centres(X + 1, Y))
        assert [block_pvalue(fit, slice(0, m)) for m in (1, 2, 3)] == [1.0, 1.0, 1.0]
        assert block_pvalue(fit, slice(0, 7)) < 1

    def test_projection_takes_off_what_a_shift_adds(self, samples):
        left, right = own_centres(*samples)
        fit = fitted_shift(left, right)
        off = SampleMoments.of(left, left.centre + 0.3 * np.sqrt(np.diag(fit.shift.covariance)))
        still = SampleMoments.of(left, left.centre)
        moved, plain = (decomposed(sample, fit.right, nuisance=fit.nuisance).test().pvalue() for sample in (off, still))
        assert float(moved) == pytest.approx(float(plain), abs=0.05)


class TestErrors:
    def test_too_far_from_a_shared_centre(self, rng):
        X, Y = rng.exponential(size=(2, 1000, 2))
        empty = un.Sketch(rng.normal(size=(60, 2)), centre=[0.0, 0.0])
        left, right = un.Sketch.like(empty).update(X + np.array([10.0, 0.0])), un.Sketch.like(empty).update(Y)
        with pytest.raises(ValueError, match="share a centre that was given, and lie too far apart"):
            fitted_shift(left, right)

    def test_too_few_rows(self, rng):
        X = rng.normal(size=(6, 5))
        with pytest.raises(ValueError, match="Y must have at least 7 rows"):
            fitted_shift(*own_centres(rng.normal(size=(50, 5)), X))
        with pytest.raises(ValueError, match="X must have at least 7 rows"):
            fitted_shift(*own_centres(X, rng.normal(size=(50, 5))))

    def test_weights_that_leave_few_rows(self, rng):
        X, W = rng.normal(size=(50, 2)), rng.normal(size=(9, 2))
        light = un.Sketch(W).update(X, weights=np.r_[1.0, np.full(49, 1e-9)])
        with pytest.raises(ValueError, match=r"at least 4 rows .* worth 1"):
            fitted_shift(light, un.Sketch(W).update(X))

    @pytest.mark.parametrize(
        "W", [np.eye(2), [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]]
    )
    def test_too_few_frequencies(self, rng, W):
        sketch = un.Sketch(W).update(rng.normal(size=(50, 2)))
        with pytest.raises(ValueError, match="frequencies must be more than the columns"):
            fitted_shift(sketch, sketch)

    def test_other_frequencies(self, rng):
        left, right = (un.Sketch(rng.normal(size=(9, 1))).update(rng.normal(size=50)) for _ in range(2))
        with pytest.raises(ValueError, match="different frequencies"):
            un.phase_test(left, right, invariant_to="noise+shift")
