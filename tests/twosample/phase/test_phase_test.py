"""The phase test: against direct sums, from rows and from sketches, and its level where it is easy to lose."""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import uptonoise as un
from uptonoise.datasets import make_chi2_samples
from uptonoise.fourier.designs import BLOCK_WEIGHTS, SKEWNESS, default_design, joint_frequencies
from uptonoise.twosample.phase.covariance import CONSTANTS
from uptonoise.twosample.phase.pair import SampleMoments
from uptonoise.twosample.phase.test import cauchy_combination


@pytest.fixture
def samples():
    return make_chi2_samples((300, 200), 3, noise=(0.5, 0.0), random_state=0)


class TestSums:
    def test_influences_are_those_of_the_rows(self, rng):
        X, Y, W = rng.exponential(size=(40, 2)), rng.normal(size=(30, 2)), rng.normal(size=(5, 2))
        left, right = (SampleMoments.of(un.Sketch(W, precision="float64").update(rows), np.zeros(2)) for rows in (X, Y))
        waves = np.exp(1j * (X @ W.T))
        phi_Y = np.exp(1j * (Y @ W.T)).mean(0)
        influences = (waves * phi_Y.conj()).imag
        np.testing.assert_allclose(left.projected(-right.phi.imag, right.phi.real), np.cov(influences.T), atol=1e-12)

    @pytest.mark.parametrize(("n_runs", "rtol"), [(60, 0.3), pytest.param(100, 0.25, marks=pytest.mark.slow)])
    def test_phase_differences_and_their_errors(self, n_runs, rtol):
        X, Y = make_chi2_samples(20_000, 1, random_state=1)
        w = np.array([0.5, 1.0, 2.0])
        result = un.phase_test(X, Y, frequencies=w)
        expected = np.angle((1 - 2j * w / 4) ** -2 * np.conj((1 - 2j * w / 8) ** -4))
        assert (np.abs(result.phase_differences - expected) < 4 * result.standard_errors).all()
        runs = [un.phase_test(*make_chi2_samples(500, 1, random_state=seed), frequencies=w) for seed in range(n_runs)]
        spread = np.std([run.phase_differences for run in runs], axis=0)
        np.testing.assert_allclose(np.mean([run.standard_errors for run in runs], axis=0), spread, rtol=rtol)

    def test_contributions_add_up(self, samples):
        result = un.phase_test(*samples)
        assert result.contributions.sum() == pytest.approx(result.statistic)
        assert result.column_shares.sum() == pytest.approx(1)

    def test_the_column_that_differs_carries_the_statistic(self, rng):
        X, Y = rng.normal(size=(2000, 4)), rng.normal(size=(2000, 4))
        X[:, 2], Y[:, 2] = rng.exponential(size=2000), 2 - rng.exponential(size=2000)
        result = un.phase_test(pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(Y, columns=list("abcd")))
        assert result.pvalue < 1e-6
        assert result.columns[result.column_shares.argmax()] == "c"
        assert "c " in repr(result)

    def test_cauchy_combination(self):
        half, two_blocks = np.array([0.5, 0.5]), 2**CONSTANTS.merging
        assert cauchy_combination(np.array([0.3]), np.ones(1)) == pytest.approx(0.3)
        small = [cauchy_combination(np.array([1e-20, 0.5]), np.array([w, 1 - w])) for w in (0.5, 0.1)]
        assert small == pytest.approx([2e-20 * two_blocks, 1e-19 * two_blocks], rel=1e-9, abs=0)
        assert cauchy_combination(np.array([0.0, 0.5]), half) < 1e-300
        assert cauchy_combination(np.array([1.0, 1.0]), half) == pytest.approx(1.0)
        assert cauchy_combination(np.array([0.9999, 1e-3]), half) == pytest.approx(2e-3, rel=0.2)  # nothing has a veto
        assert cauchy_combination(np.array([1.0, 1e-3]), half) == pytest.approx(1e-3)  # nothing was tested there

    def test_correlated_pvalues_are_merged_into_one_that_is_hardly_too_small(self, rng):
        correlations = [[1, 0.62, 0.74, 0.49], [0.62, 1, 0.77, 0.29], [0.74, 0.77, 1, 0.37], [0.49, 0.29, 0.37, 1]]
        scores = rng.multivariate_normal(np.zeros(4), correlations, 200_000)
        pvalues, weights = stats.norm.sf(scores), np.array([0.2, 0.2, 0.4, 0.2])
        without = cauchy_combination(pvalues, weights, CONSTANTS._replace(merging=0.0))
        assert np.mean(cauchy_combination(pvalues, weights) <= 0.05) < 0.0545 < 0.056 < np.mean(without <= 0.05)


