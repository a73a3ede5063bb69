"""Tests of paired differences: the halves, and any test in the middle."""

import numpy as np
import pytest
from scipy import stats

import uptonoise as un


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
