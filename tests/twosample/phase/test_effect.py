"""The effect in standard deviations: known shifts and phases, noise, what cannot be seen, and bounds."""

import json

import numpy as np
import pytest

import uptonoise as un
from uptonoise.experiments._signal_pairs import PAIRS
from uptonoise.experiments.effects import _covered, _smaller_spread
from uptonoise.twosample import EffectSize, Pair, Phases


def sketched(X, Y):
    left = un.Sketch.for_samples(X, Y).update(X)
    return Pair.of(left, un.Sketch.like(left).update(Y))


def effect_size(pair: Pair, *, up_to_offset: bool) -> EffectSize:
    return Phases.of(pair).effect(up_to_offset=up_to_offset)


@pytest.mark.parametrize("shift", [0.1, 0.5, 3.0, 40.0])
def test_a_shift_by_t_standard_deviations_has_the_effect_t(rng, shift):
    X, Y = rng.normal(shift, size=20_000), rng.normal(size=20_000)
    pair = sketched(X, Y)
    effect = effect_size(pair, up_to_offset=False)
    assert effect.estimate == pytest.approx(X.mean() - Y.mean(), rel=0.02, abs=0.02)
    assert effect.low < effect.estimate < effect.high
    assert effect_size(pair, up_to_offset=True).high < 0.05


@pytest.mark.parametrize("noise", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("signals", ["chi-squared", "exponential and mirror image"])
def test_noise_does_not_change_it(rng, signals, noise):
    pair = PAIRS[signals]
    X, Y = pair.sample(rng, 60_000, (noise, 0.0))
    sketches = sketched(X, Y)
    effect = effect_size(sketches, up_to_offset=False)
    expected = pair.effect(_smaller_spread(sketches))
    assert effect.estimate == pytest.approx(expected, rel=0.15)
    assert effect.low < expected < effect.high


def test_the_units_of_the_data_do_not_matter(rng):
    X, Y = rng.gamma(2, size=(2, 500, 2))
    X[:, 1] += 0.3
    units = np.array([1e6, 1e-3])
    estimates = [effect_size(sketched(X * u, Y * u), up_to_offset=False).estimate for u in (1.0, units)]
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-3)


def test_it_is_the_same_in_both_directions(rng):
    X, Y = rng.gamma(2, size=400), rng.gamma(3, size=500)
    pair = sketched(X, Y)
    back = Pair.of(pair.Y, pair.X)
    there, again = (effect_size(one, up_to_offset=False) for one in (pair, back))
    assert there.estimate == pytest.approx(again.estimate, rel=1e-6)
    assert there.high == pytest.approx(again.high, rel=1e-6)


def test_what_cannot_be_seen_is_not_ruled_out(rng):
    X, Y = PAIRS["exponential and mirror image"].sample(rng, 2_000, (16.0, 0.0))
    effect = effect_size(sketched(X, Y), up_to_offset=False)
    assert effect.seen < 1
    assert effect.upper_bound() > 1
    assert "seen" in repr(effect)


def test_cauchy_noise_has_a_finite_spread(rng):
    X, Y = rng.gamma(2, size=(2, 20_000))
    effect = effect_size(sketched(X + 0.3 * rng.standard_cauchy(20_000), Y + 1.4), up_to_offset=False)
    assert effect.estimate == pytest.approx(1.0, abs=0.1)


def test_the_largest_part_counts_and_columns_have_their_own(rng):
    X, Y = rng.gamma(2, size=(2, 5_000, 3))
    X[:, 1] += 0.5
    effect = un.phase_test(X, Y).effect
    assert effect.estimate == pytest.approx(effect.in_column("x1").estimate)
    assert effect.in_column("x0").high < 0.15
    assert effect.in_column("x1").low > 0.2
    assert np.isnan(effect.in_column("no such column").estimate)
    assert [part.name for part in effect.parts] == ["x0", "x1", "x2", "columns together"]


def test_dependence_counts_though_no_column_differs(rng):
    shared, own = rng.exponential(size=(5_000, 1)), rng.exponential(size=(5_000, 2))
    effect = un.phase_test(np.repeat(shared, 2, axis=1), own).effect
    assert max(effect.in_column(name).high for name in ("x0", "x1")) < 0.15
    assert effect.low > effect.in_column("x0").low


@pytest.mark.parametrize(
    ("X", "Y", "expected"), [(np.zeros(20), np.zeros(20), 0.0), (np.zeros(20), np.ones(20), np.inf)]
)
def test_constants(X, Y, expected):
    effect = un.phase_test(X, Y).effect
    assert effect.estimate == effect.high == expected
    assert json.dumps(effect.to_dict(), allow_nan=False)


def test_a_constant_against_a_sample_is_measured_by_the_sample(rng):
    assert un.phase_test(np.full(2_000, 0.5), rng.normal(size=2_000)).effect.estimate == pytest.approx(0.5, abs=0.1)


def test_frequencies_without_columns_of_their_own_bound_nothing(rng):
    X, Y = rng.normal(size=(2, 300, 2))
    effect = un.phase_test(X, Y, frequencies=[[0.3, 0.3], [0.5, -0.5]]).effect
    assert effect.high == np.inf
    assert np.isnan(effect.estimate)
    assert effect.to_dict() == {"estimate": None, "low": 0.0, "high": None, "seen": 0.0}


@pytest.mark.parametrize(("alpha", "margin"), [(0, 0.1), (1, 0.1), (0.05, 0), (0.05, -1), (0.05, float("nan"))])
def test_bad_bounds_are_refused(rng, alpha, margin):
    effect = un.phase_test(rng.normal(size=50), rng.normal(size=50)).effect
    with pytest.raises(ValueError, match=r"(alpha|margin) must"):
        effect.equivalent(margin, alpha)


def test_a_pair_of_rows_is_known_much_better(rng):
    objects = rng.gamma(2, size=(1_000, 1))
    X, Y = (objects + 0.1 * rng.normal(size=objects.shape) for _ in range(2))
    paired, unpaired = (un.compare(X + 0.05, Y, paired=way).effect for way in (True, False))
    assert paired.high - paired.low < 0.2 * (unpaired.high - unpaired.low)
    assert paired.low < 0.05 / Y.std() < paired.high


@pytest.mark.slow
@pytest.mark.parametrize("noise", [(0.0, 0.0), (2.0, 0.0)])
@pytest.mark.parametrize("signals", ["chi-squared", "exponential and mirror image", "one gamma"])
def test_the_interval_covers_the_effect_of_the_signals(signals, noise):
    runs = [_covered(np.random.default_rng(seed), signals, noise) for seed in range(200)]
    assert np.mean([run["covered"] for run in runs]) > 0.9
    assert np.mean([run["bound missed"] for run in runs]) < 0.1