class TestParts:
    def test_both_parts_are_shown_and_merged(self, samples):
        result = un.phase_test(*samples)
        expected = min(1.0, result.phase_pvalue / 0.9, result.positivity_pvalue / 0.1)
        assert result.pvalue == pytest.approx(expected)
        alone = un.phase_test(*samples, positivity=False)
        assert alone.pvalue == alone.phase_pvalue == result.phase_pvalue
        assert alone.positivity_pvalue is None
        assert "positivity" in repr(result)
        assert "positivity" not in repr(alone)

    def test_two_points_against_one(self, rng):
        result = un.phase_test(rng.choice([-1.0, 1.0], 500), np.zeros(500))
        assert result.phase_pvalue > 0.05
        assert result.pvalue < 1e-6

    def test_high_frequencies_are_for_positivity_alone(self, samples):
        result = un.phase_test(*samples)
        assert not result.contributions[un.Sketch.for_samples(*samples).blocks["high frequencies"]].any()
        assert "high frequencies" not in result.block_pvalues

    def test_up_to_a_shift(self, samples):
        X, Y = samples
        away = np.array([0.0, 3.0, -40.0])
        result = un.phase_test(X + away, Y, invariant_to="noise+shift")
        assert un.phase_test(X + away, Y).pvalue < 1e-6
        assert (np.abs(result.shift - away) < 1).all()
        assert (result.shift_interval[:, 0] < result.shift).all()
        assert "shift of X: x0" in repr(result)
        assert result.to_dict()["shift_interval"][0][0] < result.shift[0]
        assert un.phase_test(X, Y).shift is None

    def test_unknown_invariance(self, samples):
        with pytest.raises(ValueError, match="invariant_to must be one of noise, noise\\+shift; got 'shift'"):
            un.phase_test(*samples, invariant_to="shift")

    def test_a_block_without_rank_has_no_veto(self, rng):
        X, Y = rng.exponential(size=(2, 250, 75))
        Y[:, :10] = 2 - Y[:, :10]
        result = un.phase_test(X, Y, invariant_to="noise+shift", positivity=False)
        assert result.block_pvalues["pairs of columns"] == 1
        assert result.pvalue < 1e-4

    def test_the_order_of_the_samples_does_not_matter(self, rng):
        X, Y = rng.exponential(size=(2, 700, 2))
        assert un.phase_test(X, Y).pvalue == pytest.approx(un.phase_test(Y, X).pvalue, rel=1e-6)

    def test_rows_without_weight_do_not_set_the_frequencies(self, rng):
        X, Y = rng.exponential(size=(200, 1)), 2 - rng.exponential(size=(200, 1))
        junk = 1e4 * rng.normal(size=(2, 800, 1))
        weights = np.r_[np.ones(200), np.zeros(800)]
        plain = un.phase_test(X, Y).pvalue
        more = un.phase_test(np.r_[X, junk[0]], np.r_[Y, junk[1]], weights=(weights, weights)).pvalue
        assert more == pytest.approx(plain, rel=1e-3)
        framed = [pd.DataFrame({"x": np.r_[z[:, 0], j[:, 0]], "w": weights}) for z, j in ((X, junk[0]), (Y, junk[1]))]
        assert un.phase_test(*framed, weights=("w", "w")).pvalue == pytest.approx(plain, rel=1e-3)

    @pytest.mark.parametrize("n_runs", [60, pytest.param(500, marks=pytest.mark.slow)])
    @pytest.mark.parametrize("n", [2, 3, 5, 10])
    def test_few_rows_keep_the_level(self, rng, n, n_runs):
        rejected = sum(
            un.phase_test(*rng.normal(size=(2, n, 1)), positivity=False).pvalue <= 0.05 for _ in range(n_runs)
        )
        assert rejected <= stats.binom.ppf(0.999, n_runs, 0.05)


