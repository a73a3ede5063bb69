"""The flip test: its statistic and signs by definition, pairs, and its significance level for very few rows."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import uptonoise as un
from uptonoise.fourier import CosineSine, FlipSums, Signs
from uptonoise.rows import as_rows
from uptonoise.twosample.flip import _flip_invariant_lengths, _statistics


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

    @pytest.mark.parametrize("n_runs", [50, pytest.param(1000, marks=pytest.mark.slow)])
    @pytest.mark.parametrize("n", [8, 20])
    def test_level_of_very_small_samples(self, n, n_runs):
        rng = np.random.default_rng(n)
        pvalues = [
            un.flip_test(
                rng.gamma(0.5, size=(n, 2)),
                rng.gamma(0.5, size=(n, 2)) + rng.normal(size=(n, 2)),
                n_flips=199,
                random_state=seed,
            ).pvalue
            for seed in range(n_runs)
        ]
        for alpha in (0.01, 0.05, 0.2):
            rejected = np.count_nonzero(np.array(pvalues) <= alpha)
            assert stats.binomtest(rejected, n_runs, alpha).pvalue > 1e-3, (alpha, rejected)

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
