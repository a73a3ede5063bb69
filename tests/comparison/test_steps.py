"""Steps from sketches: symmetry of one sample, and rows that belong together."""

import numpy as np
import pytest

import uptonoise as un
from uptonoise.comparison.pairs import swap_test
from uptonoise.comparison.steps import Symmetry
from uptonoise.twosample import Samples, fitted_shift, phase_pvalue


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 1_000])
def test_a_symmetric_sample_is_called_skewed_at_most_at_alpha(n):
    skewed = []
    for seed in range(300):
        rows = np.random.default_rng(seed).normal(size=n)
        skewed.append(not Symmetry(un.Sketch.for_samples(rows).update(rows), 0.05).holds)
    assert np.mean(skewed) < 0.09


def test_symmetry_is_that_of_the_rows_at_the_time_of_the_comparison(rng):
    sketch = un.Sketch.for_samples(rng.normal(size=400)).update(rng.normal(size=400))
    other = un.Sketch.like(sketch).update(rng.normal(size=400))
    early, groups = un.compare(sketch, other), un.compare_groups({"a": sketch, "b": other})
    assert groups.pair("a", "b").symmetric
    for comparison in (early, groups.pair("a", "b")):
        comparison.sketches[0].update(rng.exponential(size=4_000))
    sketch.update(rng.exponential(size=4_000))
    assert early.symmetric
    assert groups.pair("a", "b").symmetric
    assert not Symmetry(sketch, 0.05).holds


def test_few_steps_say_no_more_than_all_of_them(rng):
    samples = rng.gamma(9, size=800), rng.gamma(400, size=800), rng.standard_t(2, size=800), rng.exponential(size=800)
    for sample in samples:
        sketch = un.Sketch.for_samples(sample).update(sample)
        aligned = fitted_shift(sketch, sketch.mirrored(), 0.5)
        assert Symmetry(sketch, 0.05).holds == (phase_pvalue(aligned) > 0.05)


def test_too_few_rows_are_not_called_symmetric():
    assert not Symmetry(un.Sketch.for_samples([1.0, 2.0]).update([1.0, 2.0]), 0.05).holds


def test_swaps_see_noise_and_keep_their_level(rng):
    def pvalue(X, Y):
        return swap_test(Samples(X, Y, ("x",)), np.random.default_rng(0)).pvalue

    objects = rng.gamma(2, size=(150, 1))
    same = [pvalue(objects + rng.normal(size=(150, 1)), objects + rng.normal(size=(150, 1))) for _ in range(40)]
    assert np.mean(np.array(same) <= 0.05) < 0.2
    assert pvalue(objects + rng.normal(size=(150, 1)), objects + 4 * rng.normal(size=(150, 1))) < 0.01
    assert pvalue(np.ones((5, 1)), np.ones((5, 1))) == 1