class TestSketches:
    def test_rows_are_sketches(self, samples):
        X, Y = samples
        left = un.Sketch.for_samples(X, Y).update(X)
        right = un.Sketch.like(left).update(Y[:90]).update(Y[90:])
        rows, sketches = un.phase_test(X, Y), un.phase_test(left, right)
        assert sketches.pvalue == pytest.approx(rows.pvalue, rel=1e-4)
        assert sketches.sizes == (300, 200)
        assert sketches.seed is None

    def test_saved_sketches_give_the_full_test(self, samples, tmp_path):
        X, Y = samples
        left = un.Sketch.for_samples(X).update(X)
        left.save(tmp_path / "x.npz")
        right = un.Sketch.like(un.Sketch.load(tmp_path / "x.npz")).update(Y)
        assert list(right.blocks) == [name for name in BLOCK_WEIGHTS if name != SKEWNESS]
        of_rows, saved = un.phase_test(left, right), un.phase_test(un.Sketch.load(tmp_path / "x.npz"), right)
        assert saved.statistic == pytest.approx(of_rows.statistic, rel=0.1)
        # The file has no rows, whose kurtosis would make the null distribution narrower, and the guard smaller.
        assert of_rows.pvalue < saved.pvalue < 3 * of_rows.pvalue

    def test_streams_and_frames(self, samples):
        X, Y = samples
        frames = un.phase_test(
            pd.DataFrame(X, columns=list("abc")), pd.DataFrame(Y, columns=list("abc"))[["c", "a", "b"]]
        )
        assert frames.pvalue == pytest.approx(un.phase_test(X, Y).pvalue, rel=1e-9)
        streams = un.phase_test(iter([X[:200], X[200:]]), iter([Y]))
        assert 0 <= streams.pvalue <= 1

    def test_location_and_units_do_not_matter(self, samples):
        X, Y = samples
        here, there = un.phase_test(X, Y), un.phase_test(2.0**20 + 1024 * X, 2.0**20 + 1024 * Y)
        assert there.pvalue == pytest.approx(here.pvalue, rel=1e-2)

    def test_equal_weights_change_nothing_and_zero_weights_drop_rows(self, samples):
        X, Y = samples
        plain = un.phase_test(X, Y)
        weighted = un.phase_test(X, Y, weights=(np.full(300, 2.0), np.full(200, 0.1)))
        assert weighted.pvalue == pytest.approx(plain.pvalue, rel=1e-4)
        W = un.Sketch.for_samples(X, Y).frequencies
        kept = un.phase_test(X[:100], Y, frequencies=W)
        zeros = un.phase_test(X, Y, weights=(np.r_[np.ones(100), np.zeros(200)], None), frequencies=W)
        assert zeros.pvalue == pytest.approx(kept.pvalue, rel=1e-3)


class TestDesign:
    @pytest.mark.parametrize(
        ("d", "counts"),
        [(1, {1: 68}), (2, {1: 76, 2: 60}), (3, {1: 84, 2: 60, 3: 60}), (50, {1: 200, 2: 60, 50: 60})],
    )
    def test_blocks(self, d, counts):
        design = default_design(np.full(d, 10.0), np.random.default_rng(0))
        own = [name for name in BLOCK_WEIGHTS if name not in (SKEWNESS, "effect")]  # frequencies of their own
        assert list(design.blocks) == (["single columns", "high frequencies"] if d == 1 else own)
        on_columns = np.count_nonzero(design.frequencies, axis=1)
        assert Counter(on_columns.tolist()) == counts
        for name, expected in (("single columns", 1), ("pairs of columns", 2)):
            assert (on_columns[slice(*design.blocks.get(name, (0, 0)))] == expected).all()
        start, stop = design.blocks["high frequencies"]
        assert design.blocks.get("all frequencies", (0, 60)) == (0, start)
        assert stop == len(on_columns)
        low, high = design.frequencies[:start], design.frequencies[start:]
        assert min(np.count_nonzero(part, axis=0).min() for part in (low, high)) >= 2
        assert np.abs(low).max() < 0.3
        assert np.abs(high).max(axis=1).min() > 0.1

    def test_blocks_are_found_whichever_sketch_has_them(self, samples):
        X, Y = samples
        left = un.Sketch.for_samples(X, Y).update(X)
        right = un.Sketch(left.frequencies).update(Y)
        assert un.phase_test(right, left).block_pvalues.keys() == un.phase_test(left, right).block_pvalues.keys()

    def test_every_column_has_its_turn(self):
        design = default_design(np.ones(7), np.random.default_rng(0))
        singles = design.frequencies[slice(*design.blocks["single columns"])]
        assert len(singles) == 60
        assert (np.count_nonzero(singles, axis=0) >= 8).all()
        assert joint_frequencies(10, 1, np.random.default_rng(0), in_pairs=True).shape == (10, 1)
        assert joint_frequencies(10, 4, np.random.default_rng(0), in_pairs=False).shape == (10, 4)

    def test_scaling_by_rows_that_do_not_vary(self):
        sketch = un.Sketch.for_samples(np.full((20, 2), 7.0))
        assert np.isfinite(sketch.frequencies).all()

    def test_bad_samples(self):
        with pytest.raises(ValueError, match="at least one sample"):
            un.Sketch.for_samples()
        with pytest.raises(ValueError, match=r"samples\[1\].*columns"):
            un.Sketch.for_samples(np.zeros((3, 2)), np.zeros((3, 1)))


