"""The ME test: gradients, bumps, and where the samples differ."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import uptonoise as un
from uptonoise.twosample.paper.locations import Bumps, noncentrality


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

    @pytest.mark.parametrize("n_runs", [40, pytest.param(300, marks=pytest.mark.slow)])
    def test_training_rows_do_not_test(self, rng, n_runs):
        # With half of the rows for training the split changes the p-value, but never its uniformity.
        pvalues = [
            un.me_test(*rng.normal(size=(2, 60, 1)), n_locations=3, train_size=0.5, random_state=seed).pvalue
            for seed in range(n_runs)
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
