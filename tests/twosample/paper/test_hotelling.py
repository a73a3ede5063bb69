"""Hotelling's test with features that few rows reach."""

import numpy as np
import pytest
from scipy import stats

from uptonoise.twosample.paper.hotelling import hotelling_test


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

    @pytest.mark.parametrize("n_runs", [200, pytest.param(1000, marks=pytest.mark.slow)])
    def test_level_with_features_that_few_rows_reach(self, n_runs):
        # Spikes on a tenth of the rows, with long tails.
        rng = np.random.default_rng(5)
        pvalues = {sizes: [] for sizes in [(100, 100), (50, 500), (500, 50)]}
        for sizes, found in pvalues.items():
            for _ in range(n_runs):
                F, G = ((rng.random((size, 3)) < 0.1) * rng.exponential(size=(size, 3)) for size in sizes)
                found.append(hotelling_test(F, G, "f").pvalue)
        for sizes, found in pvalues.items():
            rejected = np.count_nonzero(np.array(found) <= 0.05)
            assert stats.binomtest(rejected, n_runs, 0.05).pvalue > 1e-3, (sizes, rejected)

    def test_nothing_to_see(self):
        assert hotelling_test(np.zeros((5, 2)), np.zeros((6, 2)), "f").pvalue == 1.0

    def test_repeated_features_count_once(self, rng):
        F, G = rng.normal(size=(40, 1)), rng.normal(size=(30, 1)) + 0.5
        once, twice = hotelling_test(F, G, "f"), hotelling_test(np.tile(F, 2), np.tile(G, 2), "f")
        assert twice.pvalue == pytest.approx(once.pvalue, rel=1e-6)