class TestEdges:
    def test_nothing_varies(self):
        X, Y = np.full((40, 2), 7.0), np.full((30, 2), 7.0)
        assert un.phase_test(X, Y).pvalue == 1.0

    def test_useless_frequencies_give_an_honest_pvalue(self, rng):
        X, Y = rng.normal(size=(2, 200, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for w in ([1e-9], [1e6], [0.0]):
                assert 0 <= un.phase_test(X, Y, frequencies=w).pvalue <= 1

    def test_identical_samples(self, rng):
        X = rng.normal(size=(50, 3))
        assert un.phase_test(X, X).pvalue > 0.9

    @pytest.mark.parametrize("n", [2, 3, 5])
    def test_very_few_rows(self, rng, n):
        assert 0 <= un.phase_test(rng.normal(size=(n, 2)), rng.normal(size=(n, 2))).pvalue <= 1

    def test_bad_combinations(self, samples):
        X, Y = samples
        s = un.Sketch.for_samples(X).update(X)
        with pytest.raises(ValueError, match=r"Sketch\.like"):
            un.phase_test(s, Y)
        with pytest.raises(ValueError, match=r"Sketch\.like"):
            un.phase_test(s, un.Sketch.for_samples(Y).update(Y))
        with pytest.raises(ValueError, match="left out for sketches"):
            un.phase_test(s, s, frequencies=s.frequencies)
        with pytest.raises(ValueError, match="Y must have at least 2 rows"):
            un.phase_test(s, un.Sketch.like(s).update(Y[:1]))
        with pytest.raises(ValueError, match="X must have at least 2 rows"):
            un.phase_test(X[:1], Y)
        with pytest.raises(ValueError, match="weights must be a pair"):
            un.phase_test(X, Y, weights=np.ones(300))


@pytest.mark.parametrize("n_runs", [5, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("sizes", "d", "noise", "kind"),
    [
        ((100, 100), 5, (2.0, 0.0), "gaussian"),
        ((100, 100), 20, (0.0, 0.0), "gaussian"),
        ((50, 50), 2, (1.0, 0.5), "cauchy"),
        ((1000, 100), 2, (0.0, 2.0), "laplace"),
        ((100, 1000), 5, (0.5, 0.0), "t"),
    ],
)
def test_level_is_not_exceeded(sizes, d, noise, kind, n_runs):
    rejected = sum(
        un.phase_test(
            *make_chi2_samples(sizes, d, freedoms=(4, 4), noise=noise, kind=kind, random_state=seed), random_state=seed
        ).pvalue
        <= 0.05
        for seed in range(n_runs)
    )
    assert stats.binomtest(rejected, n_runs, 0.05, alternative="greater").pvalue > 1e-3


@pytest.mark.slow
def test_level_of_skewed_rows_at_unequal_sizes():
    rng = np.random.default_rng(0)
    rejected = sum(
        un.phase_test(rng.lognormal(size=(1000, 2)), rng.lognormal(size=(100, 2)), random_state=seed).pvalue <= 0.05
        for seed in range(500)
    )
    assert stats.binomtest(rejected, 500, 0.05, alternative="greater").pvalue > 1e-3


@pytest.mark.parametrize("n_runs", [8, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("n", "d", "noise"), [(200, 5, (0.0, 0.0)), (500, 5, (0.5, 0.5)), (500, 20, (1.0, 0.0))])
def test_power(n, d, noise, n_runs):
    rejected = sum(
        un.phase_test(*make_chi2_samples(n, d, noise=noise, random_state=seed), random_state=seed).pvalue <= 0.05
        for seed in range(n_runs)
    )
    assert rejected >= 0.9 * n_runs
