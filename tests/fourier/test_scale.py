import numpy as np
import pandas as pd
import pytest
from scipy import stats

import uptonoise as un


def test_median_scale_of_normal_data_is_its_closed_form(rng):
    X = 3.0 * rng.normal(size=(20_000, 4))
    # Squared distances are 2 * 9 * chi2(4).
    expected = 3.0 * np.sqrt(stats.chi2(4).median())
    assert un.median_scale(X) == pytest.approx(expected, rel=0.05)
    assert un.median_scale(X, max_rows=3000) == pytest.approx(expected, rel=0.03)


def test_median_scale_equals_the_definition_on_few_rows(rng):
    X = rng.normal(size=(30, 2))
    squares = [((a - b) ** 2).sum() for i, a in enumerate(X) for b in X[:i]]
    assert un.median_scale(X) == pytest.approx(np.sqrt(np.median(squares) / 2), rel=1e-12)


def test_median_scale_per_column(rng):
    X = rng.normal(size=(900, 3)) * [1.0, 100.0, 0.0] + [0.0, 0.0, 7.0]
    lengths = un.median_scale(X, per_column=True)
    assert lengths[1] / lengths[0] == pytest.approx(100, rel=0.1)
    assert lengths[2] == 1.0
    assert lengths[0] == pytest.approx(un.median_scale(X[:, 0]), rel=1e-12)


def test_median_scale_of_several_samples_and_bags(rng):
    X, Y = rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 5
    together = un.median_scale(np.concatenate([X, Y]))
    assert un.median_scale(X, Y) == together
    assert un.median_scale(un.Bags([X, Y])) == together
    assert un.median_scale([X, Y]) == together
    assert together > un.median_scale(X)


def test_median_scale_is_seeded(rng):
    X = rng.normal(size=(5000, 2))
    assert un.median_scale(X, random_state=1) == un.median_scale(X, random_state=1)
    assert un.median_scale(X, random_state=1) != un.median_scale(X, random_state=2)


def test_median_scale_where_most_rows_are_equal(rng):
    X = np.zeros((1000, 1))
    X[:100, 0] = rng.normal(size=100)
    assert 0.3 < un.median_scale(X) < 2


def test_median_scale_where_all_sampled_rows_are_equal():
    rare = np.r_[np.zeros(200_000), np.arange(20.0)]
    assert 1 < un.median_scale(rare) < 10
    columns = np.column_stack([rare, np.arange(len(rare)), np.ones(len(rare))])
    assert un.median_scale(columns, per_column=True)[0] == un.median_scale(rare)


def test_median_scale_sees_a_bad_value_that_it_did_not_draw():
    X = np.arange(4000.0)
    X[3504] = np.nan
    for sample in (X, pd.DataFrame(X), iter([X])):
        with pytest.raises(ValueError, match="row 3504"):
            un.median_scale(sample)


def test_median_scale_at_the_limits_of_float64():
    assert un.median_scale([0, 5e-324, 0]) == 5e-324
    assert np.isfinite(un.median_scale(np.array([[-1.7e308, 0], [1.7e308, 1], [0, 2]]), per_column=True)).all()


def test_median_scale_of_heavy_tails_huge_and_tiny_numbers(rng):
    X = rng.standard_cauchy(size=(2000, 1))
    assert 0.5 < un.median_scale(X) < 4
    assert un.median_scale(1e300 * X[:500]) == pytest.approx(1e300 * un.median_scale(X[:500]))
    assert un.median_scale(1e-300 * X[:500]) == pytest.approx(1e-300 * un.median_scale(X[:500]), abs=0, rel=1e-6)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: un.median_scale(), "at least one sample"),
        (lambda: un.median_scale([1.0]), "at least 2 rows"),
        (lambda: un.median_scale([1.0, 1.0, 1.0]), "equal"),
        (lambda: un.median_scale([1.0, 2.0], max_rows=1), "max_rows"),
        (lambda: un.median_scale(np.zeros((3, 1)), np.zeros((3, 2))), "columns"),
    ],
)
def test_bad_median_scale(call, match):
    with pytest.raises(ValueError, match=match):
        call()


@pytest.mark.parametrize("d", [2, 5, 16])
def test_distances_without_scipy_are_the_same_to_the_last_bit(d, rng, monkeypatch):
    X = rng.normal(size=(300, d))
    expected = un.median_scale(X)
    monkeypatch.setattr("uptonoise.fourier.scale._FEW_COLUMNS", 1)
    assert un.median_scale(X) == expected
