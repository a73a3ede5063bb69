"""The PhD test: against the distance of the library, and its warning."""

import warnings

import numpy as np
import pytest

import uptonoise as un
from uptonoise.datasets import make_chi2_samples


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
