"""How often each verdict of a comparison is given, where the truth is known (beyond the paper).

The truth is one of: the same distribution; the same with noise of any kind; with an offset too; another distribution.
Where the samples differ at most by noise, the rate of the verdicts beyond noise should be at most alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise.comparison import Verdict, compare
from uptonoise.experiments._alternatives import chi2
from uptonoise.experiments._figures import dots
from uptonoise.experiments._measured import Measured, MeasuredExperiment
from uptonoise.experiments._noisy_distributions import DISTRIBUTIONS, draw

_NOISE, _OFFSET, _OTHER, _NONE = "noise", "noise and an offset", "another law", "none"


def cells() -> Sequence[Measured]:
    """Return seven cells in which at most noise differs, two with an offset, and three with another distribution."""
    same = (
        (_NONE, "chi-squared", 500, 2, (0.0, 0.0), "gaussian"),
        (_NONE, "lognormal", 30, 1, (0.0, 0.0), "gaussian"),
        (_NONE, "counts", 2_000, 5, (0.5, 0.5), "laplace"),
        (_NOISE, "chi-squared", 500, 2, (1.0, 0.0), "gaussian"),
        (_NOISE, "lognormal", 2_000, 5, (0.5, 0.0), "t"),
        (_NOISE, "mixture", 100, 1, (2.0, 0.5), "cauchy"),
        (_NOISE, "gamma(0.5)", 200, 2, (200.0, 0.0), "gaussian"),
    )
    moved = (
        (_OFFSET, "chi-squared", 500, 2, (1.0, 0.0), "gaussian"),
        (_OFFSET, "lognormal", 2_000, 5, (0.5, 0.0), "t"),
    )
    return [
        *(_cell(truth, distribution, n, d, noise, kind, 0.0) for truth, distribution, n, d, noise, kind in same),
        *(_cell(truth, distribution, n, d, noise, kind, 1.0) for truth, distribution, n, d, noise, kind in moved),
        *(_other(n, d, noise) for n, d, noise in ((500, 5, (0.0, 0.0)), (500, 5, (0.5, 0.5)), (2_000, 5, (2.0, 0.0)))),
    ]


def _cell(
    truth: str, distribution: str, n: int, d: int, noise: tuple[float, float], kind: str, shift: float
) -> Measured:
    settings = {"truth": truth, "law": distribution, "N": n, "d": d, "noise": kind, "n1": noise[0], "n2": noise[1]}
    sampler = partial(draw, distribution=distribution, sizes=(n, n), d=d, noise=noise, kind=kind)
    return Measured(settings, partial(_verdict, sampler=sampler, shift=shift * DISTRIBUTIONS[distribution].sd))


def _other(n: int, d: int, noise: tuple[float, float]) -> Measured:
    settings = {"truth": _OTHER, "law": "chi2(4)/4, chi2(8)/8", "N": n, "d": d, "noise": "gaussian"}
    sampler = partial(chi2(d, noise).draw, sizes=(n, n))
    return Measured(settings | {"n1": noise[0], "n2": noise[1]}, partial(_verdict, sampler=sampler, shift=0.0))


def _verdict(generator: np.random.Generator, sampler: partial[tuple[Floats, Floats]], shift: float) -> dict[str, float]:
    X, Y = sampler(generator)
    comparison = compare(X + shift, Y, random_state=generator)
    rates = {verdict: float(comparison.verdict == verdict) for verdict in Verdict}
    return {"beyond noise": float(comparison.differs_beyond_noise)} | rates


EXPERIMENT = MeasuredExperiment(
    "verdicts",
    __doc__.splitlines()[0],
    cells,
    repetitions=1_000,
    draw=dots(("truth", "law", "N", "d", "noise", "n1", "n2"), ["beyond noise", *Verdict], "share"),
)
