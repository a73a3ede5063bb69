"""Coverage of the intervals: of the noncentrality, of the shift between samples, and of extra noise (beyond the paper).

`covered` should be 0.95. The true noncentrality is that of samples of 400,000 rows at the same frequencies. `+-` is the
standard error of the mean estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from uptonoise.datasets import make_chi2_samples
from uptonoise.experiments._figures import dots
from uptonoise.experiments._measured import Measured, MeasuredExperiment
from uptonoise.experiments._noisy_distributions import DISTRIBUTIONS, NoisyPair
from uptonoise.fourier import Sketch
from uptonoise.twosample import FrequencyBlocks, SampleMoments, decomposed, extra_noise, phase_test

EFFECTS = (
    ((200, 200), 1, (0.0, 0.0)),
    ((500, 500), 1, (0.5, 0.0)),
    ((500, 500), 5, (0.0, 0.0)),
    ((500, 500), 5, (2.0, 0.0)),
    ((1_000, 300), 5, (0.5, 0.5)),
    ((500, 500), 20, (1.0, 0.0)),
)
SHIFTS = (
    NoisyPair("chi-squared", (500, 500), 1, (0.0, 0.0), "gaussian", 0.0),
    NoisyPair("chi-squared", (500, 500), 1, (2.0, 0.0), "gaussian", 1.0),
    NoisyPair("lognormal", (200, 200), 1, (0.5, 0.0), "t", 10.0),
    NoisyPair("gamma(0.5)", (500, 500), 2, (2.0, 0.0), "cauchy", 10.0),
    NoisyPair("chi-squared", (500, 500), 5, (0.0, 0.0), "gaussian", 1.0),
    NoisyPair("chi-squared", (500, 500), 5, (0.5, 0.0), "gaussian", 10.0),
)
NOISES = tuple(
    NoisyPair("chi-squared", (500, 500), d, (ratio, 0.0), "gaussian") for d in (1, 5) for ratio in (0.0, 0.5, 2.0)
)
_TRUE_ROWS = 400_000


def cells() -> Sequence[Measured]:
    """Return the cells of noncentralities, of shifts, and of extra noise."""
    of_noncentralities = [
        Measured(
            _settings("noncentrality", NoisyPair("chi-squared", sizes, d, noise, "gaussian")),
            partial(_noncentrality, sizes=sizes, d=d, noise=noise),
        )
        for sizes, d, noise in EFFECTS
    ]
    of_shifts = [
        Measured({"interval": f"shift of {pair.shift:g} SD"} | pair.settings, partial(_shift, pair)) for pair in SHIFTS
    ]
    of_noises = [
        Measured(_settings("extra noise", pair) | {"noise": pair.kind}, partial(_noise, pair)) for pair in NOISES
    ]
    return [*of_noncentralities, *of_shifts, *of_noises]


def _settings(interval: str, pair: NoisyPair) -> dict[str, Any]:
    return {"interval": interval} | {key: value for key, value in pair.settings.items() if key != "noise"}


def _noncentrality(
    generator: np.random.Generator, sizes: tuple[int, int], d: int, noise: tuple[float, float]
) -> dict[str, float]:
    empty, true = _true_noncentrality(sizes, d, noise)
    X, Y = make_chi2_samples(sizes, d, noise=noise, freedoms=(4, 8), random_state=generator)
    noncentrality = phase_test(
        Sketch.like(empty).update(X), Sketch.like(empty).update(Y), positivity=False
    ).noncentrality
    return _interval(true, noncentrality.estimate, noncentrality.low, noncentrality.high)


def _interval(true: float, estimate: Any, low: Any, high: Any) -> dict[str, float]:
    """Return how often the truth is in intervals, and means over columns of estimates and widths."""
    return {
        "covered": float(np.mean((low <= true) & (true <= high))),
        "true": true,
        "estimate": float(np.mean(estimate)),
        "width": float(np.mean(high - low)),
    }


@cache
def _true_noncentrality(sizes: tuple[int, int], d: int, noise: tuple[float, float]) -> tuple[Sketch, float]:
    """Return the frequencies, and the noncentrality per row that samples of these sizes have at them."""
    many = make_chi2_samples(_TRUE_ROWS, d, noise=noise, freedoms=(4, 8), random_state=0)
    empty = Sketch.for_samples(*many)
    sketches = [Sketch.like(empty).update(rows) for rows in many]
    place = FrequencyBlocks.of(*sketches).largest
    left, right = (
        SampleMoments.of(sketch, np.zeros(d)).at(place)._replace(size=np.asarray(float(size)))
        for sketch, size in zip(sketches, sizes, strict=True)
    )
    # The covariances are those of the distribution, so the ridge is 1 and nothing is subtracted.
    exact = decomposed(left, right).ridge(np.asarray(1.0))
    return empty, float(exact.statistic) * (sizes[0] + sizes[1]) / (sizes[0] * sizes[1])


def _shift(pair: NoisyPair, generator: np.random.Generator) -> dict[str, float]:
    result = phase_test(*pair.draw(generator), invariant_to="noise+shift", positivity=False, random_state=generator)
    assert result.shift_interval is not None
    moved = float(pair.shift * DISTRIBUTIONS[pair.distribution].sd)
    return _interval(moved, result.shift, *result.shift_interval.T)


def _noise(pair: NoisyPair, generator: np.random.Generator) -> dict[str, float]:
    noise_size = extra_noise(*pair.draw(generator), random_state=generator)
    true = float(pair.noise[0] * DISTRIBUTIONS[pair.distribution].sd ** 2)
    return _interval(true, noise_size.variances, *noise_size.interval().T)


_COLUMNS = ("interval", "law", "n", "k", "d", "n1", "n2")
EXPERIMENT = MeasuredExperiment(
    "intervals",
    __doc__.splitlines()[0],
    cells(),
    draw=dots(_COLUMNS, ["covered"], "coverage of 95 % intervals", 0.95, counts="repetitions"),
)
