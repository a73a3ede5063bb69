"""Two-sample tests of rows in clusters."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import uptonoise as un
from uptonoise.experiments._clustered import Clusters
from uptonoise.twosample.cluster_permutation import cluster_means_by_label, cluster_mmd
from uptonoise.twosample.paper.hotelling import clustered_hotelling_test
from uptonoise.twosample.samples import read_samples

TESTS = {
    "phase": un.phase_test,
    "offset": partial(un.phase_test, invariant_to="noise+shift"),
    "flip": partial(un.flip_test, n_pairings=3),
    "mmd": un.mmd_test,
    "mmd, fourier": partial(un.mmd_test, method="fourier"),
    "me": un.me_test,
    "sme": partial(un.sme_test, n_locations=3),
    "phd": un.phd_test,
    "paired differences": partial(un.paired_difference_test, test=un.mmd_test),
}


def drawn(seed: int = 0, n_clusters: int = 30, mirrored: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(n_clusters), rng.integers(5, 30, n_clusters))
    rows = rng.gamma(2, size=(n_clusters, 2))[ids] + rng.gamma(2, size=(len(ids), 2))
    return (8 - rows if mirrored else rows), ids + 1_000 * seed


@pytest.mark.parametrize("name", TESTS)
def test_ids_columns_and_bags_are_the_same(name):
    (X, of_X), (Y, of_Y) = drawn(0), drawn(1)
    frames = [pd.DataFrame(rows, columns=["a", "b"]).assign(unit=ids) for rows, ids in ((X, of_X), (Y, of_Y))]
    by_ids = TESTS[name](X, Y, clusters=(of_X, of_Y), random_state=0)
    by_column = TESTS[name](*frames, clusters="unit", random_state=0)
    as_bags = TESTS[name](*(un.Bags.from_long(frame, by="unit") for frame in frames), random_state=0)
    assert by_ids.pvalue == by_column.pvalue == as_bags.pvalue
    assert by_ids.n_clusters == (30, 30)
    assert "in 30 and 30 clusters" in repr(by_ids)
    assert by_ids.to_dict()["n_clusters"] == [30, 30]


@pytest.mark.parametrize("name", TESTS)
def test_clusters_of_one_row_change_nothing(name):
    (X, _), (Y, _) = drawn(0, 12), drawn(1, 12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.UnequalNoiseWarning)
        plain = TESTS[name](X, Y, random_state=0)
        single = TESTS[name](X, Y, clusters=(np.arange(len(X)), np.arange(len(Y)) + 10_000), random_state=0)
    assert single.pvalue == pytest.approx(plain.pvalue, abs=1e-12)
    assert single.statistic == pytest.approx(plain.statistic, rel=1e-12)


@pytest.mark.parametrize("name", TESTS)
def test_other_signals_are_seen(name):
    (X, of_X), (Y, of_Y) = drawn(0, 60), drawn(1, 60, mirrored=True)
    assert TESTS[name](X, Y, clusters=(of_X, of_Y), random_state=0).pvalue < 0.05


def test_extra_noise_of_clusters():
    rng = np.random.default_rng(0)
    (X, of_X), (Y, of_Y) = drawn(0, 200), drawn(1, 200)
    noisy = X + rng.normal(scale=1.5, size=X.shape)
    found = un.extra_noise(noisy, Y, clusters=(of_X, of_Y))
    np.testing.assert_allclose(found.variances, 2.25, atol=1.5)
    assert (un.extra_noise(noisy, Y).standard_errors < found.standard_errors / 1.5).all()
    plain = un.extra_noise(X, Y)
    single = un.extra_noise(X, Y, clusters=(np.arange(len(X)), np.arange(len(Y)) + 10_000))
    np.testing.assert_allclose(single.variances, plain.variances, atol=1e-12)


def test_sketches_bring_their_clusters():
    (X, of_X), (Y, of_Y) = drawn(0), drawn(1)
    empty = un.Sketch.for_samples(X, Y)
    left = un.Sketch.like(empty).update(X, clusters=of_X)
    right = un.Sketch.like(empty).update(Y, clusters=of_Y)
    assert un.phase_test(left, right).pvalue == pytest.approx(
        un.phase_test(X, Y, clusters=(of_X, of_Y)).pvalue, abs=1e-5
    )
    assert un.mmd_test(left, right).n_clusters == (30, 30)
    pairs = un.pairwise_phase_test({"x": left, "y": right})
    assert pairs.pvalues[0, 1] == pytest.approx(un.phase_test(left, right).pvalue, abs=1e-9)
    for test in (un.phase_test, un.mmd_test):
        with pytest.raises(ValueError, match="must be left out for sketches"):
            test(left, right, clusters=(of_X, of_Y))


@pytest.mark.parametrize("name", TESTS)
def test_bad_clusters_are_named(name):
    (X, of_X), (Y, of_Y) = drawn(0), drawn(1)
    test = partial(TESTS[name], X, Y, random_state=0)
    with pytest.raises(ValueError, match=r"one id for each row of X \(\d+\); got \d+"):
        test(clusters=(of_X[1:], of_Y))
    with pytest.raises(ValueError, match=r"X must have at least . clusters.*; got 2"):
        test(clusters=(of_X % 2, of_Y))
    with pytest.raises(ValueError, match="ids of the rows of X and those of Y"):
        test(clusters=of_X)
    with pytest.warns(un.SharedClustersWarning, match=r"share 30 cluster ids \(0, 1, 2, ...\)"):
        test(clusters=(of_X, of_Y - 1_000))


def test_blocks_share_no_ids():
    X, Y = np.random.default_rng(0).gamma(2, size=(2, 400))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert un.phase_test(X, Y, clusters=(un.blocks(400, 20), un.blocks(400, 20))).n_clusters == (20, 20)


def test_given_pairs_in_clusters():
    X, ids = drawn(0)
    rng = np.random.default_rng(1)
    same, other = X + rng.normal(size=X.shape), X + rng.exponential(size=X.shape)
    assert un.flip_test(X, same, paired=True, clusters=(ids, ids), random_state=0).pvalue > 0.05
    result = un.flip_test(X, other, paired=True, clusters=(ids, ids), random_state=0)
    assert result.pvalue < 0.05
    assert result.n_pairs == 30
    with pytest.raises(ValueError, match="the same for both rows of a pair; they differ in row"):
        un.flip_test(X, other, paired=True, clusters=(ids, ids[::-1]), random_state=0)


def test_flips_take_one_row_of_each_cluster():
    samples = read_samples(*(drawn(seed)[0] for seed in (0, 1)), 2, "this", tuple(drawn(seed)[1] for seed in (0, 1)))
    rows, _ = samples.one_row_each(np.random.default_rng(0))
    assert sorted(samples.clusters[0][rows].tolist()) == list(range(30))


def test_permutations_of_clusters_written_out():
    (X, of_X), (Y, of_Y) = drawn(0, 6), drawn(1, 5)
    samples = read_samples(X, Y, 2, "this", (of_X, of_Y))
    W = np.array([[0.3, 0.1], [0.2, -0.4]])
    means_X, means_Y = cluster_means_by_label(samples, W, 20, np.random.default_rng(0))
    distances = np.mean(np.abs((means_X - means_Y)[:, :2] + 1j * (means_X - means_Y)[:, 2:]) ** 2, axis=1)
    pooled = np.concatenate([X, Y])
    angles = (pooled[:, None] - pooled) @ W.T
    kernel = np.mean(np.cos(angles), axis=2).astype(np.float32)
    blocks = [(0, kernel[:50]), (50, kernel[50:])]
    np.testing.assert_allclose(
        cluster_mmd(samples, blocks, 20, np.random.default_rng(0)), distances, rtol=1e-4, atol=1e-6
    )
    assert un.mmd(X, Y, W) == pytest.approx(distances[0], rel=1e-5)


def test_hotelling_of_single_rows_is_welch():
    rng = np.random.default_rng(0)
    F, G = rng.normal(size=(60, 1)), rng.normal(size=(40, 1))
    from scipy.stats import ttest_ind

    found = clustered_hotelling_test(F, G, np.arange(60), np.arange(40))
    assert found.pvalue == pytest.approx(float(ttest_ind(F[:, 0], G[:, 0], equal_var=False).pvalue), rel=1e-9)


def test_me_has_no_chi_squared_limit_for_clusters():
    (X, of_X), (Y, of_Y) = drawn(0), drawn(1)
    with pytest.raises(ValueError, match='null must be "f" where rows come in clusters'):
        un.me_test(X, Y, null="chi2", clusters=(of_X, of_Y))


def test_planning_with_clusters():
    X, Y = Clusters(100, "20 each", 0.2), Clusters(100, "20 each", 0.2, shift=0.5)
    rng = np.random.default_rng(0)
    pilot = X.draw(rng), Y.draw(rng)
    power = un.phase_test_power(*pilot, [10, 20, 40], n_draws=100)
    assert (np.diff(power) > 0).all()
    assert un.phase_test_power(*pilot, 20, cluster_size=100, n_draws=100) >= power[1]
    ids = np.repeat(np.arange(100), 20)
    by_ids = un.phase_test_power(pilot[0].values, pilot[1].values, 20, clusters=(ids, ids + 100), n_draws=100)
    assert by_ids == un.phase_test_power(*pilot, 20, n_draws=100)
    sketch = un.Sketch.for_samples(*pilot).update(pilot[0])
    with pytest.raises(ValueError, match="must be rows, not sketches"):
        un.phase_test_power(sketch, un.Sketch.like(sketch).update(pilot[1]), 20, cluster_size=5)
    with pytest.raises(ValueError, match="cluster_size must be left out where the pilot has no clusters"):
        un.phase_test_power(pilot[0].values, pilot[1].values, 20, cluster_size=5)
    with pytest.raises(ValueError, match="at least 10 clusters to plan from; got 5"):
        un.phase_test_power(pilot[0][:5], pilot[1], 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "other"),
    [
        (Clusters(10, "5 to 60", 0.5, 1, "shared"), 10),
        (Clusters(15, "20 each", 0.5, 1, "own"), 60),
        (Clusters(40, "a third in one", 0.5), 40),
    ],
)
@pytest.mark.parametrize("invariant_to", ["noise", "noise+shift"])
def test_level(sample, other, invariant_to):
    rejected = 0
    for run in range(500):
        rng = np.random.default_rng([run, sample.number])
        Y = sample._replace(number=other, noise="none").draw(rng)
        rejected += un.phase_test(sample.draw(rng), Y, invariant_to=invariant_to).pvalue <= 0.05
    assert rejected <= binom.ppf(0.999, 500, 0.05)
