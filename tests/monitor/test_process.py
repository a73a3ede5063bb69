"""The bets, the evidence and the units: what makes the guarantee."""

from __future__ import annotations

import math

import numpy as np
import pytest

import uptonoise as un
from uptonoise.monitor.betting import Bettor
from uptonoise.monitor.difference import Moments, spreads_of
from uptonoise.monitor.evidence import Evidence, log_sum
from uptonoise.monitor.features import OddFeatures, typical_sizes
from uptonoise.monitor.process import Process
from uptonoise.monitor.units import GROUP, Units, centred_groups


def started(n_columns: int, guarantee="probability", up_to_offset=False) -> Process:
    return Process.new(n_columns, guarantee, up_to_offset, np.random.default_rng(0))


def watched(process: Process, z, batch: int) -> Process:
    for number, start in enumerate(range(0, len(z), batch), 1):
        process = process.after(Units(z[start : start + batch]), np.ones(z.shape[1]), number)
    return process


@pytest.mark.parametrize("n_columns", [1, 3, 30])
def test_every_bet_is_fair(n_columns):
    """z and -z are equally likely under the null: the two factors must have mean 1, for every player and unit."""
    rng = np.random.default_rng(1)
    process = watched(started(n_columns), rng.gamma(2, size=(400, n_columns)) - 1, 100)
    units = Units(rng.standard_cauchy((50, n_columns)))
    factors = [process.bettor.factors(process.features.of(Units(sign * units.z), process.lengths)) for sign in (1, -1)]
    assert np.ptp(factors[0]) > 0.1  # there are bets
    np.testing.assert_allclose((factors[0] + factors[1]) / 2, 1, atol=1e-12)
    assert factors[0].min() > 0.09


def test_groups_and_clusters_are_fair_as_a_whole():
    rng = np.random.default_rng(2)
    z = rng.exponential(size=(60, 2)) + 7
    groups, _ = centred_groups(Units(z))
    mirrored, _ = centred_groups(Units(14 - z))  # flipped about an offset that nobody knows
    features = OddFeatures.sampled(2, rng)
    np.testing.assert_allclose(features.of(groups, np.ones(2)), -features.of(mirrored, np.ones(2)), atol=1e-6)
    clusters = Units(z, np.array([0, 10, 45]))
    flipped = features.of(Units(-z, clusters.starts), np.ones(2))
    np.testing.assert_array_equal(features.of(clusters, np.ones(2)), -flipped)


def test_the_order_of_rows_decides_and_not_the_batches():
    """The alarm looks after every row, so that batches of 1, 20, 200 and 1,500 rows raise the same alarms."""
    z = np.random.default_rng(3).gamma(2, size=(1_500, 2)) - 1.8
    evidence = [watched(started(2), z, batch).evidence for batch in (1, 20, 200, 1_500)]
    assert evidence[0].highest > math.log(20)
    for other in evidence[1:]:  # rounding in single precision is all that differs
        assert math.isclose(other.highest, evidence[0].highest, rel_tol=1e-4)
        np.testing.assert_allclose(other.money, evidence[0].money, rtol=1e-3, atol=1e-3)


def test_wealth_is_what_was_paid_and_won():
    evidence = Evidence.new("probability", np.array([0.5, 0.5]), 1)
    assert math.isclose(evidence.total, 0.0, abs_tol=1e-12)
    evidence.pay(10)
    evidence.play(np.ones((2, 10)))
    assert math.isclose(evidence.total, 0.0, abs_tol=1e-12)
    evidence.pay(10)
    evidence.play(np.full((2, 1), 2.0))
    waiting = 0.7 * 10_000 / 10_020
    assert math.isclose(math.exp(evidence.total), waiting + 2 * (1 - waiting))
    assert math.isclose(evidence.highest, evidence.total)


def test_many_units_at_once_are_as_many_one_by_one():
    factors = np.random.default_rng(8).uniform(0.1, 1.9, size=(3, 2_000))
    whole, single = (Evidence.new("probability", np.full(3, 1 / 3), 1) for _ in range(2))
    whole.play(factors)
    for number in range(2_000):
        single.play(factors[:, number : number + 1])
    assert math.isclose(whole.total, single.total)
    assert math.isclose(whole.highest, single.highest)
    np.testing.assert_allclose(whole.money, single.money)


def test_run_length_statistic_counts_batches():
    evidence = Evidence.new("run length", np.array([0.5, 0.5]), 1)
    for number in range(1, 6):
        evidence.begin_batch()
        evidence.play(np.ones((2, 3)))
        assert math.isclose(math.exp(evidence.total), number)


def test_log_sum_of_nothing():
    assert log_sum(np.full(3, -np.inf)) < -1e200
    assert math.isclose(log_sum(np.log([1.0, 2.0])), math.log(3))


