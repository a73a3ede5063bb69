"""Where two samples differ: planted clusters, and nothing where nothing differs."""

import numpy as np
import pytest

import uptonoise as un
from uptonoise.comparison.places import differing_places


def planted(seed, d, n=1_000, width=0.3):
    generator = np.random.default_rng(seed)
    X, Y = generator.normal(size=(2, n, d))
    X[: n // 10, :2] = [2, 2] + width * generator.normal(size=(n // 10, 2))
    return generator.permutation(X), Y, generator


@pytest.mark.parametrize("d", [2, 10])
def test_a_planted_cluster_is_named(d):
    hits = 0
    for seed in range(5):
        X, Y, generator = planted(seed, d)
        place = differing_places(X, Y, [f"x{column}" for column in range(d)], 0.05, generator)[0]
        assert place.shares[0] > place.shares[1]
        hits += place.columns == ("x0", "x1") and np.linalg.norm(np.subtract(place.values, 2)) < 0.3
    assert hits >= 4


def test_nothing_is_named_where_nothing_differs(rng):
    named = [bool(differing_places(*rng.normal(size=(2, 300, 2)), ("a", "b"), 0.05, rng)) for _ in range(40)]
    assert np.mean(named) <= 0.125


def test_few_or_constant_rows_have_no_places(rng):
    assert differing_places(*rng.normal(size=(2, 10, 1)), ("a",), 0.05, rng) == ()
    assert differing_places(np.zeros((50, 2)), np.zeros((50, 2)), ("a", "b"), 0.05, rng) == ()


def test_there_are_at_most_three(rng):
    X, Y = rng.normal(size=(2, 2_000, 2))
    for row, centre in enumerate([(3, 3), (-3, 3), (3, -3), (-3, -3)]):
        X[200 * row : 200 * (row + 1)] = centre + 0.2 * rng.normal(size=(200, 2))
    comparison = un.compare(rng.permutation(X), Y)
    assert 1 <= len(comparison.places) <= 3
    assert all(place.pvalue <= 0.05 for place in comparison.places)
    assert "where they differ" in str(comparison)
    assert comparison.to_dict()["places"][0]["columns"]


@pytest.mark.slow
@pytest.mark.parametrize(("d", "least"), [(2, 27), (10, 24)])
def test_thirty_planted_clusters(d, least):
    hits = 0
    for seed in range(30):
        X, Y, generator = planted(seed, d, width=0.5)
        places = differing_places(X, Y, [f"x{column}" for column in range(d)], 0.05, generator)
        hits += (
            bool(places)
            and places[0].columns == ("x0", "x1")
            and np.linalg.norm(np.subtract(places[0].values, 2)) < 0.5
        )
    assert hits >= least
