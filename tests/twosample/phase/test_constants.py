"""Each constant of the phase statistic does what it is there for: without it a false-positive rate is lost.

The samples differ at most by noise. Their distributions chose the constants; tables that judge these have others.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import uptonoise as un
from uptonoise.fourier import SKEWNESS
from uptonoise.twosample.phase.covariance import CONSTANTS
from uptonoise.twosample.phase.pair import Block, Pair
from uptonoise.twosample.phase.statistic import decomposed

pytest.importorskip("torch")

from uptonoise.experiments._batched_phases import PairCell, cell_pvalues

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def slash(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.normal(size=shape) / np.maximum(rng.random(shape), 1e-12) / 3


def triangular(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.random(shape) - rng.random(shape)


def rates(
    without: dict[str, float],
    signal: Draw,
    sizes: tuple[int, int],
    d: int,
    noise: tuple[Draw | None, Draw | None] = (None, None),
    n_runs: int = 120,
) -> tuple[float, float]:
    """Return how often the statistic rejects as it is, and with another constant."""

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X, Y = (
            signal(rng, (size, d)) + (0.0 if of_noise is None else of_noise(rng, (size, d)))
            for size, of_noise in zip(sizes, noise, strict=True)
        )
        return X, Y

    cell = PairCell({"n": sizes[0], "k": sizes[1], "d": d}, draw)
    pvalues = np.array(cell_pvalues(cell, [CONSTANTS, CONSTANTS._replace(**without)], 0, range(n_runs)))
    as_it_is, changed = np.mean(pvalues <= 0.05, axis=0)
    return float(as_it_is), float(changed)


def mostly_zeros(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return (rng.random(shape) > 0.8) * np.abs(rng.normal(size=shape))


def pareto(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.pareto(1.5, shape)


def test_own_phase_keeps_the_level_for_heavy_tails():
    as_it_is, without = rates(
        {"own_phase": 0.0}, lambda rng, shape: rng.pareto(0.6, shape), (150, 150), 2, (slash, slash)
    )
    assert as_it_is + 0.03 < without


def test_tolerance_lets_the_larger_sample_guard_the_smaller():
    as_it_is, without = rates({"tolerance": 0.0}, pareto, (60, 1_200), 1)
    assert as_it_is < 0.08 < 0.1 < without


def test_borrowed_correlations_keep_the_level_of_rare_events():
    as_it_is, without = rates(
        {"borrowed": 0.0}, lambda rng, shape: (rng.random(shape) < 0.03).astype(float), (80, 800), 2
    )
    assert as_it_is < 0.1 < as_it_is + 0.1 < without


def test_skewness_is_not_told_from_frequencies_that_noise_hides():
    rng = np.random.default_rng(0)
    rejected = []
    for _ in range(150):
        X, Y = rng.weibull(0.7, (2, 400, 5))
        left = un.Sketch.for_samples(X, random_state=0).update(X)  # frequencies that noise hides in Y
        pair = Pair.of(left, un.Sketch.like(left).update(Y + 60 * rng.logistic(size=Y.shape)))
        block = pair.blocks.tested[SKEWNESS]
        tests = (
            decomposed(pair.left, pair.right, constants, pair.features, block=block).test()
            for constants in (CONSTANTS, CONSTANTS._replace(heard=0.0))
        )
        rejected.append([test.pvalue() <= 0.05 for test in tests])
    as_it_is, without = np.mean(rejected, axis=0)
    assert as_it_is < 0.03 < 0.07 < without


def test_an_error_across_the_phase_does_not_choose_what_tells_skewness():
    rng = np.random.default_rng(0)
    pvalues = []
    for _ in range(100):
        X, Y = rng.gumbel(size=(52, 30)) + 7 * triangular(rng, (52, 30)), rng.gumbel(size=(1_100, 30))
        left = un.Sketch.for_samples(X, Y, random_state=0).update(X)
        pair = Pair.of(left, un.Sketch.like(left).update(Y))
        block = pair.blocks.tested[SKEWNESS]
        pvalues.append(float(decomposed(pair.left, pair.right, rows=pair.features, block=block).test().pvalue()))
    assert np.mean(np.array(pvalues) <= 0.05) < 0.1


def test_few_rows_have_heavier_tails():
    pair = sketched((10, 10), 1)
    block = decomposed(pair.left.at(pair.blocks.largest), pair.right.at(pair.blocks.largest)).test()
    many = replace(block, own_nu=np.asarray(1e6), nu=np.asarray(1e6))
    assert block.pvalue(20.0) > 3 * many.pvalue(20.0)


def test_what_is_borrowed_leaves_the_tail_as_heavy_as_few_rows_make_it():
    pair = sketched((30, 600), 2)
    place = pair.blocks.largest
    block = decomposed(pair.left.at(place), pair.right.at(place)).test()
    assert block.own_nu < 40 < 50 < block.nu
    far, lighter = 6 * block.null.mean, replace(block, own_nu=block.nu)
    assert block.pvalue(far) > 2 * lighter.pvalue(far)


def test_a_few_clusters_of_which_one_is_large_have_heavier_tails():
    rng = np.random.default_rng(0)
    empty = un.Sketch.for_samples(rng.normal(size=(200, 1)), random_state=0)

    def clustered(sizes: list[int]) -> un.Sketch:
        return un.Sketch.like(empty).update(un.Bags([rng.normal(size=(size, 1)) for size in sizes]), complete=True)

    even, uneven = clustered([20] * 10), clustered([5] * 9 + [45])
    alike, unlike = (
        decomposed(pair.left.at(pair.blocks.largest), pair.right.at(pair.blocks.largest)).test()
        for pair in (Pair.of(even, even), Pair.of(uneven, uneven))
    )
    assert alike.own_nu > 2 * unlike.own_nu
    assert unlike.pvalue(12 * unlike.null.mean) > 3 * alike.pvalue(12 * alike.null.mean)


def test_few_rows_with_heavy_tails_vary_less_than_gaussian_ones():
    rng = np.random.default_rng(0)
    ratios, narrower, gaussian = [], [], []
    for _ in range(150):
        X, Y = rng.pareto(1.5, (2, 100, 1))
        left = un.Sketch.for_samples(X, Y, random_state=0).update(X)
        pair = Pair.of(left, un.Sketch.like(left).update(Y))
        block = decomposed(pair.left, pair.right, rows=pair.features, block=Block(pair.blocks.largest)).test()
        ratios.append(float(block.statistic / block.null.mean))
        narrower.append(float(block.null.variance / block.null.mean**2))
        plain = replace(block, excess=np.zeros(())).null
        gaussian.append(float(plain.variance / plain.mean**2))
    observed = np.var(ratios)
    assert abs(observed - np.mean(narrower)) < abs(observed - np.mean(gaussian))


def sketched(sizes: tuple[int, int], d: int) -> Pair:
    rng = np.random.default_rng(0)
    X, Y = (rng.weibull(0.7, (size, d)) for size in sizes)
    left = un.Sketch.for_samples(X, Y, random_state=0).update(X)
    return Pair.of(left, un.Sketch.like(left).update(Y))


@pytest.mark.parametrize(
    ("name", "off", "sizes", "d"),
    [
        ("ridge", 0.0, (60, 60), 2),
        ("ridge", 0.0, (60, 60), 5),
        ("least_ridge", 0.0, (1_500, 1_500), 2),
        ("unequal_ridge", 0.0, (50, 500), 2),
    ],
)
def test_each_part_of_the_ridge_takes_off_directions(name: str, off: float, sizes: tuple[int, int], d: int):
    pair = sketched(sizes, d)
    place = pair.blocks.largest
    as_it_is, without = (
        float(decomposed(pair.left.at(place), pair.right.at(place), constants).test().null.s1)
        for constants in (CONSTANTS, CONSTANTS._replace(**{name: off}))
    )
    assert as_it_is < 0.85 * without


def test_the_ridge_grows_with_the_frequencies_for_each_degree_of_freedom():
    pair = sketched((60, 60), 5)
    place = pair.blocks.largest
    block = decomposed(pair.left.at(place), pair.right.at(place)).test()
    assert place.stop > 120  # so that some eigenvalues are 0, and the ridge is all that is left
    assert 1 / block.whitening.max() ** 2 == pytest.approx(CONSTANTS.ridge * (place.stop / 120) ** 2, rel=1e-3)


def test_many_frequencies_of_few_rows_keep_the_level():
    as_it_is, _ = rates({}, mostly_zeros, (60, 60), 30, (lambda rng, shape: triangular(rng, shape) * 0.9, None), 200)
    assert as_it_is < 0.08


def test_nothing_is_borrowed_from_a_larger_sample_with_less_noise():
    rng = np.random.default_rng(0)
    noisy, clean = rng.weibull(0.7, (80, 2)) + 2 * triangular(rng, (80, 2)), rng.weibull(0.7, (800, 2))
    noise = 2 * triangular(rng, (800, 2))
    borrowed = []
    for larger in (clean, clean + noise):
        left = un.Sketch.for_samples(noisy, larger, random_state=0).update(noisy)
        pair = Pair.of(left, un.Sketch.like(left).update(larger))
        place = pair.blocks.largest
        borrowed.append(float(decomposed(pair.left.at(place), pair.right.at(place)).freedoms[0]) - 79)
    assert borrowed[0] < 0.2 * borrowed[1]


def test_rows_that_are_all_equal_have_the_variance_of_the_larger_sample():
    rng = np.random.default_rng(0)
    without_events, rare = np.zeros((50, 1)), (rng.random((10_000, 1)) < 0.03).astype(float)
    assert un.phase_test(without_events, rare, positivity=False).pvalue > 0.05
