"""Another order of rows, columns or samples, and other units, change no answer: every test, and compare."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import uptonoise as un

TESTS = {
    "phase_test": un.phase_test,
    "phase_test up to a shift": lambda X, Y: un.phase_test(X, Y, invariant_to="noise+shift"),
    "flip_test": lambda X, Y: un.flip_test(X, Y, n_flips=199),
    "mmd_test": lambda X, Y: un.mmd_test(X, Y, n_permutations=199),
    "mmd_test by frequencies": lambda X, Y: un.mmd_test(X, Y, method="fourier", n_permutations=199),
    "me_test": un.me_test,
    "sme_test": un.sme_test,
    "phd_test": lambda X, Y: un.phd_test(X, Y, n_permutations=199),
    "paired_difference_test": lambda X, Y: un.paired_difference_test(X, Y, test=un.mmd_test, n_permutations=99),
}
SIGNALS = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "mirrored": lambda rng, n, d: -rng.exponential(size=(n, d)),
    "counts": lambda rng, n, d: rng.poisson(2.0, size=(n, d)).astype(float),
    "mostly 0": lambda rng, n, d: np.where(rng.random((n, d)) < 0.9, 0.0, rng.exponential(size=(n, d))),
    "Cauchy": lambda rng, n, d: rng.standard_cauchy(size=(n, d)),
}
UNITS = (1e-6, 0.001, 0.3048, 1.0, 3.6, 1_000.0, 1e6)


@st.composite
def pairs(draw, sizes=(30, 100, 120)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(1, 3))
    X, Y = (SIGNALS[draw(st.sampled_from(sorted(SIGNALS)))](rng, draw(st.sampled_from(sizes)), d) for _ in range(2))
    units = np.array([draw(st.sampled_from(UNITS)) for _ in range(d)])
    return X, Y + rng.normal(size=Y.shape) * draw(st.sampled_from([0.0, 0.5])), units, rng


def changed(X, Y, units, rng):
    """Yield the same samples, handed over in other ways."""
    yield "swapped", (Y, X)
    yield "rows", (rng.permutation(X), rng.permutation(Y))
    order = rng.permutation(X.shape[1])
    yield "columns", (X[:, order], Y[:, order])
    yield "units", (X * units, Y * units)
    yield "all", (rng.permutation(Y)[:, order] * units[order], rng.permutation(X)[:, order] * units[order])


def quietly(function, *samples):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*samples)


def check_test(name, X, Y, units, rng):
    expected = quietly(TESTS[name], X, Y).pvalue
    assert 0 < expected <= 1
    for what, samples in changed(X, Y, units, rng):
        pvalue = quietly(TESTS[name], *samples).pvalue
        # A permuted statistic that equals the observed one up to rounding may count or not.
        assert np.isclose(pvalue, expected, rtol=0.02, atol=0.011), (name, what, expected, pvalue)


def check_compare(X, Y, units, rng):
    expected = quietly(un.compare, X, Y)
    for what, samples in changed(X, Y, units, rng):
        assert quietly(un.compare, *samples).verdict == expected.verdict, what


fast = settings(max_examples=3, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
thorough = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", TESTS)
@fast
@given(pairs())
def test_no_test_depends_on_how_samples_are_handed_over(name, pair):
    check_test(name, *pair)


@settings(fast, max_examples=1)
@given(pairs())
def test_no_verdict_depends_on_how_samples_are_handed_over(pair):
    check_compare(*pair)


@pytest.mark.slow
@pytest.mark.parametrize("name", TESTS)
@thorough
@given(pairs(sizes=(30, 100, 120, 500)))
def test_no_test_depends_on_how_many_samples_are_handed_over(name, pair):
    check_test(name, *pair)


@pytest.mark.slow
@thorough
@given(pairs(sizes=(30, 100, 120, 500)))
def test_no_verdict_depends_on_how_many_samples_are_handed_over(pair):
    check_compare(*pair)
