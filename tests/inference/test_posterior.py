import importlib.util

import numpy as np
import polars as pl
import pytest
from scipy import stats

from uptonoise.inference import (
    Posterior,
)

from .helpers import gamma, quick


def test_posterior_moments_and_quantiles(normal):
    # The product of N(0, 1) and N(1, 0.25) is N(0.8, 0.2).
    truth = stats.norm(0.8, np.sqrt(0.2))
    assert normal.mean() == pytest.approx(0.8, abs=0.01)
    assert normal.sd() == pytest.approx(truth.std(), abs=0.01)
    assert normal.quantile([0.1, 0.5, 0.9]) == pytest.approx(truth.ppf([0.1, 0.5, 0.9]), abs=0.02)
    assert normal.interval(0.9) == pytest.approx(truth.interval(0.9), abs=0.03)
    low, high = normal.interval(0.9, "highest")
    assert high - low < np.subtract(*normal.interval(0.9)[::-1]) + 1e-9
    assert normal.cdf(0.8) == pytest.approx(0.5, abs=0.01)
    assert "location" in repr(normal)
    skewed = Posterior.of(np.random.default_rng(0).exponential(size=50_000), np.ones(50_000))
    assert skewed.interval(0.9, "highest")[0] < 0.01
    assert skewed.quantile(0.5) == pytest.approx(np.log(2), abs=0.02)


def test_posterior_draws(normal):
    drawn = normal.resample(5_000, random_state=0)
    assert drawn.shape == (5_000, 1)
    assert drawn.mean() == pytest.approx(normal.mean(), abs=0.01)
    assert abs(np.corrcoef(np.arange(5_000), drawn[:, 0])[0, 1]) < 0.05
    assert np.array_equal(drawn, normal.resample(5_000, random_state=0))
    frame = normal.to_frame()
    assert list(frame.columns) == ["location", "weight"]
    assert frame["weight"].sum() == pytest.approx(1)
    assert isinstance(normal.to_frame("polars"), pl.DataFrame)


def test_posterior_predictive(fitted, observed):
    bags = fitted.posterior(observed).predictive(30, random_state=0)
    assert len(bags) == 30
    assert bags.values.mean() == pytest.approx(3, abs=0.5)
    one_at_a_time = quick(simulator=gamma, vectorized=False, n_particles=300, ess=100).fit().posterior(observed)
    assert len(one_at_a_time.predictive(5, 0)) == 5


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda one: one.quantile(1.1), "q must be between 0 and 1"),
        (lambda one: one.interval(90), "level must be a number above 0 and below 1; got 90"),
        (lambda one: one.interval(0.9, "shortest"), "kind must be one of"),
        (lambda one: one.resample(0), "n must be a positive integer"),
        (lambda one: Posterior.of([1.0, 2.0], [0.0, 0.0]), "not all 0"),
        (lambda one: Posterior.of([1.0, 2.0], [1.0]), "weights must be one for each particle"),
        (lambda one: Posterior.of([1.0], [1.0], ["a", "b"]), "names must be 1"),
        (lambda one: one.predictive(), "need a simulator"),
    ],
)
def test_bad_questions_to_a_posterior(normal, call, match):
    with pytest.raises(ValueError, match=match):
        call(normal)


@pytest.mark.skipif(importlib.util.find_spec("arviz") is not None, reason="ArviZ is installed")
def test_arviz_is_named_where_it_is_missing(normal):
    with pytest.raises(ImportError, match="pip install arviz"):
        normal.to_arviz()
