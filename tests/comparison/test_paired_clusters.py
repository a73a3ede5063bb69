"""Pairs of rows that come in clusters, and places where clustered samples differ."""

from __future__ import annotations

import numpy as np
import pytest

import uptonoise as un
from uptonoise.comparison.pairs import swap_test
from uptonoise.comparison.places import differing_places
from uptonoise.twosample import Samples


def devices(seed: int, n_clusters: int = 60, size: int = 5, shift: float = 0.0):
    """Return readings of two devices on objects of patients, whose noise a patient shares in part, and the patients."""
    rng = np.random.default_rng(seed)
    patients = np.repeat(np.arange(n_clusters), size)
    objects = rng.gamma(2, size=len(patients))
    shared = rng.normal(size=(n_clusters, 2))[patients]
    readings = objects[:, None] + shared + 0.3 * rng.normal(size=(len(patients), 2))
    return readings[:, 0] + shift, readings[:, 1], patients


def test_shared_noise_of_clusters_is_no_difference():
    rejected = []
    for seed in range(5):
        X, Y, patients = devices(seed)
        comparison = un.compare(X, Y, paired=True, clusters=(patients, patients))
        rejected.append(comparison.differs_beyond_noise)
    assert sum(rejected) <= 1
    assert comparison.n_clusters == (60, 60)
    assert comparison.flip.n_clusters == (60, 60)
    assert comparison.mmd.null == "1,000 random swaps within pairs, by cluster"


def test_an_offset_of_a_device_is_seen_and_measured():
    X, Y, patients = devices(0, shift=1.5)
    comparison = un.compare(X, Y, paired=True, clusters=(patients, patients))
    assert comparison.verdict == "differ by noise and an offset"
    (offset,) = comparison.offsets()
    assert offset.low < 1.5 < offset.high
    rows = un.compare(X, Y, paired=True)
    (narrow,) = rows.offsets()
    assert offset.high - offset.low > narrow.high - narrow.low


def test_clusters_of_one_pair_are_pairs():
    X, Y, patients = devices(1, n_clusters=200, size=1)
    expected, clustered = un.compare(X, Y, paired=True), un.compare(X, Y, paired=True, clusters=(patients, patients))
    assert clustered.phase.pvalue == pytest.approx(expected.phase.pvalue, rel=1e-9)
    assert clustered.flip.pvalue == expected.flip.pvalue
    assert clustered.mmd.pvalue == expected.mmd.pvalue


def test_pairs_must_be_in_one_cluster():
    X, Y, patients = devices(2)
    with pytest.raises(ValueError, match="the same for both rows of a pair; they differ in row 1"):
        un.compare(X, Y, paired=True, clusters=(patients, np.roll(patients, 1)))
    with pytest.raises(ValueError, match="at least 3 clusters"):
        un.compare(X[:10], Y[:10], paired=True, clusters=(patients[:10], patients[:10]))


@pytest.mark.slow
def test_swaps_of_clusters_keep_their_level():
    rejected = []
    for seed in range(500):
        X, Y, patients = devices(seed, n_clusters=25)
        samples = Samples(X[:, None], Y[:, None], ("x",), (patients, patients))
        rejected.append(swap_test(samples, np.random.default_rng(0)).pvalue <= 0.05)
    assert np.mean(rejected) < 0.05 + 3.3 * np.sqrt(0.05 * 0.95 / 500)


def clustered(seed: int, planted: bool):
    rng = np.random.default_rng(seed)
    patients = np.repeat(np.arange(40), 25)
    rows = [0.7 * rng.normal(size=(40, 2))[patients] + rng.normal(size=(1_000, 2)) for _ in range(2)]
    if planted:
        chosen = rng.random(1_000) < 0.2
        rows[0][chosen] = [3, 3] + 0.3 * rng.normal(size=(int(chosen.sum()), 2))
    return rows[0], rows[1], (patients, patients + 40)


def test_a_planted_place_is_seen_among_clusters():
    X, Y, clusters = clustered(0, planted=True)
    place = differing_places(X, Y, ("a", "b"), 0.05, np.random.default_rng(0), clusters)[0]
    np.testing.assert_allclose(place.values, [3, 3], atol=0.4)
    comparison = un.compare(X, Y, clusters=clusters)
    assert comparison.places
    assert comparison.places[0].shares[0] > comparison.places[0].shares[1]


def test_clusters_make_no_places_by_themselves():
    named = [
        bool(
            differing_places(*clustered(seed, planted=False)[:2], ("a", "b"), 0.05, np.random.default_rng(0), clusters)
        )
        for seed, clusters in ((seed, clustered(seed, planted=False)[2]) for seed in range(20))
    ]
    assert np.mean(named) <= 0.2


def test_too_few_clusters_have_no_places():
    X, Y, clusters = clustered(0, planted=True)
    few = clusters[0] % 10, clusters[1] % 10
    assert differing_places(X, Y, ("a", "b"), 0.05, np.random.default_rng(0), few) == ()
