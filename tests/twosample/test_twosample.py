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
from uptonoise.twosample import (
    FlipResult,
    MeResult,
    MmdResult,
    PairedDifferenceResult,
    PhaseResult,
    PhdResult,
    SmeResult,
)

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


def rejections(test, n, n_runs, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.UnequalNoiseWarning)
        return sum(
            test(*make_chi2_samples(n, 5, random_state=seed, **settings), random_state=seed).pvalue <= 0.05
            for seed in range(n_runs)
        )


@pytest.mark.parametrize("n_runs", [30, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["me", "sme", "phd"])
def test_level_without_noise(name, n_runs):
    rejected = rejections(TESTS[name][0], 100, n_runs, freedoms=(4, 4))
    assert stats.binomtest(rejected, n_runs, 0.05).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "kind"), [((2, 0), "gaussian"), ((1, 0.5), "cauchy"), ((0.5, 0), "t")])
def test_level_of_sme_under_noise(noise, kind):
    rejected = rejections(un.sme_test, 200, 500, freedoms=(4, 4), noise=noise, kind=kind)
    assert stats.binomtest(rejected, 500, 0.05).pvalue > 1e-3


def test_me_and_phd_see_noise_as_the_paper_says():
    assert rejections(un.me_test, 500, 10, freedoms=(4, 4), noise=(2, 0)) == 10
    assert rejections(un.phd_test, 500, 20, freedoms=(4, 4), noise=(2, 0)) > 10


@pytest.mark.slow
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