def test_weights_solve_their_equations():
    rng = np.random.default_rng(4)
    features = OddFeatures.sampled(3, rng)
    seen = rng.normal(size=(64, features.n_features))
    bettor = Bettor.new(features, 1)
    bettor.learn(seen)
    products, sums = seen.T @ seen, seen.sum(axis=0)
    for memory, length in enumerate(bettor.memories):
        matrix = products + np.diag(0.1 * length / 64 * np.diag(products))
        np.testing.assert_allclose(bettor.bets[:, memory], np.linalg.solve(matrix, sums), rtol=1e-9)
        own = slice(4, 8)  # the features of the second column
        alone = np.linalg.solve(matrix[own, own], sums[own])
        player = 3 * len(bettor.memories) + memory
        np.testing.assert_allclose(bettor.bets[own, player], alone, rtol=1e-9)
        assert not bettor.bets[8:, player].any()


def test_a_copy_learns_and_the_bettor_stays():
    rng = np.random.default_rng(4)
    bettor = Bettor.new(OddFeatures.sampled(2, rng), 1)
    seen = rng.normal(size=(64, bettor.bets.shape[0]))
    bettor.learn(seen)
    before = [np.copy(getattr(bettor, name)) for name in ("sums", "products", "weights", "bets", "refreshed")]
    bettor.copy().learn(seen)
    for name, values in zip(("sums", "products", "weights", "bets", "refreshed"), before, strict=True):
        np.testing.assert_array_equal(getattr(bettor, name), values)


def test_typical_sizes_do_not_see_signs_zeros_or_missing_values():
    z = np.array([[1.0, 0.0, np.nan], [-3.0, 0.0, np.nan], [2.0, 4.0, np.nan]])
    np.testing.assert_array_equal(typical_sizes(z), [2, 4, 1])
    np.testing.assert_array_equal(typical_sizes(-z), typical_sizes(z))


def test_groups_wait_until_they_are_complete():
    groups, waiting = centred_groups(Units(np.zeros((GROUP - 1, 1))))
    assert groups.n_units == 0
    assert waiting.n_units == GROUP - 1
    groups, waiting = centred_groups(waiting.joined(Units(np.ones((GROUP + 2, 1)))))
    assert groups.sizes.tolist() == [20, 21]
    assert waiting.n_units == 0


def test_groups_with_missing_values():
    z = np.arange(40.0)[:, None] * [1.0, 1.0]
    z[::3, 1] = np.nan
    groups, _ = centred_groups(Units(z))
    assert np.isnan(groups.z[::3, 1]).all()
    assert abs(np.nanmedian(groups.z[:20, 1])) < 1e-12


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_the_difference_is_told_in_standard_deviations(noise):
    rng = np.random.default_rng(5)
    reference = rng.normal(size=(4_000, 2))
    z = rng.normal(size=(4_000, 2)) + [0.4, 0.0] + noise * rng.normal(size=(4_000, 2)) - reference
    moments = Moments.new(spreads_of(reference), 1).learnt(Units(z), np.array([1e9]), alike=True)
    differences, errors = moments.estimates(0, up_to_offset=False)
    np.testing.assert_allclose(differences, [0.4, 0], atol=0.1)
    assert (errors < 0.06).all()
    assert moments.estimates(0, up_to_offset=True)[0][0] < 0.15


@pytest.mark.slow
@pytest.mark.parametrize("up_to_offset", [False, True])
def test_mean_wealth_is_one_where_only_noise_differs(up_to_offset):
    """A martingale has mean 1 at a fixed time; noise that changes does not matter."""
    rng = np.random.default_rng(6)
    wealth = []
    for _ in range(1_000):
        z = (
            rng.gamma(1, size=(200, 2))
            - rng.gamma(1, size=(200, 2))
            + rng.normal(size=(200, 2)) * np.linspace(0, 5, 200)[:, None]
        )
        wealth.append(math.exp(watched(started(2, up_to_offset=up_to_offset), z, 200).evidence.total))
    error = np.std(wealth) / math.sqrt(len(wealth))
    assert abs(np.mean(wealth) - 1) < 4 * error
    assert np.mean(np.array(wealth) >= 20) <= 0.05 + 0.03


def test_a_late_change_is_found():
    rng = np.random.default_rng(7)
    quiet = rng.laplace(size=(5_000, 1))
    process = watched(started(1), quiet, 100)
    assert process.evidence.highest < math.log(20)
    process = watched(process, quiet[:600] + 0.7, 100)
    assert process.evidence.highest >= math.log(20)


def test_a_large_batch_in_pieces_gives_the_same_state(monkeypatch):
    """Rows of a large batch are subtracted and summed piece by piece, which takes less memory."""

    def state():
        rng = np.random.default_rng(0)
        monitor = un.Monitor(rng.gamma(2.0, size=(900, 2)), random_state=0)
        return monitor.update(rng.normal(size=(400, 2)))

    whole = state()
    for module in ("difference", "reference"):
        monkeypatch.setattr(f"uptonoise.monitor.{module}.CHUNK_ROWS", 7)
    pieces = state()
    assert pieces.log_wealth == whole.log_wealth
    np.testing.assert_allclose(pieces.differences, whole.differences, rtol=1e-6)
