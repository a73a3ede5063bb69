"""Batches of phase tests have the p-values of the phase test itself."""

import numpy as np
import pytest

pytest.importorskip("torch")

from uptonoise.experiments._batched_phases import pvalues
from uptonoise.fourier import Sketch
from uptonoise.twosample.phase.covariance import CONSTANTS
from uptonoise.twosample.phase.pair import FrequencyBlocks, Pair
from uptonoise.twosample.phase.statistic import decomposed
from uptonoise.twosample.phase.test import cauchy_combination

VARIANTS = [
    CONSTANTS,
    CONSTANTS._replace(own_phase=0.0),
    CONSTANTS._replace(tolerance=0.0, unequal_ridge=0.0),
    CONSTANTS._replace(borrowed=0.0, merging=0.0),
    CONSTANTS._replace(ridge=0.0, least_ridge=0.02),
]


@pytest.mark.parametrize("sizes", [(60, 60), (50, 400), (400, 50), (60, 1_100)])
@pytest.mark.parametrize("signal", ["rare", "skewed", "skewed, and noise in the smaller sample"])
def test_batches_agree_with_the_statistic(sizes: tuple[int, int], signal: str) -> None:
    rng = np.random.default_rng(3)
    rare = signal == "rare"
    draw = (lambda n: (rng.random((n, 2)) < 0.03).astype(float)) if rare else (lambda n: rng.exponential(size=(n, 2)))
    X, Y = (draw(size) for size in sizes)
    if "noise" in signal:
        smaller = min(X, Y, key=len)
        smaller += rng.normal(size=smaller.shape)
    sketch = Sketch.for_samples(X, Y, random_state=0, precision="float64")
    blocks = FrequencyBlocks.of(sketch)
    places = {name: block.place for name, block in blocks.tested.items()}
    batch = pvalues((X[None], Y[None]), sketch.frequencies[None], places, blocks.weights, VARIANTS)
    pair = Pair.of(*(Sketch.like(sketch).update(rows) for rows in (X, Y)))
    for constants, pvalue in zip(VARIANTS, batch[:, 0], strict=True):
        single = [
            float(decomposed(pair.left, pair.right, constants, pair.features, block=block).test().pvalue())
            for block in blocks.tested.values()
        ]
        assert pvalue == pytest.approx(cauchy_combination(np.array(single), blocks.weights, constants), rel=1e-5)
