"""Coverage of the intervals: of the effect size, of the shift between samples, and of extra noise (beyond the paper).

`covered` should be 0.95. The true effect is that of samples of 400,000 rows at the same frequencies. `+-` is the
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
from uptonoise.experiments._noisy_distributions import DISTRIBUTIONS, draw
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
    ("chi-squared", 500, 1, (0.0, 0.0), "gaussian", 0.0),
    ("chi-squared", 500, 1, (2.0, 0.0), "gaussian", 1.0),
    ("lognormal", 200, 1, (0.5, 0.0), "t", 10.0),
    ("gamma(0.5)", 500, 2, (2.0, 0.0), "cauchy", 10.0),
    ("chi-squared", 500, 5, (0.0, 0.0), "gaussian", 1.0),
    ("chi-squared", 500, 5, (0.5, 0.0), "gaussian", 10.0),
)
NOISES = tuple(("chi-squared", 500, d, ratio) for d in (1, 5) for ratio in (0.0, 0.5, 2.0))
_TRUE_ROWS = 400_000


def cells() -> Sequence[Measured]:
    """Return the cells of effects, of shifts, and of extra noise."""
    of_effects = [
        Measured(
            {
                "interval": "effect",
                "law": "chi-squared",
                "n": sizes[0],
                "k": sizes[1],
                "d": d,
                "n1": noise[0],
                "n2": noise[1],
            },
            partial(_effect, sizes=sizes, d=d, noise=noise),
        )
        for sizes, d, noise in EFFECTS
    ]
    of_shifts = [
        Measured(
            _settings(f"shift of {shift:g} SD", distribution, (n, n), d, noise, kind),
            partial(_shift, distribution=distribution, n=n, d=d, noise=noise, kind=kind, shift=shift),
        )
        for distribution, n, d, noise, kind, shift in SHIFTS
    ]
    of_noises = [
        Measured(
            {
                "interval": "extra noise",
                "law": distribution,
                "n": n,
                "k": n,
                "d": d,
                "n1": ratio,
                "n2": 0.0,
                "noise": "gaussian",
            },
            partial(_noise, distribution=distribution, n=n, d=d, ratio=ratio),
        )
        for distribution, n, d, ratio in NOISES
    ]
    return [*of_effects, *of_shifts, *of_noises]


def _settings(
    interval: str, distribution: str, sizes: tuple[int, int], d: int, noise: tuple[float, float], kind: str
) -> dict[str, Any]:
    settings = {"interval": interval, "law": distribution, "n": sizes[0], "k": sizes[1], "d": d}
    return settings | {"noise": kind, "n1": noise[0], "n2": noise[1]}


def _effect(
    generator: np.random.Generator, sizes: tuple[int, int], d: int, noise: tuple[float, float]
) -> dict[str, float]:
    empty, true = _true_effect(sizes, d, noise)
    X, Y = make_chi2_samples(sizes, d, noise=noise, freedoms=(4, 8), random_state=generator)
    effect = phase_test(Sketch.like(empty).update(X), Sketch.like(empty).update(Y), positivity=False).noncentrality
    return {
        "covered": float(effect.low <= true <= effect.high),
        "true": true,
        "estimate": effect.estimate,
        "width": effect.high - effect.low,
    }


@cache
def _true_effect(sizes: tuple[int, int], d: int, noise: tuple[float, float]) -> tuple[Sketch, float]:
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
    exact = decomposed(left, right).ridge(np.asarray(1.0), np.asarray(0.0), np.asarray(1.0))
    return empty, float(exact.statistic) * (sizes[0] + sizes[1]) / (sizes[0] * sizes[1])


def _shift(
    generator: np.random.Generator,
    distribution: str,
    n: int,
    d: int,
    noise: tuple[float, float],
    kind: str,
    shift: float,
) -> dict[str, float]:
    X, Y = draw(generator, distribution=distribution, sizes=(n, n), d=d, noise=noise, kind=kind)
    moved = shift * DISTRIBUTIONS[distribution].sd
    result = phase_test(X + moved, Y, invariant_to="noise+shift", positivity=False, random_state=generator)
    assert result.shift is not None
    assert result.shift_interval is not None
    low, high = result.shift_interval.T
    return {
        "covered": float(np.mean((low <= moved) & (moved <= high))),
        "true": moved,
        "estimate": float(np.mean(result.shift)),
        "width": float(np.mean(high - low)),
    }


def _noise(generator: np.random.Generator, distribution: str, n: int, d: int, ratio: float) -> dict[str, float]:
    X, Y = draw(generator, distribution=distribution, sizes=(n, n), d=d, noise=(ratio, 0.0), kind="gaussian")
    true = ratio * DISTRIBUTIONS[distribution].sd ** 2
    noise_size = extra_noise(X, Y, random_state=generator)
    low, high = noise_size.interval().T
    return {
        "covered": float(np.mean((low <= true) & (true <= high))),
        "true": float(true),
        "estimate": float(np.mean(noise_size.variances)),
        "width": float(np.mean(high - low)),
    }


EXPERIMENT = MeasuredExperiment(
    "intervals",
    __doc__.splitlines()[0],
    cells,
    draw=dots(("interval", "law", "n", "k", "d", "n1", "n2"), ["covered"], "coverage of 95 % intervals", 0.95),
)
