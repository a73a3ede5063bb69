"""BagSummary: against plain numpy and scipy, and what noise and units do to it."""

import numpy as np
import pytest
from scipy import stats

import uptonoise as un
from uptonoise.learning.bag_statistics import QUANTILES, statistics


@pytest.fixture
def bags(rng):
    return un.Bags([rng.gamma(2.0, size=(n, 2)) for n in (1, 2, 5, 40, 41, 300)])


def test_statistics_agree_with_scipy(bags):
    blocks = statistics(bags.values, bags.offsets, [(0, 1)])
    for place, bag in enumerate(bags):
        np.testing.assert_allclose(blocks["mean"][place], bag.mean(axis=0))
        np.testing.assert_allclose(blocks["quantile"][place], np.quantile(bag, QUANTILES, axis=0).ravel())
        if len(bag) > 2:
            np.testing.assert_allclose(blocks["sd"][place], bag.std(axis=0, ddof=1))
            np.testing.assert_allclose(blocks["third"][place], [stats.kstat(column, 3) for column in bag.T])
            covariance = np.cov(bag.T, bias=True)[0, 1]
            np.testing.assert_allclose(blocks["pair_cumulant"][place, 0], covariance)


def test_bags_in_runs_have_the_same_features(bags, monkeypatch):
    summary = un.BagSummary(random_state=0).fit(bags)
    expected = summary.transform(bags)
    monkeypatch.setattr("uptonoise.learning.summary.VALUES_AT_ONCE", 90)
    assert [run.ids.tolist() for run in bags._runs(90)] == [[0, 1, 2], [3], [4], [5]]
    np.testing.assert_allclose(summary.transform(bags), expected, rtol=1e-6, atol=1e-9)


def test_l_moments_of_known_distributions(rng):
    rows = rng.exponential(size=(200_000, 1))
    blocks = statistics(rows, np.array([0, len(rows)]), [])
    np.testing.assert_allclose(blocks["odd"][0, -1], 1 / 6, atol=0.01)  # the third L-moment of an exponential
    np.testing.assert_allclose(np.exp(blocks["log_spread"][0, -1]), 0.5, atol=0.01)


def test_features_do_not_depend_on_units_or_other_bags(bags):
    summary = un.BagSummary(random_state=0).fit(bags)
    features = summary.transform(bags)
    assert np.isfinite(features).all()
    scaled = un.Bags([bag * [1e3, 1e-3] + [5.0, -2.0] for bag in bags])
    again = un.BagSummary(random_state=0).fit(scaled).transform(scaled)
    np.testing.assert_allclose(again, features, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(summary.transform(bags[[3]])[0], features[3], atol=1e-6)
    assert len(summary.get_feature_names_out()) == features.shape[1]


def test_invariant_features_do_not_see_noise(rng):
    clean = rng.gamma(2.0, size=(3, 30_000, 2))
    noisy = clean + rng.laplace(size=clean.shape)
    summary = un.BagSummary("invariant", random_state=0).fit(clean)
    # At a few frequencies the amplitude is below its sampling error, and the phase is random.
    assert np.quantile(np.abs(summary.transform(noisy) - summary.transform(clean)), 0.9) < 0.1
    every = un.BagSummary(random_state=0).fit(clean)
    assert np.quantile(np.abs(every.transform(noisy) - every.transform(clean)), 0.9) > 0.5


def test_bad_parameters(bags):
    with pytest.raises(ValueError, match="kind must be one of"):
        un.BagSummary("some").fit(bags)
    with pytest.raises(ValueError, match="n_frequencies"):
        un.BagSummary(n_frequencies=0).fit(bags)


def test_places_of_spreads_among_the_features_of_profiles(rng):
    from uptonoise.learning.summary import PROFILE_BLOCKS, log_spreads

    bags = un.Bags([rng.normal(size=(n, 3)) for n in (5, 9)])
    blocks = un.BagSummary(random_state=0).fit(bags).blocks(bags)
    joined = np.concatenate([blocks[name] for name in PROFILE_BLOCKS], axis=1)
    np.testing.assert_array_equal(joined[:, log_spreads(joined.shape[1])], blocks["log_spread"])
