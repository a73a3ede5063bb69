"""The two-sample tests: what they share, and each against an independent form of itself."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import uptonoise as un
from uptonoise.datasets import make_chi2_samples
from uptonoise.fourier import CosineSine, FlipSums, Signs
from uptonoise.rows import as_rows
from uptonoise.twosample import (
    FlipResult,
    MeResult,
    MmdResult,
    PairedDifferenceResult,
    PhaseResult,
    PhdResult,
    SmeResult,
)
from uptonoise.twosample.flip import _flip_invariant_lengths, _statistics
from uptonoise.twosample.paper.hotelling import hotelling_test
from uptonoise.twosample.paper.locations import Bumps, noncentrality
from uptonoise.twosample.permutation import label_blocks, permutation_pvalue, wave_means_by_label
from uptonoise.twosample.samples import Samples

TESTS = {
    "me": (un.me_test, MeResult),
    "sme": (un.sme_test, SmeResult),
    "phd": (un.phd_test, PhdResult),
    "mmd": (un.mmd_test, MmdResult),
    "mmd fourier": (lambda X, Y, **options: un.mmd_test(X, Y, method="fourier", **options), MmdResult),
    "paired": (un.paired_difference_test, PairedDifferenceResult),
    "flip": (un.flip_test, FlipResult),
    "phase": (un.phase_test, PhaseResult),
    "flip, several pairings": (lambda X, Y, **options: un.flip_test(X, Y, n_pairings=3, **options), FlipResult),
}


@pytest.fixture
def samples(rng):
    return rng.normal(size=(120, 2)), rng.normal(size=(90, 2)) + np.array([0.3, 0])


@pytest.mark.filterwarnings("ignore::uptonoise.UnequalNoiseWarning")
@pytest.mark.parametrize("name", TESTS)
class TestWhatAllShare:
    def test_result(self, name, samples):
        test, kind = TESTS[name]
        result = test(*samples, random_state=3)
        assert type(result) is kind
        assert isinstance(result, un.TwoSampleResult)
        assert 0 <= result.pvalue <= 1
        assert result.sizes == (120, 90)
        assert result.seed == 3
        assert result.null
        assert f"p = {result.pvalue:.3g}" in repr(result)
        assert "120 rows" in repr(result)
        with pytest.raises(AttributeError):
            result.pvalue = 0.5

    def test_same_seed_same_result(self, name, samples):
        test, _ = TESTS[name]
        first, again, other = (test(*samples, random_state=seed) for seed in (0, 0, 1))
        assert first == again
        assert hash(first) == hash(again)
        assert first != other
        assert len({first, again, other}) == 2
        assert first != 3

    def test_drawn_seed_gives_the_result_again(self, name, samples):
        test, _ = TESTS[name]
        first = test(*samples)
        assert test(*samples, random_state=first.seed).pvalue == first.pvalue

    def test_pickle_and_json(self, name, samples):
        result = TESTS[name][0](*samples, random_state=0)
        assert pickle.loads(pickle.dumps(result)) == result
        as_json = json.loads(json.dumps(result.to_dict()))
        assert as_json["pvalue"] == result.pvalue
        assert as_json["sizes"] == [120, 90]

    def test_columns_are_matched_by_name(self, name, samples):
        test, _ = TESTS[name]
        X, Y = (pd.DataFrame(one, columns=["a", "b"]) for one in samples)
        plain, frames = test(*samples, random_state=0), test(X, Y[["b", "a"]], random_state=0)
        assert frames.columns == ("a", "b")
        assert frames.pvalue == plain.pvalue

    def test_every_kind_of_input(self, name, samples):
        test, _ = TESTS[name]
        X, Y = samples
        expected = test(X, Y, random_state=0).pvalue
        assert test(iter([X[:50], X[50:]]), Y.tolist(), random_state=0).pvalue == expected

    def test_a_large_difference_is_found(self, name, rng):
        X, Y = rng.exponential(size=(400, 2)), 3 - rng.exponential(size=(300, 2))
        assert TESTS[name][0](X, Y, random_state=0).pvalue < 0.01

    def test_a_single_distinct_value_is_no_difference(self, name):
        X, Y = np.full((40, 2), 7.0), np.full((30, 2), 7.0)
        assert TESTS[name][0](X, Y, random_state=0).pvalue == pytest.approx(1.0)

    def test_constant_columns_change_nothing_much(self, name, rng):
        X, Y = rng.exponential(size=(400, 1)), 3 - rng.exponential(size=(300, 1))
        X, Y = (np.column_stack([one, np.full(len(one), 5.0)]) for one in (X, Y))
        assert TESTS[name][0](X, Y, random_state=0).pvalue < 0.01

    def test_units_and_origin_do_not_matter(self, name, rng):
        X, Y = rng.exponential(size=(60, 2)), rng.exponential(size=(60, 2))
        here = TESTS[name][0](X, Y, random_state=0).pvalue
        there = TESTS[name][0](1024 * X + 2.0**20, 1024 * Y + 2.0**20, random_state=0).pvalue
        assert there == pytest.approx(here, abs=0.02)

    def test_huge_outliers_do_not_break_it(self, name, rng):
        X, Y = rng.standard_cauchy(size=(200, 2)), rng.standard_cauchy(size=(200, 2))
        X[0] = 1e12
        assert 0 <= TESTS[name][0](X, Y, random_state=0).pvalue <= 1

    def test_too_few_rows_say_how_many_are_needed(self, name, rng):
        X = rng.normal(size=(200, 2))
        with pytest.raises(ValueError, match=r"Y must have at least \d+ rows"):
            TESTS[name][0](X, X[:1])


@pytest.mark.parametrize("name", ["phd", "mmd", "mmd fourier"])
def test_identical_samples_have_a_pvalue_of_one(name, rng):
    X = rng.normal(size=(50, 3))
    assert TESTS[name][0](X, X, random_state=0).pvalue == 1.0


class TestPermutations:
    def test_labels_are_uniform_over_all_assignments(self):
        rng = np.random.default_rng(0)
        drawn = np.concatenate(list(label_blocks((2, 3), [2, 2, 1], 20_000, rng)), axis=1)
        assert drawn[0].tolist() == [1, 1, 0, 0, 0]
        assert (drawn.sum(axis=1) == 2).all()
        _, counts = np.unique(drawn[1:], axis=0, return_counts=True)
        assert len(counts) == 10
        assert stats.chisquare(counts).pvalue > 1e-3

    def test_pvalue_has_the_plus_one(self):
        assert permutation_pvalue(np.array([5.0, 1.0, 2.0, 3.0])) == 0.25
        assert permutation_pvalue(np.array([5.0, 5.0 - 1e-9, 2.0, 3.0])) == 0.5

    def test_wave_means_are_those_of_the_labels(self, rng, plain_ecf, monkeypatch):
        monkeypatch.setattr("uptonoise.fourier.cosine_sine.BLOCK_ELEMENTS", 40)
        X, Y, W = rng.normal(size=(30, 2)), rng.normal(size=(21, 2)), rng.normal(size=(5, 2))
        left, right = wave_means_by_label(Samples(X, Y, ("a", "b")), W, 7, np.random.default_rng(1))
        sizes = [8] * 6 + [3]
        labels = np.concatenate(list(label_blocks((30, 21), sizes, 7, np.random.default_rng(1))), axis=1)
        pooled = np.concatenate([X, Y])
        pooled = pooled - np.median(pooled, axis=0)
        for row, (one, other) in enumerate(zip(left, right, strict=True)):
            called = labels[row] == 1
            for found, rows in ((one, pooled[called]), (other, pooled[~called])):
                np.testing.assert_allclose(found[:5] + 1j * found[5:], plain_ecf(rows, W), atol=1e-6)


class TestMmd:
    @pytest.mark.parametrize("scale", ["median", 0.7])
    def test_statistics_are_those_of_the_kernel_matrix(self, rng, scale):
        X, Y = rng.normal(size=(40, 2)), rng.normal(size=(55, 2)) + 0.4
        result = un.mmd_test(X, Y, scale=scale, n_permutations=50, random_state=0)
        length = result.scale
        assert length == (0.7 if scale != "median" else pytest.approx(un.median_scale(X, Y)))
        pooled = np.concatenate([X, Y])
        K = np.exp(-((pooled[:, None] - pooled[None]) ** 2).sum(-1) / (2 * length**2))
        n, k = 40, 55
        expected = K[:n, :n].mean() + K[n:, n:].mean() - 2 * K[:n, n:].mean()
        assert result.statistic == pytest.approx(expected, rel=1e-4)
        assert result.permuted.shape == (50,)
        # The mean over permutations in closed form: within-pairs minus between-pairs of the pooled kernel.
        off = (K.sum() - np.trace(K)) / ((n + k) * (n + k - 1))
        on = np.trace(K) / (n + k)
        mean = (1 / n + 1 / k) * (on - off)
        many = un.mmd_test(X, Y, scale=length, n_permutations=4000, random_state=0).permuted
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


class TestPhd:
    def test_statistic_is_the_distance_of_the_library(self, rng):
        X, Y = rng.exponential(size=(300, 2)), rng.exponential(size=(200, 2))
        result = un.phd_test(X, Y, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert result.statistic == pytest.approx(un.phd(X, Y, result.frequencies), rel=1e-4)
        assert result.frequencies.shape == (50, 2)
        assert result.permuted.shape == (400,)
        given = un.phd_test(X, Y, frequencies=result.frequencies, random_state=0)
        np.testing.assert_array_equal(given.frequencies, result.frequencies)

    def test_frequencies_have_the_empirical_variance(self, rng):
        X, Y = 7 * rng.normal(size=(500, 3)), 7 * rng.normal(size=(500, 3))
        lengths = np.linalg.norm(un.phd_test(X, Y, n_frequencies=4000, n_permutations=1).frequencies, axis=1)
        assert np.sqrt(np.mean(lengths**2)) == pytest.approx(1 / 7, rel=0.05)

    def test_warns_where_noise_differs_and_not_where_it_does_not(self):
        X, noisy = make_chi2_samples(500, 5, freedoms=(4, 4), noise=(0, 2), random_state=0)
        with pytest.warns(un.UnequalNoiseWarning, match=r"amplitudes of X and Y differ.*phase_test"):
            result = un.phd_test(X, noisy, random_state=0)
        assert result.amplitude_pvalue < 0.01
        assert "permutation null is then wrong" in repr(result)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            X, Y = make_chi2_samples(500, 5, freedoms=(4, 4), noise=(1, 1), random_state=0)
            assert un.phd_test(X, Y, random_state=0).amplitude_pvalue > 0.01

    @pytest.mark.parametrize("change", [{"n_permutations": 0}, {"n_frequencies": 1.5}, {"frequencies": np.ones(3)}])
    def test_bad_arguments(self, samples, change):
        with pytest.raises(ValueError, match=next(iter(change))):
            un.phd_test(*samples, **change)


class TestHotelling:
    def test_statistic_is_the_textbook_one(self, rng):
        F, G = rng.normal(size=(40, 4)), rng.normal(size=(30, 4)) + 0.2
        n, k = 40, 30
        pooled = ((n - 1) * np.cov(F.T) + (k - 1) * np.cov(G.T)) / (n + k - 2)
        apart = F.mean(0) - G.mean(0)
        expected = n * k / (n + k) * apart @ np.linalg.solve(pooled, apart)
        found = hotelling_test(F, G, "f")
        assert found.statistic == pytest.approx(expected, rel=1e-9)
        assert found.contributions.sum() == pytest.approx(expected, rel=1e-9)
        assert hotelling_test(F, G, "chi2").pvalue == pytest.approx(stats.chi2.sf(expected, 4), rel=1e-9)

    def test_gaussian_features_have_the_plain_f_law(self, rng):
        F, G = rng.normal(size=(400, 4)), rng.normal(size=(300, 4)) + 0.05
        found = hotelling_test(F, G, "f")
        N, J = 700, 4
        plain = stats.f.sf(found.statistic * (N - J - 1) / (J * (N - 2)), J, N - J - 1)
        assert found.pvalue == pytest.approx(plain, abs=0.01)
        assert found.freedoms[0] == pytest.approx(4, abs=0.1)

    def test_level_with_features_that_few_rows_reach(self):
        # Spikes on a tenth of the rows, with long tails.
        rng = np.random.default_rng(5)
        pvalues = {sizes: [] for sizes in [(100, 100), (50, 500), (500, 50)]}
        for sizes, found in pvalues.items():
            for _ in range(1000):
                F, G = ((rng.random((size, 3)) < 0.1) * rng.exponential(size=(size, 3)) for size in sizes)
                found.append(hotelling_test(F, G, "f").pvalue)
        for sizes, found in pvalues.items():
            rejected = np.count_nonzero(np.array(found) <= 0.05)
            assert stats.binomtest(rejected, 1000, 0.05).pvalue > 1e-3, (sizes, rejected)

    def test_nothing_to_see(self):
        assert hotelling_test(np.zeros((5, 2)), np.zeros((6, 2)), "f").pvalue == 1.0

    def test_repeated_features_count_once(self, rng):
        F, G = rng.normal(size=(40, 1)), rng.normal(size=(30, 1)) + 0.5
        once, twice = hotelling_test(F, G, "f"), hotelling_test(np.tile(F, 2), np.tile(G, 2), "f")
        assert twice.pvalue == pytest.approx(once.pvalue, rel=1e-6)


class TestMe:
    @pytest.mark.parametrize(("n", "k", "d", "J"), [(25, 35, 3, 4), (50, 50, 7, 10), (30, 20, 20, 5)])
    def test_gradient_is_that_of_finite_differences(self, rng, n, k, d, J):
        rows = rng.normal(size=(n + k, d))
        theta = np.append(0.5 * rng.normal(size=J * d), np.log(1.3 * np.sqrt(d)))
        _, gradient = noncentrality(theta, rows, n, J)
        step = 1e-5
        for place in rng.choice(J * d + 1, size=min(12, J * d), replace=False):
            ahead, behind = theta.copy(), theta.copy()
            ahead[place] += step
            behind[place] -= step
            slope = (noncentrality(ahead, rows, n, J)[0] - noncentrality(behind, rows, n, J)[0]) / (2 * step)
            assert gradient[place] == pytest.approx(slope, rel=1e-4, abs=1e-6)

    def test_features_are_gaussian_bumps_in_the_data_units(self, rng):
        bumps = Bumps(np.array([[1.0, 2.0]]), np.array([0.5, 3.0]))
        rows = rng.normal(size=(6, 2))
        expected = np.exp(-(((rows - [1, 2]) / [0.5, 3]) ** 2).sum(1) / 2)
        np.testing.assert_allclose(bumps.features(rows)[:, 0], expected, rtol=1e-12)

    def test_result_adds_up_and_shows_where(self, rng):
        X, Y = rng.normal(size=(2000, 2)), rng.normal(size=(2000, 2))
        Y[:600, 1] += 4  # a second cluster in the other column
        result = un.me_test(pd.DataFrame(X, columns=["a", "b"]), pd.DataFrame(Y, columns=["a", "b"]), random_state=0)
        assert result.contributions.sum() == pytest.approx(result.statistic, rel=1e-6)
        assert result.locations.shape == result.regions.shape == (10, 2)
        assert result.widths.shape == (2,)
        assert result.n_train == (400, 400)
        assert (np.abs(result.regions) < 10).all()
        more_in_Y = result.regions[result.differences < 0]
        assert more_in_Y[:, 1].max() > 1
        assert "a = " in repr(result)

    def test_training_rows_do_not_test(self, rng):
        # With half of the rows for training the split changes the p-value, but never its uniformity.
        pvalues = [
            un.me_test(*rng.normal(size=(2, 60, 1)), n_locations=3, train_size=0.5, random_state=seed).pvalue
            for seed in range(300)
        ]
        assert stats.kstest(pvalues, "uniform").pvalue > 1e-3

    def test_affine_changes_of_each_column_change_nothing(self, rng):
        X, Y = rng.exponential(size=(200, 3)), rng.exponential(size=(200, 3)) + 0.1
        scale, shift = np.array([1e-3, 1.0, 1e4]), np.array([5.0, -3.0, 100.0])
        one = un.me_test(X, Y, random_state=0)
        other = un.me_test(X * scale + shift, Y * scale + shift, random_state=0)
        assert other.pvalue == pytest.approx(one.pvalue, rel=1e-4)
        np.testing.assert_allclose(other.locations, one.locations * scale + shift, rtol=1e-4, atol=1e-4)

    @pytest.mark.parametrize(
        ("change", "match"),
        [
            ({"train_size": 0}, "train_size must be a number above 0 and below 1; got 0"),
            ({"train_size": 1.0}, "train_size"),
            ({"train_size": -0.1}, "train_size"),
            ({"train_size": "a fifth"}, "train_size"),
            ({"n_locations": 0}, "n_locations"),
            ({"n_locations": 500}, r"at least 503 rows together"),
            ({"null": "t"}, "null must be one of f, chi2"),
        ],
    )
    def test_bad_arguments(self, samples, change, match):
        with pytest.raises(ValueError, match=match):
            un.me_test(*samples, **change)


class TestPaired:
    def test_halves_are_the_two_differences_of_disjoint_pairs(self, rng):
        X, Y = np.arange(11.0), 100 * np.arange(1.0, 9.0)
        seen = {}

        def spy(W, Z):
            seen["W"], seen["Z"] = W, Z
            return 1.0, 0.5

        result = un.paired_difference_test(X, Y, test=spy, random_state=0)
        assert (result.statistic, result.pvalue, result.n_pairs) == (1.0, 0.5, 8)
        differences = np.concatenate([seen["W"], -seen["Z"]])
        used_X = np.round(differences % 100).astype(int)
        used_Y = np.round((used_X - differences) / 100).astype(int)
        assert len(set(used_X)) == len(set(used_Y)) == 8
        assert (seen["W"] < 0).all()
        assert (seen["Z"] > 0).all()

    def test_odd_numbers_drop_a_row(self, rng):
        assert un.paired_difference_test(*rng.normal(size=(2, 41)), test=stats.ks_2samp).n_pairs == 40

    @pytest.mark.parametrize("test", [stats.ks_2samp, stats.epps_singleton_2samp, stats.ttest_ind, un.mmd_test])
    def test_any_test_may_be_used(self, rng, test):
        X, Y = rng.exponential(size=600), 2 - rng.exponential(size=600)
        assert 0 <= un.paired_difference_test(X, Y, test=test, random_state=0).pvalue <= 1

    def test_options_reach_the_test(self, rng):
        X, Y = rng.normal(size=(2, 100, 2))
        assert un.sme_test(X, Y, n_locations=3, random_state=0).inner.locations.shape == (3, 2)
        assert un.paired_difference_test(X, Y, test=un.mmd_test, n_permutations=7).inner.permuted.shape == (7,)

    def test_sme_is_the_paired_test_with_me(self, rng):
        X, Y = rng.normal(size=(2, 100, 2))
        assert un.sme_test(X, Y, random_state=1).pvalue == un.paired_difference_test(X, Y, random_state=1).pvalue

    @pytest.mark.parametrize("bad", ["me", 3, lambda W, Z: "no", lambda W, Z: None])
    def test_bad_tests(self, rng, bad):
        with pytest.raises(ValueError, match="test must"):
            un.paired_difference_test(*rng.normal(size=(2, 20)), test=bad)


class TestFlip:
    def test_statistics_of_flips_are_the_definition(self, rng):
        z, W = rng.normal(size=(30, 2)), rng.normal(size=(4, 2))
        signs = Signs(12, np.random.default_rng(0))
        together = signs(0, 30)
        assert together.shape == (13, 30)
        assert (together[0] == 1).all()
        assert set(np.unique(together)) == {-1, 1}
        found = _statistics(as_rows(z).fold(FlipSums(CosineSine(W, "fast"), signs)), slice(None))
        for flip, statistic in zip(together, found, strict=True):
            s = np.sin((flip[:, None] * z) @ W.T)
            V = s.T @ s
            D = np.diag(1 / np.sqrt(np.diag(V)))
            S = D @ s.sum(0)
            assert statistic == pytest.approx(S @ np.linalg.solve(D @ V @ D + 0.1 * np.eye(4), S), rel=1e-4)

    @pytest.mark.parametrize("n_flips", [1, 64, 256, 257, 1000])
    def test_signs_belong_to_rows_whatever_the_blocks(self, n_flips):
        signs = Signs(n_flips, np.random.default_rng(1))
        at_once = signs(0, 100)
        cut = np.concatenate([signs(a, b) for a, b in ((0, 1), (1, 37), (37, 100))], axis=1)
        np.testing.assert_array_equal(at_once, cut)
        assert not np.array_equal(at_once, Signs(n_flips, np.random.default_rng(2))(0, 100))
        np.testing.assert_array_equal(signs(10**12, 10**12 + 5)[:, 2:4], signs(10**12 + 2, 10**12 + 4))

    def test_signs_are_fair_and_independent(self):
        signs = Signs(400, np.random.default_rng(3))(0, 2_000)[1:].astype(np.float64)
        for axis in (0, 1):
            means = signs.mean(axis=axis)
            spread = 1 / np.sqrt(signs.shape[axis])
            assert stats.kstest(means / spread, "norm").pvalue > 1e-3
        for one, other in ((signs[:-1], signs[1:]), (signs[:, :-1], signs[:, 1:])):  # neighbours
            assert abs((one * other).mean()) < 4 / np.sqrt(one.size)

    def test_pairs_in_files_give_the_answer_of_arrays(self, rng, tmp_path):
        X, Y = rng.gamma(2.0, size=(120_000, 2)), rng.gamma(2.1, size=(120_000, 2))
        for name, rows in (("x", X), ("y", Y)):
            pd.DataFrame(rows, columns=["a", "b"]).to_parquet(tmp_path / f"{name}.parquet", row_group_size=7_000)
        files = (un.scan_parquet(tmp_path / f"{name}.parquet") for name in "xy")
        found = un.flip_test(*files, paired=True, random_state=0, n_flips=99)
        expected = un.flip_test(X, Y, paired=True, random_state=0, n_flips=99)
        assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)
        assert found.columns == ("a", "b")

    def test_everything_but_the_signs_is_the_same_under_flips(self, rng):
        z = rng.exponential(size=(25, 3)) - 0.7
        flips = rng.choice([-1, 1], size=(25, 1))
        np.testing.assert_array_equal(_flip_invariant_lengths(z), _flip_invariant_lengths(flips * z))

    def test_lengths_where_most_differences_are_zero(self):
        z = np.zeros((20, 3))
        z[:4, 0] = [1, -2, 3, -4]
        z[:, 1] = 5
        np.testing.assert_array_equal(_flip_invariant_lengths(z), [2.5, 5, 1])

    @pytest.mark.parametrize("n", [8, 20])
    def test_level_of_very_small_samples(self, n):
        rng = np.random.default_rng(n)
        pvalues = [
            un.flip_test(
                rng.gamma(0.5, size=(n, 2)),
                rng.gamma(0.5, size=(n, 2)) + rng.normal(size=(n, 2)),
                n_flips=199,
                random_state=seed,
            ).pvalue
            for seed in range(1000)
        ]
        for alpha in (0.01, 0.05, 0.2):
            rejected = np.count_nonzero(np.array(pvalues) <= alpha)
            assert stats.binomtest(rejected, 1000, alpha).pvalue > 1e-3, (alpha, rejected)

    def test_given_pairs_see_what_random_ones_cannot(self):
        rng = np.random.default_rng(0)
        person = 10 * rng.normal(size=(200, 1))
        X, Y = person + rng.exponential(size=(200, 1)), person + 2 - rng.exponential(size=(200, 1))
        assert un.flip_test(X, Y, paired=True, random_state=0).pvalue < 0.01
        assert un.flip_test(X, Y, random_state=0).pvalue > 0.01
        result = un.flip_test(X, Y, paired=True, random_state=0)
        assert result.paired
        assert "as given" in repr(result)

    def test_pairings_are_merged_by_their_smallest_pvalue(self, samples):
        result = un.flip_test(*samples, n_pairings=4, random_state=0)
        assert result.pairing_pvalues.shape == (4,)
        assert result.pvalue == min(1, 4 * result.pairing_pvalues.min())

    def test_dependence_between_columns_is_seen(self):
        rng = np.random.default_rng(1)
        hidden = rng.exponential(size=(1500, 1))
        X = np.concatenate([hidden, hidden], axis=1) + 0.1 * rng.normal(size=(1500, 2))
        Y = rng.exponential(size=(1500, 2)) + 0.1 * rng.normal(size=(1500, 2))
        assert un.flip_test(X, Y, random_state=0).pvalue < 0.01

    @pytest.mark.parametrize(
        ("change", "match"),
        [
            ({"paired": True}, "as many rows in X as in Y; got 120 and 90"),
            ({"n_flips": 0}, "n_flips"),
            ({"n_pairings": 0}, "n_pairings"),
            ({"frequencies": np.ones((3, 5))}, "frequencies"),
        ],
    )
    def test_bad_arguments(self, samples, change, match):
        with pytest.raises(ValueError, match=match):
            un.flip_test(*samples, **change)

    def test_pairs_that_are_given_are_used_once(self, rng):
        X, Y = rng.normal(size=(2, 20, 1))
        with pytest.raises(ValueError, match="n_pairings must be 1"):
            un.flip_test(X, Y, paired=True, n_pairings=2)


def rejections(test, n, n_runs, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.UnequalNoiseWarning)
        return sum(
            test(*make_chi2_samples(n, 5, random_state=seed, **settings), random_state=seed).pvalue <= 0.05
            for seed in range(n_runs)
        )


@pytest.mark.parametrize("name", ["me", "sme", "phd"])
def test_level_without_noise(name):
    rejected = rejections(TESTS[name][0], 100, 500, freedoms=(4, 4))
    assert stats.binomtest(rejected, 500, 0.05).pvalue > 1e-3


@pytest.mark.parametrize(("noise", "kind"), [((2, 0), "gaussian"), ((1, 0.5), "cauchy"), ((0.5, 0), "t")])
def test_level_of_sme_under_noise(noise, kind):
    rejected = rejections(un.sme_test, 200, 500, freedoms=(4, 4), noise=noise, kind=kind)
    assert stats.binomtest(rejected, 500, 0.05).pvalue > 1e-3


def test_me_and_phd_see_noise_as_the_paper_says():
    assert rejections(un.me_test, 500, 50, freedoms=(4, 4), noise=(2, 0)) == 50
    assert rejections(un.phd_test, 500, 50, freedoms=(4, 4), noise=(2, 0)) > 25


def test_power():
    assert rejections(un.me_test, 200, 50) >= 48
    assert rejections(un.sme_test, 500, 100) > 60
    assert rejections(un.phd_test, 500, 50) > 40


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 200, 500, 1000])
@pytest.mark.parametrize("name", ["me", "sme", "phd", "mmd", "mmd fourier"])
def test_level_without_noise_at_more_sizes(name, n):
    rejected = rejections(TESTS[name][0], n, 1000, freedoms=(4, 4))
    assert stats.binomtest(rejected, 1000, 0.05).pvalue > 1e-3
