"""compare and compare_groups: verdicts, what they rest on, and what they need."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import uptonoise as un
from uptonoise.comparison import Verdict
from uptonoise.datasets import make_demo_pairs
from uptonoise.experiments._signal_pairs import PAIRS
from uptonoise.rows import ArrayRows


def gamma(n, d=2, seed=0, noise=0.0):
    generator = np.random.default_rng(seed)
    return generator.gamma(2.0, size=(n, d)) + noise * generator.normal(size=(n, d))


@pytest.fixture(scope="module")
def noisy():
    return un.compare(gamma(3_000), gamma(3_000, seed=1, noise=1.0), names=("old", "new"))


@pytest.mark.parametrize("pair", make_demo_pairs(), ids=lambda pair: pair.truth)
def test_each_verdict_is_found_where_it_is_the_truth(pair):
    found = un.compare(pair.X, pair.Y, names=pair.names)
    assert found.verdict == pair.truth
    assert found.verdict in Verdict
    assert pair.names[0] in found.sentence
    assert pair.names[1] in found.sentence
    assert "\n" not in found.sentence


def test_only_by_noise_is_said_only_below_the_margin(noisy):
    assert noisy.verdict == "differ only by noise"
    bound = noisy.effect.upper_bound(noisy.alpha)
    assert noisy.bound == bound
    strict = replace(noisy, margin=bound * 0.99)
    assert strict.verdict == "a difference beyond noise was not found, and not ruled out"
    assert "not ruled out: it may be as large as a shift of" in strict.sentence
    assert replace(noisy, margin=bound * 1.01).verdict == "differ only by noise"


def test_a_negligible_difference_is_no_failure():
    generator = np.random.default_rng(0)
    comparison = un.compare(generator.normal(size=50_000), generator.normal(0.05, size=50_000))
    assert comparison.verdict == "differ, but by less than the margin"
    assert comparison.differs_beyond_noise
    assert not comparison.verdict.is_difference
    assert "smaller than a shift of 0.0" in comparison.sentence
    assert replace(comparison, margin=0.01).verdict == "differ by noise and an offset"
    assert replace(comparison, margin=0.01).verdict.is_difference


def test_noise_that_hides_a_difference_is_not_called_the_only_difference():
    X, Y = PAIRS["exponential and mirror image"].sample(np.random.default_rng(0), 2_000, (16.0, 0.0))
    assert un.compare(X, Y).verdict in ("too noisy to tell", Verdict.NOT_RULED_OUT)


def test_an_offset_that_could_not_be_tested_is_not_claimed():
    comparison = un.compare(gamma(4, 3) + 30, gamma(4, 3, seed=1))
    assert comparison.beyond_offset_pvalue is None
    without = replace(un.compare(gamma(300, 1) + 1, gamma(300, 1, seed=1)), up_to_offset=None)
    assert without.verdict == "differ beyond noise, too few rows to tell an offset"
    assert "too few rows to tell" in without.sentence
    assert not without.differs_beyond_offset


def test_its_phase_test_is_the_phase_test(noisy):
    alone = un.phase_test(gamma(3_000), gamma(3_000, seed=1, noise=1.0))
    assert noisy.phase == alone
    shifted = un.phase_test(gamma(3_000), gamma(3_000, seed=1, noise=1.0), invariant_to="noise+shift")
    assert noisy.up_to_offset == shifted


def test_the_same_seed_gives_the_same_comparison(noisy):
    again = un.compare(gamma(3_000), gamma(3_000, seed=1, noise=1.0), names=("old", "new"))
    assert again == noisy
    assert hash(again) == hash(noisy)
    other = un.compare(gamma(3_000), gamma(3_000, seed=1, noise=1.0), names=("old", "new"), random_state=1)
    assert other != noisy


def test_extra_noise_and_offsets_are_told_with_names():
    X, Y = gamma(3_000), gamma(3_000, seed=1, noise=1.0)
    X[:, 1] += 2
    found = un.compare(X, Y, names=("old", "new"))
    assert found.verdict == "differ by noise and an offset"
    assert "old reads 1.9" in found.sentence or "old reads 2" in found.sentence
    assert "higher in x1 than new" in found.sentence
    offset = found.offsets()[1]
    assert offset.low < 2 < offset.high
    assert "noise added in new" in str(found)
    noises = {noise.column: noise for noise in found.noise}
    assert noises["x0"].sample == "new"
    assert noises["x0"].low < 1 < noises["x0"].high
    assert found.by_column[1].offset == offset
    assert found.differs_beyond_noise
    assert not found.differs_beyond_offset


def test_columns_by_themselves_are_adjusted_by_holm():
    X, Y = gamma(1_000, 4), gamma(1_000, 4, seed=1)
    Y[:, 2] = 4 - Y[:, 2]
    found = un.compare(pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(Y, columns=list("abcd")))
    by_name = {one.column: one for one in found.by_column}
    assert [one.column for one in found.by_column] == list("abcd")
    assert by_name["c"].adjusted_beyond_noise < 1e-6
    assert all(by_name[name].adjusted_beyond_noise > 0.05 for name in "abd")
    smallest = min(one.beyond_noise for one in found.by_column)
    assert min(one.adjusted_beyond_noise for one in found.by_column) == pytest.approx(4 * smallest)
    assert "c (p < 0.0001)" in str(found)
    assert found.noise == ()


def test_a_column_alone_is_compared_as_by_itself():
    X, Y = gamma(800), gamma(900, seed=1, noise=0.5)
    left = un.Sketch.for_samples(X, Y).update(X)
    right = un.Sketch.like(left).update(Y)
    found = un.compare(left, right)
    alone = left.select(["x1"])
    margins = [un.Sketch(alone.frequencies, provenance=alone.provenance).update(rows[:, 1]) for rows in (X, Y)]
    assert found.by_column[1].beyond_noise == pytest.approx(un.phase_test(*margins).pvalue, rel=1e-6)


def test_few_rows_are_decided_by_the_exact_test():
    X, Y = gamma(30, 1), gamma(30, 1, seed=1)
    found = un.compare(X, Y)
    assert found.flip is not None
    assert found.beyond_noise_pvalue == found.flip.pvalue
    assert "it decides" in str(found)
    assert un.compare(gamma(50, 1), gamma(50, 1, seed=1)).flip is None


def test_symmetric_samples_are_told_to_be_so():
    rows = np.random.default_rng(0).normal(size=(4_000, 2))
    other = np.random.default_rng(1).normal(size=(4_000, 2))
    wider = un.compare(rows, 3 * other)
    assert wider.symmetric
    assert wider.verdict == "cannot tell noise from signal"
    assert "neither is clearly skewed" in wider.sentence
    assert wider.noise == ()
    assert not un.compare(gamma(500), gamma(500, seed=1)).symmetric


def test_symmetric_differences_that_are_no_noise_are_told_to_be_so():
    found = un.compare(np.tile([-1.0, 1.0], 250), np.zeros(500))
    assert found.verdict == "differ beyond noise and an offset"
    assert "in a symmetric way" in found.sentence
    assert "positive characteristic function" in found.ladder()[1][2]


def test_a_shift_above_the_stated_noncentrality_is_detected():
    generator = np.random.default_rng(0)
    seen = np.sqrt(un.phase_test(*generator.normal(size=(2, 300))).noncentrality.detectable())
    pvalues = [un.phase_test(generator.normal(size=300), generator.normal(seen, size=300)).pvalue for _ in range(30)]
    assert np.mean(np.array(pvalues) <= 0.05) > 0.8
    for options in ({"alpha": 2}, {"power": 0}, {"power": "high"}):
        with pytest.raises(ValueError, match="must be a number above 0 and below 1"):
            un.phase_test([0.0, 1.0, 2.0], [0.0, 1.0, 3.0]).noncentrality.detectable(**options)


def test_the_headline_has_the_numbers_of_its_own_step():
    comparison = un.compare(gamma(3_000, 1) + 20, 4 - gamma(3_000, 1, seed=1))
    assert comparison.verdict == "differ beyond noise and an offset"
    beyond = comparison.effect_beyond_offset
    assert f"as large as a shift of {beyond.estimate:.2g} SD" in comparison.sentence
    assert comparison.effect.estimate > 5 > beyond.estimate


def test_uniform_noise_is_named_as_the_part_that_rejects():
    generator = np.random.default_rng(0)
    comparison = un.compare(gamma(3_000, 1), gamma(3_000, 1, seed=1) + generator.uniform(-4, 4, size=(3_000, 1)))
    assert comparison.only_symmetric
    assert "uniform noise or rounding can" in comparison.sentence


def test_few_rows_give_one_answer_in_any_order():
    X, Y = gamma(20, 1) + 0.8, gamma(25, 1, seed=1)
    pvalues = {un.compare(np.random.default_rng(seed).permutation(X), Y[::-1]).flip.pvalue for seed in range(3)}
    assert len(pvalues) == 1


@pytest.mark.parametrize("paired", [True, False])
def test_rows_of_the_same_objects(paired):
    generator = np.random.default_rng(0)
    objects = generator.gamma(2, size=(1_000, 2))
    first, second = objects + 0.2 * generator.normal(size=objects.shape), objects + generator.normal(size=objects.shape)
    comparison = un.compare(first + np.array([0.6, 0.0]), second, paired=paired)
    assert comparison.paired == paired
    if paired:
        assert comparison.verdict == "differ by noise and an offset"
        assert comparison.flip.paired
        assert comparison.mmd.method == "swaps"
        assert comparison.offsets()[0].shift == pytest.approx(np.mean(first[:, 0] - second[:, 0]) + 0.6, abs=0.05)
        assert not un.compare(first, second, paired=True).verdict.is_difference


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda X, Y: {"Y": Y[:-1]}, "the same number of rows in X and in Y; got 40 and 39"),
        (lambda X, Y: {"weights": (np.ones(40), None)}, "weights must be left out"),
        (lambda X, Y: {"X": un.Sketch.for_samples(X).update(X)}, "needs the rows"),
        (lambda X, Y: {"paired": "yes"}, "paired must be True or False"),
    ],
)
def test_bad_pairs_are_refused(change, said):
    X, Y = gamma(40, 1), gamma(40, 1, seed=1)
    with pytest.raises(ValueError, match=said):
        un.compare(**({"X": X, "Y": Y, "paired": True} | change(X, Y)))


def test_columns_of_other_units_do_not_hide_a_difference():
    pressure, noisy = 100 * gamma(400, 1), 100 * gamma(400, 1, seed=1, noise=1.0)
    ids = np.arange(400.0)[:, None] * 1e6
    alone, beside = un.mmd_test(pressure, noisy), un.mmd_test(np.c_[pressure, ids], np.c_[noisy, ids])
    assert max(alone.pvalue, beside.pvalue) < 0.05


def test_too_many_columns_and_paths_are_refused():
    with pytest.raises(ValueError, match="at most 1,000 columns"):
        un.compare(np.zeros((3, 1_001)), np.zeros((3, 1_001)))
    with pytest.raises(ValueError, match="scan_csv"):
        un.compare("a.csv", "b.csv")


def test_very_few_rows_say_what_is_missing():
    found = un.compare(gamma(3, 2), gamma(3, 2, seed=1))
    assert found.me is None
    assert found.up_to_offset is None
    assert any("ME" in text for text in found.missing)
    assert any("must have at least" in text for text in found.missing)
    assert found.ladder()[2][2] == "too few rows"
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["beyond_offset_pvalue"] is None
    assert un.compare(gamma(2, 1), gamma(2, 1, seed=1)).by_column[0].offset is None


def test_sketches_give_what_they_can_and_say_what_is_missing(noisy):
    left, right = noisy.sketches
    found = un.compare(left, right)
    assert found.verdict == noisy.verdict
    assert found.phase.pvalue == noisy.phase.pvalue
    assert found.me is None
    assert found.shown is None
    assert any("rows" in text for text in found.missing)


@pytest.mark.parametrize("kind", ["frame", "polars", "chunks", "float32", "source"])
def test_inputs_of_every_kind_give_one_answer(kind, noisy):
    X, Y = gamma(3_000), gamma(3_000, seed=1, noise=1.0)
    made = {
        "frame": lambda rows: pd.DataFrame(rows, columns=["x0", "x1"]),
        "polars": lambda rows: pl.DataFrame(rows, schema=["x0", "x1"]),
        "chunks": lambda rows: iter([rows[:1_000], rows[1_000:]]),
        "float32": lambda rows: rows.astype(np.float32),
        "source": lambda rows: ArrayRows(rows),
    }[kind]
    found = un.compare(made(X), made(Y), names=("old", "new"))
    assert found.verdict == noisy.verdict
    if kind == "chunks":
        assert any("only once" in text for text in found.missing)
    elif kind != "float32":
        assert found == noisy


def test_many_rows_take_linear_ways():
    X, Y = gamma(60_000, 1), gamma(60_000, 1, seed=1, noise=1.0)
    found = un.compare(X, Y)
    assert found.mmd.method == "sketches"
    assert found.me is not None
    assert found.me.sizes == (20_000, 20_000)
    assert found.verdict == "differ only by noise"
    assert found.shown is not None
    assert [len(rows) for rows in found.shown] == [5_000, 5_000]


def test_weights_leave_out_what_takes_none():
    X, Y = gamma(500), gamma(500, seed=1)
    weights = np.r_[np.ones(400), np.zeros(100)]
    found = un.compare(X, Y, weights=(weights, None))
    assert found.me is None
    assert any("weights" in text for text in found.missing)
    kept = un.compare(X[:400], Y)
    assert found.phase.pvalue == pytest.approx(kept.phase.pvalue, rel=1e-6)


def test_constant_columns_are_compared():
    rows = np.c_[gamma(300, 1), np.ones(300)]
    same = un.compare(rows, np.c_[gamma(300, 1, seed=1), np.ones(300)])
    assert same.verdict == "no difference found"
    moved = un.compare(rows, np.c_[gamma(300, 1, seed=1), np.zeros(300)])
    assert moved.verdict == "differ by noise and an offset"
    assert un.compare(np.zeros(60), np.zeros(60)).verdict == "no difference found"
    assert un.compare(np.zeros(60), np.ones(60)).verdict == "differ by noise and an offset"


def test_to_dict_is_json_and_to_frame_has_a_row_a_column(noisy):
    read = json.loads(json.dumps(noisy.to_dict(), allow_nan=False))
    assert read["verdict"] == noisy.verdict
    assert read["phase"]["pvalue"] == noisy.phase.pvalue
    assert "sketches" not in read
    assert "permuted" not in read["mmd"]
    assert read["noise"][0]["sample"] == "new"
    frame = noisy.to_frame()
    assert list(frame["column"]) == ["x0", "x1"]
    assert noisy.to_frame("polars").shape == (2, 18)
    assert list(frame["noise_in"]) == ["new", "new"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"margin": 0}, "margin must be a number of standard deviations above 0 and at most 3"),
        ({"margin": 3.1}, "margin must be"),
        ({"margin": "wide"}, "margin"),
        ({"alpha": 1.5}, "alpha must be a number above 0 and below 1"),
        ({"names": ("a",)}, "names must be two names"),
        ({"names": ("a", "a")}, "names must differ"),
        ({"names": "ab"}, "names must be two names"),
        ({"random_state": -1}, "random_state"),
        ({"weights": (1, 2, 3)}, "weights"),
    ],
)
def test_bad_options_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        un.compare(gamma(20), gamma(20, seed=1), **options)


def test_bad_samples_are_refused():
    sketch = un.Sketch.for_samples(gamma(20)).update(gamma(20))
    with pytest.raises(ValueError, match="both be samples or both be sketches"):
        un.compare(sketch, gamma(20))
    with pytest.raises(ValueError, match="at least 2 rows"):
        un.compare(gamma(1), gamma(20))
    with pytest.raises(ValueError, match="columns"):
        un.compare(gamma(20, 2), gamma(20, 3))
    with pytest.raises(ValueError, match="finite"):
        un.compare(gamma(20), np.full((20, 2), np.nan))


def test_columns_are_compared_when_they_are_asked_for_with_the_rows_that_were_there(rng):
    X, Y = rng.gamma(2, size=(2, 300, 2))
    left = un.Sketch.for_samples(X, Y).update(X)
    right = un.Sketch.like(left).update(Y)
    early, late = un.compare(left, right), un.compare(left, right)
    known = early.by_column, early.extra_noise
    left.update(3 * X)
    assert (late.by_column, late.extra_noise) == known
    assert pickle.loads(pickle.dumps(un.compare(X, Y))).by_column == un.compare(X, Y).by_column
